"""A ring as all readers with the same terms see it."""

from typing import Final, NamedTuple

from service.streams.ring import Place, Ring
from service.streams.state import SAMPLE_S

PIECE_BYTES: Final = 64 * 1024
"""A piece is not begun to be made longer beyond this: what one reader is handed at a time."""

_LOOKS: Final = 32
"""Diffs that are taken in one go: each may cost a tenth of a millisecond, and everybody else waits."""

_REMEMBERED: Final = 8
"""Places from which the way to the newest state is kept: all readers that keep up stand at one."""


class Piece(NamedTuple):
    """What lies before a reader: joined lines, how many events they are, and where it stands after them."""

    data: bytes
    events: int
    place: Place


class Lens:
    """What of a ring is told under terms.

    Args:
        ring: The stream.
        interval_s: Seconds between the states that are let through; 0 lets all through.
        diff: Whether states are told against the one told before.
    """

    def __init__(self, ring: Ring, interval_s: int, *, diff: bool) -> None:
        self.diff: Final = diff
        self._ring = ring
        self._interval_s = interval_s
        self._known: dict[Place, Piece] = {}
        self._newest = 0

    def ahead(self, place: Place, most: int | None) -> Piece:
        """What lies ahead of a place that the ring holds, up to a piece.

        Args:
            place: Where the reader stands.
            most: How many events at the most; None for any number.
        """
        if self._newest != self._ring.newest:
            self._known.clear()
            self._newest = self._ring.newest
        piece = self._known.get(place)
        if piece is None:
            piece = self._remember(place, self._join(place, None))
        return piece if most is None or piece.events <= most else self._join(place, most)

    def _remember(self, place: Place, piece: Piece) -> Piece:
        if len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[place] = piece
        return piece

    def _join(self, place: Place, most: int | None) -> Piece:
        through, seen = place
        joined: list[bytes] = []
        size = looks = 0
        while through < self._newest and size < PIECE_BYTES and looks < _LOOKS and len(joined) != most:
            through += 1
            if seen is None or self._lets(through):
                line = self._ring.line(through, seen if self.diff else None)
                looks += self.diff
                seen = through
                if line:
                    joined.append(line)
                    size += len(line)
        return Piece(b"".join(joined), len(joined), Place(through, seen))

    def _lets(self, seq: int) -> bool:
        # By number, not by time: two processes, or a reader that resumes, must let the same states through.
        step = self._interval_s
        return not step or seq * SAMPLE_S // step != (seq - 1) * SAMPLE_S // step
