"""What a message says of how to answer, and messages of several requests about different things."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_UPTREND = r.holds(q.Measure("trend", frame="daily"), "eq", "UP")
_UPTRENDS = r.done(q.Count(), where=_UPTREND)

_HOW: r.Rows = {
    "two things: how many coins are in a daily uptrend, and is eth one of them?": (
        _UPTRENDS,
        r.checked("ETH", _UPTREND),
    ),
    "i got 3 questions haha. xrp price? xrp market cap?": (r.value("XRP", "price"), r.value("XRP", "market_cap")),
    'Return JSON only: {"symbol": ..., "price": ..., "change_24h": ...} for BTC.': r.value(
        "BTC", "price", r.change(r.DAY)
    ),
    'fill in: {"btc_price": null, "eth_price": null}': r.value("BTC ETH", "price"),
    'for ETH a dictionary {"volatility_30d": 0, "last":"..."}': r.value(
        "ETH", q.Measure("volatility", over=r.MONTH), "price"
    ),
    "no smalltalk. markdown table of price and 7d change for SOL, AVAX": r.value("SOL AVAX", "price", r.change(r.WEEK)),
    "Markdown table, please: symbol|price|7d % for BTC, XRP": r.value("BTC XRP", "price", r.change(r.WEEK)),
    "Respond in one short sentence, max 15 words: what is the market regime?": r.of_market("market_regime"),
    "Bullet points only, max 3: best coin 7d, worst coin 7d, share of coins up on 7d": (
        r.rank(r.change(r.WEEK), 1),
        r.rank(r.change(r.WEEK), 1, "least"),
        r.done(q.Share(), where=r.holds(r.change(r.WEEK), "gt", 0.0)),
    ),
    "price of btc. keep it short": r.value("BTC", "price"),
    "btc funding, explanation not required": r.value("BTC", "funding"),
    "price of doge, wif. one below the other pls": r.value("DOGE WIF", "price"),
    "Reply with exactly 2 numbers: price of BTC, price of ETH": r.value("BTC ETH", "price"),
    "You are the data node of a portfolio bot. For BTC return two fields: price, funding. No commentary": r.value(
        "BTC", "price", "funding"
    ),
    "top3 coins by volume": r.rank("volume", 3),
}

_OF_OTHERS: r.Rows = {
    "BTC's price, the market regime, and the number of coins in a daily uptrend": (
        r.value("BTC", "price"),
        r.of_market("market_regime"),
        _UPTRENDS,
    ),
    "fear & greed, BTC funding and ETH funding": (r.of_market("fear_greed"), r.value("BTC ETH", "funding")),
    "price of btc, then the top 3 gainers 24h, then fear and greed": (
        r.value("BTC", "price"),
        r.rank(r.change(r.DAY), 3),
        r.of_market("fear_greed"),
    ),
    "the market regime and also the 3 worst L1s over 7 days": (
        r.of_market("market_regime"),
        r.rank(r.change(r.WEEK), 3, "least", subject=r.L1S),
    ),
    "BTC now, ETH's funding": (r.value("BTC"), r.value("ETH", "funding")),
    "count of coins with daily UP, and top five of these by 30d return": (
        _UPTRENDS,
        q.Query(subject=r.ALL, measures=(r.change(r.MONTH),), where=_UPTREND, operation=q.Rank("most", 5)),
    ),
    "price of btc and the market cap": r.value("BTC", "price", "market_cap"),
}

_AFTER: r.Rows = {
    "is btc's weekly trend up? | what about eth weekly": r.checked(
        "ETH", r.holds(q.Measure("trend", frame="weekly"), "eq", "UP")
    ),
    "weekly trend of btc | and eth daily": r.value("ETH", q.Measure("trend", frame="daily")),
    "the regime of the market | no, of AVAX I meant": r.value("AVAX", "regime"),
    "btc price | I meant ETH, not BTC": r.value("ETH", "price"),
    "btc funding | no i wanted volume not funding": r.value("BTC", "volume"),
    "30 day change of btc | was eth better?": r.checked("ETH", q.Test(r.change(r.MONTH), "gt", coin="BTC")),
    "btc price | and eth? did it do better over 24h than btc": (
        r.value("ETH", "price"),
        r.checked("ETH", q.Test(r.change(r.DAY), "gt", coin="BTC")),
    ),
    "xrp 24h change | what about 7 days and 30 days": (
        r.value("XRP", r.change(r.WEEK)),
        r.value("XRP", r.change(r.MONTH)),
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table({**_HOW, **_OF_OTHERS, **_AFTER}))
def test_how_to_answer_and_what_else_is_asked_change_no_request(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "the last 5 values of funding of BTC",
        "which coins dropped 5 points",
        "price of btc with 3 decimals",
        "You are the desk that holds 3 coins. top coins by volume over 5 things",
        "did btc beat the market this week",
        "eth 7d change | and btc? did it do worse",
        "30 day change of btc | was eth better after fees in 3 hours and 7 days?",
        "funding of eth | was sol better",
        "btc price | was gold better",
        "I have 2 BTC and 1 ETH | and how many sol would that be",
        "btc price | and what about eth weekly",
        "I bought 2 sol at 150 | and is it in an uptrend?",
    ],
)
def test_a_number_that_limits_more_than_the_answer_is_not_left_out(question: str) -> None:
    understood = r.read(question)
    assert understood.refusal is not None, understood.queries
