"""Prices of many coins, now and in the past."""

import pytest
from msgspec import UNSET

from service.clock import DAY_MS, HOUR_MS, iso
from service.errors import ServiceError
from service.wire.market import Baselines, LivePrices
from service.wire.queries import BaselinesQuery, PricesQuery
from tests.lookup.world import LookupWorld, read, week_of_hours

BACK_MS = {"b4h": 4 * HOUR_MS, "b24h": 24 * HOUR_MS, "b7d": 7 * DAY_MS}


def prices(world: LookupWorld, symbols: str = "", *, baselines: bool = False) -> LivePrices:
    return read(world.prices.prices(PricesQuery(symbols, 1 if baselines else 0)), LivePrices)


def baselines(world: LookupWorld, symbols: str = "", horizons: str = "") -> Baselines:
    return read(world.prices.baselines(BaselinesQuery(symbols, horizons)), Baselines)


def close_before(coin: str, now_ms: int, instant_ms: int) -> float:
    """From the bars: the close of the last one that had ended by an instant."""
    return [bar.close for bar in week_of_hours(coin, now_ms) if bar.open_ms + HOUR_MS <= instant_ms][-1]


@pytest.mark.promise("prices.payload")
async def test_prices_are_keyed_by_id_with_the_largest_first(world: LookupWorld) -> None:
    found = prices(world)
    assert list(found.prices) == ["btc", "eth", "sol", "kpepe", "YOUNG"]
    bitcoin = found.prices["btc"]
    assert (bitcoin.coinId, bitcoin.symbol, bitcoin.price, bitcoin.source) == ("btc", "BTC", 100.0, "hyperliquid")
    assert bitcoin.ts == found.ts == world.clock.now_ms()
    assert found.prices["YOUNG"].coinId is None
    assert (found.stale_fields, found.missing, found.baselines) == ([], UNSET, UNSET)


@pytest.mark.promise("prices.missing")
async def test_what_is_not_known_is_named_beside_what_is(world: LookupWorld) -> None:
    found = prices(world, "btc, NOPE,kPEPE,1000pepe,,$SOL")
    assert list(found.prices) == ["btc", "kpepe"]
    assert found.missing == ["NOPE", "$SOL"]
    assert prices(world, " ,").prices.keys() == prices(world).prices.keys()
    with pytest.raises(ServiceError, match="NOPE") as caught:
        prices(world, "NOPE,NADA")
    assert caught.value.code == "UNKNOWN_SYMBOL"


@pytest.mark.promise("prices.baselines")
async def test_baselines_are_the_closes_of_the_bars_that_had_ended_by_then(world: LookupWorld) -> None:
    for late_ms in (0, 1, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1):
        now_ms = world.clock.now_ms()
        world.clock.set_wall(now_ms + late_ms)
        await world.market.past_prices.refresh()
        for coin, key in (("BTC", "btc"), ("kPEPE", "kpepe")):
            past, accepted = baselines(world, coin).baselines[key], baselines(world, coin).changes_from[key]
            for name, back in BACK_MS.items():
                minute_ms = (now_ms + late_ms) // 60_000 * 60_000
                assert getattr(past, name) == close_before(coin, now_ms, minute_ms - back)
                assert accepted[name[1:]] == iso((minute_ms - back) // HOUR_MS * HOUR_MS)
        world.clock.set_wall(now_ms)
    await world.market.past_prices.refresh()
    both = prices(world, "BTC", baselines=True)
    assert both.baselines == {"btc": baselines(world, "BTC").baselines["btc"]}


@pytest.mark.promise("baselines.horizons")
async def test_a_horizon_that_is_not_asked_for_is_absent(world: LookupWorld) -> None:
    now_ms = world.clock.now_ms()
    answer = world.prices.baselines(BaselinesQuery("BTC", "4h,7d"))
    assert read(answer, Baselines).baselines["btc"].b24h is UNSET
    assert list(read(answer, Baselines).changes_from["btc"]) == ["4h", "7d"]
    assert answer.as_of_ms == now_ms
    assert baselines(world, "BTC", "7d").baselines["btc"].b7d == close_before("BTC", now_ms, now_ms - 7 * DAY_MS)


@pytest.mark.promise("baselines.unknown")
async def test_a_baseline_that_is_not_known_is_null_and_named(world: LookupWorld) -> None:
    await world.database.write(
        lambda connection: connection.execute("DELETE FROM candles WHERE venue_symbol = 'YOUNG' AND interval = '1d'")
    )
    await world.market.past_prices.refresh()
    found = baselines(world)
    young = found.baselines["YOUNG"]
    assert (young.b4h is None, young.b24h is None, young.b7d) == (False, False, None)
    assert list(found.changes_from["YOUNG"]) == ["4h", "24h"]
    assert found.stale_fields == ["baselines.YOUNG.b7d"]


async def test_a_price_that_is_more_than_an_hour_older_is_not_a_baseline(world: LookupWorld) -> None:
    await world.database.write(
        lambda connection: connection.execute(
            "DELETE FROM candles WHERE venue_symbol = 'BTC' AND interval = '1h' AND open_ms >= ?",
            (world.clock.now_ms() - 8 * HOUR_MS,),
        )
    )
    await world.market.past_prices.refresh()
    assert baselines(world, "BTC").baselines["btc"].b4h is None
    assert baselines(world, "BTC").stale_fields == ["baselines.btc.b4h"]
    assert baselines(world, "BTC", "24h,7d").stale_fields == []


@pytest.mark.promise("prices.stale")
async def test_a_price_that_could_not_be_refreshed_is_named_and_one_too_old_is_missing(world: LookupWorld) -> None:
    at_ms = world.clock.now_ms()
    world.clock.set_wall(at_ms + 50_000)
    answer = world.prices.prices(PricesQuery("BTC"))
    assert read(answer, LivePrices).stale_fields == ["prices.btc"]
    assert answer.as_of_ms == at_ms
    assert read(answer, LivePrices).ts == at_ms + 50_000
    await world.quote_one("ETH", at_ms + 11 * 60_000)
    world.clock.set_wall(at_ms + 11 * 60_000)
    found = prices(world, "BTC,ETH")
    assert (list(found.prices), found.missing) == (["eth"], ["BTC"])
    with pytest.raises(ServiceError) as caught:
        prices(world, "BTC")
    assert caught.value.code == "UNAVAILABLE"


async def test_without_coins_or_bars_it_says_that_they_are_loading(empty: LookupWorld) -> None:
    for ask in (prices, baselines):
        with pytest.raises(ServiceError, match="not available yet"):
            ask(empty)
    await empty.store.claim(empty.origin)
    await empty.quote(empty.clock.now_ms())
    with pytest.raises(ServiceError, match="Past prices are not available yet"):
        baselines(empty)


async def test_cached_answers_are_bounded(world: LookupWorld) -> None:
    for number in range(300):
        prices(world, f"BTC,X{number}")
    assert len(world.prices._prices) <= 256


async def test_the_same_query_in_the_same_second_gets_the_cached_answer(
    world: LookupWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prices(world, "BTC"), baselines(world, "BTC")
    for name in ("_quote", "_look_back"):
        monkeypatch.delattr(type(world.prices), name)
    assert (prices(world, "BTC"), baselines(world, "BTC")) == first
