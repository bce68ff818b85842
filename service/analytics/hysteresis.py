"""States that change only when the wish to change has lasted.

The caller says, for a state and what is seen on a day, which state is wanted. That a state asks less to stay than
to be entered is one half of the hysteresis; that a wish counts only when it has lasted some days is the other, and it
is here. The rules are compiled to a table, so that a day of a thousand series costs one look-up.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

NEUTRAL: Final = 0
UNKNOWN: Final = 2

Codes: TypeAlias = npt.NDArray[np.int16]

Wants: TypeAlias = Callable[[int, int], int | None]
"""Given a state and a symbol (what is seen on a day), the state that is wanted; None: nothing was seen, all stays."""


class _Stand(NamedTuple):
    """A state, and which other one has been wanted for how many days."""

    state: int
    wanted: int | None = None
    days: int = 0


class Machine:
    """A table of what follows what.

    A change takes effect on the last of `confirm` days that all wished to leave: to what they all wanted, or, where
    they wanted different things, to NEUTRAL. From NEUTRAL only one and the same wish counts. What leads out of UNKNOWN,
    or into it, needs no confirmation: it is no opinion.

    Args:
        wants: The rules.
        symbols: How many there are; they are counted from 0.
        confirm: Days, today's included.
    """

    def __init__(self, wants: Wants, symbols: int, confirm: int) -> None:
        self._symbols = symbols
        stands = [_Stand(UNKNOWN)]
        codes = {stands[0]: 0}
        table: list[int] = []
        for stand in stands:  # grows while it is walked
            for symbol in range(symbols):
                follows = _follow(stand, wants(stand.state, symbol), confirm)
                if follows not in codes:
                    codes[follows] = len(stands) * symbols
                    stands.append(follows)
                table.append(codes[follows])
        self._follows = table
        self._table = np.array(table, np.int16)
        self._states = np.repeat(np.array([stand.state for stand in stands], np.int8), symbols)

    def after(self, code: int, symbol: int) -> int:
        """The code that follows a code; 0 is the beginning."""
        return self._follows[code + symbol]

    def state(self, code: int) -> int:
        """The state that a code stands for."""
        return int(self._states[code])

    def walk(self, symbols: npt.NDArray[np.int16]) -> Codes:
        """Follow many series from their beginning.

        Args:
            symbols: Of shape (days, series).

        Returns:
            The codes after each day, of the same shape; `states` tells what they mean.
        """
        codes = np.empty_like(symbols)
        code = np.zeros(symbols.shape[1], np.int16)
        for row, seen in enumerate(symbols):
            code = np.take(self._table, code + seen, out=codes[row], mode="clip")
        return codes

    def states(self, codes: Codes) -> npt.NDArray[np.int8]:
        """The states that codes stand for."""
        return self._states[codes]


def _follow(stand: _Stand, want: int | None, confirm: int) -> _Stand:
    if want is None:
        return stand
    if want == stand.state:
        return _Stand(stand.state)
    if UNKNOWN in (want, stand.state):
        return _Stand(want)
    days, wanted = stand.days + 1, want
    if stand.wanted not in (None, want):
        days, wanted = (1, want) if stand.state == NEUTRAL else (days, NEUTRAL)
    return _Stand(wanted) if days >= confirm else _Stand(stand.state, wanted, days)
