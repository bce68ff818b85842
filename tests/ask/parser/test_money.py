"""Amounts of coins and of money: what they convert to, are worth together, have made and cost to hold."""

import pytest

from service.ask import query as q
from service.clock import DAY_MS
from tests.ask.parser import reading as r


def _converted(amount: float, unit: str, into: str, time: q.Time = q.Now()) -> q.Query:  # noqa: B008 - immutable
    named = tuple(dict.fromkeys(one for one in (unit, *into.split()) if one != "USD"))
    return q.Query(
        subject=q.Subject(coins=named), time=time, operation=q.Convert(q.Holding(amount, unit), tuple(into.split()))
    )


def _worth(holdings: dict[str, float], time: q.Time = q.Now()) -> q.Query:  # noqa: B008 - immutable
    return q.Query(
        subject=q.Subject(coins=tuple(one for one in holdings if one != "USD")),
        time=time,
        operation=q.ValueOf(tuple(q.Holding(amount, unit) for unit, amount in holdings.items())),
    )


def _made(
    coin: str,
    amount: float | None = None,
    *,
    unit: str | None = None,
    entry: float | None = None,
    since: q.Time | None = None,
    side: str = "long",
) -> q.Query:
    holding = None if amount is None else q.Holding(amount, unit or coin)
    return r.done(q.Profit(holding, entry, since, side), r.coins(coin))  # type: ignore[arg-type]  # a literal


_CONVERTED: r.Rows = {
    "5 hundred SOL in usd": _converted(500.0, "SOL", "USD"),
    "how much is a thousand ada worth": _converted(1_000.0, "ADA", "USD"),
    "What is 1000 PEPE worth?": _converted(1_000.0, "PEPE", "USD"),
    "half a bitcoin in usd": _converted(0.5, "BTC", "USD"),
    "what was $100 in sol 30 days ago": _converted(100.0, "USD", "SOL", r.day("2026-10-24", "30 days ago")),
    "$500 of SOL": _converted(500.0, "USD", "SOL"),
    "how many sol is 1000 usd?": _converted(1_000.0, "USD", "SOL"),
    "how much sol can I get for $1,000?": _converted(1_000.0, "USD", "SOL"),
    "how much is 2 btc in eth and sol?": _converted(2.0, "BTC", "ETH SOL"),
    "what are 2 BTC worth?": _converted(2.0, "BTC", "USD"),
    "1.5k doge in usd": _converted(1_500.0, "DOGE", "USD"),
    "what was my 2 btc worth a week ago?": _converted(2.0, "BTC", "USD", r.day("2026-11-16", "7 days ago")),
    "2 of BTC in ETH": _converted(2.0, "BTC", "ETH"),
    "convert 2 million usd to sol": _converted(2e6, "USD", "SOL"),
    "convert two and a half btc to usd": _converted(2.5, "BTC", "USD"),
}

_WORTH: r.Rows = {
    "2 btc plus 5 sol": _worth({"BTC": 2.0, "SOL": 5.0}),
    "i hold 500 coins of DOGE": _worth({"DOGE": 500.0}),
    "BTC: 2, ETH: 10, portfolio value?": _worth({"BTC": 2.0, "ETH": 10.0}),
    "my portfolio: 2 BTC, 10 ETH and $500": _worth({"BTC": 2.0, "ETH": 10.0, "USD": 500.0}),
    "value of my holdings of 2 BTC a week ago": _worth({"BTC": 2.0}, r.day("2026-11-16", "7 days ago")),
    "what were 2 BTC and 10 ETH worth a week ago?": _worth(
        {"BTC": 2.0, "ETH": 10.0}, r.day("2026-11-16", "7 days ago")
    ),
}

