"""What is asked of many coins: ranks, places, counts, shares, whether any, means, lists, comparisons."""

import pytest
from msgspec import structs

from service.ask import query as q
from tests.ask.parser import reading as r


def _of(subject: q.Subject, query: q.Query) -> q.Query:
    """The same of other coins."""
    return structs.replace(query, subject=subject)


_RANKED: r.Rows = {
    "which coin is the cheapest to be short": r.rank("funding", 1),
    "which coin is the most expensive to be short": r.rank("funding", 1, "least"),
    "top 5 L1s by 30 day return": r.rank(r.change(r.MONTH), 5, subject=r.L1S),
    "bottom 3 memes by market cap": r.rank("market_cap", 3, "least", r.MEMES),
    "top 5 coins by 3 hour change": r.rank(r.change(q.Window(3, "h", "3 hours")), 5),
    "which coin has the highest funding?": r.rank("funding", 1),
    "which coin has the lowest open interest?": r.rank("open_interest", 1, "least"),
    "coins with the highest volume": r.rank("volume", 5),
    "top 10": r.rank("change", 10),
    "top gainers": r.rank("change", 5),
    "top 3 losers over 7 days": r.rank(r.change(r.WEEK), 3, "least"),
    "which coin gained the most yesterday?": r.rank(r.change(r.YESTERDAY), 1),
    "the 3 most volatile coins": r.rank("volatility", 3),
    "3 most volatile coins over 7 days": r.rank(q.Measure("volatility", over=r.WEEK), 3),
    "most bullish coins": r.rank("score", 5),
    "top 5 coins by funding over the last 7 days": r.rank(q.Measure("funding", over=r.WEEK, mean=True), 5),
    "rank memes by volume": r.rank("volume", 10, subject=r.MEMES),
    "L1s by volume": r.rank("volume", 10, subject=r.L1S),
    "volume of all coins": r.rank("volume", 10),
    "which coin is closest to its high?": r.rank("drawdown", 1),
    "which coin is furthest below its high?": r.rank("drawdown", 1, "least"),
    "which coin has the longest streak?": r.rank("streak", 1),
    "5 coins with the lowest correlation to bitcoin": r.rank("correlation", 5, "least"),
    "top gainers except BTC and memes": _of(
        q.Subject(scope="all", excluded=("BTC",), excluded_categories=("Meme",)), r.rank("change", 5)
    ),
    "alts by volume": _of(q.Subject(scope="all", excluded=("BTC",)), r.rank("volume", 10)),
    "top 5 memes and AI coins by volume": _of(
        q.Subject(scope="category", categories=("Meme", "Artificial Intelligence (AI)")), r.rank("volume", 5)
    ),
    "which coin in an uptrend has the highest funding?": q.Query(
        subject=r.ALL, measures=(q.Measure("funding"),), where=r.UPTREND, operation=q.Rank("most", 1)
    ),
    "top 5 coins with funding above 20% by volume": q.Query(
        subject=r.ALL,
        measures=(q.Measure("volume"),),
        where=r.holds("funding", "gt", 20.0),
        operation=q.Rank("most", 5),
    ),
    "worst coins in an uptrend": q.Query(
        subject=r.ALL, measures=(q.Measure("change"),), where=r.UPTREND, operation=q.Rank("least", 5)
    ),
    "top five coins by volume": r.rank("volume", 5),
    "rank by 7 days": r.rank(r.change(r.WEEK), 10),
    "top coins by 7 days": r.rank(r.change(r.WEEK), 5),
    "top 5 coins by score this week": structs.replace(r.rank("score", 5), time=r.THIS_WEEK),
    "top gainers today": r.rank(r.change(r.DAY), 5),
    "biggest losers this week": r.rank(r.change(r.WEEK), 5, "least"),
    "greatest gain this week": r.rank(r.change(r.WEEK), 1),
    "the largest fall of any coin this week": r.rank(r.change(r.WEEK), 1, "least"),
    "top 5 coins by price this week": r.rank(r.change(r.WEEK), 5),
    "top 5 gainers today excluding memes": _of(
        q.Subject(scope="all", excluded_categories=("Meme",)), r.rank(r.change(r.DAY), 5)
    ),
    "rank memes by volume, lowest first": r.rank("volume", 20, "least", r.MEMES),
    "coins ranked by score ascending": r.rank("score", 20, "least"),
    "most negative funding": r.rank("funding", 1, "least"),
    "the three coins with the lowest score": r.rank("score", 3, "least"),
    "coins most correlated with SOL": r.rank(q.Measure("correlation", other="SOL"), 5),
    "cheapest coin": r.rank("price", 1, "least"),
    "lowest correlation to ETH": r.rank(q.Measure("correlation", other="ETH"), 1, "least"),
    "which coin follows bitcoin the least?": r.rank("correlation", 1, "least"),
    "list memes by volume ascending, lowest first": r.rank("volume", 20, "least", r.MEMES),
}

