"""Whether the process lives, and whether it can answer: what load balancers and `make run` ask."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import json
from starlette.types import Receive, Scope, Send

LIVE: Final = "/healthz"
READY: Final = "/readyz"

Check = Callable[[], Mapping[str, object]]
"""Looks at one room; its `ready` says whether that room can answer, the rest says why not."""


class Health:
    """Answers `/healthz` (200 while the process serves) and `/readyz` (200 once every check is ready, else 503).

    Args:
        checks: Room → its check. Checks answer from memory.
        details: Rooms that are shown but not waited for.
    """

    def __init__(self, checks: Mapping[str, Check], details: Mapping[str, Check] = MappingProxyType({})) -> None:
        self._checks = checks
        self._details = details

    @property
    def ready(self) -> bool:
        """Whether every check is."""
        return all(check().get("ready") for check in self._checks.values())

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with one JSON object."""
        body: dict[str, object] = {"live": True}
        status = 200
        if scope["path"] == READY:
            found = {room: check() for room, check in self._checks.items()}
            ready = all(check.get("ready") for check in found.values())
            body = {"ready": ready, **found, **{room: check() for room, check in self._details.items()}}
            status = 200 if ready else 503
        await _answer(send, status, json.encode(body), head=scope["method"] == "HEAD")


async def _answer(send: Send, status: int, body: bytes, *, head: bool) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    if status == 503:  # noqa: PLR2004 - the status itself
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})
