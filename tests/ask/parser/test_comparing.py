"""Places of a ranking, categories against each other, ratios of measures, sums, and what most coins do."""

import pytest
from msgspec import structs

from service.ask import query as q
from tests.ask.parser import reading as r


def _places(measure: str | q.Measure, first: int, last: int, subject: q.Subject = r.ALL) -> q.Query:
    operation = q.Rank("most", last - first + 1, first - 1)
    return q.Query(subject=subject, measures=r.rank(measure, 1).measures, operation=operation)


_PLACED: r.Rows = {
    "second biggest gainer in 30 days?": _places(r.change(r.MONTH), 2, 2),
    "who is the third largest by market cap": _places("market_cap", 3, 3),
    "coins ranked 4 to 8 by open interest": _places("open_interest", 4, 8),
    "open interest league table, positions 4 through 8 only": _places("open_interest", 4, 8),
    "2nd and 3rd by volume": _places("volume", 2, 3),
    "which L1 is the runner up by 7 day return": _places(r.change(r.WEEK), 2, 2, r.L1S),
    "top 5 by volume in places 6 to 10": _places("volume", 6, 10),
    "biggest market caps, the first ten": r.rank("market_cap", 10),
    "rank 5 L1s by volume": r.rank("volume", 5, subject=r.L1S),
    "top 3 L1s by volume | next 5 please": _places("volume", 4, 8, r.L1S),
    "highest funding right now? | besides that one, who is next": _places("funding", 2, 2),
    "top 5 by volume | the second?": _places("volume", 2, 2),
    "top 5 by volume | only three": r.rank("volume", 3),
    "where does SOL rank by volume | who is second?": _places("volume", 2, 2),
    "ranked on 24h volume, who takes places two, three and four": (r.rank("volume", 10), _places("volume", 2, 4)),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_PLACED))
def test_places_of_a_ranking_are_skipped_or_told(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "2nd and 4th by volume",
        "top 3 by volume in places 6 to 10",
        "the second of BTC, ETH and SOL by volume",
        "volume of SOL | who is second?",
        "next",
    ],
)
def test_a_place_that_no_ranking_takes_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None


def _sets(
    *categories: str, by: tuple[q.Measure, ...], direction: q.Direction | None = "most", how: q.Figure | None = None
) -> q.Query:
    subject = q.Subject(scope="category", categories=categories, each=True)
    return q.Query(subject=subject, measures=by, operation=q.Compare(direction, how))


_MEMES, _L1, _L2 = "Meme", "Layer 1 (L1)", "Layer 2 (L2)"
_CAP, _VOLUME = q.Measure("market_cap"), q.Measure("volume")

