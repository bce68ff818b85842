"""The states of a stream that subscribers with the same options receive."""

from typing import Final, NamedTuple

from service.streams.buffer import EventBuffer, ReadPosition
from service.streams.state import SAMPLE_S

PIECE_BYTES: Final = 64 * 1024
"""A chunk stops growing at this size."""

_LOOKS: Final = 32
"""Diffs per chunk: each may cost a tenth of a millisecond of the event loop."""

_REMEMBERED: Final = 8
"""Positions whose chunk is cached: subscribers that keep up share one."""


class StreamChunk(NamedTuple):
    """Joined lines for a subscriber, their number of events, and the position after them."""

    data: bytes
    events: int
    place: ReadPosition


class StreamSelection:
    """The states of a buffer that pass an interval, whole or as diffs.

    Args:
        buffer: The stream.
        interval_s: Seconds between states; 0 for all states.
        diff: Whether states are sent as differences from the one sent before.
    """

    def __init__(self, buffer: EventBuffer, interval_s: int, *, diff: bool) -> None:
        self.diff: Final = diff
        self._buffer = buffer
        self._interval_s = interval_s
        self._known: dict[ReadPosition, StreamChunk] = {}
        self._newest = 0

    def ahead(self, place: ReadPosition, most: int | None) -> StreamChunk:
        """The next chunk after a position that the buffer holds.

        Args:
            place: The subscriber's position.
            most: Maximum number of events; None for any number.
        """
        if self._newest != self._buffer.newest:
            self._known.clear()
            self._newest = self._buffer.newest
        piece = self._known.get(place)
        if piece is None:
            piece = self._remember(place, self._join(place, None))
        return piece if most is None or piece.events <= most else self._join(place, most)

    def _remember(self, place: ReadPosition, piece: StreamChunk) -> StreamChunk:
        if len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[place] = piece
        return piece

    def _join(self, place: ReadPosition, most: int | None) -> StreamChunk:
        through, seen = place
        joined: list[bytes] = []
        size = looks = 0
        while through < self._newest and size < PIECE_BYTES and looks < _LOOKS and len(joined) != most:
            through += 1
            if seen is None or self._lets(through):
                line = self._buffer.line(through, seen if self.diff else None)
                looks += self.diff
                seen = through
                if line:
                    joined.append(line)
                    size += len(line)
        return StreamChunk(b"".join(joined), len(joined), ReadPosition(through, seen))

    def _lets(self, seq: int) -> bool:
        # By number, not by time: two processes, or a reader that resumes, must let the same states through.
        step = self._interval_s
        return not step or seq * SAMPLE_S // step != (seq - 1) * SAMPLE_S // step
