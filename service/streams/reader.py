"""One connection's end of a stream."""

import asyncio
from collections.abc import Callable
from typing import Final

from service.clock import Clock
from service.streams import lines
from service.streams.lens import Lens
from service.streams.lines import GapReason
from service.streams.ring import Place, Ring
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending

SILENCE_S: Final = 15.0
"""A heartbeat comes when nothing was written for that long."""

LIFETIME_S: Final = 3_600.0
"""How long a stream goes on at the most."""

AHEAD_S: Final = 5.0
"""How long a cursor may lie ahead of what is known here: another process may have written it a moment ago."""


class Reader:
    """Gives the lines that wait, one piece at a time.

    A connection does, until it has `ended`: `wait`, `take`, write what was taken. How fast is its own affair.

    Attributes:
        ended: Whether the close line was taken.

    Args:
        ring: The stream.
        lens: The ring under this reader's terms.
        clock: What tells silence and age.
        most: How many events it wants; 0 for no end.
        leave: Called when it is closed.
    """

    __slots__ = (
        "_beat", "_clock", "_closing", "_error", "_head", "_leave", "_left", "_lens", "_loop", "_opened_s", "_place",
        "_ring", "_told_live", "_waiter", "_wrote_s", "ended",
    )  # fmt: skip

    def __init__(self, ring: Ring, lens: Lens, clock: Clock, most: int, leave: Callable[["Reader"], None]) -> None:
        self.ended = False
        self._ring = ring
        self._lens = lens
        self._clock = clock
        self._left: int | None = most or None
        self._leave = leave
        self._place: Place | None = None
        self._head = b""
        self._beat = b""
        self._told_live = True
        self._closing: Ending | None = None
        self._error: ErrorBody | None = None
        self._opened_s = self._wrote_s = clock.monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiter: asyncio.Future[None] | None = None

    def open(self, interval_s: int, source: lines.Source, cursor: str | None) -> None:
        """Take place, and have the open line wait.

        Raises:
            ServiceError: BAD_REQUEST for a cursor of something else.
        """
        self._place = self._ring.start() if cursor is None else self._ring.resume(self._ring.read(cursor))
        self._head = lines.opened(self._ring.shape.name, interval_s, source, self._cursor())
        if not self._held():
            self._skip("too-old")

    def take(self) -> bytes:
        """Everything that waits, up to a piece; no bytes if nothing does. The last of it holds the close line."""
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
        """Until there is something to take."""
        while not self._look():
            if self._behind():
                # Diffs without a difference: looked at piece by piece, so that others have their turn.
                await asyncio.sleep(0)
            else:
                self._loop = self._loop or asyncio.get_running_loop()  # which is dear to ask: it asks the kernel
                self._waiter = self._loop.create_future()
                await self._waiter

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """Say nothing new any more, and why; the first reason counts."""
        if self._closing is None:
            self._closing, self._error = reason, error
            self.wake()

    def close(self) -> None:
        """Leave: the connection is gone, or its last line written."""
        self._leave(self)

    def wake(self) -> None:
        """Have `wait` look whether there is something to take: in its own task, so that a defect there is its own."""
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def hear(self, beat: bytes, now_s: float, *, live: bool) -> bool:
        """Look at the time, once a second.

        Args:
            beat: The heartbeat line of this second.
            now_s: Monotonic seconds.
            live: Whether the upstream feeds.

        Returns:
            Whether there is something to take because of it.
        """
        if self._closing:
            return False
        age_s = now_s - self._opened_s
        if age_s >= LIFETIME_S:
            self._closing = "limit"
        elif age_s >= AHEAD_S and self._place and self._place.through > self._ring.newest:
            self._skip("unknown")
        elif live is not self._told_live or now_s - self._wrote_s >= SILENCE_S:
            self._beat, self._told_live = beat, live
        else:
            return False
        return True

    def _look(self) -> bool:
        """Whether something is to be taken; steps over what is not told."""
        if self._place is None or self._behind():
            self._settle()
        if self._head or self._beat or self._closing:
            return True
        if self._place is None or not self._behind():
            return False
        piece = self._lens.ahead(self._place, self._left)
        if not piece.events:
            self._place = piece.place
        return piece.events > 0

    def _read(self) -> bytes:
        if self._place is None:
            return b""
        piece = self._lens.ahead(self._place, self._left)
        self._place = piece.place
        if self._left is not None:
            self._left -= piece.events
            if not self._left:
                self._closing = "end"
        return piece.data

    def _behind(self) -> bool:
        return self._place is not None and self._place.through < self._ring.newest

    def _settle(self) -> None:
        """Take place where there was none to take, and leave one that is kept no more."""
        if self._closing is None:
            self._place = self._place or self._ring.start()
            if not self._held():
                self._skip("too-slow")

    def _held(self) -> bool:
        place = self._place
        if place is None or (place.seen or 0) >= self._ring.oldest:
            return True  # as always but for those that are far behind
        return self._ring.holds(place, diff=self._lens.diff)

    def _skip(self, reason: GapReason) -> None:
        self._place = self._ring.beyond(reason)
        self._head += lines.gap(reason, self._cursor())

    def _cursor(self) -> str | None:
        return self._ring.write(self._place)
