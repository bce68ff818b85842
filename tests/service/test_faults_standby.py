"""One venue fails and the other does not: who tells, what is told as stale, and how the first one comes back."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from service.clock import MINUTE_MS, midnight_after, parse_iso
from tests.service.indoors import EVERYTHING, RISK, SIGNAL, Doors, Indoors, Kept
from tests.upstream.faults import answer, hang, reset

pytestmark = pytest.mark.slow

HYPERLIQUID = ("hyperliquid", "feed")
DOWN = answer(503, b"token=hunter2 the engine is down")
AAPL, MSFT = "/api/cli/rwa/symbol/AAPL", "/api/cli/rwa/symbol/MSFT"


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data", gives_up=True) as service:
        await service.pass_time(45, 5)
        yield service


@pytest.fixture
def key(kept: Kept) -> str:
    return kept.key


async def risk(house: Indoors, key: str, coin: str = "BTC") -> Any:
    reply = await house.ask(f"/api/cli/coin/risk/{coin}", key=key)
    assert reply.status == 200, reply
    return reply.json


async def rwa(house: Indoors, key: str, target: str) -> Any:
    reply = await house.ask(target, key=key)
    assert reply.status == 200, reply
    return reply.json


@pytest.mark.promise("risk.refresh", "time.as-of-honest")
async def test_while_only_questions_fail_the_feed_keeps_prices_fresh(house: Indoors, key: str) -> None:
    before = await risk(house, key)
    await house.lose("hyperliquid", fault=DOWN)
    for _ in range(23):
        await house.pass_time(15, 5)
        said = await risk(house, key)
        assert (said["data"]["venue"], said["data"]["_stale_fields"]) == ("hyperliquid", [])
        assert said["meta"]["data_age_seconds"] <= 15
    after = await risk(house, key)
    assert parse_iso(after["meta"]["as_of"]) > parse_iso(before["meta"]["as_of"]) + 300_000
    assert (await house.readiness())["market"]["failing"]


@pytest.mark.promise("risk.fall-back-venue", "risk.stale-fields")
@pytest.mark.parametrize("fault", [DOWN, reset, hang], ids=["503", "reset", "black hole"])
async def test_while_the_first_venue_fails_the_other_tells_the_coins_it_has(
    house: Indoors, key: str, fault: Any
) -> None:
    alone = await risk(house, key, "HYPE")
    await house.lose(*HYPERLIQUID, fault=fault)
    await house.pass_time(90, 5)
    for coin in ("BTC", "ETH", "SOL", "DOGE", "PEPE"):
        said = await risk(house, key, coin)
        assert (said["data"]["venue"], said["data"]["_stale_fields"]) == ("binance", []), coin
        assert said["meta"]["data_age_seconds"] <= 45
    lacking = await risk(house, key, "HYPE")
    assert lacking["data"]["venue"] == "hyperliquid"
    assert lacking["data"]["_stale_fields"] == ["price", "funding_apr"]
    assert lacking["meta"]["data_age_seconds"] >= 60
    assert lacking["data"]["trend_daily"] == alone["data"]["trend_daily"]
    house.doors.open()
    await house.pass_time(120, 5)
    for coin in ("BTC", "HYPE"):
        back = await risk(house, key, coin)
        assert (back["data"]["venue"], back["data"]["_stale_fields"]) == ("hyperliquid", [])
        assert back["meta"]["data_age_seconds"] <= 15
    assert not (await house.readiness())["market"]["failing"]


@pytest.mark.promise("risk.stale-limit", "errors.upstream-502", "meter.errors-free")
async def test_a_coin_that_the_other_venue_lacks_is_502_after_ten_minutes_and_costs_nothing(house: Indoors) -> None:
    free = await house.make_key()
    await house.lose(*HYPERLIQUID, fault=DOWN)
    await house.pass_time(660, 15)
    refused = await house.ask("/api/cli/coin/risk/HYPE", key=free)
    details = refused.json["error"]["details"]
    assert (refused.status, refused.code) == (502, "UPSTREAM_5XX")
    assert (details["upstream"], details["upstreamStatus"]) == ("hyperliquid", 503)
    assert "hunter2" not in refused.body.decode()
    reply = await house.ask(RISK, key=free)
    assert (reply.status, reply.json["data"]["venue"]) == (200, "binance")
    assert reply.headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("rwa.symbol-payload", "rwa.symbol-as-of")
async def test_while_the_dex_fails_the_other_venue_tells_the_assets_it_has(house: Indoors, key: str) -> None:
    before = await rwa(house, key, MSFT)
    await house.lose("xyz", fault=DOWN)
    await house.pass_time(120, 5)
    there = await rwa(house, key, AAPL)
    assert (there["data"]["venue"], there["data"]["_stale_fields"]) == ("binance", ["open_interest_usd"])
    assert there["meta"]["data_age_seconds"] <= 60
    lacking = await rwa(house, key, MSFT)
    assert lacking["data"]["venue"] == "hyperliquid"
    assert {"price", "change_24h", "funding"} <= set(lacking["data"]["_stale_fields"])
    assert lacking["data"]["price"] == before["data"]["price"]
    assert lacking["data"]["trend_daily"] is not None
    # Coins are another matter.
    assert (await risk(house, key))["data"]["venue"] == "hyperliquid"
    house.doors.open()
    await house.pass_time(90, 5)
    for target in (AAPL, MSFT):
        back = await rwa(house, key, target)
        assert (back["data"]["venue"], back["data"]["_stale_fields"]) == ("hyperliquid", [])


@pytest.mark.promise("risk.stale-limit", "errors.upstream-502", "meter.errors-free")
async def test_assets_that_nobody_tells_keep_their_last_price_and_are_502_after_ten_minutes(house: Indoors) -> None:
    free = await house.make_key()
    before = (await house.ask(AAPL, key=free)).json
    await house.lose("xyz", "binance", fault=DOWN)
    await house.pass_time(120, 5)
    kept = (await house.ask(AAPL, key=free)).json
    assert kept["data"]["price"] == before["data"]["price"]
    assert kept["meta"]["as_of"] == before["meta"]["as_of"]
    assert kept["meta"]["data_age_seconds"] >= 120
    assert {"price", "change_24h", "funding", "open_interest_usd"} <= set(kept["data"]["_stale_fields"])
    await house.pass_time(540, 15)
    for _ in range(3):
        refused = await house.ask(AAPL, key=free)
        assert (refused.status, refused.code) == (502, "UPSTREAM_5XX")
        assert refused.json["error"]["details"]["upstreamStatus"] == 503
        assert "hunter2" not in refused.body.decode()
    listed = await house.ask("/api/cli/rwa/assets", key=free)
    assert (listed.status, listed.headers["ratelimit"]) == (200, '"questions";r=7')


@pytest.mark.promise("time.as-of-honest", "regime.as-of", "health.as-of", "crossing.as-of", "historical.as-of")
async def test_with_both_venues_down_what_closed_bars_say_goes_on_with_its_age(house: Indoors, key: str) -> None:
    before = {target: (await house.ask(target, key=key)).json for target in EVERYTHING}
    await house.lose(*HYPERLIQUID, "binance", fault=DOWN)
    await house.pass_time(780, 15)
    unchanged = [target for target in EVERYTHING if "market/" in target or "regime" in target or "historical" in target]
    for target in unchanged:
        reply = await house.ask(target, key=key)
        assert reply.status == 200, target
        assert reply.json["meta"]["as_of"] == before[target]["meta"]["as_of"], target
        assert reply.json["meta"]["data_age_seconds"] >= before[target]["meta"]["data_age_seconds"] + 780
    past = (await house.ask(EVERYTHING[1], key=key)).json["data"]
    assert (past["now"]["priceUSD"], past["now"]["fundingRate"], past["change_pct"]) == (None, None, None)
    assert past["series"] == before[EVERYTHING[1]]["data"]["series"]
    positions = (await house.ask("/api/cli/regime?action=active", key=key)).json["data"]["positions"]
    assert positions
    assert {position["currentPrice"] for position in positions} == {None}


@pytest.mark.promise("errors.upstream-502", "errors.upstream-details", "meter.errors-free", "risk.stale-limit")
async def test_with_everything_down_for_two_days_each_route_says_who_failed_and_costs_nothing(house: Indoors) -> None:
    free = await house.make_key()
    house.doors.next = DOWN
    await house.replay.hang_up()
    await house.pass_time(60, 5)
    house.clock.set_wall(house.clock.at_ms + 49 * 3_600_000)
    await house.pass_time(660, 15)
    kept = {"/api/cli/rwa/assets", "/api/cli/funding/alerts", *EVERYTHING[1:3]}
    for target in EVERYTHING:
        reply = await house.ask(target, key=free)
        if target in kept:
            assert (reply.status, reply.json["meta"]["data_age_seconds"] > 48 * 3_600) == (200, True), target
            continue
        if target == SIGNAL:
            said = reply.json["data"]
            assert (said["verdict"], set(said["sources"].values())) == ("insufficient-evidence", {"rejected"})
            assert reply.json["meta"]["data_age_seconds"] > 48 * 3_600
            continue
        assert (reply.status, reply.code) == (502, "UPSTREAM_5XX"), (target, reply)
        details = reply.json["error"]["details"]
        assert list(details) == ["upstream", "upstreamStatus", "upstreamBody"]
        assert (details["upstreamStatus"], "hunter2" in details["upstreamBody"]) == (503, False)
    counted = (await house.ask("/api/cli/rwa/assets", key=free)).headers["ratelimit"]
    assert counted == f'"questions";r={10 - len(kept) - 1}'


async def test_a_service_that_starts_while_the_first_venue_is_down_keeps_what_the_others_tell(
    kept: Kept, tmp_path: Path, key: str
) -> None:
    doors = Doors()
    doors.shut(*HYPERLIQUID, fault=DOWN)
    async with kept.reopened(tmp_path / "late", faults=doors, gives_up=True) as house:
        house.clock.set_wall(midnight_after(house.clock.now_ms()) - MINUTE_MS)
        await house.pass_time(1_500, 15)
        for coin in ("BTC", "DOGE"):
            said = await risk(house, key, coin)
            assert (said["data"]["venue"], said["data"]["_stale_fields"]) == ("binance", []), coin
        assert doors.calls["coingecko"] > 0
