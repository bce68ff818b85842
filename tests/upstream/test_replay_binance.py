"""Binance, replayed: the recorded market a hair apart, in the venue's own words, and nothing of the future."""

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import aiohttp
import pytest

from fixtures.binance import EIGHT_HOURLY, FOUR_HOURLY, IMPOSTOR, NOT_THERE, REAL
from fixtures.coins import COINS, DELISTED
from service.clock import DAY_MS, HOUR_MS
from service.upstream.replay.binance import LARGEST_DEVIATION, deviation, routes
from service.upstream.replay.history import ReplayContext
from service.upstream.replay.server import Replay, replay_server
from tests.fakes.clock import START_MS, FakeClock
from tests.upstream.conftest import FIXTURES

NOW_MS = START_MS + 40 * 60_000
SHIFTED_MS = NOW_MS + 3 * DAY_MS


class Guest:
    def __init__(self, replay: Replay, http: aiohttp.ClientSession, clock: FakeClock) -> None:
        self.replay = replay
        self.clock = clock
        self._http = http

    async def ask(self, path: str, **query: str | int) -> Any:
        status, body = await self.reply(path, **query)
        assert status == 200, body
        return body

    async def reply(self, path: str, **query: str | int) -> tuple[int, Any]:
        async with self._http.get(f"{self.replay.base('binance')}/fapi/v1/{path}", params=query) as response:
            return response.status, await response.json(content_type=None)

    async def recorded(self, coin: str, interval: str, start_ms: int) -> list[dict[str, Any]]:
        ask = {"type": "candleSnapshot", "req": {"coin": coin, "interval": interval, "startTime": start_ms}}
        async with self._http.post(f"{self.replay.url}/info", json=ask) as response:
            return await response.json()  # type: ignore[no-any-return]

    async def mids(self) -> dict[str, str]:
        async with self._http.post(f"{self.replay.url}/info", json={"type": "allMids"}) as response:
            return await response.json()  # type: ignore[no-any-return]


@pytest.fixture
async def guest() -> AsyncIterator[Guest]:
    clock = FakeClock(SHIFTED_MS)
    async with replay_server(FIXTURES, clock, "shifted") as replay, aiohttp.ClientSession() as http:
        yield Guest(replay, http, clock)


async def test_every_coin_it_has_costs_what_it_costs_elsewhere_to_a_hair(guest: Guest) -> None:
    mids = await guest.mids()
    marks = {row["symbol"]: row for row in await guest.ask("premiumIndex")}
    for coin in COINS:
        base = f"1000{coin.name[1:]}" if coin.units > 1 else coin.name
        if coin.name in NOT_THERE:
            assert f"{base}USDT" not in marks
        elif coin.name != IMPOSTOR:
            ours = float(marks[f"{base}USDT"]["markPrice"])
            assert ours == pytest.approx(float(mids[coin.name]), rel=LARGEST_DEVIATION + 4e-4)
    assert all(row["time"] == SHIFTED_MS for row in marks.values())


async def test_one_ticker_is_another_asset(guest: Guest) -> None:
    ours, theirs = await guest.mids(), await guest.ask("premiumIndex", symbol=f"{IMPOSTOR}USDT")
    assert float(theirs["markPrice"]) > 3 * float(ours[IMPOSTOR])


async def test_what_is_listed_is_told_in_the_venues_words(guest: Guest) -> None:
    info = {row["symbol"]: row for row in (await guest.ask("exchangeInfo"))["symbols"]}
    assert info["1000PEPEUSDT"]["baseAsset"] == "1000PEPE"
    assert info["PAXGUSDT"]["underlyingType"] == "COIN"
    assert info["BTCDOMUSDT"]["underlyingType"] == "INDEX"
    assert info["BTCUSDT_250926"]["contractType"] == "CURRENT_QUARTER"
    assert {info[f"{coin.name}USDT"]["status"] for coin in DELISTED} == {"SETTLING"}
    for real in REAL:
        row = info[f"{real.base}USDT"]
        assert (row["contractType"], row["underlyingType"]) == ("TRADIFI_PERPETUAL", real.underlying)
    assert {real.underlying for real in REAL} == {"EQUITY", "COMMODITY", "PREMARKET"}


async def test_funding_runs_over_eight_hours_unless_said_otherwise(guest: Guest) -> None:
    hours = {row["symbol"]: row["fundingIntervalHours"] for row in await guest.ask("fundingInfo")}
    assert hours == {f"{base}USDT": 4 for base in FOUR_HOURLY} | {f"{base}USDT": 8 for base in EIGHT_HOURLY}
    rows = {row["symbol"]: row for row in await guest.ask("premiumIndex")}
    for symbol in ("BTCUSDT", "WIFUSDT", "ADAUSDT"):
        step_ms = hours.get(symbol, 8) * HOUR_MS
        next_ms = rows[symbol]["nextFundingTime"]
        assert next_ms % step_ms == 0
        assert 0 < next_ms - SHIFTED_MS <= step_ms
        assert abs(float(rows[symbol]["lastFundingRate"])) < 0.02
    assert rows["BTCUSDT_250926"]["lastFundingRate"] == ""


async def test_the_rate_is_what_the_recording_paid_over_the_interval(guest: Guest) -> None:
    now_ms, _ = guest.replay.now()
    paid = guest.replay._venue.tape.funding("ADA", now_ms, now_ms - 8 * HOUR_MS + 1, now_ms)
    row = await guest.ask("premiumIndex", symbol="ADAUSDT")
    assert len(paid) == 8
    assert float(row["lastFundingRate"]) == pytest.approx(sum(float(rate.rate) for rate in paid), abs=1e-8)