_BOTH_ENDS: r.Rows = {
    "biggest movers of the last 24 hours": (r.rank(r.change(r.DAY), 5), r.rank(r.change(r.DAY), 5, "least")),
    "highest and lowest funding": (r.rank("funding", 1), r.rank("funding", 1, "least")),
    "which of BTC, ETH and SOL has the highest and the lowest funding?": (
        q.Query(subject=r.coins("BTC ETH SOL"), measures=(q.Measure("funding"),), operation=q.Compare("most")),
        q.Query(subject=r.coins("BTC ETH SOL"), measures=(q.Measure("funding"),), operation=q.Compare("least")),
    ),
    "top gainer and top loser today": (
        r.rank(r.change(r.DAY), 1),
        r.rank(r.change(r.DAY), 1, "least"),
    ),
    "best and worst performer this week": (
        r.rank(r.change(r.WEEK), 1),
        r.rank(r.change(r.WEEK), 1, "least"),
    ),
    "best and worst day of SOL this month": (
        q.Query(subject=r.coins("SOL"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("max")),
        q.Query(subject=r.coins("SOL"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("min")),
    ),
}

_PLACED: r.Rows = {
    "top 5 by volume | numbers 6 to 8 please": q.Query(
        subject=r.ALL, measures=(q.Measure("volume"),), operation=q.Rank("most", 3, skip=5)
    ),
    "where does SOL rank by volume?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("volume"),), operation=q.Position()
    ),
    "what is SOL's rank by funding?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("funding"),), operation=q.Position()
    ),
    "rank SOL by volume": q.Query(subject=r.coins("SOL"), measures=(q.Measure("volume"),), operation=q.Position()),
    "what place do SOL and ETH have by volume?": q.Query(
        subject=r.coins("SOL ETH"), measures=(q.Measure("volume"),), operation=q.Position()
    ),
    "rank BTC, ETH and SOL by funding": q.Query(
        subject=r.coins("BTC ETH SOL"), measures=(q.Measure("funding"),), operation=q.Compare("most")
    ),
    "which has more volume, BTC or ETH?": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("volume"),), operation=q.Compare("most")
    ),
    "compare BTC and ETH": q.Query(subject=r.coins("BTC ETH"), operation=q.Compare()),
    "btc vs eth": q.Query(subject=r.coins("BTC ETH"), operation=q.Compare()),
    "btc vs eth this month": q.Query(
        subject=r.coins("BTC ETH"), measures=(r.change(r.THIS_MONTH),), operation=q.Compare()
    ),
    "compare the funding of BTC and ETH": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("funding"),), operation=q.Compare()
    ),
    "which is the worst performer today, SOL or ETH?": q.Query(
        subject=r.coins("SOL ETH"), measures=(r.change(r.DAY),), operation=q.Compare("least")
    ),
    "did BTC, ETH or SOL gain the most today?": q.Query(
        subject=r.coins("BTC ETH SOL"), measures=(r.change(r.DAY),), operation=q.Compare("most")
    ),
    "compare BTC and ETH on 24h volume": q.Query(
        subject=r.coins("BTC ETH"), measures=(q.Measure("volume"),), operation=q.Compare()
    ),
}

_L1_MEMES = q.Subject(scope="category", categories=("Layer 1 (L1)", "Meme"), together=True)

_COUNTED: r.Rows = {
    "how many coins are both L1 and meme?": r.done(q.Count(), _L1_MEMES),
    "layer 1 and meme at the same time": q.Query(subject=_L1_MEMES),
    "coins in oracle or storage in an uptrend": r.listed(
        r.UPTREND, q.Subject(scope="category", categories=("Oracle", "Storage"))
    ),
    "how many verdicts have low confidence?": q.Query(
        subject=r.ALL,
        where=q.Test(q.Measure("confidence"), "eq", "low"),
        operation=q.Count(),
    ),
    "how many coins are in an uptrend?": r.done(q.Count(), where=r.UPTREND),
    "number of memes with negative funding": r.done(q.Count(), r.MEMES, r.PAYS_LONGS),
    "how many coins are there?": r.done(q.Count()),
    "how many coins are risk-on and risk-off?": (
        r.done(q.Count(), where=r.holds("regime", "eq", "risk-on")),
        r.done(q.Count(), where=r.holds("regime", "eq", "risk-off")),
    ),
    "how many coins have a price above $1 and below $10?": r.done(
        q.Count(), where=q.All((r.holds("price", "gt", 1.0), r.holds("price", "lt", 10.0)))
    ),
    "how many coins are up over 7 days and down over 30 days?": r.done(
        q.Count(), where=q.All((r.holds(r.change(r.WEEK), "gt", 0.0), r.holds(r.change(r.MONTH), "lt", 0.0)))
    ),
    "what percentage of coins is in an uptrend?": r.done(q.Share(), where=r.UPTREND),
    "are any L1s risk-on?": r.done(q.Exists("any"), r.L1S, r.holds("regime", "eq", "risk-on")),
    "any memes with negative funding?": r.done(q.Exists("any"), r.MEMES, r.PAYS_LONGS),
    "are none of the L2s bullish?": r.done(q.Exists("none"), r.L2S, r.BULLISH),
    "list all memes in an uptrend": r.listed(r.UPTREND, r.MEMES),
    "list 3 coins in an uptrend": r.done(q.List(3), where=r.UPTREND),
    "list memes": r.done(q.List(), r.MEMES),
    "list all coins": r.done(q.List()),
    "show me 5 memes": r.done(q.List(5), r.MEMES),
    "all memes in an uptrend": r.listed(r.UPTREND, r.MEMES),
    "how many coins are up or down today?": r.done(
        q.Count(),
        where=q.Any_((r.holds(r.change(r.DAY), "gt", 0.0), r.holds(r.change(r.DAY), "lt", 0.0))),
    ),
    "how many coins rose and fell today?": (
        r.done(q.Count(), where=r.holds(r.change(r.DAY), "gt", 0.0)),
        r.done(q.Count(), where=r.holds(r.change(r.DAY), "lt", 0.0)),
    ),
    "what share of memes are up today?": r.done(q.Share(), r.MEMES, r.holds(r.change(r.DAY), "gt", 0.0)),
    "are all memes down today?": r.done(q.Exists("all"), r.MEMES, r.holds(r.change(r.DAY), "lt", 0.0)),
    "all of the memes in an uptrend": r.listed(r.UPTREND, r.MEMES),
    "do all memes have negative funding?": r.done(q.Exists("all"), r.MEMES, r.PAYS_LONGS),
    "how many coins are bullish, bearish and neutral?": (
        r.done(q.Count(), where=r.BULLISH),
        r.done(q.Count(), where=r.holds("verdict", "le", "bear")),
        r.done(q.Count(), where=r.holds("verdict", "eq", "neutral")),
    ),
}

