"""Days of one coin that are counted, first days, closes and means over days, and distances from highs and lows."""

from collections.abc import Mapping

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_OCTOBER = r.between("2026-10-01", "2026-11-01", "October 2026")
_A_DAY = q.Window(1, "d", "1 day")
_UP = q.Test(q.Measure("change", over=_A_DAY), "gt", 0.0)
_MOVED = q.Any_(
    (q.Test(q.Measure("change", over=_A_DAY), "gt", 5.0), q.Test(q.Measure("change", over=_A_DAY), "lt", -5.0))
)


def counted(where: q.Condition, time: q.Time) -> q.Query:
    return q.Query(subject=r.coins("SOL"), where=where, time=time, operation=q.Count())


_ROWS: Mapping[str, q.Query | None] = {
    "how many green days did SOL have in the past 30 days?": counted(_UP, r.MONTH),
    "how many of the last 7 closed days did SOL finish green?": counted(_UP, r.WEEK),
    "on how many of the days was SOL up over 7 days?": counted(_UP, r.WEEK),
    "how many of the last 30 days did SOL close higher than the day before": counted(_UP, r.MONTH),
    "on how many days of October 2026 did SOL close above 190 dollars?": counted(
        r.holds("price", "gt", 190.0), _OCTOBER
    ),
    "how many days was SOL not in an uptrend in October": counted(q.Not(r.holds("trend", "eq", "UP")), _OCTOBER),
    "how often did SOL move more than 5% in either direction over the last 30 days": counted(_MOVED, r.MONTH),
    "how often was SOL bullish or in an uptrend in either direction in October": None,
    "how many days is SOL's price?": None,
    "how many hours was SOL above 190 today?": None,
    "when did SOL first close a day above 190 dollars?": q.Query(
        subject=r.coins("SOL"), where=r.holds("price", "gt", 190.0), operation=q.When("first")
    ),
    "the first time SOL closed below 190": q.Query(
        subject=r.coins("SOL"), where=r.holds("price", "lt", 190.0), operation=q.When("first")
    ),
    "did SOL close above 190 in October?": q.Query(
        subject=r.coins("SOL"), where=r.holds("close", "gt", 190.0), time=_OCTOBER, operation=q.Check()
    ),
    "did SOL's price and verdict close above 190 in October?": None,
    "highest daily close of SOL in October": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("close"),), time=_OCTOBER, operation=q.Extreme("max")
    ),
    "average closing price of SOL in October": r.value("SOL", q.Measure("price", mean=True), time=_OCTOBER),
    "price of SOL now and its average over 30 days": None,
}


@pytest.mark.parametrize(("question", "query"), _ROWS.items(), ids=_ROWS)
def test_days_are_counted_by_their_closes(question: str, query: q.Query | None) -> None:
    if query is None:
        assert r.read(question).refusal is not None
    else:
        r.assert_reads(question, [query])


_DISTANCES: Mapping[str, q.Query | None] = {
    "how much is SOL up from its 30-day low?": r.value("SOL", q.Measure("from_low", over=r.MONTH)),
    "how much has SOL bounced from its October low": r.value("SOL", q.Measure("from_low", over=_OCTOBER)),
    "how far below its October high is SOL?": r.value("SOL", q.Measure("from_high", over=_OCTOBER)),
    "SOL's drawdown from its October high": r.value("SOL", q.Measure("from_high", over=_OCTOBER)),
    "how much did SOL rise from its October low to its high": None,
    "coins more than 20 % above their 30-day low": None,
    "coins above their 30-day low": None,
    "which coin is closest to its 30-day low": None,
}


@pytest.mark.parametrize(("question", "query"), _DISTANCES.items(), ids=_DISTANCES)
def test_a_distance_is_measured_from_the_bound_that_is_named(question: str, query: q.Query | None) -> None:
    if query is None:
        assert r.read(question).refusal is not None
    else:
        r.assert_reads(question, [query])
