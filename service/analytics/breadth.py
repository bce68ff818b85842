"""How many coins go which way. Needs no numpy: a day is three counts.

The universe of a day is every coin whose trend state is known on that day's closed bar, those that have been delisted
since included: who is left today must not decide what is said of the past.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from service.analytics.states import State

VELOCITY_DAYS: Final = 5
"""Days over which the change of the net share is measured."""

EXTREME_PCT: Final = 60.0
"""Share of the universe in one state from which a day is extreme."""

_PARTS: Final = 1_000_000
"""A whole in units of the fourth decimal of a percentage."""


class Breadth(NamedTuple):
    """Coins by trend state on one closed day (`day` counts from 1970-01-01)."""

    day: int
    up: int
    hodl: int
    down: int

    @property
    def counts(self) -> dict[State, int]:
        """Coins by state."""
        return {"UP": self.up, "HODL": self.hodl, "DOWN": self.down}

    @property
    def universe(self) -> int:
        """All coins whose state is known."""
        return self.up + self.hodl + self.down

    @property
    def net(self) -> int:
        """UP less DOWN, coins."""
        return self.up - self.down

    @property
    def net_pct(self) -> float:
        """UP less DOWN, percent of the universe, 4 decimals; 0 where nothing is known."""
        return round(100 * self.net / self.universe, 4) if self.universe else 0.0

    @property
    def shares_pct(self) -> dict[State, float]:
        """Percent of the universe in each state, 4 decimals, adding up to 100: the largest remainders are rounded up.

        All 0 where nothing is known.
        """
        if not self.universe:
            return dict.fromkeys(self.counts, 0.0)
        parts = {state: divmod(count * _PARTS, self.universe) for state, count in self.counts.items()}
        short = _PARTS - sum(whole for whole, _ in parts.values())
        favoured = sorted(parts, key=lambda state: parts[state][1], reverse=True)[:short]
        return {state: (whole + (state in favoured)) / 10_000 for state, (whole, _) in parts.items()}


class BreadthCrossing(NamedTuple):
    """UP overtook DOWN, or DOWN overtook UP, on the closed bar `current`.

    `previous` is the last day before it on which the two differed: days on which they tie are stepped over.
    """

    direction: Literal["UP over DOWN", "DOWN over UP"]
    previous: Breadth
    current: Breadth


class DominantState(NamedTuple):
    """A state that at least `EXTREME_PCT` of the universe is in."""

    state: State
    share_pct: float


def crossings(breadths: Sequence[Breadth]) -> list[BreadthCrossing]:
    """Find every change of sign of UP less DOWN between closed daily bars, oldest first.

    Args:
        breadths: One a day, oldest first.
    """
    signed = [breadth for breadth in breadths if breadth.net]
    return [
        BreadthCrossing("UP over DOWN" if current.net > 0 else "DOWN over UP", previous, current)
        for previous, current in pairwise(signed)
        if (previous.net > 0) != (current.net > 0)
    ]


def velocity(breadths: Sequence[Breadth]) -> float | None:
    """Tell how fast breadth changes.

    Args:
        breadths: One a day, oldest first.

    Returns:
        Change of the net share over the last `VELOCITY_DAYS` days, percentage points a day, 4 decimals; None where one
        of the two days is missing or knows no coin.
    """
    if len(breadths) <= VELOCITY_DAYS:
        return None
    before, now = breadths[-1 - VELOCITY_DAYS], breadths[-1]
    if not before.universe or not now.universe:
        return None
    return round((now.net_pct - before.net_pct) / VELOCITY_DAYS, 4)


def extremes(breadth: Breadth) -> list[DominantState]:
    """List the states that at least `EXTREME_PCT` of the universe is in: one or none."""
    least = EXTREME_PCT * breadth.universe / 100
    shares = breadth.shares_pct
    return [DominantState(state, shares[state]) for state, count in breadth.counts.items() if count and count >= least]
