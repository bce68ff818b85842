"""What qualifies a measure becomes a part of it, or refuses the question: it is never dropped."""

import pytest

from service.ask import query as q
from service.ask.understanding import Refusal
from service.clock import DAY_MS
from tests.ask.parser import reading as r

_YESTERDAY = q.At(r.TODAY_MS - DAY_MS, whole_day=True, words="yesterday")


def _in(unit: str, name: str = "volume") -> q.Measure:
    return q.Measure(name, counted_in=unit)


def _per(hours: int, name: str = "funding") -> q.Measure:
    return q.Measure(name, per_hours=hours)


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table(
        {
            "volume of btc in btc": r.value("BTC", _in("BTC")),
            "volume of eth in btc yesterday": r.value("ETH", _in("BTC"), time=_YESTERDAY),
            "open interest of sol in coins": r.value("SOL", _in("coins", "open_interest")),
            "what's hype's open interest in tokens?": r.value("HYPE", _in("coins", "open_interest")),
            "market cap of sol in bitcoin": r.value("SOL", _in("BTC", "market_cap")),
            "eth volume (coins)": r.value("ETH", _in("coins")),
            "volume in btc of eth": r.value("ETH", _in("BTC")),
            "open interest of eth and sol in btc": r.value("ETH SOL", _in("BTC", "open_interest")),
            "top 5 coins by volume in btc": r.rank(_in("BTC"), 5),
            "is the open interest of eth in btc above 1000": r.checked(
                "ETH", r.holds(_in("BTC", "open_interest"), "gt", 1000.0)
            ),
        }
    ),
)
def test_an_amount_is_given_in_the_coin_that_is_named(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table(
        {
            "funding of sol per day": r.value("SOL", _per(24)),
            "funding of sol per 8h": r.value("SOL", _per(8)),
            "eth funding rate per 8 hours": r.value("ETH", _per(8)),
            "hourly funding of sol": r.value("SOL", _per(1)),
            "funding of xrp an hour": r.value("XRP", _per(1)),
            "funding of sol a week": r.value("SOL", _per(7 * 24)),
            "funding of btc paid every 8 hours": r.value("BTC", _per(8)),
            "funding of btc per year": r.value("BTC", "funding"),
            "funding of btc per day over the last 7 days": r.value(
                "BTC", q.Measure("funding", r.WEEK, mean=True, per_hours=24), time=r.WEEK
            ),
            "funding cost per day of btc": r.value("BTC", _per(24, "carry")),
            "top 3 coins by funding per 8h": r.rank(_per(8), 3),
            "which coins have funding above 0.01 % per 8h": r.listed(r.holds(_per(8), "gt", 0.01)),
            "how much funding does a $10k long in btc pay per day": r.value(
                "BTC", q.Measure("carry", side="long", notional=10_000.0)
            ),
        }
    ),
)
def test_funding_is_given_per_the_time_that_is_named(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table(
        {
            "BTC trend 1W": r.value("BTC", r.trend("weekly")),
            "BTC trend 1D": r.value("BTC", r.trend("daily")),
            "1w trend of sol": r.value("SOL", r.trend("weekly")),
            "trend of eth on 1w": r.value("ETH", r.trend("weekly")),
            "trend of btc and eth 1d": r.value("BTC ETH", r.trend("daily")),
            "1d and 1w trend of xrp": r.value("XRP", r.trend("daily"), r.trend("weekly")),
            "1w trend and 7d change of btc": r.value("BTC", r.trend("weekly"), r.change(r.WEEK)),
            "trend of btc over 7 days": r.value("BTC", "trend", time=r.WEEK),
            "price, 24h change and trend of btc": r.value("BTC", "price", r.change(r.DAY), "trend"),
        }
    ),
)
def test_a_time_frame_beside_a_trend_is_the_one_of_the_chart(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        # Units
        ("open interest of sol in contracts", "contracts"),
        ("open interest of gold in coins", "coins"),
        ("volume of btc in lots", "lots"),
        ("price of sol in sats", "sats"),
        ("price of sol in lamports", "lamports"),
        ("price of sol in EUR", "EUR"),
        ("btc price EUR", "EUR"),
        ("btc/eur price", "eur"),
        ("coins with volume over 100 million euros", "euros"),
        ("funding of btc in bps", "bps"),
        ("price of btc in btc", "btc"),
        ("volume of btc in btc and eth in eth", "eth"),
        # Periods and time frames
        ("volatility of btc per day", "per day"),
        ("which coins pay more than 1% per day", "per day"),
        ("volume of btc per hour", "hour"),
        ("price of btc per ounce", "ounce"),
        ("volume of sol per trade", "trade"),
        ("change of btc by hour", "hour"),
        ("funding per 8h and per day of btc", "per day"),
        ("funding of sol per day and per 8h", "8h"),
        ("correlation of sol and btc using weekly returns", "weekly"),
        ("BTC trend 4h", "4h"),
        ("BTC trend 3D", "3D"),
        ("trend of btc 30d", "30d"),
        # Venues
        ("price of eth on CME", "CME"),
        ("price of eth at CME", "CME"),
        ("CME price of eth", "CME"),
        ("CME ETH price", "CME"),
        ("sol price (CME)", "CME"),
        ("ETH@CME price", "CME"),
        ("ETH-CME price", "CME"),
        ("funding of btc from dydx", "dydx"),
        ("open interest of btc on bitmex", "bitmex"),
        ("volume of eth by coinbase", "coinbase"),
        ("eth annualised return over 30 days", "annualised"),
        ("annualized 7d change of btc", "annualized"),
        ("btc 30d change in dollars", "in dollars"),
        ("eth 7d change in USD", "in USD"),
        ("return of sol over 90 days in dollars", "in dollars"),
        ("drawdown of btc in dollars", "in dollars"),
        ("quarterly futures price of btc", "quarterly"),
        ("dated perp price of eth", "dated"),
        ("inverse price of sol", "inverse"),
        # Sessions of exchanges
        ("btc NY close yesterday", "NY"),
        ("btc price at US close yesterday", "US"),
        ("US closing price of btc", "US"),
        ("price of sol at the us open", "us"),
        ("btc price at London close", "London"),
        ("btc price at Asia open yesterday", "Asia"),
        ("btc price at the close", "close"),
        ("btc price at the open", "price at the open"),
        ("eth price at close", "close"),
        ("eth price at the UTC close", "close"),
        ("price of eth at market open", "market"),
        ("btc price at nasdaq open yesterday", "nasdaq"),
        # Spot markets
        ("spot volume of btc", "spot"),
        ("spot funding of btc", "spot"),
        ("spot vs perp price of btc", "spot"),
        ("difference between spot and perp price of btc", "spot"),
        ("spot btc change 7d", "spot"),
        ("top 5 coins by spot volume", "spot"),
        ("open interest of spot btc", "spot"),
        ("volume of btc in the spot market", "spot"),
        ("price and spot volume of eth", "spot"),
        # Sizes, averages and frames
        ("change of btc in absolute terms", "in absolute terms"),
        ("btc absolute change over 30 days", "absolute"),
        ("top gainers in absolute terms", "in absolute terms"),
        ("funding of btc in absolute terms", "in absolute terms"),
        ("btc vs eth absolute change 7d", "absolute"),
        ("absolute dollar change of btc over 7 days", "dollar"),
        ("daily change of btc averaged over 30 days", "averaged"),
        ("average daily change of btc over 30 days", "average"),
        ("btc's daily moves averaged over a month", "averaged"),
        ("daily change of btc over 30 days", "over 30 days"),
        ("hourly change of sol over a day", "over a day"),
        ("btc volatility averaged over 90 days", "averaged"),
        ("weekly volatility of eth", "weekly"),
        ("daily volatility of btc", "daily"),
        ("weekly correlation of eth with btc", "weekly"),
        ("eth Frankfurt open today", "Frankfurt"),
    ],
)
def test_what_qualifies_a_measure_and_cannot_be_converted_refuses_the_question(question: str, word: str) -> None:
    understood = r.read(question)
    assert understood.refusal is not None, understood.queries
    assert understood.refusal.reason == "unread"
    assert word in understood.refusal.words
    assert understood.queries == ()


