"""Metrics in Prometheus' text format, on a port of their own: plain counters of the rooms, read when asked.

Rooms count in plain integers and know nothing of Prometheus; wiring says which of them are shown, and under what name.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Final

from starlette.types import Receive, Scope, Send

from service.http.counted import Source

if TYPE_CHECKING:
    from service.http.exposition import Exposition

PATH: Final = "/metrics"


class Metrics:
    """Answers `GET /metrics` with the rooms' counters and what the process itself uses.

    Args:
        source: Reads the rooms' counters.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def _exposition(self) -> "Exposition":
        from service.http.exposition import Exposition  # noqa: PLC0415 - few services are asked for metrics

        return Exposition(self._source)

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer; every other path is a 404."""
        found = scope["path"] == PATH and scope["method"] in {"GET", "HEAD"}
        body, kind = b"The metrics are at /metrics.\n", "text/plain; charset=utf-8"
        if found:
            body, kind = self._exposition.write(), self._exposition.content_type
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
