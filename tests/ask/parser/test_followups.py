"""Follow-ups: what a turn changes of the question before it, and what it keeps."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_RENAMED: r.Rows = {
    "price of btc | and sol?": r.value("SOL", "price"),
    "price of btc | what about eth and sol": r.value("ETH SOL", "price"),
    "7d change of btc | sol too?": r.value("SOL", r.change(r.WEEK)),
    "is sol bullish? | and eth?": r.checked("ETH", r.BULLISH),
    "market regime | and btc?": r.value("BTC", "regime"),
    "top 5 memes by volume | and L1s?": r.rank("volume", 5, subject=r.L1S),
    "price of btc | price of eth": r.value("ETH", "price"),
    "price of btc | what is the funding of eth?": r.value("ETH", "funding"),
    "how many coins are in an uptrend? | and memes?": r.done(q.Count(), r.MEMES, r.UPTREND),
    "average funding of L1s | and of memes?": q.Query(
        subject=r.MEMES, measures=(q.Measure("funding"),), operation=q.Aggregate("mean")
    ),
    "gold price | and btc?": r.value("BTC", "price"),
    "news about sol | and btc": q.Query(subject=r.coins("BTC"), operation=q.Route("news")),
    "price of BTC | add ETH": r.value("BTC ETH", "price"),
    "what's SOL's correlation to BTC? | and to ETH?": r.value("SOL", q.Measure("correlation", other="ETH")),
    "correlation of SOL to BTC | and to ETH?": r.value("SOL", q.Measure("correlation", other="ETH")),
    "top 5 gainers today | only L2s": r.rank(r.change(r.DAY), 5, subject=r.L2S),
    "why is sol up today? | and eth?": q.Query(subject=r.coins("ETH"), measures=(r.change(r.DAY),), operation=q.Why()),
}

_RETIMED: r.Rows = {
    "price of btc | and a week ago?": r.value("BTC", "price", time=r.day("2026-11-16", "7 days ago")),
    "7d change of btc | over 30 days?": r.value("BTC", r.change(r.MONTH)),
    "top 5 gainers today | over 7 days?": r.rank(r.change(r.WEEK), 5),
    "price of btc | yesterday?": r.value("BTC", "price", time=r.day("2026-11-22", "yesterday")),
    "price of btc | what was it a week ago?": r.value("BTC", "price", time=r.day("2026-11-16", "7 days ago")),
    "convert 2 btc to eth | and yesterday?": q.Query(
        subject=r.coins("BTC ETH"),
        time=r.day("2026-11-22", "yesterday"),
        operation=q.Convert(q.Holding(2.0, "BTC"), ("ETH",)),
    ),
    "is btc bullish? | was it a week ago?": q.Query(
        subject=r.coins("BTC"), where=r.BULLISH, time=r.day("2026-11-16", "7 days ago"), operation=q.Check()
    ),
    "volatility of btc | over 7 days?": r.value("BTC", q.Measure("volatility", over=r.WEEK)),
    "funding of btc | and for eth over 30 days": r.value("ETH", q.Measure("funding", over=r.MONTH, mean=True)),
    "carry of a 10k long in eth | and for btc over 30 days": r.value(
        "BTC", q.Measure("carry", over=r.MONTH, side="long", notional=10_000.0)
    ),
    "carry of a 10k long in eth | and over 7 days": r.value(
        "ETH", q.Measure("carry", over=r.WEEK, side="long", notional=10_000.0)
    ),
    "sentiment of btc | over 7 days?": r.value("BTC", "sentiment", time=r.WEEK),
    "sentiment of btc | and eth over 7 days?": r.value("ETH", "sentiment", time=r.WEEK),
    "how is btc | and eth over 7 days?": r.value("ETH", r.change(r.WEEK)),
    "7d change of btc | and eth over 30 days?": r.value("ETH", r.change(r.MONTH)),
    "funding of btc | how did eth do over 30 days?": r.value("ETH", r.change(r.MONTH)),
    "funding of btc | how did it do over 30 days?": r.value("BTC", r.change(r.MONTH)),
    "price and funding of btc | and eth over 30 days?": q.Query(
        subject=r.coins("ETH"),
        measures=(q.Measure("price"), q.Measure("funding", over=r.MONTH, mean=True)),
        time=r.MONTH,
    ),
    "market regime | the 3 worst L1s over 7 days": r.rank(r.change(r.WEEK), 3, "least", subject=r.L1S),
    "correlation of btc and eth | and sol over 30 days": r.value(
        "SOL", q.Measure("correlation", over=r.MONTH, other="BTC")
    ),
    "funding of btc | compare eth and sol over 30 days": q.Query(
        subject=r.coins("ETH SOL"), measures=(r.change(r.MONTH),), operation=q.Compare()
    ),
}

_REMEASURED: r.Rows = {
    "how is sol doing? | and what was said about it on the pods?": q.Query(
        subject=r.coins("SOL"), operation=q.Route("transcripts")
    ),
    "price of btc | and its funding?": r.value("BTC", "funding"),
    "btc and eth | price": r.value("BTC ETH", "price"),
    "7d change of btc | and the volatility?": r.value("BTC", "volatility"),
    "trend of btc | and the weekly one?": r.value("BTC", r.trend("weekly")),
    "is btc in a daily uptrend? | and the weekly one?": r.checked("BTC", r.holds(r.trend("weekly"), "eq", "UP")),
    "top 5 coins by volume | and by funding?": r.rank("funding", 5),
    "top 3 coins by volume | and their funding?": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"), q.Measure("funding")), operation=q.Rank("most", 3)
    ),
    "the coin with the highest volume | what is its funding?": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"), q.Measure("funding")), operation=q.Rank("most", 1)
    ),
    "compare BTC and ETH | by volume?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("volume"),), operation=q.Compare()
    ),
    "price of sol | why?": q.Query(subject=r.coins("SOL"), measures=(q.Measure("price"),), operation=q.Why()),
    "when was SOL's high this month? | and its low?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("low"),), time=r.THIS_MONTH, operation=q.Extreme("min")
    ),
    "which has more volume, BTC or ETH? | and open interest?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("open_interest"),), operation=q.Compare("most")
    ),
    "price of BTC and ETH | ratio?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("price"),), operation=q.Ratio()
    ),
    "price of btc | and its weekly trend yesterday": r.value(
        "BTC", r.trend("weekly"), time=r.day("2026-11-22", "yesterday")
    ),
    "sol | rank by volume?": q.Query(subject=r.coins("SOL"), measures=(q.Measure("volume"),), operation=q.Position()),
    "the worst performer today? | how much did it lose?": r.rank(r.change(r.DAY), 1, "least"),
    "is btc in an uptrend? | since when?": q.Query(subject=r.coins("BTC"), where=r.UPTREND, operation=q.When("since")),
    "the coin with the highest volume | what is its trend?": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"), q.Measure("trend")), operation=q.Rank("most", 1)
    ),
    "coins with funding above 20% | the top 3 of them": q.Query(
        subject=r.ALL,
        measures=(q.Measure("funding"),),
        where=r.holds("funding", "gt", 20.0),
        operation=q.Rank("most", 3),
    ),
    "top 5 gainers today | the leader's price?": q.Query(
        subject=r.ALL, measures=(r.change(r.DAY), q.Measure("price")), operation=q.Rank("most", 1)
    ),
    "price of btc yesterday | and its trend?": r.value("BTC", "trend", time=r.day("2026-11-22", "yesterday")),
    "highest price of SOL this month | when?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("high"),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "7 day low of BTC and ETH | when?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("low"),), time=r.WEEK, operation=q.Extreme("min")
    ),
    "which has more volume, BTC or ETH? | by how much?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("volume"),), operation=q.Compare("most")
    ),
    "funding of BTC | average over 7 days?": r.value("BTC", q.Measure("funding", over=r.WEEK, mean=True)),
}

_NARROWED: r.Rows = {
    "coins in an uptrend | which of those have negative funding?": r.listed(q.All((r.UPTREND, r.PAYS_LONGS))),
    "coins in an uptrend | only the bullish ones": r.listed(q.All((r.UPTREND, r.BULLISH))),
    "coins in an uptrend | bullish": r.listed(q.All((r.UPTREND, r.BULLISH))),
    "coins in an uptrend | and how many are bullish?": r.done(q.Count(), where=q.All((r.UPTREND, r.BULLISH))),
    "memes | which of them are in an uptrend?": r.listed(r.UPTREND, r.MEMES),
    "coins with a neutral regime | are any memes neutral?": r.done(
        q.Exists("any"), r.MEMES, r.holds("regime", "eq", "neutral")
    ),
    "coins in an uptrend | and L2s?": r.listed(r.UPTREND, r.L2S),
    "top 5 coins by volume | and the bottom 3?": r.rank("volume", 3, "least"),
    "how many coins are in an uptrend? | and in a downtrend?": r.done(q.Count(), where=r.DOWNTREND),
    "coins in an uptrend | and not bullish": r.listed(q.All((r.UPTREND, q.Not(r.BULLISH)))),
    "coins in an uptrend | are any of them risk-off?": r.done(
        q.Exists("any"), where=q.All((r.UPTREND, r.holds("regime", "eq", "risk-off")))
    ),
    "coins in an uptrend | how many of them are bullish?": r.done(q.Count(), where=q.All((r.UPTREND, r.BULLISH))),
    "best day of SOL this month | and the worst?": q.Query(
        subject=r.coins("SOL"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("min")
    ),
    "which has more volume, BTC or ETH? | and the least?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("volume"),), operation=q.Compare("least")
    ),
    "coins in an uptrend | above 10?": r.listed(q.All((r.UPTREND, r.holds("price", "gt", 10.0)))),
    "top 5 gainers today | show 10": r.rank(r.change(r.DAY), 10),
    "top 5 gainers today | and the losers?": r.rank(r.change(r.DAY), 5, "least"),
    "biggest losers today | only the top 3": r.rank(r.change(r.DAY), 3, "least"),
    "coins in an uptrend | how many?": r.done(q.Count(), where=r.UPTREND),
    "coins with funding above 20% | and above 10%?": r.listed(r.holds("funding", "gt", 10.0)),
    "coins with funding above 20% | and below -20%?": r.listed(r.holds("funding", "lt", -20.0)),
    "coins with negative funding | and with positive funding?": r.listed(r.holds("funding", "gt", 0.0)),
    "price of btc | is it bullish?": r.checked("BTC", r.BULLISH),
    "price of btc | is it in an uptrend?": r.checked("BTC", r.UPTREND),
    "top 5 gainers | what about 10?": r.rank(r.change(), 10),
    "top 5 gainers | exclude BTC and ETH": q.Query(
        subject=q.Subject(scope="all", excluded=("BTC", "ETH")), measures=(r.change(),), operation=q.Rank("most", 5)
    ),
    "coins in an uptrend | without memes": r.listed(r.UPTREND, q.Subject(scope="all", excluded_categories=("Meme",))),
    "biggest losers today | top 3 over 7 days?": r.rank(r.change(r.WEEK), 3, "least"),
    "coins in an uptrend | how many are L1s?": r.done(q.Count(), r.L1S, r.UPTREND),
}

_CARRY: q.Measure = q.Measure("carry", side="short", notional=50_000.0)
_CONSTRAINED: r.Rows = {
    "worst 5 over 7d | ignore anything under 500 million market cap": q.Query(
        subject=r.ALL,
        measures=(r.change(r.WEEK),),
        where=q.Not(r.holds("market_cap", "lt", 500_000_000.0)),
        operation=q.Rank("least", 5),
    ),
    "how many coins are up over 7 days? | and how many on the month?": r.done(
        q.Count(), where=r.holds(r.change(r.MONTH), "gt", 0.0)
    ),
    "are any memes up over 7 days? | and over 30 days?": r.done(
        q.Exists("any"), r.MEMES, r.holds(r.change(r.MONTH), "gt", 0.0)
    ),
    "how many coins are up over 7 days? | and of those how many are L2": r.done(
        q.Count(), r.L2S, r.holds(r.change(r.WEEK), "gt", 0.0)
    ),
    "price of btc a week ago | and now?": r.value("BTC", "price"),
    "price of btc | best and worst day this month": tuple(
        q.Query(subject=r.coins("BTC"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme(which))
        for which in ("max", "min")
    ),
    "compare SUI and APT | which one has more volume": q.Query(
        subject=r.coins("SUI APT"), measures=(q.Measure("volume"),), operation=q.Compare("most")
    ),
    "$50k long INJ, cost of carry per day? | and short?": r.value("INJ", _CARRY),
    "$50k long INJ, cost of carry per day? | make it JUP, and short": r.value("JUP", _CARRY),
    "I shorted 10 eth at 3500, pnl? | and if it was long": r.done(
        q.Profit(q.Holding(10.0, "ETH"), 3500.0, side="long"), r.coins("ETH")
    ),
}
"""What a turn says of the window, the side or the coins left out replaces or narrows what was said before it."""

_MONEY: r.Rows = {
    "I have 2 BTC and 1 ETH | what is it worth?": q.Query(
        subject=r.coins("BTC ETH"), operation=q.ValueOf((q.Holding(2.0, "BTC"), q.Holding(1.0, "ETH")))
    ),
    "I bought 2 sol at 150 | what is my profit?": r.done(q.Profit(q.Holding(2.0, "SOL"), 150.0), r.coins("SOL")),
    "I bought 2 sol at 150 | am I up?": r.done(q.Profit(q.Holding(2.0, "SOL"), 150.0), r.coins("SOL")),
    "I bought 2 sol at 150 | and 5?": r.done(q.Profit(q.Holding(5.0, "SOL"), 150.0), r.coins("SOL")),
    "0.3 btc in dollars | and how many sol would that be": q.Query(
        subject=r.coins("BTC SOL"), operation=q.Convert(q.Holding(0.3, "BTC"), ("SOL",))
    ),
    "I hold 20 ADA | and in eth?": q.Query(
        subject=r.coins("ADA ETH"), operation=q.Convert(q.Holding(20.0, "ADA"), ("ETH",))
    ),
    "I hold 20 ADA | and a week ago it was worth?": q.Query(
        subject=r.coins("ADA"), operation=q.ValueOf((q.Holding(20.0, "ADA"),)), time=r.day("2026-11-16", "7 days ago")
    ),
    "I have 2 BTC and 1 ETH | which part is the biggest?": q.Query(
        subject=r.coins("BTC ETH"), operation=q.ValueOf((q.Holding(2.0, "BTC"), q.Holding(1.0, "ETH")))
    ),
    "I have 2 BTC and 1 ETH | what share is ETH?": q.Query(
        subject=r.coins("BTC ETH"), operation=q.ValueOf((q.Holding(2.0, "BTC"), q.Holding(1.0, "ETH")))
    ),
    "funding on SOL | what would a 10k long pay per day | and a 25k one": r.value(
        "SOL", q.Measure("carry", side="long", notional=25_000.0)
    ),
    "convert 2 btc to eth | what is it worth?": q.Query(
        subject=r.coins("BTC ETH"), operation=q.Convert(q.Holding(2.0, "BTC"), ("ETH",))
    ),
}

_ALONE: r.Rows = {
    "who are you? | price of btc": r.value("BTC", "price"),
    "price of btc | how is the market?": r.of_market(),
    "will btc moon? | price of eth": r.value("ETH", "price"),
    "price of btc | which memes are in an uptrend?": r.listed(r.UPTREND, r.MEMES),
    "price of btc | how many coins are in an uptrend?": r.done(q.Count(), where=r.UPTREND),
    "price of btc | top 3 gainers today": r.rank(r.change(r.DAY), 3),
    "price of btc | fear and greed index": r.of_market("fear_greed"),
    "price of btc | and short?": r.value("BTC", "verdict", "score"),
}

_OF_ONE_SET: r.Rows = {
    "price of btc | and sol and gold": (
        r.value("SOL", "price"),
        q.Query(subject=q.Subject(scope="assets", assets=("xyz:GOLD",)), measures=(q.Measure("price"),)),
    ),
    "coins in an uptrend | the best and the worst of them?": (
        q.Query(subject=r.ALL, measures=(q.Measure("change"),), where=r.UPTREND, operation=q.Rank("most", 1)),
        q.Query(subject=r.ALL, measures=(q.Measure("change"),), where=r.UPTREND, operation=q.Rank("least", 1)),
    ),
    "coins that are up and have negative funding | over 7 days?": r.listed(
        q.All((r.holds(r.change(r.WEEK), "gt", 0.0), r.holds("funding", "lt", 0.0)))
    ),
}


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table({**_RENAMED, **_RETIMED, **_REMEASURED, **_NARROWED, **_CONSTRAINED, **_MONEY, **_ALONE, **_OF_ONE_SET}),
)
def test_a_turn_is_read_with_the_one_before_it(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


def test_only_a_turn_that_needs_the_one_before_it_is_a_follow_up() -> None:
    assert r.read("price of btc | and sol?").follow_up
    assert not r.read("price of btc | price of eth").follow_up


def test_no_more_than_six_turns_are_remembered() -> None:
    assert r.read(" | ".join(["price of btc", *["hello"] * 5, "and sol?"])).follow_up
    assert not r.read(" | ".join(["price of btc", *["hello"] * 6, "and sol?"])).follow_up


@pytest.mark.parametrize(
    "question", ["why?", "its price", "over 7 days?", "is it up?", "do they pay?", "compare it with BTC"]
)
def test_a_turn_without_one_before_it_is_ambiguous(question: str) -> None:
    refusal = r.read(question).refusal
    assert refusal is not None
    assert refusal.reason == "ambiguous"


@pytest.mark.parametrize(
    "question",
    [
        "top 5 gainers today | and 3 of 7",
        "top 5 memes | L1s without SOL",
        "coins in an uptrend | without BTC which have negative funding",
        "price of btc | and rsi?",
        "price of btc | and not",
        "funding of btc | same for eth, over 30 days",
        "top 5 coins by volume | ascending",
        "$50k long INJ, cost of carry per day? | make it JUP, and short over the last 9 days",
        "price of eth? | and solana | where were both 7 days ago",
        "which L1s are in a downtrend? | how many of them are L2s?",
        "coins with funding above 20% | and over 30 days?",
        "price of btc | and the weekly one?",
        "I bought 2 sol at 150 | and bullish?",
        "price of btc | can you help me?",
        "top 5 coins by volume | and the bottom 3 in an uptrend?",
        "funding of BTC this month | yesterday?",
        "price of BTC and gold | which is higher?",
        "top 5 memes by volume | which of them are bullish?",
        "what are 2 BTC worth? | only its change over 7 days",
        "what are 2 BTC worth? | only top 3 losers over 7 days",
        "L1s by volume | only which coin has the lowest open interest?",
        "I shorted 10 eth at 3500, pnl? | only top 3 losers over 7 days",
    ],
)
def test_a_turn_that_cannot_be_read_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None
