"""Scorecards for tests: verdicts that were given the same number of times on each of so many days."""

from service.verdict.scorecard import DaySpread, OutcomeCell, Scorecard
from service.wire.verdict import Label


def cell(count: int, *, ups: int, symbol: str = "BTC", verdict: Label = "bull", days: int = 1) -> OutcomeCell:
    """So many outcomes of which so many rose by 3 %, and the rest fell by 1 %."""
    downs = count - ups
    return OutcomeCell("daily", days, symbol, verdict, count, ups, downs, downs, ups * 3.0 - downs)


def card(*cells: OutcomeCell, days: int = 100) -> Scorecard:
    """Cells, as if each verdict had been given equally often on so many days, and been right equally often."""
    spreads = []
    for kind, horizon, verdict in dict.fromkeys((each.kind, each.days, each.verdict) for each in cells):
        own = [each for each in cells if (each.kind, each.days, each.verdict) == (kind, horizon, verdict)]
        outcomes, hits = sum(each.outcomes for each in own), sum(_hits(each) for each in own)
        products = (a * b // days for a, b in ((hits, hits), (hits, outcomes), (outcomes, outcomes)))
        spreads.append(DaySpread(kind, horizon, verdict, days, *products))
    return Scorecard(2, list(cells), spreads)


def _hits(each: OutcomeCell) -> int:
    if each.verdict == "neutral":
        return each.flats
    return each.ups if "bull" in each.verdict else each.downs
