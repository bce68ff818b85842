"""Follows a stream over cuts: it is opened again where it stopped."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from service.clients.cli.refusal import DONE, REFUSED, UNAVAILABLE, UNKNOWN_CALLER, UNPAID
from service.clients.sdk.answer import RefusedError, UnreachableError, UnreadableError
from service.clients.sdk.client import Client

PATH: Final = "/api/cli/watch/"
PAUSES_S: Final = (1, 2, 4, 8, 16)
"""Before each try to open it again; they begin anew once something came."""

_ENDINGS: Final[Mapping[str, tuple[int, str]]] = {
    "end": (DONE, "as many events came as were asked for"),
    "limit": (DONE, "its hour is over"),
    "revoked": (UNKNOWN_CALLER, "the credential was revoked or has expired"),
    "quota": (UNPAID, "the tier it was opened with has ended"),
    "shutdown": (UNAVAILABLE, "the service stops"),
    "slow-reader": (REFUSED, "it was read too slowly"),
}
_STOPPED: Final = "shutdown"
_AGAIN: Final = 503
_LONGEST: Final = 4 * 2**20
"""Bytes of a line; no line of ours has a hundredth of that."""


class Line(NamedTuple):
    """One line: as it came, without its end, and what it says."""

    raw: bytes
    document: dict[str, Any]

    @property
    def kind(self) -> str:
        """`open`, `event`, `heartbeat`, `gap`, `error`, `close`, or what a newer service may send."""
        return str(self.document.get("type"))


class _CutError(Exception):
    """It ended where it may be opened again; the message says how."""


class Following:
    """One stream.

    Args:
        client: Calls the service; used up by this.
        stream: Its name.
        query: `interval`, `max`, `diff`, `cursor`; null where it is not given.
        pause: Waits so many seconds.
        tell: Says in words what happens to the connection.
    """

    def __init__(
        self,
        client: Client,
        stream: str,
        query: Mapping[str, object],
        pause: Callable[[float], object],
        tell: Callable[[str], object],
    ) -> None:
        self.stream = stream
        self.cursor = query.get("cursor")
        self.reason: str | None = None
        self._client = client
        self._query = query
        self._pause = pause
        self._tell = tell
        self._opened = False
        self._events = 0
        self._tries = 0

    def lines(self) -> Iterator[Line]:
        """Every line, to the last one.

        Raises:
            RefusedError: If the service will not open it (again).
            UnreachableError: If it cannot be opened, or not again.
            UnreadableError: If what comes are no lines of a stream.
        """
        while True:
            try:
                yield from self._opening()
            except _CutError as cut:
                if self._tries == len(PAUSES_S):
                    return
                self._wait(str(cut))
            except UnreachableError as error:
                if not self._opened or self._tries == len(PAUSES_S):
                    raise
                self._wait(str(error))
            except RefusedError as refused:
                if not self._opened or refused.status != _AGAIN or self._tries == len(PAUSES_S):
                    raise
                self._wait(refused.message)
            else:
                return

    @property
    def ending(self) -> tuple[int, str]:
        """The exit code for how it ended, and that in words."""
        if self.reason is None:
            return UNAVAILABLE, "it broke off again and again"
        return _ENDINGS.get(self.reason, (UNAVAILABLE, self.reason))

    def _opening(self) -> Iterator[Line]:
        self.reason = None
        if self._is_done():
            self.reason = "end"
            return
        for raw in self._raw():
            line = _read(raw)
            self._note(line)
            yield line
            if line.kind == "close":
                if self.reason == _STOPPED:
                    raise _CutError("the service stops")
                return
        raise _CutError("the stream broke off")

    def _is_done(self) -> bool:
        most = self._query.get("max")
        return isinstance(most, int) and 0 < most <= self._events

    def _raw(self) -> Iterator[bytes]:
        query = {**self._query, "cursor": self.cursor}
        most = query.get("max")
        if isinstance(most, int) and most:
            query["max"] = most - self._events
        rest = b""
        for piece in self._client.pieces("GET", PATH + self.stream, query):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
            if len(rest) > _LONGEST:
                raise UnreadableError("a line of the stream does not end: is that address a Verdict service?")

    def _note(self, line: Line) -> None:
        told = line.document
        self._opened = True
        meta = told.get("meta")
        cursor = told.get("cursor") or (meta.get("cursor") if isinstance(meta, dict) else None)
        self.cursor = cursor or self.cursor
        if line.kind == "event":
            self._events += 1
            self._tries = 0
        if line.kind == "close":
            self.reason = str(told.get("reason"))

    def _wait(self, why: str) -> None:
        seconds = PAUSES_S[self._tries]
        self._tries += 1
        self._client.close()  # what may still come on that connection is not for the next
        self._tell(f"opening it again in {seconds} s, where it stopped, which uses up a question: {why}")
        self._pause(seconds)


def _read(raw: bytes) -> Line:
    try:
        document = json.loads(raw)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise UnreadableError("what comes is no stream: is that address a Verdict service?")
    return Line(raw, document)
