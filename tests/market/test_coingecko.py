"""CoinGecko's adapter, over the replay and over what was recorded of the real one."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS
from service.market.sources.coingecko import CATEGORIES, CHART, DAILY_DAYS, HOURLY_DAYS, MARKETS, PastCap, plain_text
from service.storage.database import Database
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS, FakeClock
from tests.market.gecko import Gecko, open_gecko, rows
from tests.market.recordings import DATA, needs_recordings
from tests.upstream.faults import answer

SAMPLES = DATA / "wire" / "coingecko-net"


@pytest.fixture
async def gecko(clock: FakeClock, database: Database) -> AsyncIterator[Gecko]:
    async with open_gecko(clock, database) as opened:
        yield opened


def sample(name: str) -> bytes:
    """A recorded answer: what follows the three lines of the request."""
    return (SAMPLES / name).read_text().split("\n", 3)[3].encode()


@pytest.mark.recorded
@needs_recordings
def test_recorded_coins_decode() -> None:
    (bitcoin,) = MARKETS.decode(sample("GetMarkets.txt"))
    assert (bitcoin.id, bitcoin.symbol, bitcoin.name) == ("bitcoin", "btc", "Bitcoin")
    assert (bitcoin.current_price, bitcoin.market_cap, bitcoin.total_volume) == (70187, 1381651251183, 20154184933)
    assert bitcoin.last_updated == "2024-04-07T16:49:31.736Z"


@pytest.mark.recorded
@needs_recordings
def test_recorded_categories_decode() -> None:
    (category,) = CATEGORIES.decode(sample("GetMarketDataCategories.txt"))
    assert (category.id, category.name, category.content) == ("layer-1", "Layer 1 (L1)", "")
    assert category.market_cap_change_24h == -0.66091235190398
    assert (category.market_cap, category.volume_24h) == (2061406861196.14, 61146432400.1739)


@pytest.mark.recorded
@needs_recordings
def test_a_recorded_chart_decodes() -> None:
    chart = CHART.decode(sample("GetMarketChart.txt"))
    assert list(chart.market_caps[0]) == [1711843200000, 1370247487960.09]
    assert list(chart.total_volumes[-1]) == [1711983682000, 30137418199.6431]


@pytest.mark.recorded
@needs_recordings
async def test_the_adapter_reads_every_recorded_answer_over_the_wire(gecko: Gecko) -> None:
    recorded: dict[str, Callable[[], Awaitable[object]]] = {
        "GetMarkets.txt": lambda: gecko.source.page(1),
        "GetMarketDataCategories.txt": gecko.source.categories,
        "GetMarketChart.txt": lambda: gecko.source.caps("ethereum", DAILY_DAYS),
    }
    for name, ask in recorded.items():
        gecko.faults.next = answer(200, sample(name))
        assert await ask()
    assert {path.name for path in SAMPLES.iterdir()} - recorded.keys() == {
        "GetAssetCategories.txt", "GetAssetHistory.txt", "GetAssets.txt", "GetDerivatives.txt", "GetGlobalData.txt",
        "GetOhlc.txt", "Search.txt",
    }  # fmt: skip


async def test_a_page_asks_for_dollars_and_tells_coins_by_market_cap(gecko: Gecko) -> None:
    coins = await gecko.source.page(1)
    assert gecko.paths == ["/coins/markets?vs_currency=usd&order=market_cap_desc&per_page=250&page=1"]
    assert (coins[0].id, coins[0].ticker, coins[0].name, coins[0].seen_ms) == ("bitcoin", "BTC", "Bitcoin", START_MS)
    caps = [coin.market_cap or 0 for coin in coins]
    assert caps == sorted(caps, reverse=True)
    assert await gecko.source.page(2) == []


async def test_a_page_of_a_category_and_certain_coins_are_asked_for_by_id(gecko: Gecko) -> None:
    assert {coin.id for coin in await gecko.source.page(1, "oracle")} == {"chainlink", "pyth-network"}
    assert {coin.id for coin in await gecko.source.coins(["harmony", "one-token"])} == {"harmony", "one-token"}
    assert gecko.paths[1] == "/coins/markets?vs_currency=usd&ids=harmony%2Cone-token&per_page=250"


async def test_nulls_are_unknown_and_so_are_prices_and_market_caps_of_zero(gecko: Gecko) -> None:
    gecko.faults.next = answer(
        200,
        rows(
            {"id": "a", "symbol": "a", "current_price": None, "market_cap": 0, "total_volume": 0},
            {
                "id": "b",
                "symbol": "b",
                "name": "B\u202eC\x1b[1m" + "x" * 99,
                "last_updated": "2025-07-25T11:00:00.000Z",
            },
            {"id": "c", "symbol": "c", "last_updated": "2031-01-01T00:00:00Z"},
            {"id": "d", "symbol": "d", "last_updated": "yesterday"},
        ),
    )
    first, second, third, fourth = await gecko.source.page(1)
    assert (first.price, first.market_cap, first.volume_usd) == (None, None, 0)
    assert second.seen_ms == START_MS - HOUR_MS
    assert second.name == ("B C [1m" + "x" * 99)[:80]
    assert (second.price, third.seen_ms, fourth.seen_ms) == (None, START_MS, START_MS)


async def test_figures_that_cannot_be_are_unknown(gecko: Gecko) -> None:
    gecko.faults.next = answer(
        200,
        rows(
            {"id": "a", "symbol": "a", "current_price": 1e9, "market_cap": 2e14, "total_volume": -1},
            {"id": "b", "symbol": "b", "current_price": -1, "market_cap": -5, "total_volume": 1e30},
            {"id": "c", "symbol": "c", "current_price": 1e6, "market_cap": 1e14, "total_volume": 1e12},
        ),
    )
    found = [(coin.price, coin.market_cap, coin.volume_usd) for coin in await gecko.source.page(1)]
    assert found == [(None, None, None), (None, None, None), (1e6, 1e14, 1e12)]
    gecko.faults.next = answer(
        200, b'[{"id":"x","name":"X","market_cap":-1,"volume_24h":1e30},{"id":"y","name":"Y","market_cap":1e9}]'
    )
    assert [(row.market_cap, row.volume_24h) for row in await gecko.source.categories()] == [(None, None), (1e9, None)]
    gecko.faults.next = answer(200, b'{"market_caps":[[1000,1e30],[2000,5]],"total_volumes":[[1000,7],[2000,-7]]}')
    assert await gecko.source.caps("a", 365) == [PastCap(1000, None, 7), PastCap(2000, 5, None)]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", '"1.0"', "-1e301", "true", "[]"])
async def test_what_is_no_finite_number_is_refused(gecko: Gecko, number: str) -> None:
    gecko.faults.next = answer(200, rows({"id": "a", "symbol": "a", "market_cap": 7}).replace(b"7", number.encode()))
    with pytest.raises(UpstreamError) as caught:
        await gecko.source.page(1)
    assert caught.value.upstream_status == 200


async def test_a_chart_joins_market_caps_and_volumes_by_time(gecko: Gecko) -> None:
    chart: dict[str, Any] = {
        "prices": [],
        "market_caps": [[START_MS, 5.0], [START_MS - 2, 4.0], [START_MS - 1, 0], [START_MS + 1, 9.0], [-5, 1.0]],
        "total_volumes": [[START_MS, 2.0], [START_MS - 2, None]],
    }
    gecko.faults.next = answer(200, json.dumps(chart).encode())
    assert await gecko.source.caps("bitcoin", DAILY_DAYS) == [
        PastCap(START_MS - 2, 4.0, None), PastCap(START_MS - 1, None, None), PastCap(START_MS, 5.0, 2.0)
    ]  # fmt: skip


async def test_charts_come_by_the_day_and_by_the_hour(gecko: Gecko) -> None:
    days = await gecko.source.caps("bitcoin", DAILY_DAYS)
    hours = await gecko.source.caps("bitcoin", HOURLY_DAYS)
    assert {cap.at_ms % DAY_MS for cap in days[:-1]} == {0}
    assert {later.at_ms - cap.at_ms for cap, later in pairwise(hours)} == {HOUR_MS}
    assert len(days) == 366
    assert hours[0].at_ms == START_MS - 42 * DAY_MS


async def test_a_coin_it_does_not_know_is_a_failure_with_its_words(gecko: Gecko) -> None:
    with pytest.raises(UpstreamError) as caught:
        await gecko.source.caps("no-such-coin", DAILY_DAYS)
    assert (caught.value.upstream_status, caught.value.body) == (404, '{"error":"coin not found"}')


async def test_categories_come_with_text_and_figures(gecko: Gecko) -> None:
    categories = {category.name: category for category in await gecko.source.categories()}
    assert categories["Dog-Themed"].description is None
    assert categories["SocialFi"].description is None
    assert (categories["Layer 1 (L1)"].description or "").endswith("such as Bitcoin or Ethereum.")
    assert categories["Decentralized Finance (DeFi)"].description == (
        "Financial services run by smart contracts: exchanges, lending, derivatives and yield. "
        "Nobody has to hold the user's funds for them."
    )
    assert {category.seen_ms for category in categories.values()} == {START_MS}


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("a <b>bold</b>  word<br>next", "a bold word next"),
        ("<p>one</p><p>two</p>", "one two"),
        ("&lt;3 &amp; more", "<3 & more"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("x<script>alert('<b>')</script >y<style>p{}</style>z", "x y z"),
        ("never closed <script>alert(1)", "never closed"),
        ("a\x00b\u202ec\x1b[31m", "a b c [31m"),
        ("<![if" + "<" * 50, "<![if" + "<" * 50),
    ],
)
def test_a_description_is_what_a_browser_would_show(html: str, text: str) -> None:
    assert plain_text(html) == text


def test_a_long_description_is_cut_after_a_sentence_or_a_word() -> None:
    sentences = "This is a sentence of some length. " * 40
    assert plain_text(sentences) == ("This is a sentence of some length. " * 17).strip()
    words = plain_text("word, " * 300)
    assert words.endswith("word…")
    assert len(words) <= 600
    assert len(plain_text("x" * 10_000)) <= 600


@given(st.text(max_size=2_000) | st.lists(st.sampled_from(["<", "<script", ">", "</p>", "&#1;", "a "])).map("".join))
def test_any_description_becomes_one_short_printable_line(html: str) -> None:
    text = plain_text(html)
    assert len(text) <= 600
    assert text.isprintable()