_AGGREGATED: r.Rows = {
    "average funding of L1s": q.Query(subject=r.L1S, measures=(q.Measure("funding"),), operation=q.Aggregate("mean")),
    "median 7d change of memes": q.Query(
        subject=r.MEMES, measures=(r.change(r.WEEK),), operation=q.Aggregate("median")
    ),
    "total market cap of memes": q.Query(
        subject=r.MEMES, measures=(q.Measure("market_cap"),), operation=q.Aggregate("sum")
    ),
    "average funding of coins in an uptrend": q.Query(
        subject=r.ALL, measures=(q.Measure("funding"),), where=r.UPTREND, operation=q.Aggregate("mean")
    ),
}

_REASONED: r.Rows = {
    "what would flip the verdict of SOL?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("verdict"),), operation=q.Why()
    ),
    "break down the seven rules for SOL": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("verdict"),), operation=q.Why()
    ),
    "why did SOL fall over 7 days?": q.Query(subject=r.coins("SOL"), measures=(r.change(r.WEEK),), operation=q.Why()),
    "since when is BTC in an uptrend?": r.done(q.When("since"), r.coins("BTC"), r.UPTREND),
    "how long has sol been in a downtrend?": r.done(q.When("since"), r.coins("SOL"), r.DOWNTREND),
    "when was ETH last in an uptrend?": r.done(q.When("last"), r.coins("ETH"), r.UPTREND),
    "what should i short?": r.done(q.Screen("short")),
    "what should I buy?": r.done(q.Screen("long")),
    "should i buy sol?": r.done(q.Screen("long"), r.coins("SOL")),
    "how good are your verdicts?": r.done(q.Record("verdicts")),
    "how accurate were your strong bull verdicts?": r.done(q.Record("verdicts", "strong-bull")),
    "what is the hit rate of bearish verdicts?": r.done(q.Record("verdicts", "bear")),
    "why is SOL bullish?": r.done(q.Why(), r.coins("SOL"), r.BULLISH),
    "what was SOL's strongest day this month?": q.Query(
        subject=r.coins("SOL"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "why is SOL up today?": q.Query(subject=r.coins("SOL"), measures=(r.change(r.DAY),), operation=q.Why()),
    "when did BTC last turn bullish?": r.done(q.When("last"), r.coins("BTC"), r.BULLISH),
    "why is SOL neutral and not bullish?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("verdict"),), operation=q.Why()
    ),
    "when did ETH's trend change?": q.Query(
        subject=r.coins("ETH"), measures=(q.Measure("trend"),), operation=q.When("since")
    ),
}


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table({**_RANKED, **_BOTH_ENDS, **_PLACED, **_COUNTED, **_AGGREGATED, **_REASONED}),
)
def test_what_is_asked_of_many_coins_is_read_with_its_set_and_its_measure(
    question: str, queries: tuple[q.Query, ...]
) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "top 5 by daily",
        "which coin has the longest streak in a weekly uptrend?",
        "list the coins that are in an uptrend and in a downtrend",
        "top -5 coins by volume",
        "top 2.5 coins by volume",
        "tokens transferred",
        "which coin's funding rose the most?",
        "best day of SOL in an uptrend",
    ],
)
def test_a_question_that_no_rank_or_count_answers_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None