_MADE: r.Rows = {
    "hundred dollars in SOL 30 days ago": _made("SOL", 100.0, unit="USD", since=r.day("2026-10-24", "30 days ago")),
    "I bought sol at 150, profit?": _made("SOL", entry=150.0),
    "I bought 2 sol at 150, profit?": _made("SOL", 2.0, entry=150.0),
    "I bought $1000 of sol at 150, profit?": _made("SOL", 1_000.0, unit="USD", entry=150.0),
    "I bought sol a month ago, profit?": _made("SOL", since=r.day("2026-10-24", "30 days ago")),
    "what would my 2 sol bought a month ago have made by today?": _made(
        "SOL", 2.0, since=r.day("2026-10-24", "30 days ago")
    ),
    "if I had bought $1000 of ETH on october 5": _made("ETH", 1_000.0, unit="USD", since=r.day("2026-10-05")),
    "what would $1000 of BTC bought a month ago be worth?": _made(
        "BTC", 1_000.0, unit="USD", since=r.day("2026-10-24", "30 days ago")
    ),
    "I shorted 10 eth at 3500, pnl?": _made("ETH", 10.0, entry=3_500.0, side="short"),
    "short sol entry 150, pnl?": _made("SOL", entry=150.0, side="short"),
    "I entered SOL at $150 and what is my gain or loss?": _made("SOL", entry=150.0),
}

_MONTH_AGO = r.day("2026-10-24", "30 days ago")


def _together(positions: dict[str, q.Profit]) -> q.Query:
    return r.done(q.Portfolio(tuple(positions.values())), r.coins(" ".join(positions)))


def _put(amount: float, unit: str = "USD") -> q.Profit:
    return q.Profit(q.Holding(amount, unit), since=_MONTH_AGO)


_FOLLOWED: r.Rows = {
    "how much would 1000 dollars in solana a month ago be worth now": _made("SOL", 1e3, unit="USD", since=_MONTH_AGO),
    "if I had put 1000 in SOL 30 days ago what would it be now?": _made("SOL", 1e3, unit="USD", since=_MONTH_AGO),
    "$500 of SOL 30 days ago, worth today?": _made("SOL", 500.0, unit="USD", since=_MONTH_AGO),
    "what would 2 eth of 30 days ago be worth now": _made("ETH", 2.0, since=_MONTH_AGO),
    "how much was 1000 dollars in sol a month ago": _converted(1e3, "USD", "SOL", _MONTH_AGO),
    "how much sol could I have bought with 1000 dollars a month ago": _converted(1e3, "USD", "SOL", _MONTH_AGO),
}
"""Money of a past time that is followed to the present, and an amount at the prices of that time."""

_TOGETHER: r.Rows = {
    "I am long 800 LINK from 12.40 and short 60 AAVE from 255. PnL per position and the total": _together(
        {
            "LINK": q.Profit(q.Holding(800.0, "LINK"), 12.4),
            "AAVE": q.Profit(q.Holding(60.0, "AAVE"), 255.0, side="short"),
        }
    ),
    "$100 each in BTC and ETH 30 days ago, worth now?": _together({"BTC": _put(100.0), "ETH": _put(100.0)}),
    "3000 usd split equally between BTC, ETH and SOL a month ago, value now?": _together(
        {"BTC": _put(1e3), "ETH": _put(1e3), "SOL": _put(1e3)}
    ),
    "40% BTC and 60% ETH, $1000 30 days ago, value now?": _together({"BTC": _put(400.0), "ETH": _put(600.0)}),
    "500 in btc and 300 in eth 30 days ago, what is it worth now": _together({"BTC": _put(500.0), "ETH": _put(300.0)}),
    "I bought 2 eth and 10 sol a month ago, profit?": _together({"ETH": _put(2.0, "ETH"), "SOL": _put(10.0, "SOL")}),
}

_COUNTED: r.Rows = {
    "how many litecoin does one bitcoin buy": _converted(1.0, "BTC", "LTC"),
    "1 btc equals how many eth": _converted(1.0, "BTC", "ETH"),
    "one bitcoin equals how many ether": _converted(1.0, "BTC", "ETH"),
}


def test_an_amount_now_and_then_is_asked_of_both_times() -> None:
    then = _converted(2.0, "BTC", "USD", r.day("2026-11-16", "7 days ago"))
    r.assert_reads("how much is 2 btc now and a week ago", (_converted(2.0, "BTC", "USD"), then))


