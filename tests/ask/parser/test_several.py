"""Several things named: their order, whether any or none of them is so, and what follows on a comparison."""

import pytest
from msgspec import structs

from service.ask import query as q
from tests.ask.parser import reading as r


def _exists(names: str, quantifier: str, where: q.Condition = r.DOWNTREND) -> q.Query:
    return r.done(q.Exists(quantifier), r.coins(names), where)  # type: ignore[arg-type]  # a test's own literal


_DAILY_DOWN = r.holds(r.trend("daily"), "eq", "DOWN")
_SIDE_BY_SIDE = q.Query(subject=r.coins("BTC ETH"), measures=(q.Measure("funding"),), operation=q.Compare())
_RATIO = q.Query(subject=r.coins("ETH BTC"), measures=(q.Measure("price"),), operation=q.Ratio())
_MONTH_AGO = structs.replace(_RATIO, time=r.day("2026-10-24", "30 days ago"))
_GAIN = q.Query(subject=r.coins("LTC"), operation=q.Profit(q.Holding(30.0, "LTC"), 84.0))

_READ: r.Rows = {
    "best L1 and highest funding": (
        r.rank("change", 1, subject=r.L1S),
        r.rank("funding", 1, subject=r.L1S),
    ),
    "top L1 by volume and highest funding": (
        r.rank("volume", 1, subject=r.L1S),
        r.rank("funding", 1, subject=r.L1S),
    ),
    "scores of BTC, XRP, BCH and HYPE, best first": r.compared("BTC XRP BCH HYPE", "score", "most"),
    "funding of btc eth sol, worst first": r.compared("BTC ETH SOL", "funding", "least"),
    "btc eth sol by market cap, big to small": r.compared("BTC ETH SOL", "market_cap", "most"),
    "top 5 L1s by volume, best first": r.rank("volume", 5, subject=r.L1S),
    "tell me whether either of BTC and ETH is in a daily downtrend": _exists("BTC ETH", "any", _DAILY_DOWN),
    "is btc or eth in a downtrend": _exists("BTC ETH", "any"),
    "are any of btc, eth and sol in a downtrend": _exists("BTC ETH SOL", "any"),
    "are neither btc nor eth in a downtrend": _exists("BTC ETH", "none"),
    "none of btc, eth and sol is in a downtrend, right?": _exists("BTC ETH SOL", "none"),
    "price of btc and eth | is either of them in a downtrend?": _exists("BTC ETH", "any"),
    "price of btc and eth | neither of them is in a downtrend, right?": _exists("BTC ETH", "none"),
    "are both btc and eth in a downtrend": r.done(q.Check(), r.coins("BTC ETH"), r.DOWNTREND),
    "which of btc or eth is in a downtrend": r.done(q.Check(), r.coins("BTC ETH"), r.DOWNTREND),
    "coins in a downtrend, but neither btc nor eth": r.listed(
        r.DOWNTREND, q.Subject(scope="all", excluded=("BTC", "ETH"))
    ),
    "did btc or eth do better over 7 days": r.compared("BTC ETH", r.change(r.WEEK), "most"),
    "compare funding of btc and eth. who is the winner?": (_SIDE_BY_SIDE, r.compared("BTC ETH", "funding", "most")),
    "compare funding of btc and eth and name the loser": (_SIDE_BY_SIDE, r.compared("BTC ETH", "funding", "least")),
    "which L1 is the largest and which fell the most over 7 days": (
        r.rank("market_cap", 1, subject=r.L1S),
        r.rank(r.change(r.WEEK), 1, "least", r.L1S),
    ),
    "what did the podcasts say about TAO? quote with speaker": q.Query(
        subject=r.coins("TAO"), operation=q.Route("transcripts")
    ),
    "price of ETH and BTC, cheapest to most expensive": r.compared("ETH BTC", "price", "least"),
    "prices of eth, btc and sol from cheapest to most expensive": r.compared("ETH BTC SOL", "price", "least"),
    "coins in a downtrend, in alphabetical order": r.listed(r.DOWNTREND),
    "list L1s by name": r.done(q.List(), r.L1S),
    "btc and eth price, and whether either is in a downtrend": (r.value("BTC ETH", "price"), _exists("BTC ETH", "any")),
    "did btc do better than eth over 7 days": r.checked("BTC", q.Test(r.change(r.WEEK), "gt", coin="ETH")),
    "has btc been weaker than eth over 7 days": r.checked("BTC", q.Test(r.change(r.WEEK), "lt", coin="ETH")),
    "is btc's funding better than eth's": r.checked("BTC", q.Test(q.Measure("funding"), "gt", coin="ETH")),
    "ratio eth/btc now and 30 days ago": (_MONTH_AGO, _RATIO),
    "ltc entry 84, 30 coins. whats it worth and whats the gain percent": _GAIN,
}


@pytest.mark.parametrize(("question", "queries"), r.table(_READ))
def test_several_things_are_ordered_asked_about_and_compared_together(
    question: str, queries: tuple[q.Query, ...]
) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "price of eth, btc and sol alphabetically",
        "L1s by volume in alphabetical order",
        "top 5 by volume, worst first",
        "are at least two of btc, eth and sol in a downtrend",
        "is only one of btc and eth in a downtrend",
    ],
)
def test_an_order_or_a_number_of_them_that_cannot_be_asked_for_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None
