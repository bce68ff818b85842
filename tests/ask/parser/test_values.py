"""Values of what is named: one measure or several, of one coin or several, of assets and of the market."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r

_VALUES: r.Rows = {
    "price of bitcoin": r.value("BTC", "price"),
    "how much is one sol?": r.value("SOL", "price"),
    "what is ETH trading at?": r.value("ETH", "price"),
    "where is ether at?": r.value("ETH", "price"),
    "what's sol at and what's btc at?": r.value("SOL BTC", "price"),
    "SOL now and its 7d change": r.value("SOL", "price", r.change(r.WEEK)),
    "funding and open interest of HYPE": r.value("HYPE", "funding", "open_interest"),
    "price, funding and sentiment of ETH": r.value("ETH", "price", "funding", "sentiment"),
    "BTC and ETH market cap": r.value("BTC ETH", "market_cap"),
    "price of BTC, ETH & SOL": r.value("BTC ETH SOL", "price"),
    "tell me about solana": r.value("SOL"),
    "how risky is solana?": r.value("SOL", "volatility"),
    "btc?": r.value("BTC"),
    "last on HYPE and its 24h move": r.value("HYPE", "price", r.change(r.DAY)),
    "ETH, last, 24h change": r.value("ETH", "price", r.change(r.DAY)),
    "spot me the funding on SOL and tell me which side is paying": r.value("SOL", "funding"),
    "how is LINK doing?": r.value("LINK", "price", r.change()),
    "how was BTC doing in October?": r.value("BTC", r.change(r.between("2026-10-01", "2026-11-01", "October 2026"))),
    "Return of SOL over 7 days": r.value("SOL", r.change(r.WEEK)),
    "NEAR from its close on 1 november to its close on 15 november": r.value(
        "NEAR", r.change(r.between("2026-11-02", "2026-11-16", "2026-11-01 to 2026-11-15"))
    ),
    "change of BTC since its close on 1 november": r.value(
        "BTC", r.change(r.between("2026-11-02", None, "since the close on 2026-11-01"))
    ),
    "change of BTC from the close on 1 november to now": r.value(
        "BTC", r.change(r.between("2026-11-02", None, "since the close on 2026-11-01"))
    ),
    "change of BTC since yesterday's close": r.value(
        "BTC", r.change(r.between("2026-11-23", None, "since yesterdays close"))
    ),
    "the lowest SUI went in October": q.Query(
        subject=r.coins("SUI"),
        measures=(q.Measure("low"),),
        time=r.between("2026-10-01", "2026-11-01", "October 2026"),
        operation=q.Extreme("min"),
    ),
    "how low did BTC get this month?": q.Query(
        subject=r.coins("BTC"), measures=(q.Measure("low"),), time=r.THIS_MONTH, operation=q.Extreme("min")
    ),
    "how high did BTC's funding get this month?": q.Query(
        subject=r.coins("BTC"), measures=(q.Measure("funding"),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "highest BTC has gone this month": q.Query(
        subject=r.coins("BTC"), measures=(q.Measure("high"),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "24h volume of sol over the last 24 hours": r.value("SOL", "volume"),
    "what is DOGE's market cap rank?": r.value("DOGE", "rank"),
    "what is SOL at?": r.value("SOL", "price"),
    "the 24h volume of SOL": r.value("SOL", "volume"),
    "average funding of BTC and ETH": r.value("BTC ETH", q.Measure("funding", mean=True)),
    "apr of BTC": r.value("BTC", "funding"),
    "opening price of BTC in October": r.value(
        "BTC", q.Measure("open", over=r.between("2026-10-01", "2026-11-01", "October 2026"))
    ),
    "SOL's range over the last week": r.value("SOL", q.Measure("high", over=r.WEEK), q.Measure("low", over=r.WEEK)),
    "ohlc of AVAX yesterday": (
        r.value("AVAX", *(q.Measure(name, over=r.YESTERDAY) for name in ("open", "high", "low"))),
        r.value("AVAX", "price", time=r.day("2026-11-22", "yesterday")),
    ),
    "opening and closing price of BTC in October": (
        r.value("BTC", q.Measure("open", over=r.between("2026-10-01", "2026-11-01", "October 2026"))),
        r.value("BTC", "price", time=r.day("2026-10-31")),
    ),
    "high and volume of AVAX yesterday": (
        r.value("AVAX", q.Measure("high", over=r.YESTERDAY)),
        r.value("AVAX", "volume", time=r.day("2026-11-22", "yesterday")),
    ),
    "price and drawdown of SOL": r.value("SOL", "price", "drawdown"),
    "drawdown and volatility of SOL": r.value("SOL", "drawdown", "volatility"),
    "SOL highest close and lowest close this month": (
        q.Query(subject=r.coins("SOL"), measures=(q.Measure("close"),), time=r.THIS_MONTH, operation=q.Extreme("max")),
        q.Query(subject=r.coins("SOL"), measures=(q.Measure("close"),), time=r.THIS_MONTH, operation=q.Extreme("min")),
    ),
}

_STATES: r.Rows = {
    "what is the verdict on sol?": r.value("SOL", "verdict", "score"),
    "score and verdict of sol": r.value("SOL", "score", "verdict"),
    "verdict and funding of SOL": r.value("SOL", "verdict", "score", "funding"),
    "trend of LINK": r.value("LINK", "trend"),
    "weekly trend of LINK": r.value("LINK", r.trend("weekly")),
    "is btc bullish or bearish?": r.value("BTC", "verdict", "score"),
    "is SOL a long or a short?": r.value("SOL", "verdict", "score"),
    "do longs or shorts pay on BTC?": r.value("BTC", "funding"),
    "BTC funding: do longs pay shorts or shorts pay longs?": r.value("BTC", "funding"),
    "trend of AVAX on both timeframes": r.value("AVAX", r.trend("daily"), r.trend("weekly")),
    "is btc up or down today?": r.value("BTC", r.change(r.DAY)),
    "daily and weekly trend of LINK": r.value("LINK", r.trend("daily"), r.trend("weekly")),
    "is eth's weekly trend up or down?": r.value("ETH", r.trend("weekly")),
    "is eth up or down on the weekly?": r.value("ETH", r.trend("weekly")),
}

_AGAINST: r.Rows = {
    "correlation of ETH to SOL": r.value("ETH", q.Measure("correlation", other="SOL")),
    "correlation of DOGE with bitcoin": r.value("DOGE", q.Measure("correlation")),
    "correlation between BTC and DOGE": r.value("DOGE", q.Measure("correlation", other="BTC")),
    "correlation between ETH and SOL": r.value("ETH", q.Measure("correlation", other="SOL")),
    "how far is SOL below its high?": r.value("SOL", "drawdown"),
    "how far is SOL from its 30 day high?": r.value("SOL", q.Measure("drawdown", over=r.MONTH)),
}

_OTHERS: r.Rows = {
    "gold price": q.Query(subject=q.Subject(scope="assets", assets=("xyz:GOLD",)), measures=(q.Measure("price"),)),
    "price of BTC and gold": (
        r.value("BTC", "price"),
        q.Query(subject=q.Subject(scope="assets", assets=("xyz:GOLD",)), measures=(q.Measure("price"),)),
    ),
    "market regime": r.of_market("market_regime"),
    "regime of the market": r.of_market("market_regime"),
    "what's the regime?": r.of_market("market_regime"),
    "fear and greed index": r.of_market("fear_greed"),
    "how is the market, is it risk on or risk off?": r.of_market("market_regime"),
    "nvidia share price": q.Query(
        subject=q.Subject(scope="assets", assets=("xyz:NVDA",)), measures=(q.Measure("price"),)
    ),
    "fear & greed today?": r.of_market("fear_greed"),
    "open interest of btc today": r.value("BTC", "open_interest"),
    "market regime and conviction": r.of_market("market_regime", "conviction"),
    "are we risk on?": q.Query(
        subject=r.MARKET, where=q.Test(q.Measure("market_regime"), "eq", "risk-on"), operation=q.Check()
    ),
    "market breadth at the last close: how many up, how many down, how many hodl": q.Query(
        subject=r.MARKET, operation=q.Route("breadth")
    ),
    "how is the market?": r.of_market(),
    "breadth": q.Query(subject=r.MARKET, operation=q.Route("breadth")),
    "breadth and regime of the market": (
        r.of_market("market_regime"),
        q.Query(subject=r.MARKET, operation=q.Route("breadth")),
    ),
}

_LEVELS: r.Rows = {
    "highest price of SOL this month": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("high"),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "what was the 7 day low of ETH?": q.Query(
        subject=r.coins("ETH"), measures=(q.Measure("low"),), time=r.WEEK, operation=q.Extreme("min")
    ),
    "when was DOGE at its low this month?": q.Query(
        subject=r.coins("DOGE"), measures=(q.Measure("low"),), time=r.THIS_MONTH, operation=q.Extreme("min")
    ),
    "when was SOL's high this month?": q.Query(
        subject=r.coins("SOL"), measures=(q.Measure("high"),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "all time high of BTC": q.Query(
        subject=r.coins("BTC"),
        measures=(q.Measure("high"),),
        time=q.Between(0, None, "all recorded days"),
        operation=q.Extreme("max"),
    ),
    "sol's best day this month": q.Query(
        subject=r.coins("SOL"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "what was the worst day for ETH this month?": q.Query(
        subject=r.coins("ETH"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("min")
    ),
    "what was SOL's best day this month and its gain?": q.Query(
        subject=r.coins("SOL"), measures=(r.change(),), time=r.THIS_MONTH, operation=q.Extreme("max")
    ),
    "sol best day in the last 60 days, date and % gain": q.Query(
        subject=r.coins("SOL"),
        measures=(r.change(),),
        time=q.Window(60, "d", "60 days"),
        operation=q.Extreme("max"),
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table({**_VALUES, **_STATES, **_AGAINST, **_OTHERS, **_LEVELS}))
def test_a_question_for_a_value_names_its_measures_and_what_they_are_of(
    question: str, queries: tuple[q.Query, ...]
) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize("name", ["pepe", "kPEPE", "KPEPE", "1000PEPE"])
def test_a_coin_traded_by_the_thousand_is_found_by_any_of_its_tickers(name: str) -> None:
    r.assert_reads(f"price of {name}", [r.value("PEPE", "price")])


def test_a_single_letter_is_a_coin_only_where_it_is_marked_as_one() -> None:
    r.assert_reads("price of $S", [r.value("S", "price")])
    assert r.read("price of s").refusal is not None


def test_a_strength_is_measured_against_the_coin_named() -> None:
    understood = r.read("relative strength of SOL against ETH")
    assert understood.queries == (r.value("SOL", q.Measure("strength", other="ETH")),)


def test_the_most_and_the_least_of_one_series_are_two_queries() -> None:
    most, least = r.read("highest and lowest price of BTC this month").queries
    assert (most.operation, least.operation) == (q.Extreme("max"), q.Extreme("min"))
    assert most.subject == least.subject == r.coins("BTC")
    assert most.time == least.time == r.THIS_MONTH


@pytest.mark.parametrize(
    "question",
    [
        "coins with the widest range this week",
        "the day of BTC's highest volume and price in October",
        "change and market cap of ETH in October",
    ],
)
def test_measures_that_cannot_be_told_together_are_refused(question: str) -> None:
    assert r.read(question).refusal is not None