_HELD: r.Rows = {
    "what does a 10k long in ETH cost to hold for a week?": r.value(
        "ETH", q.Measure("carry", over=r.WEEK, side="long", notional=10_000.0)
    ),
    "funding cost of a $5000 short in SOL": r.value("SOL", q.Measure("carry", side="short", notional=5_000.0)),
    "carry of a $5000 long in SOL today": r.value(
        "SOL", q.Measure("carry", over=r.TODAY, side="long", notional=5_000.0)
    ),
    "carry of 2 BTC": q.Query(
        subject=r.coins("BTC"), measures=(q.Measure("carry"),), operation=q.ValueOf((q.Holding(2.0, "BTC"),))
    ),
    "carry of SOL": r.value("SOL", "carry"),
}

_DIVIDED: r.Rows = {
    "ratio of ETH to BTC": r.done(q.Ratio(), r.coins("ETH BTC")),
    "ETH/BTC ratio": r.done(q.Ratio(), r.coins("ETH BTC")),
    "eth/btc": r.done(q.Ratio(), r.coins("ETH BTC")),
    "price of SOL / ETH": q.Query(subject=r.coins("SOL ETH"), measures=(q.Measure("price"),), operation=q.Ratio()),
    "BTC/ETH funding": r.value("BTC ETH", "funding"),
    "BTC/ETH prices": r.value("BTC ETH", "price"),
    "ratio of the market cap of ETH to BTC": q.Query(
        subject=r.coins("ETH BTC"), measures=(q.Measure("market_cap"),), operation=q.Ratio()
    ),
}


_PRICED: r.Rows = {
    "price of 1000 usd of btc": _converted(1_000.0, "USD", "BTC"),
    "price of 2000 dollars of sol": _converted(2_000.0, "USD", "SOL"),
    "price of $2000 of eth": _converted(2_000.0, "USD", "ETH"),
    "what is the price of 2025 usd worth of eth": _converted(2_025.0, "USD", "ETH"),
    "price of 100 usdt of sol": _converted(100.0, "USD", "SOL"),
    "price of 1k dollars in doge": _converted(1_000.0, "USD", "DOGE"),
    "price for 2020 bucks of sol": _converted(2_020.0, "USD", "SOL"),
    "price of 500 usd in sol yesterday": _converted(
        500.0, "USD", "SOL", q.At(r.TODAY_MS - DAY_MS, whole_day=True, words="yesterday")
    ),
    "price of 2000 sol": _converted(2_000.0, "SOL", "USD"),
    "i bought btc at a price of 95000 usd": _made("BTC", entry=95_000.0),
    "high of btc in 2025": q.Query(
        subject=r.coins("BTC"),
        measures=(q.Measure("high"),),
        time=r.between("2025-01-01", "2026-01-01", "2025"),
        operation=q.Extreme("max"),
    ),
}
"""Amounts whose price is asked for, which are no entries and no years."""


@pytest.mark.parametrize(
    ("question", "queries"),
    r.table({**_PRICED, **_CONVERTED, **_WORTH, **_MADE, **_FOLLOWED, **_TOGETHER, **_COUNTED, **_HELD, **_DIVIDED}),
)
def test_an_amount_is_read_with_its_unit_and_what_is_asked_of_it(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "convert 100 usd",
        "price of 2000 worth of eth",
        "price of 1000 euros of btc",
        "i have 1000 usd",
        "my portfolio",
        "profit?",
        "holding",
        "ratio of BTC, ETH and SOL",
        "ETH/BTC change over 7 days",
        "SOL/ETH high of the last 30 days",
        "is eth/btc above 0.03?",
        "btc/gold",
        "I bought BTC and ETH at 150, profit?",
        "I bought at 150, profit?",
        "funding of a $5000 short",
        "$5 and $10",
        "2x BTC",
        "5% of BTC",
        "-2 BTC in USD",
        "I bought 2 BTC and 3 ETH at 150, profit?",
        "I bought 2 sol with eth at 150, profit?",
        "profit of 2 sol",
        "40% BTC and 50% ETH, $1000 30 days ago, value now?",
        "$1000 in BTC and ETH 30 days ago, value now?",
        "2 sol each in BTC and ETH 30 days ago, value now?",
        "which share of 1000 in BTC and ETH 30 days ago",
        "I bought 2 eth and 3 sol for 10 btc a month ago, profit?",
    ],
)
def test_an_amount_without_what_it_needs_is_refused(question: str) -> None:
    understood = r.read(question)
    assert understood.refusal is not None, understood.queries
