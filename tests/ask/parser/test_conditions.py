"""Conditions: comparisons, signs, states, directions, changes of state, what joins them and what negates them."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_COMPARED: r.Rows = {
    "coins with volume over 5 hundred million": r.listed(r.holds("volume", "gt", 5e8)),
    "coins with volume over 3 thousand million": r.listed(r.holds("volume", "gt", 3e9)),
    "coins with funding at or above zero": r.listed(r.holds("funding", "ge", 0.0)),
    "coins with funding other than positive": r.listed(q.Not(r.holds("funding", "gt", 0.0))),
    "coins outperforming BTC over 7 days and 30 days": r.listed(
        q.All(tuple(q.Test(r.change(span), "gt", coin="BTC") for span in (r.WEEK, r.MONTH)))
    ),
    "which coins have negative funding?": r.listed(r.PAYS_LONGS),
    "coins with positive funding": r.listed(r.holds("funding", "gt", 0.0)),
    "coins with funding above 20%": r.listed(r.holds("funding", "gt", 20.0)),
    "coins with funding above 20% a year": r.listed(r.holds("funding", "gt", 20.0)),
    "memes whose daily trend is NOT up": r.listed(
        q.Not(r.holds(q.Measure("trend", frame="daily"), "eq", "UP")), r.MEMES
    ),
    "coins whose longs pay": r.listed(r.holds("funding", "gt", 0.0)),
    "coins whose longs pay above 20% a year": q.Query(
        subject=r.ALL, measures=(q.Measure("funding"),), where=r.holds("funding", "gt", 20.0), operation=q.List()
    ),
    "coins with funding under -10%": r.listed(r.holds("funding", "lt", -10.0)),
    "coins with funding of at least 20%": r.listed(r.holds("funding", "ge", 20.0)),
    "coins with funding of 20% or more": r.listed(r.holds("funding", "ge", 20.0)),
    "coins with funding 20% or less": r.listed(r.holds("funding", "le", 20.0)),
    "coins with over 20% funding": r.listed(r.holds("funding", "gt", 20.0)),
    "coins with more than 20% 7d volatility": r.listed(r.holds(q.Measure("volatility", over=r.WEEK), "gt", 20.0)),
    "coins with volume over 1 billion": r.listed(r.holds("volume", "gt", 1e9)),
    "coins with a price over $100": r.listed(r.holds("price", "gt", 100.0)),
    "coins under $1": r.listed(r.holds("price", "lt", 1.0)),
    "coins under ten cents": r.listed(r.holds("price", "lt", 0.1)),
    "coins with funding > 20%": r.listed(r.holds("funding", "gt", 20.0)),
    "coins with a score >= 2": r.listed(r.holds("score", "ge", 2.0)),
    "coins with funding between 5% and 10%": r.listed(
        q.All((r.holds("funding", "ge", 5.0), r.holds("funding", "le", 10.0)))
    ),
    "coins with a price between $10 and $5": r.listed(
        q.All((r.holds("price", "ge", 5.0), r.holds("price", "le", 10.0)))
    ),
    "coins between 5% and 10% funding": r.listed(
        q.All((r.holds("funding", "ge", 5.0), r.holds("funding", "le", 10.0)))
    ),
    "coins with positive 7d change": r.listed(r.holds(r.change(r.WEEK), "gt", 0.0)),
    "coins with a negative 7 day change": r.listed(r.holds(r.change(r.WEEK), "lt", 0.0)),
    "coins with positive 7 days": r.listed(r.holds(r.change(r.WEEK), "gt", 0.0)),
    "coins with a 7d change of at least 5%": r.listed(r.holds(r.change(r.WEEK), "ge", 5.0)),
    "coins with a 7d change that is positive": r.listed(r.holds(r.change(r.WEEK), "gt", 0.0)),
    "coins with a change over 5% this week": r.listed(r.holds(r.change(r.WEEK), "gt", 5.0)),
    "coins with a return above 10% over 30 days": r.listed(r.holds(r.change(r.MONTH), "gt", 10.0)),
    "coins where shorts pay longs": r.listed(r.PAYS_LONGS),
    "coins where longs are paying shorts": r.listed(r.holds("funding", "gt", 0.0)),
    "coins within 5% of their high": r.listed(r.holds("drawdown", "ge", -5.0)),
    "is BTC's price above $1 million?": r.checked("BTC", r.holds("price", "gt", 1e6)),
    "coins over 2 and a half dollars": r.listed(r.holds("price", "gt", 2.5)),
    "coins up 5% week to date": r.listed(r.holds(r.change(q.Between(r.TODAY_MS, None, "this week so far")), "ge", 5.0)),
    "coins over $5": r.listed(r.holds("price", "gt", 5.0)),
    "coins with funding above 20 percent": r.listed(r.holds("funding", "gt", 20.0)),
    "coins up more than 5% points today": r.listed(r.holds(r.change(r.DAY), "gt", 5.0)),
    "coins less than 10% below the high": r.listed(r.holds("drawdown", "gt", -10.0)),
    "coins with a drawdown of more than 20%": r.listed(r.holds("drawdown", "lt", -20.0)),
    "coins more than 20% below their 30-day high": r.listed(r.holds(q.Measure("drawdown", over=r.MONTH), "lt", -20.0)),
    "coins less than 10% off their high": r.listed(r.holds("drawdown", "gt", -10.0)),
    "coins where shorts pay": r.listed(r.PAYS_LONGS),
}

_AGAINST: r.Rows = {
    "is FARTCOIN rated better than XRP": r.checked("FARTCOIN", q.Test(q.Measure("score"), "gt", coin="XRP")),
    "coins with volume over market cap": r.listed(q.Test(q.Measure("volume"), "gt", to=q.Measure("market_cap"))),
    "coins with more volume than SOL": r.listed(q.Test(q.Measure("volume"), "gt", coin="SOL")),
    "coins with volume above SOL": r.listed(q.Test(q.Measure("volume"), "gt", coin="SOL")),
    "coins with a higher 7-day return than BTC": r.listed(q.Test(r.change(r.WEEK), "gt", coin="BTC")),
    "coins with a lower funding than ETH": r.listed(q.Test(q.Measure("funding"), "lt", coin="ETH")),
    "coins with a higher score than 2": r.listed(r.holds("score", "gt", 2.0)),
    "coins with a higher return than BTC over 7 days": r.listed(q.Test(r.change(r.WEEK), "gt", coin="BTC")),
    "coins that outperformed ETH this month": r.listed(q.Test(r.change(r.THIS_MONTH), "gt", coin="ETH")),
    "coins that underperformed BTC over 7 days": r.listed(q.Test(r.change(r.WEEK), "lt", coin="BTC")),
    "coins below their price of 30 days ago": r.listed(r.holds(r.change(r.MONTH), "lt", 0.0)),
    "coins above where they were a week ago": r.listed(r.holds(r.change(r.WEEK), "gt", 0.0)),
    "coins above their price of 6 hours ago": r.listed(r.holds(r.change(q.Window(6, "h", "6 hours")), "gt", 0.0)),
    "coins above their price of October 5": r.listed(
        r.holds(r.change(r.between("2026-10-06", None, "since the close of 2026-10-05")), "gt", 0.0)
    ),
    "is SOL above its price of yesterday?": r.checked(
        "SOL", r.holds(r.change(r.between("2026-11-23", None, "since the close of yesterday")), "gt", 0.0)
    ),
    "is SOL's funding higher than ETH's?": r.checked("SOL", q.Test(q.Measure("funding"), "gt", coin="ETH")),
    "did ETH outperform BTC this month?": r.checked("ETH", q.Test(r.change(r.THIS_MONTH), "gt", coin="BTC")),
    "did ETH underperform BTC this month?": r.checked("ETH", q.Test(r.change(r.THIS_MONTH), "lt", coin="BTC")),
}

_STATES: r.Rows = {
    "coins in an uptrend": r.listed(r.UPTREND),
    "which L1s are in a weekly uptrend?": r.listed(r.holds(r.trend("weekly"), "eq", "UP"), r.L1S),
    "which coins are in a downtrend on the daily?": r.listed(r.holds(r.trend("daily"), "eq", "DOWN")),
    "coins with trend up": r.listed(r.UPTREND),
    "coins whose trend is down": r.listed(r.DOWNTREND),
    "coins with a weekly trend of up": r.listed(r.holds(r.trend("weekly"), "eq", "UP")),
    "coins with trend down on the weekly": r.listed(r.holds(r.trend("weekly"), "eq", "DOWN")),
    "coins in hodl": r.listed(r.holds("trend", "eq", "HODL")),
    "coins in a daily and weekly uptrend": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "UP"), r.holds(r.trend("weekly"), "eq", "UP")))
    ),
    "coins up on both the daily and the weekly": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "UP"), r.holds(r.trend("weekly"), "eq", "UP")))
    ),
    "coins whose daily trend is up but weekly is down": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "UP"), r.holds(r.trend("weekly"), "eq", "DOWN")))
    ),
    "coins where daily is up but weekly is not up": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "UP"), q.Not(r.holds(r.trend("weekly"), "eq", "UP"))))
    ),
    "risk-on coins": r.listed(r.holds("regime", "eq", "risk-on")),
    "coins with a neutral regime": r.listed(r.holds("regime", "eq", "neutral")),
    "coins with regime neutral": r.listed(r.holds("regime", "eq", "neutral")),
    "coins with neutral sentiment": r.listed(r.holds("sentiment", "eq", "neutral")),
    "coins with a neutral verdict": r.listed(r.holds("verdict", "eq", "neutral")),
    "coins in euphoria": r.listed(r.holds("sentiment", "eq", "euphoria")),
    "strong bull coins": r.listed(r.holds("verdict", "eq", "strong-bull")),
    "bullish memes": r.listed(r.BULLISH, r.MEMES),
    "coins with high confidence": r.listed(r.holds("confidence", "eq", "high")),
    "coins whose confidence is high": r.listed(r.holds("confidence", "eq", "high")),
    "coins with verdict bullish": r.listed(r.BULLISH),
    "is BTC's confidence high?": r.checked("BTC", r.holds("confidence", "eq", "high")),
    "is the market risk-on?": q.Query(
        subject=r.MARKET, where=r.holds("market_regime", "eq", "risk-on"), operation=q.Check()
    ),
    "coins with trend bullish": r.listed(r.UPTREND),
    "coins with trend bearish": r.listed(r.DOWNTREND),
    "coins with a risk-off regime": r.listed(r.holds("regime", "eq", "risk-off")),
    "coins with regime risk-off": r.listed(r.holds("regime", "eq", "risk-off")),
    "tell me, is BTC bullish?": r.checked("BTC", r.BULLISH),
    "coins whose trend is currently up": r.listed(r.UPTREND),
    "coins up whose trend is down": r.listed(q.All((r.holds("change", "gt", 0.0), r.DOWNTREND))),
    "coins with both timeframes down": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "DOWN"), r.holds(r.trend("weekly"), "eq", "DOWN")))
    ),
    "is BTC bullish or risk-on?": r.checked("BTC", q.Any_((r.BULLISH, r.holds("regime", "eq", "risk-on")))),
    "is BTC up or in an uptrend?": r.checked("BTC", q.Any_((r.holds("change", "gt", 0.0), r.UPTREND))),
    "is eth's trend up or down?": r.value("ETH", "trend"),
    "coins whose daily and weekly trend is up": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "UP"), r.holds(r.trend("weekly"), "eq", "UP")))
    ),
    "coins with confidence of low or medium": r.listed(
        q.Any_((r.holds("confidence", "eq", "low"), r.holds("confidence", "eq", "medium")))
    ),
    "coins with a bull trend": r.listed(r.UPTREND),
    "coins with low correlation under 0.35": r.listed(r.holds("correlation", "lt", 0.35)),
    "coins whose daily and weekly trend is currently up": r.listed(
        q.All((r.holds(r.trend("daily"), "eq", "UP"), r.holds(r.trend("weekly"), "eq", "UP")))
    ),
    "coins in an uptrend, volume above 1 billion": r.listed(q.All((r.UPTREND, r.holds("volume", "gt", 1e9)))),
}

_MOVES: r.Rows = {
    "coins down between 5% and 10% this week": r.listed(
        q.All((r.holds(r.change(r.WEEK), "le", -5.0), r.holds(r.change(r.WEEK), "ge", -10.0)))
    ),
    "memes between 5% and 10% up today": r.listed(
        q.All((r.holds(r.change(r.DAY), "ge", 5.0), r.holds(r.change(r.DAY), "le", 10.0))), r.MEMES
    ),
    "coins up": r.listed(r.holds("change", "gt", 0.0)),
    "coins more than 5% down over 7 days": r.listed(r.holds(r.change(r.WEEK), "lt", -5.0)),
    "coins up 10% or more over 7 days": r.listed(r.holds(r.change(r.WEEK), "ge", 10.0)),
    "coins up 10% or less over 7 days": r.listed(r.holds(r.change(r.WEEK), "le", 10.0)),
    "coins up over 7 days and 30 days": r.listed(
        q.All((r.holds(r.change(r.WEEK), "gt", 0.0), r.holds(r.change(r.MONTH), "gt", 0.0)))
    ),
    "coins up over 24h, 7d and 30d": r.listed(
        q.All(tuple(r.holds(r.change(span), "gt", 0.0) for span in (r.DAY, r.WEEK, r.MONTH)))
    ),
    "coins up over 7 days and 30d volatility above 50%": r.listed(
        q.All((r.holds(r.change(r.WEEK), "gt", 0.0), r.holds(q.Measure("volatility", over=r.MONTH), "gt", 50.0)))
    ),
    "coins that are up hourly": r.listed(r.holds(r.change(q.Window(1, "h", "1 hour")), "gt", 0.0)),
    "coins up on the weekly": r.listed(r.holds(r.trend("weekly"), "eq", "UP")),
    "is BTC above 100k?": r.checked("BTC", r.holds("price", "gt", 100_000.0)),
    "is ETH below 4000?": r.checked("ETH", r.holds("price", "lt", 4_000.0)),
    "is eth between 3000 and 4000?": r.checked(
        "ETH", q.All((r.holds("price", "ge", 3_000.0), r.holds("price", "le", 4_000.0)))
    ),
    "how far is sol down over 7 days?": r.value("SOL", r.change(r.WEEK)),
    "coins that are up in their weekly trend": r.listed(r.holds(r.trend("weekly"), "eq", "UP")),
    "is SOL down in its trend?": r.checked("SOL", r.DOWNTREND),
    "coins up today": r.listed(r.holds(r.change(r.DAY), "gt", 0.0)),
    "coins down this week": r.listed(r.holds(r.change(r.WEEK), "lt", 0.0)),
    "coins down more than 5% this week": r.listed(r.holds(r.change(r.WEEK), "lt", -5.0)),
    "coins down at least 5% this week": r.listed(r.holds(r.change(r.WEEK), "le", -5.0)),
    "coins more than 5% up today": r.listed(r.holds(r.change(r.DAY), "gt", 5.0)),
    "coins up 10% today": r.listed(r.holds(r.change(r.DAY), "ge", 10.0)),
    "coins up today and down this week": r.listed(
        q.All((r.holds(r.change(r.DAY), "gt", 0.0), r.holds(r.change(r.WEEK), "lt", 0.0)))
    ),
    "is sol down more than 5% today?": r.checked("SOL", r.holds(r.change(r.DAY), "lt", -5.0)),
    "how much is sol up this week?": r.value("SOL", r.change(r.WEEK)),
    "coins down more than 5% today and less than 10%": r.listed(
        q.All((r.holds(r.change(r.DAY), "lt", -5.0), r.holds(r.change(r.DAY), "gt", -10.0)))
    ),
    "coins 7 days up": r.listed(r.holds(r.change(r.WEEK), "gt", 0.0)),
    "coins with a change of at least 5% over 7 days": r.listed(r.holds(r.change(r.WEEK), "ge", 5.0)),
    "coins in an uptrend with a change above 5% over 7 days": r.listed(
        q.All((r.UPTREND, r.holds(r.change(r.WEEK), "gt", 5.0)))
    ),
    "coins without a change above 5% over 7 days": r.listed(q.Not(r.holds(r.change(r.WEEK), "gt", 5.0))),
}

_TURNED: r.Rows = {
    "coins that flipped to an uptrend this week": r.listed(q.Changed(q.Measure("trend"), "UP", r.THIS_WEEK)),
    "coins that turned bullish over the last 7 days": r.listed(q.Changed(q.Measure("verdict"), "bull", r.WEEK)),
    "coins which went risk-off this month": r.listed(q.Changed(q.Measure("regime"), "risk-off", r.THIS_MONTH)),
    "coins that flipped to a weekly downtrend this month": r.listed(q.Changed(r.trend("weekly"), "DOWN", r.THIS_MONTH)),
}

_JOINED: r.Rows = {
    "coins with low or medium confidence": r.listed(
        q.Any_((q.Test(q.Measure("confidence"), "eq", "low"), q.Test(q.Measure("confidence"), "eq", "medium")))
    ),
    "coins down or hodl on the weekly": r.listed(
        q.Any_(
            (
                q.Test(q.Measure("trend", frame="weekly"), "eq", "DOWN"),
                q.Test(q.Measure("trend", frame="weekly"), "eq", "HODL"),
            )
        )
    ),
    "coins with negative funding and in an uptrend": r.listed(q.All((r.PAYS_LONGS, r.UPTREND))),
    "coins bullish or risk-on": r.listed(q.Any_((r.BULLISH, r.holds("regime", "eq", "risk-on")))),
    "coins bullish and in an uptrend or risk-on": r.listed(
        q.Any_((q.All((r.BULLISH, r.UPTREND)), r.holds("regime", "eq", "risk-on")))
    ),
    "coins with score above 2 and below 3": r.listed(q.All((r.holds("score", "gt", 2.0), r.holds("score", "lt", 3.0)))),
    "coins with funding above 20% or below -20%": r.listed(
        q.Any_((r.holds("funding", "gt", 20.0), r.holds("funding", "lt", -20.0)))
    ),
    "L1s in an uptrend with bullish verdict and high confidence": r.listed(
        q.All((r.UPTREND, r.BULLISH, r.holds("confidence", "eq", "high"))), r.L1S
    ),
    "among the top 20 by volume, which are in an uptrend?": r.listed(
        q.All((q.Ranked(q.Measure("volume"), "most", 20), r.UPTREND))
    ),
    "which of the top 10 coins are bullish?": r.listed(
        q.All((q.Ranked(q.Measure("market_cap"), "most", 10), r.BULLISH))
    ),
    "coins in the top 20 coins by volume with negative funding": r.listed(
        q.All((q.Ranked(q.Measure("volume"), "most", 20), r.PAYS_LONGS))
    ),
    "coins in an uptrend or with negative funding": r.listed(q.Any_((r.UPTREND, r.PAYS_LONGS))),
}

_NEGATED: r.Rows = {
    "coins that are not in a downtrend": r.listed(q.Not(r.DOWNTREND)),
    "coins whose verdict is not bullish": r.listed(q.Not(r.BULLISH)),
    "coins without negative funding": r.listed(q.Not(r.PAYS_LONGS)),
    "coins with no positive funding": r.listed(q.Not(r.holds("funding", "gt", 0.0))),
    "coins whose funding is not above 20%": r.listed(r.holds("funding", "le", 20.0)),
    "which coins are never in uptrend?": r.listed(q.Not(r.UPTREND)),
    "coins in an uptrend but not bullish": r.listed(q.All((r.UPTREND, q.Not(r.BULLISH)))),
    "coins with neither negative funding nor an uptrend": r.listed(q.All((q.Not(r.PAYS_LONGS), q.Not(r.UPTREND)))),
    "coins not in any uptrend": r.listed(q.Not(r.UPTREND)),
    "is BTC not in an uptrend?": r.checked("BTC", q.Not(r.UPTREND)),
    "memes except DOGE in an uptrend": r.listed(
        r.UPTREND, q.Subject(scope="category", categories=("Meme",), excluded=("DOGE",))
    ),
    "coins other than bitcoin in an uptrend": r.listed(r.UPTREND, q.Subject(scope="all", excluded=("BTC",))),
    "alts in an uptrend": r.listed(r.UPTREND, q.Subject(scope="all", excluded=("BTC",))),
    "coins that are not memes in an uptrend": r.listed(
        r.UPTREND, q.Subject(scope="all", excluded_categories=("Meme",))
    ),
    "coins excluding memes and L1s with negative funding": r.listed(
        r.PAYS_LONGS, q.Subject(scope="all", excluded_categories=("Meme", "Layer 1 (L1)"))
    ),
    "coins not up today": r.listed(q.Not(r.holds(r.change(r.DAY), "gt", 0.0))),
    "which L2s have neither an up nor a down daily trend?": r.listed(
        q.All(
            (
                q.Not(r.holds(r.trend("daily"), "eq", "UP")),
                q.Not(r.holds(r.trend("daily"), "eq", "DOWN")),
            )
        ),
        r.L2S,
    ),
}


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table({**_COMPARED, **_AGAINST, **_STATES, **_MOVES, **_TURNED, **_JOINED, **_NEGATED}),
)
def test_conditions_are_read_as_they_are_said(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "coins not in the top 10 by volume",
        "coins at least 10% above their low",
        "coins with score of 2",
        "coins with sentiment positive 7",
        "coins with funding above",
        "coins with funding between 5%",
        "coins between 5% and",
        "coins not",
        "coins without",
        "coins beating BTC by more than 5%",
        "coins with rsi above 70",
        "BTC above 100k not",
        "coins with funding not",
        "coins over",
        "coins that are flipped",
        "is BTC above",
        "coins above 10",
        "coins above 10 a week ago",
        "coins above their price of yesterday by 10%",
        "coins with volume above 20%",
        "coins with funding above $100",
        "coins with more volume than",
        "coins with a higher volume than the others",
        "coins with sentiment above 5",
        "coins in an uptrend over 7 days",
        "coins with high funding",
    ],
)
def test_a_condition_that_is_not_whole_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None
