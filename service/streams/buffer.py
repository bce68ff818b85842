"""The newest states of one stream, and positions among them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from service.streams import lines
from service.streams.lines import GapReason
from service.streams.state import StreamKind, StreamState
from service.wire.cursor import Cursors, Position
from service.wire.streams import StreamName

ROUTE: Final = "watch"
"""Id of the offer that cursors are bound to."""


class ReadPosition(NamedTuple):
    """A subscriber's position.

    Attributes:
        through: Number of the last state that was considered for it.
        seen: Number of the last state it knows, sent or without a difference. None if it knows none yet: the next state
            is sent whole, whatever the interval.
    """

    through: int
    seen: int | None


class EventBuffer:
    """One stream's newest states, with consecutive numbers.

    Args:
        shape: The kind of stream.
        cursors: What writes and reads its cursors.
        kept: Number of states stored; for snapshots more than the longest interval spans.
    """

    def __init__(self, shape: StreamKind, cursors: Cursors, kept: int) -> None:
        self.shape: Final = shape
        self.newest = 0
        self.oldest = 1
        self._cursors = cursors
        self._kept = kept
        self._states: dict[int, StreamState] = {}
        self._lines: dict[tuple[int, int | None], bytes] = {}

    def append(self, states: Sequence[StreamState]) -> bool:
        """Add newer states; states before a missing number are dropped.

        Args:
            states: In order of their numbers.

        Returns:
            Whether a state was added.
        """
        before = self.newest
        for state in states:
            if state.seq > self.newest:
                if state.seq > self.newest + 1:
                    self._states.clear()
                    self.oldest = state.seq
                self._states[state.seq] = state
                self.newest = state.seq
        while self.newest - self.oldest >= self._kept:
            del self._states[self.oldest]
            self.oldest += 1
        return self.newest > before

    def line(self, seq: int, base: int | None) -> bytes:
        """Encode a stored state.

        Args:
            seq: Its number.
            base: Number of the stored state that a diff is relative to; None for the whole state.

        Returns:
            Its line; no bytes if nothing differs.
        """
        line = self._lines.get((seq, base))
        if line is None:
            while len(self._lines) >= self._kept:
                del self._lines[next(iter(self._lines))]
            line = self._lines[seq, base] = self._encode(seq, base)
        return line

    def start(self) -> ReadPosition | None:
        """Position of a subscriber without a cursor: before the newest state, or after the newest event.

        Returns:
            None for a stream of states that has none yet.
        """
        if not self.shape.snapshot:
            return ReadPosition(self.newest, self.newest)
        return ReadPosition(self.newest - 1, None) if self.newest else None

    def holds(self, place: ReadPosition, *, diff: bool) -> bool:
        """Whether everything after a position is stored, and with `diff` also its base state."""
        based = not diff or place.seen is None or place.seen >= self.oldest
        return place.through >= self.oldest - 1 and based

    def beyond(self, reason: GapReason) -> ReadPosition | None:
        """Position at which the stream continues after a gap."""
        if self.shape.snapshot or reason == "unknown":
            return self.start()
        return ReadPosition(self.oldest - 1, self.oldest - 1)

    def resume(self, position: Position) -> ReadPosition:
        """The position that a cursor names."""
        seq, fresh = position
        return ReadPosition(seq - 1, None) if fresh else ReadPosition(seq, seq)

    def write(self, place: ReadPosition | None) -> str | None:
        """The cursor of a position."""
        if place is None:
            return None
        position = (place.through + 1, 1) if place.seen is None else (place.seen, 0)
        return self._write(position)

    def read(self, text: str) -> Position:
        """Decode a cursor.

        Raises:
            ServiceError: BAD_REQUEST where it was not written for this stream.
        """
        return self._cursors.read(text, ROUTE, _bound(self.shape.name))

    def _write(self, position: Position) -> str:
        return self._cursors.write(ROUTE, _bound(self.shape.name), position)

    def _encode(self, seq: int, base: int | None) -> bytes:
        state = self._states[seq]
        data = state.data if base is None else self._changes(self._states[base].data, state.data)
        return b"" if data is None else lines.event(self.shape.name, state, data, self._write((seq, 0)))

    def _changes(self, known: bytes, new: bytes) -> bytes | None:
        if known == new:
            return None
        try:
            return self.shape.changes(known, new)
        except msgspec.MsgspecError:
            return new  # a state that an earlier version stored may not compare: send it whole


def _bound(stream: StreamName) -> dict[str, str | int | None]:
    return {"stream": stream}
