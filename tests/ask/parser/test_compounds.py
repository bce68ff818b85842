"""Several requests in one message, and prompts as agents write them."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_SEVERAL: r.Rows = {
    "price of BTC. trend of ETH": (r.value("BTC", "price"), r.value("ETH", "trend")),
    "price of BTC? funding of ETH?": (r.value("BTC", "price"), r.value("ETH", "funding")),
    "price of BTC; funding of ETH": (r.value("BTC", "price"), r.value("ETH", "funding")),
    "what is the price of BTC and also list memes in an uptrend": (
        r.value("BTC", "price"),
        r.listed(r.UPTREND, r.MEMES),
    ),
    "funding of BTC, is ETH in an uptrend?": (r.value("BTC", "funding"), r.checked("ETH", r.UPTREND)),
    "the market regime and top 5 coins by volume": (r.of_market("market_regime"), r.rank("volume", 5)),
    "of BTC and ETH, which has the higher funding?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("funding"),), operation=q.Compare("most")
    ),
    "among memes, which has the highest funding?": r.rank("funding", 1, subject=r.MEMES),
    "price of BTC and price of BTC": r.value("BTC", "price"),
    "what is the price of BTC? what is the price of BTC?": r.value("BTC", "price"),
    "price of SOL and": r.value("SOL", "price"),
    "... price of SOL": r.value("SOL", "price"),
    "what is the price of BTC and what are the top 3 gainers today?": (
        r.value("BTC", "price"),
        r.rank(r.change(r.DAY), 3),
    ),
    "price of BTC, the top 3 gainers today": (r.value("BTC", "price"), r.rank(r.change(r.DAY), 3)),
    "price of SOL? is the funding above 20%?": (
        r.value("SOL", "price"),
        r.checked("SOL", r.holds("funding", "gt", 20.0)),
    ),
    "coins in an uptrend. only those with negative funding": r.listed(q.All((r.UPTREND, r.PAYS_LONGS))),
    "which coin gained the most, and which coin lost the most over 7 days?": (
        r.rank(r.change(r.WEEK), 1),
        r.rank(r.change(r.WEEK), 1, "least"),
    ),
    "how many coins are up and which memes gained the most over 7 days?": (
        r.done(q.Count(), where=r.holds(r.change(r.WEEK), "gt", 0.0)),
        r.rank(r.change(r.WEEK), 5, subject=r.MEMES),
    ),
    "what is the price of SOL and is it in an uptrend?": (r.value("SOL", "price"), r.checked("SOL", r.UPTREND)),
    "news and price of BTC": (
        q.Query(subject=r.coins("BTC"), operation=q.Route("news")),
        r.value("BTC", "price"),
    ),
    "price of BTC and ETH. Which is more volatile?": (
        r.value("BTC ETH", "price"),
        q.Query(subject=r.coins("BTC ETH"), measures=(q.Measure("volatility"),), operation=q.Compare("most")),
    ),
    "top 5 memes and top 5 L1s by volume": (
        r.rank("volume", 5, subject=r.MEMES),
        r.rank("volume", 5, subject=r.L1S),
    ),
}

_FUNDING: q.Condition = r.holds("funding", "gt", 20.0)
_LED: r.Rows = {
    "coins with funding above 20%. Descending.": q.Query(
        subject=r.ALL, measures=(q.Measure("funding"),), where=_FUNDING, operation=q.Rank("most", 20)
    ),
    "coins with funding above 20%? highest volume first, max 6": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"),), where=_FUNDING, operation=q.Rank("most", 6)
    ),
    "Any coins with funding above 20%? Then the 3 with the best 30 days": q.Query(
        subject=r.ALL, measures=(r.change(r.MONTH),), where=_FUNDING, operation=q.Rank("most", 3)
    ),
    "L1s in an uptrend? The three with the highest volume.": q.Query(
        subject=r.L1S, measures=(q.Measure("volume"),), where=r.UPTREND, operation=q.Rank("most", 3)
    ),
    "coins up over 30 days? biggest gainers first": q.Query(
        subject=r.ALL,
        measures=(r.change(r.MONTH),),
        where=r.holds(r.change(r.MONTH), "gt", 0.0),
        operation=q.Rank("most", 20),
    ),
    "coins up over 30 days and bullish, biggest gain first": q.Query(
        subject=r.ALL,
        measures=(r.change(r.MONTH),),
        where=q.All((r.holds(r.change(r.MONTH), "gt", 0.0), r.BULLISH)),
        operation=q.Rank("most", 20),
    ),
    "top 5 memes by volume. Descending.": r.rank("volume", 5, subject=r.MEMES),
    "top 10 memes by volume. Bottom 3.": (
        r.rank("volume", 10, subject=r.MEMES),
        r.rank("volume", 3, "least", subject=r.MEMES),
    ),
    "top 10 memes by volume. Top 3 by funding.": (
        r.rank("volume", 10, subject=r.MEMES),
        r.rank("funding", 3, subject=r.MEMES),
    ),
    "which memes are in an uptrend? which have negative funding?": (
        r.listed(r.UPTREND, r.MEMES),
        r.listed(r.PAYS_LONGS, r.MEMES),
    ),
    "of the memes, how many are in a daily uptrend and how many in down?": (
        r.done(q.Count(), r.MEMES, r.holds(r.trend("daily"), "eq", "UP")),
        r.done(q.Count(), r.MEMES, r.holds(r.trend("daily"), "eq", "DOWN")),
    ),
    "worst L1 over 7 days and its funding": q.Query(
        subject=r.L1S, measures=(r.change(r.WEEK), q.Measure("funding")), operation=q.Rank("least", 1)
    ),
    "L1s in an uptrend. Average funding?": (
        r.listed(r.UPTREND, r.L1S),
        q.Query(subject=r.L1S, measures=(q.Measure("funding"),), where=r.UPTREND, operation=q.Aggregate("mean")),
    ),
    "how many L1s are bullish, and how many memes?": (
        r.done(q.Count(), r.L1S, r.BULLISH),
        r.done(q.Count(), r.MEMES, r.BULLISH),
    ),
    "bullish coins, then by 30d change": q.Query(
        subject=r.ALL, measures=(r.change(r.MONTH),), where=r.BULLISH, operation=q.Rank("most", 20)
    ),
    "calmest coin over 90 days? lowest volatility": r.rank(
        q.Measure("volatility", over=q.Window(90, "d", "90 days")), 1, "least"
    ),
    "memes: which has the highest funding and which the lowest?": (
        r.rank("funding", 1, subject=r.MEMES),
        r.rank("funding", 1, "least", subject=r.MEMES),
    ),
    "ONDO on 2026-11-01 - was it in an uptrend?": q.Query(
        subject=r.coins("ONDO"), where=r.UPTREND, time=r.day("2026-11-01"), operation=q.Check()
    ),
    "ZEC, XMR, DASH - line them up by volume": q.Query(
        subject=r.coins("ZEC XMR DASH"), measures=(q.Measure("volume"),), operation=q.Compare("most")
    ),
    "I don't want BTC, ETH or anything with funding above 20%": r.listed(
        q.Not(_FUNDING), q.Subject(scope="all", excluded=("BTC", "ETH"))
    ),
    "best and worst meme of 7 days, plus the price of both": tuple(
        q.Query(subject=r.MEMES, measures=(r.change(r.WEEK), q.Measure("price")), operation=q.Rank(direction, 1))
        for direction in ("most", "least")
    ),
    "is BTC bullish, since when?": (
        r.checked("BTC", r.BULLISH),
        q.Query(subject=r.coins("BTC"), where=r.BULLISH, operation=q.When("since")),
    ),
    "is BTC bullish and if so since when? and is SOL too?": (
        r.checked("BTC", r.BULLISH),
        q.Query(subject=r.coins("BTC"), where=r.BULLISH, operation=q.When("since")),
        r.checked("SOL", r.BULLISH),
    ),
    "how many coins are bullish, which of them has the highest volume apart from BTC": (
        r.done(q.Count(), where=r.BULLISH),
        q.Query(
            subject=q.Subject(scope="all", excluded=("BTC",)),
            measures=(q.Measure("volume"),),
            where=r.BULLISH,
            operation=q.Rank("most", 1),
        ),
    ),
}
"""A later sentence or clause without a set of its own is about that of the one before it."""

_NOW_TOO: r.Rows = {
    "price of SUI a week ago and where it is now": (
        r.value("SUI", "price", time=r.day("2026-11-16", "7 days ago")),
        r.value("SUI", "price"),
    ),
    "funding of SOL a week ago (7 days), what was it compared with now": (
        r.value("SOL", "funding", time=r.day("2026-11-16", "7 days ago")),
        r.value("SOL", "funding"),
    ),
    "trend of SOL? its funding a week ago and now": (
        r.value("SOL", "trend"),
        r.value("SOL", "funding", time=r.day("2026-11-16", "7 days ago")),
        r.value("SOL", "funding"),
    ),
    "I have 2 BTC and 1 ETH. total?": q.Query(
        subject=r.coins("BTC ETH"), operation=q.ValueOf((q.Holding(2.0, "BTC"), q.Holding(1.0, "ETH")))
    ),
    "SOL funding now and average 7 days": (
        r.value("SOL", q.Measure("funding", over=r.WEEK, mean=True), time=r.WEEK),
        r.value("SOL", "funding"),
    ),
    "when was SOL's high this month, and what is the price now": (
        q.Query(subject=r.coins("SOL"), measures=(q.Measure("high"),), time=r.THIS_MONTH, operation=q.Extreme("max")),
        r.value("SOL", "price"),
    ),
    "yesterday: high, low and close of AVAX": (
        r.value("AVAX", q.Measure("high", over=r.YESTERDAY), q.Measure("low", over=r.YESTERDAY)),
        r.value("AVAX", "price", time=r.day("2026-11-22", "yesterday")),
    ),
    "AVAX high yesterday, price now": r.value("AVAX", q.Measure("high", over=r.YESTERDAY), "price"),
}

_PROMPTS: r.Rows = {
    "1. price of BTC 2. funding of ETH": (r.value("BTC", "price"), r.value("ETH", "funding")),
    "(1) price of BTC (2) price of ETH": (r.value("BTC", "price"), r.value("ETH", "price")),
    "- price of BTC\n- funding of ETH": (r.value("BTC", "price"), r.value("ETH", "funding")),
    "First, the price of SOL. Second, its funding.": (r.value("SOL", "price"), r.value("SOL", "funding")),
    '{"symbol": "SOL", "fields": ["price", "funding"]}': r.value("SOL", "price", "funding"),
    'get_price(symbol="SUI")': r.value("SUI", "price"),
    'get_funding(symbol="BTC")': r.value("BTC", "funding"),
    "Return JSON with price and market_cap of AAVE.": r.value("AAVE", "price", "market_cap"),
    "price of BTC, answer in one sentence please": r.value("BTC", "price"),
    "Task 1: price of BTC. Task 2: top 3 gainers today.": (
        r.value("BTC", "price"),
        r.rank(r.change(r.DAY), 3),
    ),
    "First: price of SOL; second: top 3 gainers today": (r.value("SOL", "price"), r.rank(r.change(r.DAY), 3)),
    "You are a trading agent. Report the funding of BTC, ETH and SOL as csv.": r.value("BTC ETH SOL", "funding"),
}


@pytest.mark.parametrize(("question", "queries"), r.table({**_SEVERAL, **_LED, **_NOW_TOO, **_PROMPTS}))
def test_every_request_of_a_message_is_read_in_its_order(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "price of BTC and its rsi",
        "1. price of BTC 2. will ETH go up tomorrow?",
        "price of BTC and the 2nd",
        "price of btc with 3 decimals",
        "price of BTC, top 5 by daily",
        "price of BTC and coins with funding above",
        "top 5 memes by volume. Ascending.",
        "exhaustion mood, which coins over the last 9 days",
        "top 5 memes by volume, then the 3 with the best 30 days of them",
    ],
)
def test_a_message_is_refused_as_a_whole_where_a_part_cannot_be_answered(question: str) -> None:
    assert r.read(question).refusal is not None


def test_a_word_that_changes_nothing_is_named() -> None:
    r.assert_reads("BTC price, friends", [r.value("BTC", "price")], ignored=["friends"])


@pytest.mark.parametrize("word", ["institutional", "weighted", "implied"])
def test_a_word_before_a_measure_that_is_not_known_refuses_the_question(word: str) -> None:
    assert r.read(f"{word} price of BTC").refusal is not None
