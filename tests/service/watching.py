"""Following the streams of a whole service, in this process or over the wire."""

import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from io import BufferedReader
from typing import Any, cast
from urllib.parse import urlencode

from tests.fakes.asgi import Conversation, conversing, scope_of
from tests.fakes.calls import request
from tests.fakes.serving import PATIENCE_S, Serving
from tests.service.indoors import Indoors

Line = Mapping[str, Any]


def path_of(stream: str, **query: object) -> str:
    """Path and query of a stream."""
    return f"/api/cli/watch/{stream}" + (f"?{urlencode(query)}" if query else "")


def ticks(lines: list[Line]) -> list[int]:
    """The numbers of the states that were told."""
    return [line["meta"]["tick"] for line in lines if line["type"] == "event"]


def cursor_of(line: Line) -> str:
    """Where a line says that the stream can be gone on with."""
    return str(line["meta"]["cursor"] if line["type"] == "event" else line["cursor"])


class Following:
    """A stream that is read by hand-moved time.

    Attributes:
        fields: The head's.
        lines: All that came so far.
        over: Whether the answer has ended.
    """

    def __init__(self, house: Indoors, talk: Conversation, fields: Mapping[str, str]) -> None:
        self.fields = fields
        self.lines: list[Line] = []
        self.over = False
        self._house = house
        self._talk = talk
        self._unread = b""

    def read(self) -> list[Line]:
        """Read what has come; all lines so far."""
        while not self._talk.sent.empty():
            message = self._talk.sent.get_nowait()
            self._unread += message["body"]
            self.over = not message["more_body"]
        *whole, self._unread = self._unread.split(b"\n")
        self.lines += map(json.loads, whole)
        assert not (self.over and self._unread), "every line is ended by a newline"
        return self.lines

    async def until(self, kind: str, times: int = 1) -> list[Line]:
        """Let time pass until so many lines of a kind have come; they."""
        await self._house.pass_until(lambda: len(self.of(kind)) >= times)
        return self.of(kind)

    def of(self, kind: str) -> list[Line]:
        """The lines of a kind."""
        return [line for line in self.read() if line["type"] == kind]

    def leave(self) -> None:
        """Close the connection."""
        self._talk.leave()


@asynccontextmanager
async def following(house: Indoors, key: str, stream: str, **query: object) -> AsyncIterator[Following]:
    """Follow a stream of a service in this process; leave it in the end."""
    scope = scope_of(path_of(stream, **query), "GET", {"authorization": f"Bearer {key}"})
    async with conversing(house.service.app, scope) as talk:
        head = await talk.head()
        assert head["status"] == 200
        yield Following(house, talk, {name.decode(): value.decode() for name, value in head["headers"]})
        talk.leave()


class Reader:
    """A stream over the wire, chunk by chunk: what breaks off is told from what ends.

    Args:
        file: The connection, to read from.
    """

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._lines: deque[bytes] = deque()

    def head(self) -> int:
        """Read the head; the status."""
        status, *lines = iter(self._line, b"")
        assert b"transfer-encoding: chunked" in lines
        return int(status.split()[1])

    def next(self) -> Line | None:
        """The next line; null at the end of the answer.

        Raises:
            ConnectionError: If it breaks off before.
        """
        if not self._lines:
            size = int(self._line(), 16)
            chunk = self._file.read(size + 2)
            if len(chunk) < size + 2:
                raise ConnectionError
            self._lines.extend(chunk[:-2].splitlines(keepends=True))
        if not self._lines:
            return None
        line = self._lines.popleft()
        assert line.endswith(b"\n"), "a chunk holds whole lines"
        return cast("Line", json.loads(line))

    def rest(self) -> list[Line]:
        """All lines until the answer is over, which it must say itself."""
        return list(iter(self.next, None))

    def events(self, count: int) -> list[Line]:
        """The next events; what else comes between is passed over."""
        found: list[Line] = []
        while len(found) < count:
            line = self.next()
            assert line is not None
            if line["type"] == "event":
                found.append(line)
        return found

    def _line(self) -> bytes:
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError
        return line[:-2]


@contextmanager
def reading(service: Serving, key: str, stream: str, **query: object) -> Iterator[Reader]:
    """Follow a stream over a connection of its own."""
    with socket.create_connection(("127.0.0.1", service.port), PATIENCE_S) as peer, peer.makefile("rb") as file:
        peer.sendall(request(path_of(stream, **query), key))
        reader = Reader(file)
        assert reader.head() == 200
        yield reader
