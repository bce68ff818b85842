"""When a closed day's breadth is published: once, and then for ever. Pure: no I/O, no clock.

A coin's bar may come late, and a figure that changed after it was read would be a repaint. So nothing is published
before every coin, delisted ones too, has been asked for its history once. Then a day is published when every listed
coin has its bar; or a quarter of an hour after its close, once every coin has been asked since and nine in ten of those
that were traded the day before have it; or a day after its close, whatever is missing then. What comes later enters the
coin's own charts, and no published day.
"""

from collections.abc import Collection, Mapping
from typing import Final

from service.clock import DAY_MS, MINUTE_MS
from service.market.observed import MAJORS, SETTLE_MS

GRACE_MS: Final = 15 * MINUTE_MS
"""How long every coin's bar is waited for: what a round of all coins takes at midnight."""

PATIENCE_MS: Final = DAY_MS
"""How long a day waits that many coins lack."""

ENOUGH: Final = 0.9
"""Share of the coins traded the day before without which a day is not the market's but an outage's."""


def newest_publishable(
    last_days: Mapping[str, int], listed: Collection[str], now_ms: int, asked_ms: int | None
) -> int | None:
    """Find the newest day that may be published.

    Args:
        last_days: The day of each coin's newest closed bar, counted from 1970-01-01 UTC, by venue symbol.
        listed: Coins that are traded now.
        now_ms: Wall time.
        asked_ms: When the last round began that asked every coin for what it lacked; null if there was none yet.

    Returns:
        The day; null where none may be published. Days before it may be published with it.
    """
    if asked_ms is None or not last_days.keys() >= set(MAJORS):
        return None
    newest = min(last_days[major] for major in MAJORS)
    oldest = min(last_days.values())
    lasts = [last_days.get(coin, oldest - 1) for coin in listed]
    return next(
        (day for day in range(newest, oldest - 1, -1) if _is_publishable(day, lasts, now_ms, asked_ms)),
        None,
    )


def _is_publishable(day: int, lasts: Collection[int], now_ms: int, asked_ms: int) -> bool:
    missing = sum(last < day for last in lasts)
    if not missing:
        return True
    close_ms = (day + 1) * DAY_MS
    if asked_ms < close_ms + SETTLE_MS or now_ms < close_ms + GRACE_MS:
        return False
    traded_before = sum(last >= day - 1 for last in lasts)
    return now_ms >= close_ms + PATIENCE_MS or len(lasts) - missing >= ENOUGH * traded_before
