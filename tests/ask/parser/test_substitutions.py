"""Questions that are easily answered as another: they are read in full or refused."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_TOP_BY_VOLUME = q.Ranked(q.Measure("volume"), "most", 5)
_MEAN_FUNDING = q.Measure("funding", over=r.WEEK, mean=True)

_HARD: r.Rows = {
    "coins with funding not above 20% and not below 5%": r.listed(
        q.All((r.holds("funding", "le", 20.0), r.holds("funding", "ge", 5.0)))
    ),
    "I have 3 ETH, what is my portfolio worth?": q.Query(
        subject=r.coins("ETH"), operation=q.ValueOf((q.Holding(3.0, "ETH"),))
    ),
    "coins up between 5% and 10% today": r.listed(
        q.All((r.holds(r.change(r.DAY), "ge", 5.0), r.holds(r.change(r.DAY), "le", 10.0)))
    ),
    "coins at least 20% below their 30-day high": r.listed(r.holds(q.Measure("drawdown", over=r.MONTH), "le", -20.0)),
    'get_funding(symbol="BTC", window="7d")': r.value("BTC", _MEAN_FUNDING, time=r.WEEK),
    "average funding of L1s | and the median?": q.Query(
        subject=r.L1S, measures=(q.Measure("funding"),), operation=q.Aggregate("median")
    ),
    "what should i short? | and buy?": r.done(q.Screen("long")),
    "what is half a million dollars in BTC?": q.Query(
        subject=r.coins("BTC"), operation=q.Convert(q.Holding(500_000.0, "USD"), ("BTC",))
    ),
    "isn't BTC in an uptrend?": r.checked("BTC", r.UPTREND),
    "coins with mean funding over 7 days above 20%": r.listed(r.holds(_MEAN_FUNDING, "gt", 20.0)),
    "coins with 7d average funding above 20%": r.listed(r.holds(_MEAN_FUNDING, "gt", 20.0)),
    "how many coins gained and how many lost today?": (
        r.done(q.Count(), where=r.holds(r.change(r.DAY), "gt", 0.0)),
        r.done(q.Count(), where=r.holds(r.change(r.DAY), "lt", 0.0)),
    ),
    "did BTC turn bullish this week?": r.checked("BTC", q.Changed(q.Measure("verdict"), "bull", r.THIS_WEEK)),
    "coins with 7d change above 5% and below 10%": r.listed(
        q.All((r.holds(r.change(r.WEEK), "gt", 5.0), r.holds(r.change(r.WEEK), "lt", 10.0)))
    ),
    "lowest positive funding": q.Query(
        subject=r.ALL,
        measures=(q.Measure("funding"),),
        where=r.holds("funding", "gt", 0.0),
        operation=q.Rank("least", 1),
    ),
    "top 60 coins by volume": r.rank("volume", 60),
    "the 500 coins with the highest volume": r.rank("volume", 500),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_HARD))
def test_a_hard_question_is_read_in_full_or_refused(question: str, queries: tuple[q.Query, ...]) -> None:
    understood = r.read(question)
    assert understood.refusal is not None or understood.queries == queries, understood.queries


@pytest.mark.parametrize(
    "question",
    [
        "coins above average volume",
        "how many of BTC, ETH and SOL are in an uptrend?",
        "price of SOL at 15:00 yesterday",
        "what percentage of total market cap is BTC?",
        "which coins flipped from up to down this week?",
        "I bought 2 sol at 150 | what was my profit a week ago?",
        "transfers of the Smith family",
        "price of SOL at 3pm",
        "BTC price minus ETH price",
        "coins that were in an uptrend a week ago but not now",
        "correlation of BTC to bitcoin",
        "coins that are both memes and L1s",
        "ratio of BTC to gold",
        "coins bullish last week and bearish now",
        "top losers by highest volume",
    ],
)
def test_what_cannot_be_asked_yet_is_refused(question: str) -> None:
    understood = r.read(question)
    assert understood.refusal is not None, understood.queries
