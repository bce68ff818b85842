"""Funding zones written down a second time, from the table in `next_zone`'s docstring: plain lists, no bisection."""

from collections.abc import Iterator, Sequence

from service.analytics.funding import Zone
from service.market.models import PaymentRow

HOUR = 3_600_000
THIRTY_DAYS = 30 * 24 * HOUR

Transition = tuple[int, Zone | None, Zone | None, float, float]


def apr(rate: float) -> float:
    return round(rate * 8760 * 100, 4)


def rank(value: float, among: Sequence[float]) -> float:
    below = sum(1 for other in among if other < value)
    equal = sum(1 for other in among if other == value)
    return round((below + equal / 2) / len(among) * 100, 4)


def zone_of(before: Zone | None, percentile: float, paid: float) -> Zone | None:
    if (percentile >= 99.5 and paid > 43.8) or (before == "very-hot" and percentile >= 90 and paid > 21.9):
        return "very-hot"
    if (percentile >= 97 and paid > 21.9) or (before in {"hot", "very-hot"} and percentile >= 75 and paid > 10.95):
        return "hot"
    if (percentile <= 0.5 and paid < -21.9) or (before == "very-cold" and percentile <= 10 and paid < -10.95):
        return "very-cold"
    if (percentile <= 3 and paid < -10.95) or (before in {"cold", "very-cold"} and percentile <= 25 and paid < 0):
        return "cold"
    return None


def expected_changes(payments: Sequence[PaymentRow], from_ms: int = -1) -> Iterator[Transition]:
    """The changes of a machine that is in no zone until `from_ms`, and judges every payment after it."""
    zone: Zone | None = None
    for place, (at_ms, rate, _) in enumerate(payments):
        past = [apr(other) for paid_ms, other, _ in payments[:place] if paid_ms > at_ms - THIRTY_DAYS]
        if at_ms <= from_ms or len(past) < 168:
            continue
        percentile = rank(apr(rate), past)
        before, zone = zone, zone_of(zone, percentile, apr(rate))
        if zone != before:
            yield at_ms, before, zone, apr(rate), percentile


Fired = tuple[Zone, int, int | None, float, float]


def expected_events(payments: Sequence[PaymentRow], from_ms: int, since_ms: int) -> list[Fired]:
    """Zone, fired, cleared, APR and percentile of the events of payments from `from_ms` on, not over by `since_ms`."""
    milder = {"very-hot": "hot", "very-cold": "cold"}
    fired: list[Fired] = []
    for at_ms, before, after, paid, percentile in expected_changes(payments, from_ms):
        for place, (zone, start_ms, cleared_ms, *figures) in enumerate(fired):
            if cleared_ms is None and after != zone and milder.get(str(after)) != zone:
                fired[place] = (zone, start_ms, at_ms, figures[0], figures[1])
        if after is not None and milder.get(str(before)) != after:
            fired.append((after, at_ms, None, paid, percentile))
    return [event for event in fired if event[2] is None or event[2] >= since_ms]
