"""CoinGecko replayed over real HTTP: its own forms and refusals, prices from the venue's tape."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import aiohttp
import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.upstream.fixture_set import read_files
from service.upstream.replay import recording as recording_module
from service.upstream.replay.coingecko import CATEGORIES_FILE, COINS_FILE
from service.upstream.replay.recording import Recording, load_recording
from service.upstream.replay.server import Replay
from tests.fakes.clock import START_MS, FakeClock
from tests.upstream.conftest import FIXTURES, listening


@cache
def recording() -> tuple[Recording, Mapping[str, bytes]]:
    return load_recording(FIXTURES), read_files(FIXTURES)


class Browser:
    """Asks as anybody would."""

    def __init__(self, replay: Replay, http: aiohttp.ClientSession, base: str) -> None:
        self.replay = replay
        self._http = http
        self._base = base

    async def ask(self, path: str) -> tuple[int, Any]:
        async with self._http.get(f"{self._base}/api/v3{path}") as response:
            assert response.headers["Content-Type"].startswith("application/json")
            return response.status, json.loads(await response.read())

    async def get(self, path: str) -> Any:
        status, body = await self.ask(path)
        assert status == 200, body
        return body

    async def coin(self, coin_id: str) -> dict[str, Any]:
        (row,) = await self.get(f"/coins/markets?vs_currency=usd&ids={coin_id}")
        assert isinstance(row, dict)
        return row

    def mark(self, venue_symbol: str) -> float:
        tape = self.replay._venue.tape
        return float(tape.context(tape.asset(venue_symbol), self.replay.now()[0]).oracle_px)


@asynccontextmanager
async def browsing(clock: FakeClock, changed: Mapping[str, bytes] | None = None) -> AsyncIterator[Browser]:
    recorded, files = recording()
    replay = Replay(recorded, files if changed is None else changed, clock, "shifted")
    async with listening(replay.application()) as url, aiohttp.ClientSession() as http:
        replay.url = url
        yield Browser(replay, http, replay.base("coingecko"))


@pytest.fixture
async def browser(clock: FakeClock) -> AsyncIterator[Browser]:
    async with browsing(clock) as opened:
        yield opened


async def test_a_coin_has_coingeckos_own_row(browser: Browser) -> None:
    row = await browser.coin("bitcoin")
    assert {
        "id": "bitcoin",
        "symbol": "btc",
        "name": "Bitcoin",
        "market_cap_rank": 1,
        "roi": None,
    }.items() <= row.items()
    assert row["current_price"] == pytest.approx(browser.mark("BTC"), rel=1e-5)
    assert row["market_cap"] == round(row["current_price"] * row["circulating_supply"])
    assert row["last_updated"] == iso(START_MS)


async def test_at_any_hour_of_the_day_all_coins_are_read_from_rows_that_are_kept_unpacked(clock: FakeClock) -> None:
    # With 64 hours a coin, the volume of the day before unpacked every series on the event loop: 0.2 s of a start.
    async with browsing(clock) as browser:
        unpacked = recording_module._unpacked.cache_info().misses
        clock.set_wall(clock.now_ms() // DAY_MS * DAY_MS)
        await browser.get("/coins/markets?vs_currency=usd&per_page=250")
        assert recording_module._unpacked.cache_info().misses == unpacked


async def test_a_coin_of_which_the_venue_trades_thousands_costs_a_thousandth(browser: Browser) -> None:
    row = await browser.coin("pepe")
    assert row["symbol"] == "pepe"
    assert row["current_price"] * 1000 == pytest.approx(browser.mark("kPEPE"), rel=1e-5)


async def test_coins_that_share_a_ticker_differ_in_price_but_for_wrapped_ones(browser: Browser) -> None:
    rows = await browser.get("/coins/markets?vs_currency=usd&per_page=250")
    ones = {row["id"]: row for row in rows if row["symbol"] == "one"}
    assert ones.keys() == {"harmony", "one-token", "bigone-token"}
    assert ones["one-token"]["market_cap"] > ones["harmony"]["market_cap"]
    for impostor in ("one-token", "bigone-token"):
        assert not 0.5 < ones[impostor]["current_price"] / browser.mark("ONE") < 2
    dogs = {row["id"]: row["current_price"] for row in rows if row["symbol"] == "doge"}
    assert dogs["dogecoin"] == dogs["binance-peg-dogecoin"]
    assert sum(row["symbol"] == "pepe" for row in rows) == 2


async def test_unknown_things_are_nulls_and_zeros(browser: Browser) -> None:
    row = await browser.coin("threshold-network-token")
    assert (row["current_price"], row["market_cap"], row["market_cap_rank"]) == (None, 0, None)
    assert row["price_change_percentage_24h"] is None
    chart = await browser.get("/coins/threshold-network-token/market_chart?vs_currency=usd&days=2")
    assert {cap for _, cap in chart["market_caps"]} == {None}


async def test_pages_hold_what_is_asked_and_end(browser: Browser) -> None:
    first = await browser.get("/coins/markets?vs_currency=usd&per_page=3&page=1")
    second = await browser.get("/coins/markets?vs_currency=usd&per_page=3&page=2")
    assert [row["market_cap_rank"] for row in [*first, *second]] == [1, 2, 3, 4, 5, 6]
    assert await browser.get("/coins/markets?vs_currency=usd&page=9") == []
    assert len(await browser.get("/coins/markets?vs_currency=usd")) < 100


async def test_changes_look_back_a_day(clock: FakeClock, browser: Browser) -> None:
    before = (await browser.coin("solana"))["current_price"]
    await clock.advance(DAY_MS / 1000 / 2 - 60)
    row = await browser.coin("solana")
    chart = await browser.get("/coins/solana/market_chart?vs_currency=usd&days=1")
    assert row["price_change_percentage_24h"] == pytest.approx(
        (row["current_price"] / chart["prices"][0][1] - 1) * 100, abs=0.5
    )
    assert before != row["current_price"]


async def test_categories_add_up_their_coins(browser: Browser) -> None:
    categories = await browser.get("/coins/categories")
    caps = [category["market_cap"] for category in categories]
    assert caps == sorted(caps, reverse=True)
    oracle = next(category for category in categories if category["name"] == "Oracle")
    members = await browser.get(f"/coins/markets?vs_currency=usd&category={oracle['id']}")
    assert oracle["top_3_coins_id"] == [row["id"] for row in members][:3]
    assert oracle["market_cap"] == sum(row["market_cap"] for row in members)
    assert oracle["volume_24h"] == sum(row["total_volume"] for row in members)
    before = sum(row["market_cap"] / (1 + row["market_cap_change_percentage_24h"] / 100) for row in members)
    assert oracle["market_cap_change_24h"] == pytest.approx((oracle["market_cap"] / before - 1) * 100, abs=1e-3)
    assert any(category["content"] is None for category in categories)


async def test_a_chart_has_a_point_an_hour_up_to_90_days_and_a_day_above_and_one_for_now(browser: Browser) -> None:
    hours = (await browser.get("/coins/bitcoin/market_chart?vs_currency=usd&days=42"))["prices"]
    days = (await browser.get("/coins/bitcoin/market_chart?vs_currency=usd&days=365"))["market_caps"]
    assert {later[0] - point[0] for point, later in pairwise(hours)} == {HOUR_MS}
    assert {later[0] - point[0] for point, later in pairwise(days[:-1])} == {DAY_MS}
    assert (hours[-1][0], days[-1][0]) == (START_MS, START_MS)
    assert days[-2][0] == START_MS - DAY_MS // 2
    assert len(days) == 366
    row = await browser.coin("bitcoin")
    assert (hours[-1][1], days[-1][1]) == (row["current_price"], row["market_cap"])


async def test_a_charts_points_are_the_venues_closes(browser: Browser) -> None:
    chart = await browser.get("/coins/ethereum/market_chart?vs_currency=usd&days=365")
    at_ms = chart["prices"][100][0]
    bar = next(bar for bar in recording()[0].days["ETH"] if bar.close_ms + 1 == at_ms)
    assert chart["prices"][100][1] == pytest.approx(float(bar.close), rel=1e-5)
    assert chart["total_volumes"][100][1] == pytest.approx(1.6 * float(bar.volume) * float(bar.close), rel=1e-6)
    hours = await browser.get("/coins/ethereum/market_chart?vs_currency=usd&days=3")
    point = hours["total_volumes"][-2]
    day = [bar for bar in recording()[0].hours["ETH"] if point[0] - DAY_MS <= bar.open_ms < point[0]]
    assert len(day) == 24
    assert point[1] == pytest.approx(1.6 * sum(float(bar.volume) * float(bar.close) for bar in day), rel=1e-6)


async def test_what_follows_nobody_stands_still(browser: Browser) -> None:
    chart = await browser.get("/coins/tether/market_chart?vs_currency=usd&days=100")
    assert {price for _, price in chart["prices"]} == {1.0}
    assert len(chart["prices"]) == 101


async def test_a_young_coin_has_no_older_points(browser: Browser) -> None:
    chart = await browser.get("/coins/pump-fun/market_chart?vs_currency=usd&days=365")
    assert 14 <= len(chart["prices"]) <= 17


async def test_nothing_after_now_is_told_and_all_stands_still_for_a_minute(clock: FakeClock, browser: Browser) -> None:
    first = await browser.coin("bitcoin")
    await clock.advance(59)
    assert await browser.coin("bitcoin") == first
    await clock.advance(1)
    assert (await browser.coin("bitcoin"))["last_updated"] == iso(START_MS + MINUTE_MS)
    chart = await browser.get("/coins/bitcoin/market_chart?vs_currency=usd&days=2")
    assert chart["prices"][-1][0] == START_MS + MINUTE_MS


async def test_times_are_moved_with_the_replay(clock: FakeClock, browser: Browser) -> None:
    before = await browser.get("/coins/bitcoin/market_chart?vs_currency=usd&days=365")
    clock.set_wall(START_MS + 500 * DAY_MS)
    after = await browser.get("/coins/bitcoin/market_chart?vs_currency=usd&days=365")
    assert [at_ms + 500 * DAY_MS for at_ms, _ in before["prices"]] == [at_ms for at_ms, _ in after["prices"]]
    assert [price for _, price in before["prices"]] == [price for _, price in after["prices"]]


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("/coins/no-such-coin/market_chart?vs_currency=usd&days=1", 404, "coin not found"),
        ("/coins/markets?vs_currency=usd&category=none", 404, "category not found"),
        ("/coins/markets", 422, "Missing parameter vs_currency"),
        ("/coins/markets?vs_currency=usd&per_page=251", 422, "invalid per_page or page"),
        ("/coins/markets?vs_currency=usd&page=0", 422, "invalid per_page or page"),
        ("/coins/markets?vs_currency=usd&page=x", 422, "invalid per_page or page"),
        ("/coins/bitcoin/market_chart?vs_currency=usd", 422, "Missing parameter vs_currency or days"),
        ("/coins/bitcoin/market_chart?days=1", 422, "Missing parameter vs_currency or days"),
    ],
)
async def test_what_it_cannot_answer_is_refused_in_its_own_words(
    browser: Browser, path: str, status: int, error: str
) -> None:
    assert await browser.ask(path) == (status, {"error": error})


async def test_more_than_a_year_is_not_to_be_had_without_paying(browser: Browser) -> None:
    status, body = await browser.ask("/coins/bitcoin/market_chart?vs_currency=usd&days=366")
    assert status == 401
    assert body["error"]["status"]["error_code"] == 10012


async def test_a_set_without_its_files_has_nothing_to_tell(clock: FakeClock) -> None:
    async with browsing(clock, {}) as browser:
        assert await browser.get("/coins/markets?vs_currency=usd") == []
        assert await browser.get("/coins/categories") == []
        assert (await browser.ask("/coins/bitcoin/market_chart?vs_currency=usd&days=1"))[0] == 404


async def test_a_coin_that_follows_one_the_venue_never_had_is_not_priced(clock: FakeClock) -> None:
    lost = {"id": "lost", "symbol": "l", "name": "L", "supply": None, "follows": "GONE", "price": 1.0, "volume": 1.0}
    async with browsing(clock, {COINS_FILE: json.dumps([lost]).encode(), CATEGORIES_FILE: b"[]"}) as browser:
        row = await browser.coin("lost")
        assert (row["current_price"], row["circulating_supply"]) == (None, 0)
        chart = await browser.get("/coins/lost/market_chart?vs_currency=usd&days=365")
        assert chart["prices"] == [[START_MS, None]]


async def test_the_list_of_coins_tells_contracts_only_to_who_asks_for_them(browser: Browser) -> None:
    bare = await browser.get("/coins/list")
    told = await browser.get("/coins/list?include_platform=true")
    assert {"id": "bitcoin", "symbol": "btc", "name": "Bitcoin"} in bare
    assert not any("platforms" in row for row in bare)
    assert [{name: row[name] for name in ("id", "symbol", "name")} for row in told] == bare
    assert next(row for row in told if row["id"] == "bitcoin")["platforms"] == {}
    assert any(row["platforms"] for row in told)
