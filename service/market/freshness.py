"""Age limits of values: when a value is named stale, and when it becomes null."""

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

NEVER_MS: Final = 2**62
"""Later than any instant."""


class Freshness(Enum):
    """Result of judging a value's age."""

    FRESH = "fresh"
    STALE = "stale"
    GONE = "gone"


class AgeLimits(NamedTuple):
    """Age limits in milliseconds: older than `stale` is named stale, older than `gone` is null.

    A time in the future is judged by the same distance: the clock was set back, so the real age is unknown.
    """

    stale: int
    gone: int

    def judge(self, observed_ms: int | None, now_ms: int) -> Freshness:
        """Judge a value by its observation time; null is `GONE`."""
        if observed_ms is None or abs(now_ms - observed_ms) > self.gone:
            return Freshness.GONE
        return Freshness.STALE if abs(now_ms - observed_ms) > self.stale else Freshness.FRESH

    def transitions(self, observed_ms: int | None) -> list[int]:
        """Instants at which the judgement changes."""
        if observed_ms is None:
            return []
        return [observed_ms - self.stale, observed_ms + self.stale + 1, *self.ends(observed_ms)]

    def ends(self, observed_ms: int | None) -> list[int]:
        """Instants at which a value starts and stops being shown."""
        return [] if observed_ms is None else [observed_ms - self.gone, observed_ms + self.gone + 1]


QUOTE: Final = AgeLimits(stale=45 * SECOND_MS, gone=10 * MINUTE_MS)
"""Price and funding: stale after three missed rounds, null after the contract's ten minutes."""

CHART: Final = AgeLimits(stale=DAY_MS + 15 * MINUTE_MS, gone=48 * HOUR_MS)
"""Trends and correlation, from the close of their last day: stale 15 minutes after the next close, the time a round
of all coins takes; null after the contract's 48 hours.
"""

MOOD: Final = AgeLimits(stale=48 * HOUR_MS, gone=48 * HOUR_MS)
"""Sentiment: the sentiment package decides when it is stale; null after the contract's 48 hours."""


def span_around(now_ms: int, transitions: Iterable[int]) -> tuple[int, int]:
    """The span of time in which no judgement changes.

    Args:
        now_ms: An instant.
        transitions: Instants at which a judgement changes.

    Returns:
        Start (inclusive) and end (exclusive), epoch milliseconds.
    """
    since, until = -NEVER_MS, NEVER_MS
    for turn in transitions:
        if turn <= now_ms:
            since = max(since, turn)
        else:
            until = min(until, turn)
    return since, until
