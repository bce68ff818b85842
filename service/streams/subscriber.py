"""One subscription to a stream."""

import asyncio
from collections.abc import Callable
from typing import Final

from service.clock import Clock
from service.streams import lines
from service.streams.buffer import EventBuffer, ReadPosition
from service.streams.lines import GapReason
from service.streams.selection import StreamSelection
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending

SILENCE_S: Final = 15.0
"""Seconds without a line after which a heartbeat is sent."""

LIFETIME_S: Final = 3_600.0
"""Maximum duration of a subscription."""

AHEAD_S: Final = 5.0
"""Seconds that a cursor may be ahead of the buffer: another process may have written it just now."""


class StreamSubscriber:
    """Returns the lines of a subscription in chunks.

    The connection repeats `wait`, `take` and its own write, at its own speed, until `ended`.

    Attributes:
        ended: Whether the close line was returned.

    Args:
        buffer: The stream.
        selection: The states that pass this subscription's options.
        clock: The clock.
        most: Maximum number of events; 0 for no limit.
        leave: Called when it is closed.
    """

    __slots__ = (
        "_beat",
        "_buffer",
        "_clock",
        "_closing",
        "_error",
        "_head",
        "_leave",
        "_left",
        "_loop",
        "_opened_s",
        "_place",
        "_selection",
        "_sent_live",
        "_waiter",
        "_wrote_s",
        "ended",
    )  # fmt: skip

    def __init__(
        self,
        buffer: EventBuffer,
        selection: StreamSelection,
        clock: Clock,
        most: int,
        leave: Callable[["StreamSubscriber"], None],
    ) -> None:
        self.ended = False
        self._buffer = buffer
        self._selection = selection
        self._clock = clock
        self._left: int | None = most or None
        self._leave = leave
        self._place: ReadPosition | None = None
        self._head = b""
        self._beat = b""
        self._sent_live = True
        self._closing: Ending | None = None
        self._error: ErrorBody | None = None
        self._opened_s = self._wrote_s = clock.monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiter: asyncio.Future[None] | None = None

    def open(self, interval_s: int, source: lines.Source, cursor: str | None) -> None:
        """Set the position and prepare the open line.

        Raises:
            ServiceError: BAD_REQUEST for a cursor of something else.
        """
        self._place = self._buffer.start() if cursor is None else self._buffer.resume(self._buffer.read(cursor))
        self._head = lines.opened(self._buffer.shape.name, interval_s, source, self._cursor())
        if not self._held():
            self._skip("too-old")

    def take(self) -> bytes:
        """Return the waiting lines, up to a chunk; empty if there are none. The last chunk holds the close line."""
        if self.ended:
            return b""
        self._settle()
        taken = self._head + self._beat
        self._head = self._beat = b""
        if not self._closing:
            taken += self._read()
        if self._closing:
            taken += lines.closed(self._closing, self._cursor(), self._error)
            self.ended = True
        if taken:
            self._wrote_s = self._clock.monotonic()
        return taken

    async def wait(self) -> None:
        """Wait until there is something to take."""
        while not self._look():
            if self._behind():
                # Diffs without a difference: looked at piece by piece, so that others have their turn.
                await asyncio.sleep(0)
            else:
                self._loop = self._loop or asyncio.get_running_loop()  # cached: it costs a system call
                self._waiter = self._loop.create_future()
                await self._waiter

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """Send no more data and end with a reason; the first reason counts."""
        if self._closing is None:
            self._closing, self._error = reason, error
            self.wake()

    def close(self) -> None:
        """Remove the subscription: the connection is closed or its last line written."""
        self._leave(self)

    def wake(self) -> None:
        """Let `wait` check for lines, in its own task, so that an exception there stays its own."""
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def hear(self, beat: bytes, now_s: float, *, live: bool) -> bool:
        """Handle the time, once a second.

        Args:
            beat: The heartbeat line of this second.
            now_s: Monotonic seconds.
            live: Whether the upstream delivers data.

        Returns:
            Whether a line is ready because of it.
        """
        if self._closing:
            return False
        age_s = now_s - self._opened_s
        if age_s >= LIFETIME_S:
            self._closing = "limit"
        elif age_s >= AHEAD_S and self._place and self._place.through > self._buffer.newest:
            self._skip("unknown")
        elif live is not self._sent_live or now_s - self._wrote_s >= SILENCE_S:
            self._beat, self._sent_live = beat, live
        else:
            return False
        return True

    def _look(self) -> bool:
        """Whether a line is ready; skips states that are not sent."""
        if self._place is None or self._behind():
            self._settle()
        if self._head or self._beat or self._closing:
            return True
        if self._place is None or not self._behind():
            return False
        piece = self._selection.ahead(self._place, self._left)
        if not piece.events:
            self._place = piece.place
        return piece.events > 0

    def _read(self) -> bytes:
        if self._place is None:
            return b""
        piece = self._selection.ahead(self._place, self._left)
        self._place = piece.place
        if self._left is not None:
            self._left -= piece.events
            if not self._left:
                self._closing = "end"
        return piece.data

    def _behind(self) -> bool:
        return self._place is not None and self._place.through < self._buffer.newest

    def _settle(self) -> None:
        """Set a missing position, and skip ahead from one that has left the buffer."""
        if self._closing is None:
            self._place = self._place or self._buffer.start()
            if not self._held():
                self._skip("too-slow")

    def _held(self) -> bool:
        place = self._place
        if place is None or (place.seen or 0) >= self._buffer.oldest:
            return True  # the usual case
        return self._buffer.holds(place, diff=self._selection.diff)

    def _skip(self, reason: GapReason) -> None:
        self._place = self._buffer.beyond(reason)
        self._head += lines.gap(reason, self._cursor())

    def _cursor(self) -> str | None:
        return self._buffer.write(self._place)