@pytest.mark.parametrize(
    ("question", "instead"),
    [
        ("open interest of sol in contracts", "SOL, open interest"),
        ("price of eth on CME", "ETH, price"),
        ("price of sol in sats", "SOL, price"),
        ("price of xrp per share", "XRP, price"),
        ("btc price yesterday PST", "BTC, price, yesterday"),
        ("volume of sol per trade", "SOL, 24-hour volume"),
        ("funding of btc from dydx", None),
    ],
)
def test_a_refusal_says_what_was_read_of_the_question_where_that_is_certain(question: str, instead: str | None) -> None:
    refusal = r.read(question).refusal
    assert refusal is not None
    assert refusal.instead == instead


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table(
        {
            "price of btc in dollars": r.value("BTC", "price"),
            "btc price in usdt": r.value("BTC", "price"),
            "open interest on btc": r.value("BTC", "open_interest"),
            "confidence in btc": r.value("BTC", "confidence"),
            "change in btc": r.value("BTC", "change"),
            "funding of btc on hyperliquid": r.value("BTC", "funding"),
            "price of ZEC in one word": r.value("ZEC", "price"),
            "price of gold per ounce": q.Query(
                subject=q.Subject(scope="assets", assets=("xyz:GOLD",)), measures=(q.Measure("price"),)
            ),
        }
    ),
)
def test_what_every_answer_has_qualifies_nothing(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("btc price at the market close yesterday", "the market close"),
        ("btc price at the close of Wall Street", "Wall Street"),
        ("btc low during US hours", "US hours"),
        ("btc price at the close of the US session", "US session"),
        ("eth change during us trading hours", "us trading hours"),
        ("btc price after hours", "after hours"),
        ("sol price at the opening bell", "opening bell"),
    ],
)
def test_hours_of_an_exchange_are_not_held(question: str, words: str) -> None:
    assert r.read(question).refusal == Refusal("not-available", (words,))


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table(
        {
            "btc close yesterday": r.value("BTC", "price", time=_YESTERDAY),
            "btc price at the close yesterday": r.value("BTC", "price", time=_YESTERDAY),
            "btc close on 12 March": r.value("BTC", "price", time=r.day("2026-03-12")),
            "btc daily close": r.value("BTC", "price"),
            "price of btc at the daily close": r.value("BTC", "price"),
            "give us open interest of btc": r.value("BTC", "open_interest"),
            "market open interest of btc": r.value("BTC", "open_interest"),
            "spot price of btc": r.value("BTC", "price"),
            "btc spot": r.value("BTC", "price"),
            "btc spot and funding": r.value("BTC", "price", "funding"),
            "spot me the funding of sol": r.value("SOL", "funding"),
            "which coin has the top spot by volume": r.rank("volume", 1),
            "btc daily change, 7d change and funding": r.value("BTC", r.change(r.DAY), r.change(r.WEEK), "funding"),
            "btc move in magnitude over 7 days": r.value("BTC", q.Measure("change", r.WEEK, absolute=True)),
            "coins with the largest absolute funding": r.rank(q.Measure("funding", absolute=True), 5),
            "price of eth averaged over 30 days": r.value("ETH", q.Measure("price", mean=True), time=r.MONTH),
            "funding of btc averaged over 7 days": r.value("BTC", q.Measure("funding", r.WEEK, mean=True), time=r.WEEK),
            "monthly volatility of btc": r.value("BTC", q.Measure("volatility", r.MONTH)),
            "top 5 gainers on Hyperliquid": r.rank(r.change(), 5),
            "top 3 losers on hyperliquid over 7 days": r.rank(r.change(r.WEEK), 3, "least"),
            "bullish coins on Hyperliquid": r.listed(r.BULLISH),
            "funding on Hyperliquid": r.value("HYPE", "funding"),
        }
    ),
)
def test_words_that_qualify_one_measure_are_read_beside_others(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)
