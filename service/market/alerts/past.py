"""Funding alerts of the past: what a coin paid before anything watched it."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.clock import DAY_MS, HOUR_MS
from service.market.alerts.store import Finding
from service.market.alerts.watch import WINDOW_MS, Change, Watch
from service.market.observed import PaymentRow

PAST_MS: Final = 7 * DAY_MS
"""Events of so long before the first start are found in what was paid."""

WARM_UP_MS: Final = 7 * DAY_MS
"""So long before them the machine already runs, to know in which zone a coin was when they begin."""

READ_MS: Final = WINDOW_MS + WARM_UP_MS + PAST_MS
"""Payments of so long are read."""


def earliest_judged(now_ms: int) -> int:
    """Payments after this instant are judged, those before it only ranked within."""
    return now_ms - WARM_UP_MS - PAST_MS


def oldest_present(now_ms: int) -> int:
    """A coin whose newest payment is older is not watched: its history is still being fetched."""
    return now_ms // HOUR_MS * HOUR_MS - HOUR_MS


def judge_past(coin: str, payments: Sequence[PaymentRow], now_ms: int) -> tuple[Watch, Finding]:
    """Judge what a coin has paid that nothing has watched yet.

    Args:
        coin: Its venue symbol.
        payments: Of the last `READ_MS`, oldest first.
        now_ms: Epoch milliseconds.

    Returns:
        Its machine, which can go on, and what was found.
    """
    watch = Watch(None, earliest_judged(now_ms))
    return watch, found(coin, watch, watch.pay(payments), now_ms - PAST_MS)


def found(coin: str, watch: Watch, changes: Iterable[Change], since_ms: int | None = None) -> Finding:
    """What a machine finds while `changes` are made."""
    listed = list(changes)  # the machine moves while this is made, so the zone is read after it
    return Finding(coin, listed, watch.zone, since_ms)
