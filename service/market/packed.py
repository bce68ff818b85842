"""Closed daily bars as they are kept in memory: as numbers one after the other."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias, cast

from service.market.observed import Row

_FIELDS: Final = 6

VolumeRow: TypeAlias = tuple[int, float, float, float, float, float]
"""A closed bar: open time (epoch ms), open, high, low, close (USD), volume (base units)."""


class Bars:
    """A coin's bars, oldest first: 48 bytes each, where a tuple of Python's own numbers takes 250.

    All of a market's are kept as long as the process leads. They come back without their volumes, as charts read them.
    Opens come back as floats, which times are exact in.

    Args:
        rows: The first of them.

    Attributes:
        numbers: Those of all bars, six each, as in `VolumeRow`.
    """

    __slots__ = ("numbers",)

    def __init__(self, rows: Iterable[VolumeRow] = ()) -> None:
        self.numbers = array("d")
        self.extend(rows)

    def __len__(self) -> int:
        return len(self.numbers) // _FIELDS

    def __iter__(self) -> Iterator[Row]:
        return (row[:5] for row in self.with_volumes())

    def with_volumes(self) -> Iterator[VolumeRow]:
        """The bars with their volumes."""
        numbers = iter(self.numbers)
        return zip(cast("Iterator[int]", numbers), *(numbers,) * 5, strict=True)

    @property
    def last_ms(self) -> int:
        """Open of the newest bar; there must be one."""
        return int(self.numbers[-_FIELDS])

    def extend(self, rows: Iterable[VolumeRow]) -> None:
        """Add bars that follow."""
        self.numbers.extend(chain.from_iterable(rows))

    def before(self, end_ms: int) -> "Bars":
        """Those that opened before an instant."""
        return Bars(row for row in self.with_volumes() if row[0] < end_ms)