@pytest.mark.parametrize(("interval", "step_ms"), [("1h", HOUR_MS), ("1d", DAY_MS)])
async def test_bars_follow_the_recorded_ones_in_the_venues_shape(guest: Guest, interval: str, step_ms: int) -> None:
    start_ms = SHIFTED_MS // DAY_MS * DAY_MS - 5 * DAY_MS
    theirs = await guest.ask("klines", symbol="BTCUSDT", interval=interval, startTime=start_ms)
    ours = await guest.recorded("BTC", interval, start_ms)
    assert len(theirs) == len(ours) > 4
    for bar, recorded in zip(theirs, ours, strict=True):
        assert len(bar) == 12
        assert (bar[0], bar[6]) == (recorded["t"], recorded["t"] + step_ms - 1)
        prices = [float(price) for price in bar[1:5]]
        for price, field in zip(prices, "ohlc", strict=True):
            assert price == pytest.approx(float(recorded[field]), rel=2 * LARGEST_DEVIATION)
        assert prices[1] == max(prices)
        assert prices[2] == min(prices)
    assert [bar[4] for bar in theirs[:-1]] == [bar[1] for bar in theirs[1:]]


async def test_bars_of_a_past_span_are_the_first_of_it_and_of_the_present_the_last(guest: Guest) -> None:
    start_ms = SHIFTED_MS // DAY_MS * DAY_MS - 100 * DAY_MS
    query = {"symbol": "ETHUSDT", "interval": "1d"}
    first = await guest.ask("klines", **query, startTime=start_ms + 1, limit=3, endTime=SHIFTED_MS)
    assert [row[0] for row in first] == [start_ms + n * DAY_MS for n in (1, 2, 3)]
    last = await guest.ask("klines", **query, limit=2)
    assert [row[0] for row in last] == [start_ms + 99 * DAY_MS, start_ms + 100 * DAY_MS]
    assert len(await guest.ask("klines", **query)) == 500


async def test_nothing_later_than_now_is_told(guest: Guest) -> None:
    (before,) = await guest.ask("klines", symbol="BTCUSDT", interval="1h", limit=1)
    assert before[0] <= SHIFTED_MS < before[6]
    await guest.clock.advance(3_600)
    *_, then, after = await guest.ask("klines", symbol="BTCUSDT", interval="1h", limit=2)
    assert then[0] == before[0]
    assert (after[0], float(then[5]) > float(before[5])) == (before[0] + HOUR_MS, True)
    assert await guest.ask("klines", symbol="BTCUSDT", interval="1h", startTime=SHIFTED_MS + DAY_MS) == []


async def test_the_day_is_told_by_its_first_and_last_price(guest: Guest) -> None:
    row = await guest.ask("ticker/24hr", symbol="BTCUSDT")
    first, last = float(row["openPrice"]), float(row["lastPrice"])
    assert float(row["priceChangePercent"]) == pytest.approx((last / first - 1) * 100, abs=6e-4)
    assert float(row["quoteVolume"]) == pytest.approx(float(row["volume"]) * last, rel=0.1)
    assert (row["openTime"], row["closeTime"]) == (SHIFTED_MS - DAY_MS, SHIFTED_MS)
    assert len(await guest.ask("ticker/24hr")) == len(await guest.ask("premiumIndex"))


@pytest.mark.parametrize(
    ("path", "query", "code"),
    [
        ("klines", {"symbol": "NOPEUSDT", "interval": "1d"}, -1121),
        ("klines", {"symbol": "MATICUSDT", "interval": "1d"}, -1121),
        ("klines", {"interval": "1d"}, -1102),
        ("klines", {"symbol": "BTCUSDT"}, -1120),
        ("klines", {"symbol": "BTCUSDT", "interval": "9m"}, -1120),
        ("klines", {"symbol": "BTCUSDT", "interval": "1d", "limit": "x"}, -1102),
        ("klines", {"symbol": "BTCUSDT", "interval": "1d", "startTime": "9" * 30}, -1102),
        ("premiumIndex", {"symbol": "nope"}, -1121),
        ("premiumIndex", {"symbol": ""}, -1102),
        ("ticker/24hr", {"symbol": "nope"}, -1121),
    ],
)
async def test_what_cannot_be_answered_is_refused_as_the_venue_does(
    guest: Guest, path: str, query: dict[str, str], code: int
) -> None:
    status, body = await guest.reply(path, **query)
    assert (status, body["code"]) == (400, code)
    assert body["msg"]


async def test_intervals_that_are_not_recorded_are_empty(guest: Guest) -> None:
    assert await guest.ask("klines", symbol="BTCUSDT", interval="1m") == []


async def test_a_contract_that_is_not_yet_traded_has_no_price() -> None:
    clock = FakeClock(START_MS - 2_000 * DAY_MS)
    async with replay_server(FIXTURES, clock, "frozen") as replay, aiohttp.ClientSession() as http:
        guest = Guest(replay, http, clock)
        assert await guest.ask("premiumIndex") == []
        assert await guest.ask("premiumIndex", symbol="BTCUSDT") == []


def test_a_set_without_this_venue_serves_nothing_of_it(guest: Guest) -> None:
    venue = guest.replay._venue
    stage = ReplayContext(
        files={}, tape=venue.tape, recording=guest.replay._recording, clock=guest.clock, now=guest.replay.now
    )
    assert routes(stage) == []


def test_prices_are_never_further_apart_than_said_and_never_jump() -> None:
    found = [deviation("BTCUSDT", at_ms) for at_ms in range(0, 50 * HOUR_MS, HOUR_MS // 60)]
    assert max(map(abs, found)) <= LARGEST_DEVIATION
    assert max(abs(one - other) for one, other in pairwise(found)) < LARGEST_DEVIATION / 20
    assert deviation("BTCUSDT", 7) != deviation("ETHUSDT", 7)
