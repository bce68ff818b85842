"""Reads a stream and reopens it at its cursor after a connection loss."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from service.client.answer import CHECK_URL, RefusedError, UnreachableError, UnreadableAnswerError, read_json
from service.client.connection import ApiConnection

PATH: Final = "/api/cli/watch/"
PAUSES_S: Final = (1, 2, 4, 8, 16)
"""Delays before each attempt to reopen; an event resets them."""

_STOPPED: Final = "shutdown"
_AGAIN: Final = 503
_LONGEST: Final = 4 * 2**20
"""Most bytes of a line: a hundred times the longest that the service sends."""


class StreamLine(NamedTuple):
    """One line: its bytes without the line end, and the decoded object."""

    raw: bytes
    document: dict[str, Any]

    @property
    def kind(self) -> str:
        """`open`, `event`, `heartbeat`, `gap`, `error`, `close`, or a newer service's type."""
        return str(self.document.get("type"))


class _CutError(UnreachableError):
    """The stream ended and may be reopened; the message says why."""


class StreamClient:
    """One stream, over a connection that it uses alone.

    `query` holds `interval`, `max`, `diff` and `cursor`, None if not given. `pause` sleeps for a number of seconds;
    `tell` receives messages about the connection.
    """

    def __init__(
        self,
        client: ApiConnection,
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
        self.tell = tell
        self._opened = False
        self._events = 0
        self._tries = 0

    def lines(self) -> Iterator[StreamLine]:
        """Yield every line until the stream ends.

        Raises:
            RefusedError: If the service refuses to open or reopen it.
            UnreachableError: If it cannot be opened or reopened.
            UnreadableAnswerError: If the lines are not those of a stream.
        """
        while True:
            try:
                yield from self._opening()
            except (UnreachableError, RefusedError) as error:
                is_over = self._tries == len(PAUSES_S)
                if isinstance(error, _CutError) and is_over:
                    return
                is_final = isinstance(error, RefusedError) and error.status != _AGAIN
                if not isinstance(error, _CutError) and (is_over or is_final or not self._opened):
                    raise
                self._wait(str(error))
            else:
                return

    def _opening(self) -> Iterator[StreamLine]:
        most = self._query.get("max")
        left = most - self._events if isinstance(most, int) and most else None
        self.reason = None
        if left is not None and left <= 0:
            self.reason = "end"
            return
        for raw in self._raw({**self._query, "cursor": self.cursor} | ({} if left is None else {"max": left})):
            line = _read(raw)
            self._note(line)
            yield line
            if line.kind == "close":
                if self.reason == _STOPPED:
                    raise _CutError("The service is stopping.")
                return
        raise _CutError("The connection broke.")

    def _raw(self, query: Mapping[str, object]) -> Iterator[bytes]:
        rest = b""
        for piece in self._client.pieces("GET", PATH + self.stream, query):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
            if len(rest) > _LONGEST:
                raise UnreadableAnswerError(f"A line of the stream is too long. {CHECK_URL}")

    def _note(self, line: StreamLine) -> None:
        document = line.document
        self._opened = True
        meta = document.get("meta")
        cursor = document.get("cursor") or (meta.get("cursor") if isinstance(meta, dict) else None)
        self.cursor = cursor or self.cursor
        if line.kind == "event":
            self._events += 1
            self._tries = 0
        if line.kind == "close":
            self.reason = str(document.get("reason"))

    def _wait(self, why: str) -> None:
        seconds = PAUSES_S[self._tries]
        self._tries += 1
        self._client.close()  # the rest of the old answer must not be read as the next one
        self.tell(f"{why} Reopening the stream at its cursor in {seconds} s. This uses one question.")
        self._pause(seconds)


def _read(raw: bytes) -> StreamLine:
    document = None
    with suppress(UnreadableAnswerError):
        document = read_json(raw)
    if not isinstance(document, dict):
        raise UnreadableAnswerError(f"The answer is not a stream. {CHECK_URL}")
    return StreamLine(raw, document)
