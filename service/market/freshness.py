"""How old a value may be: when it is named stale, and when it is no longer said at all."""

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

NEVER_MS: Final = 2**62
"""After any instant."""


class Freshness(Enum):
    """What an age makes of a value."""

    FRESH = "fresh"
    STALE = "stale"
    GONE = "gone"


class Limits(NamedTuple):
    """Ages in milliseconds: past `stale` a value is named, past `gone` it is null.

    A value from so far ahead is judged alike: the clock that dated it has been set back since, so nobody knows its age.
    """

    stale: int
    gone: int

    def judge(self, observed_ms: int | None, now_ms: int) -> Freshness:
        """Judge a value by when it was observed; what never was is gone."""
        if observed_ms is None or abs(now_ms - observed_ms) > self.gone:
            return Freshness.GONE
        return Freshness.STALE if abs(now_ms - observed_ms) > self.stale else Freshness.FRESH

    def turns(self, observed_ms: int | None) -> list[int]:
        """The instants from which the judgement is another."""
        if observed_ms is None:
            return []
        return [observed_ms - self.stale, observed_ms + self.stale + 1, *self.ends(observed_ms)]

    def ends(self, observed_ms: int | None) -> list[int]:
        """The instants from which a value is said, and is said no longer."""
        return [] if observed_ms is None else [observed_ms - self.gone, observed_ms + self.gone + 1]


QUOTE: Final = Limits(stale=45 * SECOND_MS, gone=10 * MINUTE_MS)
"""Price and funding: three rounds of refreshing missed; past the contract's ten minutes."""

CHART: Final = Limits(stale=DAY_MS + 15 * MINUTE_MS, gone=48 * HOUR_MS)
"""Trends and correlation, from the close of the last day they contain: the next day has closed and a quarter of an hour
was not enough to fetch it; past the contract's 48 hours."""

MOOD: Final = Limits(stale=48 * HOUR_MS, gone=48 * HOUR_MS)
"""Sentiment: its own room says when it is stale; past the contract's 48 hours."""


def span_around(now_ms: int, turns: Iterable[int]) -> tuple[int, int]:
    """The time in which every judgement stays what it is now.

    Args:
        now_ms: An instant.
        turns: Instants at which a judgement changes.

    Returns:
        From (included) and until (excluded), epoch milliseconds.
    """
    since, until = -NEVER_MS, NEVER_MS
    for turn in turns:
        if turn <= now_ms:
            since = max(since, turn)
        else:
            until = min(until, turn)
    return since, until
