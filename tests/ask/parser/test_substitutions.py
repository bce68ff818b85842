"""Questions that are easily answered as another: they are read in full or refused."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_TOP_BY_VOLUME = q.Ranked(q.Measure("volume"), "most", 5)
_MEAN_FUNDING = q.Measure("funding", over=r.WEEK, mean=True)

_HARD: r.Rows = {
    "funding of the 3 L1s with the lowest volatility": q.Query(
        subject=r.L1S,
        measures=(q.Measure("funding"),),
        where=q.Ranked(q.Measure("volatility"), "least", 3, own=True),
        operation=q.List(),
    ),
    "verdict on the top 5 coins by volume": q.Query(
        subject=r.ALL, measures=(q.Measure("verdict"),), where=_TOP_BY_VOLUME, operation=q.List()
    ),
    "what is the sentiment of the 5 biggest coins by volume": q.Query(
        subject=r.ALL, measures=(q.Measure("sentiment"),), where=_TOP_BY_VOLUME, operation=q.List()
    ),
    "funding of the 3 best L1s": q.Query(
        subject=r.L1S,
        measures=(q.Measure("funding"),),
        where=q.Ranked(q.Measure("change"), "most", 3, own=True),
        operation=q.List(),
    ),
    "how many of the 10 largest coins are in an uptrend": r.done(
        q.Count(), r.ALL, q.All((q.Ranked(q.Measure("market_cap"), "most", 10), r.UPTREND))
    ),
    "which of the 5 biggest L1s has the highest funding": q.Query(
        subject=r.L1S,
        measures=(q.Measure("funding"),),
        where=q.Ranked(q.Measure("market_cap"), "most", 5, own=True),
        operation=q.Rank("most", 1),
    ),
    "biggest single-day drop of ETH in the last 90 days": q.Query(
        subject=r.coins("ETH"),
        measures=(q.Measure("change"),),
        time=q.Window(90, "d", "90 days"),
        operation=q.Extreme("min"),
    ),
    "which is the strongest L2 vs btc over 30 days": r.rank(q.Measure("strength", over=r.MONTH), 1, subject=r.L2S),
    "which L2 beat BTC the most over 30 days": q.Query(
        subject=r.L2S,
        measures=(r.change(r.MONTH),),
        where=q.Test(r.change(r.MONTH), "gt", coin="BTC"),
        operation=q.Rank("most", 1),
    ),
    "funding of the largest meme coin": q.Query(
        subject=r.MEMES,
        measures=(q.Measure("funding"),),
        where=q.Ranked(q.Measure("market_cap"), "most", 1, own=True),
        operation=q.List(),
    ),
    "which L1 is the largest": r.rank("market_cap", 1, subject=r.L1S),
    "are most L1s in an uptrend": r.done(q.Exists("most"), r.L1S, r.UPTREND),
    "most expensive funding this week on average": r.rank(q.Measure("funding", over=r.THIS_WEEK, mean=True), 1),
    "which coins have the highest paid longs": r.rank("funding", 1, "least"),
    "where are longs paid the most": r.rank("funding", 1, "least"),
    "where do longs pay the most": r.rank("funding", 1),
    "which coin pays me the most to be short": r.rank("funding", 1),
    "which two coins are most correlated with BTC": r.rank("correlation", 2),
    "what was the monthly return of BTC in October": r.value(
        "BTC",
        q.Measure("change", over=r.between("2026-10-01", "2026-11-01", "October 2026")),
    ),
    "how many times bigger is BTC than ETH": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("market_cap"),), operation=q.Ratio()
    ),
    "how many times larger is the volume of BTC than of ETH": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("volume"),), operation=q.Ratio()
    ),
    "carry of BTC shorts": r.value("BTC", q.Measure("carry", side="short")),
    "ETH price at noon yesterday": r.value(
        "ETH",
        "price",
        time=q.At(r.day_ms("2026-11-22") + 43_200_000, whole_day=False, words="at 12:00 UTC on 2026-11-22"),
    ),
    "change of BTC since midnight": r.value("BTC", r.change(q.Between(r.TODAY_MS, None, "today so far"))),
    "is a single coin in a risk-off regime?": r.done(q.Exists("any"), where=r.holds("regime", "eq", "risk-off")),
    "who is cheaper to be long, MKR or AAVE?": r.compared("MKR AAVE", "funding", "least"),
    "which is cheaper to short, MKR or AAVE?": r.compared("MKR AAVE", "funding", "most"),
    "which fell more this week, BTC or ETH?": r.compared("BTC ETH", r.change(r.WEEK), "least"),
    "which lost less this week, BTC or ETH?": r.compared("BTC ETH", r.change(r.WEEK), "most"),
    "is SOL funding above ETH and BTC?": r.checked(
        "SOL", q.All(tuple(q.Test(q.Measure("funding"), "gt", coin=coin) for coin in ("ETH", "BTC")))
    ),
    "does SOL have a higher change than BTC and ETH over 7 days?": r.checked(
        "SOL", q.All(tuple(q.Test(r.change(r.WEEK), "gt", coin=coin) for coin in ("BTC", "ETH")))
    ),
    "is the open interest of SOL over its market cap?": r.checked(
        "SOL", q.Test(q.Measure("open_interest"), "gt", to=q.Measure("market_cap"))
    ),
    "memes with a return above 15% over 30 days sorted by that return": q.Query(
        subject=r.MEMES,
        measures=(r.change(r.MONTH),),
        where=r.holds(r.change(r.MONTH), "gt", 15.0),
        operation=q.Rank("most", 10),
    ),
    "is SOL in an uptrend? why so?": (
        r.checked("SOL", r.UPTREND),
        q.Query(subject=r.coins("SOL"), where=r.UPTREND, operation=q.Why()),
    ),
    "biggest meme": r.rank("market_cap", 1, subject=r.MEMES),
    "the 3 smallest L1s": r.rank("market_cap", 3, "least", subject=r.L1S),
    "what speaks for BTC in its verdict?": q.Query(
        subject=r.coins("BTC"), measures=(q.Measure("verdict"),), operation=q.Why()
    ),
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
    "coins 20% below their 30-day high": r.listed(r.holds(q.Measure("drawdown", over=r.MONTH), "le", -20.0)),
    "coins that are not memes": q.Query(
        subject=q.Subject(scope="all", excluded_categories=("Meme",)), operation=q.List()
    ),
    "I bought 2 sol at 150 | am I up or down?": r.done(q.Profit(q.Holding(2.0, "SOL"), 150.0), r.coins("SOL")),
    "gold price | and silver?": q.Query(
        subject=q.Subject(scope="assets", assets=("xyz:SILVER",)), measures=(q.Measure("price"),)
    ),
    "price of BTC and ETH | which is higher?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("price"),), operation=q.Compare("most")
    ),
    "top 3 coins by volume | and their regime?": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"), q.Measure("regime")), operation=q.Rank("most", 3)
    ),
    "top 2 coins by volume | which of those two are up?": r.listed(
        q.All((q.Ranked(q.Measure("volume"), "most", 2), r.holds("change", "gt", 0.0)))
    ),
    "coins in an uptrend | sort by volume": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"),), where=r.UPTREND, operation=q.Rank("most", 10)
    ),
    "coins in an uptrend | top 3 by volume": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"),), where=r.UPTREND, operation=q.Rank("most", 3)
    ),
    "I have 2 BTC and 1 ETH | what was it worth yesterday?": q.Query(
        subject=r.coins("BTC ETH"),
        time=r.day("2026-11-22", "yesterday"),
        operation=q.ValueOf((q.Holding(2.0, "BTC"), q.Holding(1.0, "ETH"))),
    ),
    "the coin with the highest volume | what was its funding yesterday?": q.Query(
        subject=r.ALL,
        measures=(q.Measure("volume"), q.Measure("funding")),
        time=r.day("2026-11-22", "yesterday"),
        operation=q.Rank("most", 1),
    ),
    "top 5 coins by volume | and by funding a week ago?": q.Query(
        subject=r.ALL,
        measures=(q.Measure("funding"),),
        time=r.day("2026-11-16", "7 days ago"),
        operation=q.Rank("most", 5),
    ),
    "trend of btc | and the weekly one a week ago?": r.value(
        "BTC", r.trend("weekly"), time=r.day("2026-11-16", "7 days ago")
    ),
    "compare BTC and ETH | and SOL?": q.Query(subject=r.coins("BTC ETH SOL"), operation=q.Compare()),
    "highest price of SOL this month | and this year?": q.Query(
        subject=r.coins("SOL"),
        measures=(q.Measure("high"),),
        time=r.between("2026-01-01", None, "this year"),
        operation=q.Extreme("max"),
    ),
    "how good are your verdicts? | and strong bull ones?": r.done(q.Record("verdicts", "strong-bull")),
    "top 5 coins by volume | which of them are in an uptrend?": r.listed(q.All((_TOP_BY_VOLUME, r.UPTREND))),
    "top 5 coins by volume | are they bullish?": r.listed(q.All((_TOP_BY_VOLUME, r.BULLISH))),
    "top 5 gainers today | and BTC?": r.value("BTC"),
    "coins with trend change yesterday": r.listed(q.Changed(q.Measure("trend"), None, r.YESTERDAY)),
    "did BTC's trend change this week?": r.checked("BTC", q.Changed(q.Measure("trend"), None, r.THIS_WEEK)),
    "last 5 funding alerts": q.Query(operation=q.Route("alerts", {"limit": "5"})),
    "how many coins rose and not fell today?": r.done(
        q.Count(),
        where=q.All((r.holds(r.change(r.DAY), "gt", 0.0), q.Not(r.holds(r.change(r.DAY), "lt", 0.0)))),
    ),
    "is the market neutral?": q.Query(
        subject=r.MARKET, where=r.holds("market_regime", "eq", "neutral"), operation=q.Check()
    ),
    "the top 10 by market cap ranked by 7d change": q.Query(
        subject=r.ALL,
        measures=(r.change(r.WEEK),),
        where=q.Ranked(q.Measure("market_cap"), "most", 10),
        operation=q.Rank("most", 10),
    ),
    "coins that are up and in an uptrend over 7 days": r.listed(
        q.All((r.holds(r.change(r.WEEK), "gt", 0.0), r.UPTREND))
    ),
    "how did strong bull verdicts do?": r.done(q.Record("verdicts", "strong-bull")),
    "cost of a 10k BTC short per day": r.value("BTC", q.Measure("carry", side="short", notional=10_000.0)),
    "price of SOL vs yesterday": (
        r.value("SOL", "price", time=r.day("2026-11-22", "yesterday")),
        r.value("SOL", "price", r.change(r.between("2026-11-23", None, "since the close of yesterday"))),
    ),
    "is SUI up today vs 24h ago?": r.checked("SUI", r.holds(r.change(r.DAY), "gt", 0.0)),
    "price of SOL on Halloween": r.value("SOL", "price", time=r.day("2026-10-31")),
    "does DOGE follow BTC": r.value("DOGE", "correlation"),
    "coins with negative funding | which of them is the biggest?": q.Query(
        subject=r.ALL, measures=(q.Measure("market_cap"),), where=r.PAYS_LONGS, operation=q.Rank("most", 1)
    ),
    "how did ETH do this week | compared to BTC?": r.value("ETH BTC", r.change(r.WEEK)),
    "which coin has been in a daily uptrend the longest, and since what date?": q.Query(
        subject=r.ALL,
        measures=(q.Measure("streak"),),
        where=r.holds(r.trend("daily"), "eq", "UP"),
        operation=q.Rank("most", 1),
    ),
    "is SOL still HODL on the daily? what about AVAX, and AVAX funding": (
        r.checked("SOL", r.holds(r.trend("daily"), "eq", "HODL")),
        r.checked("AVAX", r.holds(r.trend("daily"), "eq", "HODL")),
        r.value("AVAX", "funding"),
    ),
    "three lowest funding coins; also the three highest": (r.rank("funding", 3, "least"), r.rank("funding", 3)),
    "the six biggest 30 day gainers": r.rank(r.change(r.MONTH), 6),
    "S&P 500 perp level and weekly trend": q.Query(
        subject=q.Subject(scope="assets", assets=("xyz:SP500",)), measures=(q.Measure("price"), r.trend("weekly"))
    ),
    "most recent quote about ethereum from any show": q.Query(subject=r.coins("ETH"), operation=q.Route("transcripts")),
    "avlanche market capp": r.value("AVAX", "market_cap"),
    "rank memes by volume and show the leader's price": (
        q.Query(subject=r.MEMES, measures=(q.Measure("volume"),), operation=q.Rank("most", 10)),
        q.Query(subject=r.MEMES, measures=(q.Measure("volume"), q.Measure("price")), operation=q.Rank("most", 1)),
    ),
    "how come XMR gained over the month": q.Query(
        subject=r.coins("XMR"), measures=(r.change(r.MONTH),), operation=q.Why()
    ),
    "if 250 dollars went into BTC at the close of June 30 2026 what are they worth": r.done(
        q.Profit(q.Holding(250.0, "USD"), None, r.day("2026-06-30")), r.coins("BTC")
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_HARD))
def test_a_hard_question_is_read_in_full_or_refused(question: str, queries: tuple[q.Query, ...]) -> None:
    understood = r.read(question)
    assert understood.refusal is not None or understood.queries == queries, understood.queries


@pytest.mark.parametrize(
    ("question", "low", "high"),
    [
        ("coins with a market cap between 10 and 50 billion", 10e9, 50e9),
        ("coins with a market cap between $1 and $5b", 1e9, 5e9),
        ("coins with a market cap between 10 million and 2 billion", 10e6, 2e9),
        ("coins with a market cap between 500 and 2 thousand", 500.0, 2e3),
        ("coins with a market cap between 1000 and 2000", 1e3, 2e3),
    ],
)
def test_the_scale_of_the_second_number_holds_for_the_first(question: str, low: float, high: float) -> None:
    bounds = q.All((r.holds("market_cap", "ge", low), r.holds("market_cap", "le", high)))
    assert r.read(question).queries == (r.listed(bounds),)


@pytest.mark.parametrize(
    "question",
    [
        "coins above average volume",
        "coins down between 5%",
        "coins between 5% up",
        "how many hot and cold alerts",
        "which funds moved UNI on the watchlist",
        "breadth over 7 days",
        "show me both memes and L1s by volume",
        "watched wallets that are not exchanges",
        "how many of BTC, ETH and SOL are in an uptrend?",
        "what percentage of total market cap is BTC?",
        "which coins flipped from up to down this week?",
        "I bought 2 sol at 150 | what was my profit a week ago?",
        "transfers of the Smith family",
        "price of SOL at 3pm",
        "BTC price minus ETH price",
        "coins that were in an uptrend a week ago but not now",
        "correlation of BTC to bitcoin",
        "ratio of BTC to gold",
        "coins bullish last week and bearish now",
        "top losers by highest volume",
        "price of btc in euros",
        "is BTC's price above its 30 day high?",
        "what is the hit rate of not bearish verdicts?",
        "lowest correlation not to ETH",
        "compare SOL to the rest",
        "coins with volume twice their average",
        "who moved their tokens?",
        "how many are in a downtrend over 7 days",
        "the 5 coins with the most volume, lowest first",
        "is the average funding of BTC above 10%?",
        "best L2 in 30d, worst L2 in 30d, plus verdict for ARB",
        "change of SOL and memes",
        "AVAX price last week, last month, today",
        "BTC: number of up-days in last 10, biggest daily gain in last 10, current streak",
        "I am short 5000 usd of SOL. at the funding of now, what does one week cost me?",
        "top meme by volume, and since when is it in an uptrend",
        "how did TAO do from the 9th to the 15th of November? mon to sun",
        "biggest one day gain of any L1 this month",
        "price of SOL on Thanksgiving",
        "which coins went from bear to bull this week",
        "which coins fell less than 2% while BTC fell",
        "correlation of ETH, SOL and AVAX",
        "ETH to BTC correlation vs SOL to BTC correlation",
        "BTC ath date",
        "did ETH outperform BTC in each of the last 3 weeks",
        "how many coins in each category",
        "hottest narrative",
        "name 3 coins: best, worst and most traded today",
        "top gainer 24h, top loser 24h and most traded coin",
        "how is Apple stock trading and how is Tesla, price and 24h change for both",
        "funding for BTC, ETH and SOL plus whichever coin has the highest",
        "AVAX market capitalx",
    ],
)
def test_what_cannot_be_asked_yet_is_refused(question: str) -> None:
    understood = r.read(question)
    assert understood.refusal is not None, understood.queries
