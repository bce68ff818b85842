"""What happened and was not told yet: funding alerts that fired or cleared, breadth that crossed."""

from collections.abc import Iterable
from typing import Final

from service.clock import DAY_MS, parse_iso
from service.market.alerts.desk import Turn
from service.market.conclusions.concluded import Conclusions
from service.market.shelf import Kept
from service.watch.store import Standing, Taken
from service.wire.envelope import encode

NEWS_MS: Final = 2 * DAY_MS
"""What is found so long after it happened is no news any more."""


def since_when(standing: Standing, now_ms: int) -> int:
    """The instant after which what happened is news: the first look at this history, two days ago at the most.

    Where the last look lies ahead, the clock has been set back since, and everything known by now is past: also what is
    dated ahead of now, which is to be remembered therefore.
    """
    since_ms = standing.since_ms
    return now_ms if since_ms is None or since_ms > now_ms else max(since_ms, now_ms - NEWS_MS)


def untold(happened: Iterable[Taken], standing: Standing, since_ms: int) -> list[Taken]:
    """Those that are news."""
    return [each for each in happened if each.as_of_ms > since_ms and (each.stream, each.id) not in standing.told]


def of_alerts(turns: Iterable[Turn]) -> list[Taken]:
    """Alerts as their stream tells them: once when they fire, once when they clear."""
    return [
        Taken("alerts", at_ms, encode(alert), alert.id if alert.clearedAt is None else f"{alert.id} cleared")
        for at_ms, alert in turns
    ]


def of_crossings(kept: Kept[Conclusions], origin: str) -> list[Taken]:
    """Crossings of a history as their stream tells them, oldest first."""
    if kept.value is None or kept.origin != origin:
        return []
    return [
        Taken("crossings", parse_iso(crossing.at), encode(crossing), crossing.id)
        for crossing in reversed(kept.value.crossings)
    ]
