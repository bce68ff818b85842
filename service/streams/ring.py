"""The newest states of one stream, and what can be said of a place among them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from service.streams import lines
from service.streams.lines import GapReason
from service.streams.state import Shape, State
from service.wire.cursor import Cursors, Position
from service.wire.streams import StreamName

ROUTE: Final = "watch"
"""Id of the offer that cursors are bound to."""


class Place(NamedTuple):
    """Where a reader stands.

    Attributes:
        through: Number of the last state that was considered for it.
        seen: Number of the last state it knows: it was told it, or that state held nothing new to it. None where it
            knows nothing yet: the next state is told whole, whatever the interval.
    """

    through: int
    seen: int | None


class Ring:
    """One stream's newest states, in a row without a hole.

    Args:
        shape: How the stream is told.
        cursors: What writes and reads its cursors.
        kept: How many states are kept; of snapshots more than the longest interval spans.
    """

    def __init__(self, shape: Shape, cursors: Cursors, kept: int) -> None:
        self.shape: Final = shape
        self.newest = 0
        self.oldest = 1
        self._cursors = cursors
        self._kept = kept
        self._states: dict[int, State] = {}
        self._lines: dict[tuple[int, int | None], bytes] = {}

    def append(self, states: Sequence[State]) -> bool:
        """Take what is newer than the newest; what lies before a hole is forgotten.

        Args:
            states: In order of their numbers.

        Returns:
            Whether anything was.
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
        """What is told of a state that is kept.

        Args:
            seq: Its number.
            base: Number of the state, kept too, against which it is told; None tells it whole.

        Returns:
            Its line; no bytes where nothing of it is new.
        """
        line = self._lines.get((seq, base))
        if line is None:
            while len(self._lines) >= self._kept:
                del self._lines[next(iter(self._lines))]
            line = self._lines[seq, base] = self._encode(seq, base)
        return line

    def start(self) -> Place | None:
        """Where a reader without a cursor stands: before the newest state, behind the newest happening.

        Returns:
            None for a stream of states that has none yet.
        """
        if not self.shape.snapshot:
            return Place(self.newest, self.newest)
        return Place(self.newest - 1, None) if self.newest else None

    def holds(self, place: Place, *, diff: bool) -> bool:
        """Whether everything after a place is kept, and with `diff` what it is to be told against."""
        based = not diff or place.seen is None or place.seen >= self.oldest
        return place.through >= self.oldest - 1 and based

    def beyond(self, reason: GapReason) -> Place | None:
        """Where the stream goes on after a gap."""
        if self.shape.snapshot or reason == "unknown":
            return self.start()
        return Place(self.oldest - 1, self.oldest - 1)

    def resume(self, position: Position) -> Place:
        """The place that a cursor names."""
        seq, fresh = position
        return Place(seq - 1, None) if fresh else Place(seq, seq)

    def write(self, place: Place | None) -> str | None:
        """The cursor of a place."""
        if place is None:
            return None
        position = (place.through + 1, 1) if place.seen is None else (place.seen, 0)
        return self._write(position)

    def read(self, text: str) -> Position:
        """What a cursor says.

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
            return new  # what the version before this one kept need not compare: then all of it is new


def _bound(stream: StreamName) -> dict[str, str | int | None]:
    return {"stream": stream}