_CATEGORIES: r.Rows = {
    "memes or layer 1s, which did better in 24h": _sets(_MEMES, _L1, by=(r.change(r.DAY),)),
    "are memes doing better than L1s": _sets(_MEMES, _L1, by=(r.change(),)),
    "which is weaker over 30 days, memes or L2s?": _sets(
        _MEMES, _L2, by=(r.change(r.MONTH),), direction="least", how="mean"
    ),
    "compare memes and L2s by market cap": _sets(_MEMES, _L2, by=(_CAP,), direction=None),
    "compare memes and L2s": _sets(_MEMES, _L2, by=(r.change(), _CAP, _VOLUME), direction=None),
    "memes vs L2s over a week": _sets(_MEMES, _L2, by=(r.change(r.WEEK),), direction=None, how="mean"),
    "L1 against L2, which had the better median 7-day return": _sets(_L1, _L2, by=(r.change(r.WEEK),), how="median"),
    "do meme coins or L1s have the larger combined market value?": _sets(_MEMES, _L1, by=(_CAP,)),
    "which has more open interest, memes or L2s": _sets(_MEMES, _L2, by=(q.Measure("open_interest"),), how="sum"),
    "L1s against L2s, whose breadth looks better": (
        r.done(q.Share(), r.L1S, r.UPTREND),
        r.done(q.Share(), r.L2S, r.UPTREND),
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_CATEGORIES))
def test_categories_are_compared_each_as_one_thing(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


def _divided(name: str, by: str) -> q.Measure:
    return q.Measure(name, per=by)


def _sized(over: q.Span) -> q.Measure:
    return q.Measure("change", over=over, absolute=True)


_MEASURED: r.Rows = {
    "top 5 by volume to market cap ratio": r.rank(_divided("volume", "market_cap"), 5),
    "top 5 by the ratio of 24h volume to open interest": r.rank(_divided("volume", "open_interest"), 5),
    "which coin has the highest open interest relative to its market cap": r.rank(
        _divided("open_interest", "market_cap"), 1
    ),
    "which coin turns over the most volume compared with its market cap": r.rank(_divided("volume", "market_cap"), 1),
    "coins with a volume to market cap ratio above 1": r.listed(r.holds(_divided("volume", "market_cap"), "gt", 1.0)),
    "SOL volume to open interest ratio": r.value("SOL", _divided("volume", "open_interest")),
    "which moved most in absolute terms over 7 days": r.rank(_sized(r.WEEK), 1),
    "biggest absolute movers over 30 days, top 3": r.rank(_sized(r.MONTH), 3),
    "which coins moved most (either direction) in a week? Top 2 by absolute change.": r.rank(_sized(r.WEEK), 2),
    "who has the craziest high funding right now": r.rank("funding", 1),
    "which coins are cheap to short": r.rank("funding", 5),
    "which coins are cheap to long right now": r.rank("funding", 5, "least"),
    "3 hottest and 3 coldest fundings": (r.rank("funding", 3), r.rank("funding", 3, "least")),
    "most negative funding, 4 of them, most negative first": r.rank("funding", 4, "least"),
    "which L1 had the better month": r.rank(r.change(r.MONTH), 1, subject=r.L1S),
    "which of DOGE and WIF had the strongest week": r.compared("DOGE WIF", r.change(r.WEEK), "most"),
    "which coin has the best score this month": structs.replace(r.rank("score", 1), time=r.THIS_MONTH),
    "least BTC-correlated coins, give me 5 tickers": r.rank("correlation", 5, "least"),
    "top 3 and bottom 3 L1s by 30 day return": (
        r.rank(r.change(r.MONTH), 3, subject=r.L1S),
        r.rank(r.change(r.MONTH), 3, "least", r.L1S),
    ),
    "top 3 gainers and top 3 losers among L1s over 7 days": (
        r.rank(r.change(r.WEEK), 3, subject=r.L1S),
        r.rank(r.change(r.WEEK), 3, "least", r.L1S),
    ),
    "top 3 and bottom 3 L1s over 7 days": (
        r.rank(r.change(r.WEEK), 3, subject=r.L1S),
        r.rank(r.change(r.WEEK), 3, "least", r.L1S),
    ),
    "which is traded more in 24h, ETH or SOL": r.compared("ETH SOL", "volume", "most"),
    "highest volume and lowest funding": (r.rank("volume", 1), r.rank("funding", 1, "least")),
    "strongest L1 and weakest meme over 7 days": (
        r.rank(r.change(r.WEEK), 1, subject=r.L1S),
        r.rank(r.change(r.WEEK), 1, "least", r.MEMES),
    ),
    "highest funding and worst L1 over 7 days": (
        r.rank("funding", 1),
        r.rank(r.change(r.WEEK), 1, "least", r.L1S),
    ),
    "coins with a bull verdict, and separately the coins in an uptrend": (
        r.listed(r.holds("verdict", "eq", "bull")),
        r.listed(r.UPTREND),
    ),
    "by funding, best and worst L1": (
        r.rank("funding", 1, subject=r.L1S),
        r.rank("funding", 1, "least", r.L1S),
    ),
    "which L1 has beaten the rest over 30d, and who came last?": (
        r.rank(r.change(r.MONTH), 1, subject=r.L1S),
        r.rank(r.change(r.MONTH), 1, "least", r.L1S),
    ),
    "coins up over 30% in 30 days, list them please, biggest gain first": q.Query(
        subject=r.ALL,
        measures=(r.change(r.MONTH),),
        where=r.holds(r.change(r.MONTH), "gt", 30.0),
        operation=q.Rank("most", 20),
    ),
    "put TAO and FET side by side: 7d, 30d, trend": q.Query(
        subject=r.coins("TAO FET"), measures=(r.change(r.WEEK), r.change(r.MONTH), r.trend()), operation=q.Compare()
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_MEASURED))
def test_a_ranking_says_what_it_ranks_and_of_what(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


def _above_total(name: str, measure: str, total: q.Subject) -> q.Query:
    return r.checked(name, q.Test(q.Measure(measure), "gt", total=total))


_COUNTED: r.Rows = {
    "are most coins in a downtrend": r.done(q.Exists("most"), where=r.DOWNTREND),
    "is the majority of memes in an uptrend": r.done(q.Exists("most"), r.MEMES, r.UPTREND),
    "are more than half of all coins in an uptrend": r.done(q.Exists("most"), where=r.UPTREND),
    "are more coins up or down today": (
        r.done(q.Count(), where=r.holds(r.change(r.DAY), "gt", 0.0)),
        r.done(q.Count(), where=r.holds(r.change(r.DAY), "lt", 0.0)),
    ),
    "how many memes are positive over 7 days and how many negative?": (
        r.done(q.Count(), r.MEMES, r.holds(r.change(r.WEEK), "gt", 0.0)),
        r.done(q.Count(), r.MEMES, r.holds(r.change(r.WEEK), "lt", 0.0)),
    ),
    "is bitcoin's market cap bigger than all others combined": _above_total(
        "BTC", "market_cap", q.Subject(scope="all", excluded=("BTC",))
    ),
    "is open interest in SOL bigger than XRP's and DOGE's put together?": _above_total(
        "SOL", "open_interest", r.coins("XRP DOGE")
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_COUNTED))
def test_majorities_both_sides_and_totals_are_counted(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "compare the trend of memes and L1s",
        "compare memes and L1s by funding and volatility",
        "which has the higher verdict, memes or L1s",
        "compare volume of SOL and ETH relative to market cap",
        "which category has the most coins",
        "more UP or DOWN on the daily?",
        "are more coins up than yesterday",
        "market cap of BTC in absolute terms",
        "is bitcoin's market cap bigger than the total",
        "how many coins are up and how many negative positive",
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None
