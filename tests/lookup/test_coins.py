"""Looking one coin up: by ticker, id, name and contract, with its trends from closed bars."""

import math
from itertools import groupby
from statistics import fmean
from typing import cast

import pytest

from service.clock import DAY_MS, HOUR_MS, iso
from service.errors import ServiceError
from service.market.daily_report.models import CoinRuns, TrendRuns
from service.market.sources.coingecko import GeckoCoin
from service.table.coins import CoinTable
from service.wire.coins import CoinLookup, OfContract
from service.wire.envelope import Answer
from tests.lookup.world import PEPE, USDC, WIF, LookupWorld, read
from tests.table.world import LAST, days_of

NO_PRICE_PAST = ("change_24h_pct", "trends", "average_streak", "currentTrend", "latestBands", "band_position")


def day(number: int) -> str:
    return iso(number * DAY_MS)[:10]


async def states_of(world: LookupWorld, symbol: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Daily and weekly states, day by day, as the table's history recomputes them."""
    rows = (await world.history.daily()).states(symbol)
    daily = [(row.day_ms // DAY_MS, row.trend_daily) for row in rows if row.trend_daily is not None]
    weekly = [(row.day_ms // DAY_MS, row.trend_weekly) for row in rows if row.trend_weekly is not None]
    return daily, weekly  # type: ignore[return-value] # nulls are filtered


@pytest.mark.promise("lookup.trends", "lookup.current-trend")
@pytest.mark.parametrize("symbol", ["BTC", "ETH", "SOL", "PEPE"])
async def test_trend_runs_are_those_of_the_states_of_every_closed_day(world: LookupWorld, symbol: str) -> None:
    daily, _ = await states_of(world, symbol)
    runs = []
    for state, group in groupby(daily, key=lambda row: row[1]):
        days = [number for number, _ in group]
        runs.append((state, day(days[0]), day(days[-1]), days[-1] - days[0] + 1))
    found = world.found(symbol)
    assert len(found.trends) > 3
    assert [(run.trend, run.start, run.end, run.streak) for run in found.trends] == runs[-50:]
    assert found.average_streak == pytest.approx(fmean(run[3] for run in runs[-50:]), abs=1e-4)
    current = found.currentTrend
    assert current is not None
    assert (current.trend, current.since, current.asOf, current.days) == (*runs[-1][:3], runs[-1][3])
    assert current.asOf == day(LAST)
    assert current.incompleteDayExcluded
    assert set(found.stale_fields) <= {"marketCap"}


@pytest.mark.promise("lookup.weekly")
@pytest.mark.parametrize("symbol", ["BTC", "ETH", "SOL"])
async def test_the_weekly_run_goes_from_a_monday_to_the_last_closed_sunday(world: LookupWorld, symbol: str) -> None:
    _, weekly = await states_of(world, symbol)
    state, sundays, last = "", 0, 0
    for number, known in weekly:
        if (number + 3) % 7 == 6:  # 1970-01-01 was a Thursday
            state, sundays, last = known, sundays + 1 if known == state else 1, number
    found = world.found(symbol).currentTrendWeekly
    assert found is not None
    assert (found.trend, found.weeks) == (state, sundays)
    assert (found.since, found.asOf) == (day(last - 7 * sundays + 1), day(last))


@pytest.mark.promise("lookup.bands")
@pytest.mark.parametrize("symbol", ["BTC", "SOL"])
async def test_bands_are_those_of_a_supertrend_computed_bar_by_bar(world: LookupWorld, symbol: str) -> None:
    atr, upper, lower, close = 0.0, math.inf, -math.inf, math.nan
    ranges: list[float] = []
    for _, _, high, low, now in days_of(symbol):
        before, close = close, now
        if math.isnan(before):
            continue
        reach = max(high, before) - min(low, before)
        ranges.append(reach)
        if len(ranges) < 10:
            continue
        atr = fmean(ranges) if len(ranges) == 10 else (atr * 9 + reach) / 10
        middle = (high + low) / 2
        upper = min(upper, middle + 3 * atr) if before <= upper else middle + 3 * atr
        lower = max(lower, middle - 3 * atr) if before >= lower else middle - 3 * atr
    found = world.found(symbol)
    assert found.latestBands is not None
    assert found.latestBands.upper == pytest.approx(upper, rel=1e-5)
    assert found.latestBands.lower == pytest.approx(lower, rel=1e-5)
    assert found.latestBands.at == iso((LAST + 1) * DAY_MS)
    assert found.coin.price is not None
    assert found.band_position.percent == pytest.approx((found.coin.price - lower) / (upper - lower) * 100, abs=1e-3)


@pytest.mark.promise("lookup.identity")
async def test_a_coin_has_the_identity_and_the_figures_of_the_table(world: LookupWorld) -> None:
    found, row = world.found("btc").coin, world.row("BTC")
    assert (found.id, found.symbol, found.name, found.rank) == ("btc", "BTC", "Bitcoin", row.rank)
    assert (found.marketCap, found.price, found.change_24h_pct) == (row.market_cap, row.price, row.change_24h)
    assert world.found("btc").changes_from == {"24h": row.changes_from["24h"]}
    young = world.found("YOUNG")
    assert (young.coin.id, young.coin.name, young.trends, young.currentTrend) == (None, None, [], None)
    assert (young.average_streak, young.latestBands, young.band_position.percent) == (None, None, None)


@pytest.mark.promise("lookup.spellings")
@pytest.mark.parametrize("text", ["PEPE", "pepe", "kPEPE", "1000pepe"])
async def test_a_ticker_is_found_in_every_spelling(world: LookupWorld, text: str) -> None:
    assert world.found(text).coin.symbol == "PEPE"


@pytest.mark.promise("lookup.by-id", "lookup.by-name")
async def test_ids_and_names_are_compared_without_case_and_names_without_punctuation(world: LookupWorld) -> None:
    same = world.found("BTC")
    for answer in (world.lookups.by_id("BTC"), world.lookups.by_name("bit-COIN."), world.lookups.by_name("Bitcoin")):
        assert read(answer, CoinLookup) == same
        assert answer.as_of_ms == world.clock.now_ms()
    assert read(world.lookups.by_id("usd-coin"), CoinLookup).coin.symbol == "USDC"


@pytest.mark.promise("lookup.untracked")
async def test_a_coin_that_is_not_tracked_has_figures_and_a_note(world: LookupWorld) -> None:
    found = world.found("usdc")
    assert (found.coin.id, found.coin.price, found.coin.marketCap, found.coin.rank) == ("usd-coin", 0.9999, 64e9, None)
    assert found.stale_fields == [*NO_PRICE_PAST, "currentTrendWeekly"]
    assert "not among the coins that this service tracks" in str(found.note)
    one = world.found("ONE")
    assert (one.coin.id, one.coin.marketCap, one.stale_fields[0]) == ("one-token", None, "marketCap")
    at_ms = world.clock.now_ms()
    world.clock.set_wall(at_ms + 2 * HOUR_MS)
    await world.quote(world.clock.now_ms())
    assert world.found("USDC").stale_fields[:2] == ["price", "marketCap"]
    world.clock.set_wall(at_ms + 49 * HOUR_MS)
    await world.quote(world.clock.now_ms())
    gone = world.lookups.by_symbol("USDC")
    assert (read(gone, CoinLookup).coin.price, gone.as_of_ms) == (None, world.clock.now_ms())


@pytest.mark.promise("lookup.refusals")
async def test_what_is_not_known_is_refused_with_what_may_be_meant(world: LookupWorld) -> None:
    for ask, text, nearest in (
        (world.lookups.by_symbol, "BTX", "BTC"),
        (world.lookups.by_id, "bitcoinn", "btc"),
        (world.lookups.by_name, "Bitcoyn", "Bitcoin"),
    ):
        with pytest.raises(ServiceError, match=text) as caught:
            ask(text)
        assert caught.value.code == "UNKNOWN_SYMBOL"
        assert caught.value.details is not None
        assert cast("list[str]", caught.value.details["candidates"])[0] == nearest
    with pytest.raises(ServiceError, match=r"Apple is a real-world asset: ask /api/cli/rwa/symbol/AAPL"):
        world.lookups.by_symbol("aapl")
    with pytest.raises(ServiceError, match=r"No coin has the ticker 'QQQQQQ'\.$"):
        world.lookups.by_symbol("QQQQQQ")


async def test_before_any_coin_is_known_it_says_so(empty: LookupWorld) -> None:
    with pytest.raises(ServiceError) as caught:
        empty.lookups.by_symbol("BTC")
    assert caught.value.code == "UNAVAILABLE"
    with pytest.raises(ServiceError, match="not available yet"):
        empty.resolved("BTC")


async def test_while_no_price_has_a_time_nothing_is_resolved(
    world: LookupWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CoinTable, "as_of_ms", lambda *_: None)
    with pytest.raises(ServiceError, match="not available yet"):
        world.resolved("BTC")


def contract(world: LookupWorld, address: str, chain: str) -> Answer:
    return world.lookups.by_contract(OfContract(address, chain))


@pytest.mark.promise("contract.answer")
@pytest.mark.parametrize("chain", ["ethereum", "Ethereum", "eth", "1"])
async def test_a_contract_is_found_in_any_case_by_the_names_of_its_chain(world: LookupWorld, chain: str) -> None:
    found = read(contract(world, "0x" + PEPE[2:].upper(), chain), CoinLookup)
    assert (found.coin.symbol, found.chain, found.contract) == ("PEPE", "ethereum", PEPE)
    assert found.trends == world.found("PEPE").trends
    other = read(contract(world, USDC, chain), CoinLookup)
    assert (other.coin.id, other.coin.price) == ("usd-coin", 0.9999)


@pytest.mark.promise("contract.solana-case")
async def test_the_case_of_other_addresses_matters(world: LookupWorld) -> None:
    found = read(contract(world, WIF, "solana"), CoinLookup)
    assert (found.coin.id, found.coin.symbol, found.coin.price) == ("dogwifcoin", "WIF", None)
    with pytest.raises(ServiceError) as caught:
        contract(world, WIF.lower(), "solana")
    assert caught.value.code == "NOT_FOUND"


@pytest.mark.promise("contract.refusals")
async def test_a_wrong_chain_is_refused_with_the_known_ones(world: LookupWorld) -> None:
    with pytest.raises(ServiceError, match="ethereum, bsc, solana, base") as caught:
        contract(world, PEPE, "dogechain")
    assert (caught.value.code, (caught.value.details or {})["parameter"]) == ("BAD_REQUEST", "chain")
    with pytest.raises(ServiceError, match="on base") as missing:
        contract(world, PEPE, "base")
    assert missing.value.code == "NOT_FOUND"


@pytest.mark.promise("contract.freshness")
async def test_contracts_have_an_age_of_their_own(world: LookupWorld) -> None:
    at_ms = world.clock.now_ms()
    assert "contract" not in read(contract(world, PEPE, "ethereum"), CoinLookup).stale_fields
    world.clock.set_wall(at_ms + 2 * DAY_MS + 1)
    await world.quote(world.clock.now_ms())
    assert "contract" in read(contract(world, PEPE, "ethereum"), CoinLookup).stale_fields
    world.clock.set_wall(at_ms + 30 * DAY_MS + 1)
    await world.quote(world.clock.now_ms())
    with pytest.raises(ServiceError, match="Contracts are not available yet"):
        contract(world, PEPE, "ethereum")


@pytest.mark.promise("lookup.stale")
async def test_old_bars_are_named_and_then_no_longer_shown(world: LookupWorld) -> None:
    world.clock.set_wall((LAST + 2) * DAY_MS + 16 * 60_000)
    await world.quote(world.clock.now_ms())
    named = world.found("BTC")
    assert {"trends", "currentTrend", "currentTrendWeekly", "latestBands"} <= set(named.stale_fields)
    assert named.trends
    world.clock.set_wall((LAST + 3) * DAY_MS + 1)
    await world.quote(world.clock.now_ms())
    gone = world.found("BTC")
    assert (gone.trends, gone.currentTrend, gone.latestBands) == ([], None, None)
    assert {"trends", "currentTrend", "currentTrendWeekly", "latestBands"} <= set(gone.stale_fields)


async def test_without_a_price_the_trends_are_shown_and_without_both_nothing_is(world: LookupWorld) -> None:
    world.clock.set_wall(world.clock.now_ms() + HOUR_MS)
    answer = world.lookups.by_symbol("BTC")
    assert answer.as_of_ms == (LAST + 1) * DAY_MS
    found = read(answer, CoinLookup)
    assert (found.coin.price, found.band_position.percent) == (None, None)
    assert {"price", "change_24h_pct"} <= set(found.stale_fields)
    world.clock.set_wall((LAST + 3) * DAY_MS + 1)
    with pytest.raises(ServiceError, match="Prices of BTC"):
        world.lookups.by_symbol("BTC")


async def test_runs_of_another_dataset_are_not_shown(world: LookupWorld) -> None:
    runs = world.runs.current
    assert runs.value is not None
    await world.runs.put("another", runs.value, runs.observed_ms)
    assert world.found("BTC").trends == []


async def test_a_coin_without_a_closed_week_or_bands_names_them(world: LookupWorld) -> None:
    runs = CoinRuns((LAST + 1) * DAY_MS, [], None, None, None)
    await world.runs.put(world.origin, TrendRuns({"BTC": runs}), runs.through_ms)
    found = world.found("BTC")
    assert (found.currentTrend, found.currentTrendWeekly, found.average_streak) == (None, None, None)
    assert "currentTrendWeekly" in found.stale_fields
    flat = CoinRuns((LAST + 1) * DAY_MS, [], None, 100.0, 100.0)
    await world.runs.put(world.origin, TrendRuns({"BTC": flat}), runs.through_ms)
    assert world.found("BTC").band_position.percent is None


async def test_an_answer_is_kept_while_nothing_changes(world: LookupWorld) -> None:
    assert world.lookups.by_symbol("BTC") is world.lookups.by_symbol("btc")
    assert isinstance(world.market.gecko_largest()[0], GeckoCoin)
