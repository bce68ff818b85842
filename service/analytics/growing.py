"""A table that grows at its end: a row for every new day, now and then a column for a new coin."""

from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)

_SPARE: Final = 64
"""Rows held in reserve at least, so that a new day seldom copies the old ones."""


class Growing(Generic[Scalar]):
    """Rows that are appended without copying those before.

    Args:
        rows: What is there at first; the first axis is the one that grows, the last one is the coins'.
        unknown: What a coin has on days before it was listed.
    """

    def __init__(self, rows: npt.NDArray[Scalar], unknown: float) -> None:
        self._held = rows
        self._count = rows.shape[0]
        self._unknown = unknown

    @property
    def now(self) -> npt.NDArray[Scalar]:
        """The rows so far; a view."""
        return self._held[: self._count]

    def append(self, row: npt.NDArray[Scalar] | float) -> None:
        """Add a row at the end."""
        if self._count == self._held.shape[0]:
            spare = max(_SPARE, self._count // 2)
            self._held = np.concatenate([self._held, np.empty((spare, *self._held.shape[1:]), self._held.dtype)])
        self._held[self._count] = row
        self._count += 1

    def widen(self, coins: int) -> None:
        """Add columns of coins that have not been known until now."""
        blank = np.full((*self._held.shape[:-1], coins), self._unknown, self._held.dtype)
        self._held = np.concatenate([self._held, blank], axis=-1)
