"""A stream that says what it is told to."""

import asyncio
from typing import Any

from service.routes.call import Call
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending, WatchQuery

OPEN = b'{"type":"open"}\n'


class Lines:
    """What one reader gets; begins with `OPEN`.

    Attributes:
        call: How it was asked for.
        reason: Why it ended, if it did, and what was wrong.
        waiting: What was not taken yet.
        taken: How often something was taken.
        closed: Whether its reader has left.
    """

    def __init__(self, call: Call[WatchQuery, Any]) -> None:
        self.call = call
        self.reason: Ending | None = None
        self.error: ErrorBody | None = None
        self.ended = False
        self.closed = False
        self.taken = 0
        self.waiting = OPEN
        self._news = asyncio.Event()

    def say(self, lines: bytes) -> None:
        """Let lines wait for the reader."""
        self.waiting += lines
        self._news.set()

    def take(self) -> bytes:
        lines, self.waiting = self.waiting, b""
        self._news.clear()
        self.taken += 1
        self.ended = self.reason is not None
        return lines

    async def wait(self) -> None:
        await self._news.wait()

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        if self.reason is None:
            self.reason, self.error = reason, error
            self.waiting = b""
            self.say(b'{"type":"close","reason":"%b"}\n' % reason.encode())

    def close(self) -> None:
        self.closed = True
