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


@pytest.mark.parametrize(("question", "queries"), r.table({**_SEVERAL, **_PROMPTS}))
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
    ],
)
def test_a_message_is_refused_as_a_whole_where_a_part_cannot_be_answered(question: str) -> None:
    assert r.read(question).refusal is not None


def test_a_word_that_changes_nothing_is_named() -> None:
    r.assert_reads("BTC price institutional", [r.value("BTC", "price")], ignored=["institutional"])
