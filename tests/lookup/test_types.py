"""The types that clients enforce; an answer of another type fails a whole call there."""

from typing import Any

import msgspec
import pytest

from service.wire.coins import OfContract, ResolveQuery
from service.wire.envelope import Answer, success
from service.wire.queries import BaselinesQuery, PricesQuery
from tests.fakes.printer import printed
from tests.lookup.world import PEPE, USDC, LookupWorld


def sent(world: LookupWorld, answer: Answer) -> dict[str, Any]:
    data = msgspec.json.decode(success(answer, world.clock.now_ms()))["data"]
    assert isinstance(data, dict)
    return data


@pytest.mark.promise("surface.types")
async def test_a_lookup_has_the_types_that_clients_check(world: LookupWorld) -> None:
    for answer in (
        world.lookups.by_symbol("BTC"),
        world.lookups.by_symbol("YOUNG"),
        world.lookups.by_id("usd-coin"),
        world.lookups.by_contract(OfContract(USDC, "ethereum")),
    ):
        data = sent(world, answer)
        assert (type(data["coin"]), type(data["trends"]), type(data["band_position"])) == (dict, list, dict)
        assert isinstance(data["latestBands"], dict | None)
        assert isinstance(data["average_streak"], float | None)
        for name, count in (("currentTrend", "days"), ("currentTrendWeekly", "weeks")):
            run = data[name]
            if run is not None:
                assert all(isinstance(run[field], str) for field in ("trend", "since", "asOf"))
                assert (type(run[count]), type(run["incompleteDayExcluded"])) == (int, bool)
        assert not any(isinstance(value, list | dict) for value in data["coin"].values())
        scalars = [value for value in data.values() if not isinstance(value, list | dict | None)]
        assert len(scalars) <= 6
        lists = [name for name, value in data.items() if isinstance(value, list) and name != "_stale_fields"]
        assert lists == ["trends"]


@pytest.mark.promise("surface.types")
async def test_resolve_prices_and_totals_have_the_types_that_clients_read(world: LookupWorld) -> None:
    for text in ("bitcoin", "sol", "qqqqzzz"):
        data = sent(world, world.finder.resolve(ResolveQuery(text)))
        assert [type(data[name]) for name in ("query", "tried", "matches", "count")] == [str, list, list, int]
        for match in data["matches"]:
            assert all(isinstance(match[name], str) for name in ("symbol", "via", "assetType"))
            assert isinstance(match["rank"], int | None)
    prices = sent(world, world.prices.prices(PricesQuery(baselines=1)))
    assert (type(prices["prices"]), type(prices["ts"]), type(prices["baselines"])) == (dict, int, dict)
    for key, price in prices["prices"].items():
        assert [type(price[name]) for name in ("price", "source", "ts", "symbol")] == [float, str, int, str]
        assert len(price["source"]) <= 11
        assert key == (price["coinId"] or price["symbol"])
        assert set(prices["baselines"][key]) == {"b4h", "b24h", "b7d"}
    past = sent(world, world.prices.baselines(BaselinesQuery(horizons="4h")))
    assert set(past["baselines"]["btc"]) == {"b4h"}
    totals = sent(world, world.overview.overview())
    assert all(
        isinstance(totals[name], dict) for name in ("totalMarketCap", "totalMarketVolume", "marketCapPercentage")
    )
    assert isinstance(totals["as_of"], str)


@pytest.mark.promise("surface.types")
async def test_what_a_person_sees_of_lookups_prices_and_totals(world: LookupWorld) -> None:
    now_ms = world.clock.now_ms()
    coin = printed("coin/lookup", sent(world, world.lookups.by_symbol("BTC")), now_ms)
    current = world.found("BTC").currentTrend
    assert current is not None
    assert f"{current.trend} since {current.since} ({current.days} days, as of {current.asOf})" in coin
    assert "COIN" in coin
    assert "Bitcoin" in coin
    by_contract = printed("coin/by-contract", sent(world, world.lookups.by_contract(OfContract(PEPE, "eth"))), now_ms)
    assert "TREND" in by_contract.upper()
    found = printed("resolve", sent(world, world.finder.resolve(ResolveQuery("bitcoin"))), now_ms)
    assert all(text in found for text in ("BTC", "Bitcoin", "name-exact"))
    nothing = printed("resolve", sent(world, world.finder.resolve(ResolveQuery("qqqqzzz"))), now_ms)
    assert "symbol-exact" in nothing
    prices = printed("market/prices", sent(world, world.prices.prices(PricesQuery("BTC"))), now_ms)
    assert all(text in prices for text in ("BTC", "hyperliquid"))
    totals = printed("market/global", sent(world, world.overview.overview()), now_ms)
    assert "TOTALMARKETCAP" in totals.upper().replace(" ", "")
    assert "{" not in totals
