"""Recorded history is loaded in bulk, and is the same as what the adapter reads from the replay server bar by bar."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.market.alerts.refresh import AlertRefresh
from service.market.alerts.store import AlertStore, WatchState
from service.market.ingest import recording
from service.market.ingest.candles import DailyBarsRefresh
from service.market.ingest.hourly import FundingRefresh, HourlyBarsRefresh
from service.market.ingest.recording import RecordingLoader
from service.market.models import Quote, Quotes
from service.market.plausibility.quarantine import Quarantine
from service.market.plausibility.series import SeriesCheck
from service.market.service import MarketService
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.scheduler import already_set
from service.settings import Settings
from service.storage.database import Database, open_database
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import Replay, replay_server
from service.upstream.session import open_session
from service.wiring.preload import FILES
from service.wiring.preload_worker import write
from tests.fakes.clock import FakeClock
from tests.fakes.handful import ASSETS, COINS, DELISTED, handful
from tests.market.parts import Standby, show_only

TABLES = {
    "bars": "SELECT venue_symbol, interval, open_ms, open, high, low, close, volume, trades, venue FROM candles "
    "WHERE final = 1 ORDER BY 1, 2, 3",
    "payments": "SELECT venue_symbol, venue, paid_ms, rate, interval_hours FROM funding_rates ORDER BY 1, 2, 3",
    "coins": "SELECT venue_symbol, symbol, listed, settled FROM market_coins ORDER BY 1",
}
ALERTS = {
    "events": "SELECT id, venue_symbol, zone, fired_ms, cleared_ms, apr, percentile, interval_hours "
    "FROM funding_events ORDER BY 1",
    "zones": "SELECT venue_symbol, zone FROM funding_watch ORDER BY 1",
}
BEFORE_MS = 7 * HOUR_MS + 1_234_567
"""Asked in the midst of the recording's last day, of an hour and of a second."""


def known() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@asynccontextmanager
async def replayed(clock: FakeClock) -> AsyncIterator[Replay]:
    async with replay_server(handful(), clock, "shifted") as replay:
        yield replay


async def tables(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    return {name: await database.read(sql) for name, sql in TABLES.items()}


async def one_by_one(database: Database, replay: Replay, clock: FakeClock) -> dict[str, list[tuple[Any, ...]]]:
    """What the refresh loops read over HTTP."""
    store, lock = MarketStore(database), asyncio.Lock()

    def origin() -> str:
        return replay.origin

    async with open_session("hyperliquid", replay.url, clock, weight_per_minute=10**9) as session:
        source = Hyperliquid(session, clock)
        standby = Standby()
        check = SeriesCheck(clock, store, lambda _: {}, Quarantine(), standby)
        await store.claim(origin())
        await store.put_quotes(origin(), await source.quotes())
        await DailyBarsRefresh(clock, store, source, origin, lock, standby, check).round()
        await HourlyBarsRefresh(clock, store, source, origin, lock, check, lambda: True).round()
        await FundingRefresh(clock, store, source, origin, lock, check, lambda: True).round()
        for asset in ASSETS:
            history = await source.bars(asset, "1d", EARLIEST_MS)
            await store.put_bars(origin(), asset, history.bars, history.observed_ms - 5_000 - DAY_MS)
    return await tables(database)


async def in_bulk(database: Database, replay: Replay, clock: FakeClock) -> dict[str, list[tuple[Any, ...]]]:
    store = MarketStore(database)
    await store.claim(replay.origin)
    await RecordingLoader(clock, store, replay, lambda: replay.origin, known).round()
    quotes = [Quote(coin, canonical(coin), 0.0, 1.0, 1, None, None) for coin in COINS]
    await store.put_quotes(replay.origin, Quotes(1, quotes, DELISTED))
    return await tables(database)


@pytest.mark.slow
@pytest.mark.promise("start.bulk-history")
@pytest.mark.parametrize("into_the_day_ms", [BEFORE_MS, 0, 3_000, HOUR_MS + 4_999, HOUR_MS + 5_000])
async def test_what_is_loaded_in_bulk_is_what_the_adapter_reads_bar_by_bar(
    tmp_path: Path, clock: FakeClock, into_the_day_ms: int
) -> None:
    await clock.advance((DAY_MS - clock.now_ms() % DAY_MS + into_the_day_ms) / 1_000)
    async with replayed(clock) as replay:
        async with open_database(tmp_path / "one.db", clock) as database:
            expected = await one_by_one(database, replay, clock)
        async with open_database(tmp_path / "bulk.db", clock) as database:
            found = await in_bulk(database, replay, clock)
    assert {name: len(rows) for name, rows in found.items()} == {name: len(rows) for name, rows in expected.items()}
    assert found == expected
    assert len(found["payments"]) > 2_000 * len(COINS) - 2_000


@pytest.mark.slow
async def test_what_another_process_has_prepared_is_what_the_adapter_reads_and_is_not_decoded_again(
    tmp_path: Path, clock: FakeClock
) -> None:
    settings = Settings(source="fixtures", data_dir=tmp_path, fixtures_dir=handful())
    names, origins = iter(FILES), list(write(settings, clock))

    async def prepare(origin: str) -> Path | None:
        assert origins == [origin] * len(FILES)
        return next((tmp_path / name for name in names), None)

    async with replayed(clock) as replay:
        async with open_database(tmp_path / "one.db", clock) as database:
            expected = await one_by_one(database, replay, clock)
        replay.prepare = prepare
        async with open_database(tmp_path / "prepared.db", clock) as database:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    Replay, "columns", lambda _self, _kind, coin: pytest.fail(coin) if coin in COINS else None
                )
                found = await in_bulk(database, replay, clock)
    assert found == expected


async def alerts(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Past funding alerts but for their prices."""
    return {name: await database.read(sql) for name, sql in ALERTS.items()}


async def test_past_alerts_that_another_process_has_prepared_are_those_that_are_found_here(
    tmp_path: Path, clock: FakeClock
) -> None:
    *_, _ = write(Settings(source="fixtures", data_dir=tmp_path, fixtures_dir=handful()), clock)
    now_ms = clock.now_ms()
    async with replayed(clock) as replay:
        origin = replay.origin
        async with open_database(tmp_path / "judged.db", clock) as database:
            await in_bulk(database, replay, clock)
            store, market, alert_store = MarketStore(database), MarketService(clock), AlertStore(database)
            quotes = [Quote(coin, canonical(coin), 1.0, 1.0, now_ms, None, None) for coin in COINS]
            await show_only(store, origin, now_ms, quotes)
            market.show(await store.snapshot())
            await AlertRefresh(clock, store, alert_store, market, lambda: origin, already_set()).round()
            expected = await alerts(database)
            newest_ms = (await database.read("SELECT max(paid_ms) FROM funding_rates"))[0][0]
        async with open_database(tmp_path / "prepared.db", clock) as database:
            store = MarketStore(database)
            await store.claim(origin)
            await store.adopt(origin, tmp_path / FILES[-1])
            found, watch_state = await alerts(database), await AlertStore(database).watch_state(origin)
    assert found == expected
    assert len(found["events"]) > len(COINS)
    assert watch_state.through_ms == newest_ms


async def test_no_past_alerts_are_prepared_where_the_newest_payments_are_old(tmp_path: Path, clock: FakeClock) -> None:
    settings = Settings(source="fixtures", data_dir=tmp_path, fixtures_dir=handful(), replay="frozen")
    await clock.advance((frozen_at(handful()) + DAY_MS - clock.now_ms()) / 1_000)
    *_, origin = write(settings, clock)
    async with open_database(tmp_path / "prepared.db", clock) as database:
        store = MarketStore(database)
        await store.claim(origin)
        await store.adopt(origin, tmp_path / FILES[-1])
        assert await AlertStore(database).watch_state(origin) == WatchState(None, {})


async def test_payments_are_there_before_hourly_bars(database: Database, tmp_path: Path, clock: FakeClock) -> None:
    files = iter(write(Settings(source="fixtures", data_dir=tmp_path, fixtures_dir=handful()), clock))
    names, go_on = iter(FILES), asyncio.Event()

    async def prepare(origin: str) -> Path | None:
        name = next(names, None)
        if name == FILES[2]:
            await go_on.wait()
        assert next(files, origin) == origin
        return None if name is None else tmp_path / name

    async with replayed(clock) as replay:
        replay.prepare = prepare
        store = MarketStore(database)
        await store.claim(replay.origin)
        bulk = RecordingLoader(clock, store, replay, lambda: replay.origin, known)
        loading = asyncio.ensure_future(bulk.round())
        async with asyncio.timeout(60):
            await bulk.paid.wait()
            found = await tables(database)
            assert not bulk.complete.is_set()
            assert {interval for _, interval, *_ in found["bars"]} == {"1d"}
            assert len(found["payments"]) > 2_000 * len(COINS) - 2_000
            go_on.set()
            await loading
        assert bulk.complete.is_set()


async def test_what_the_store_holds_already_is_not_loaded_again(database: Database, clock: FakeClock) -> None:
    async with replayed(clock) as replay:
        store = MarketStore(database)
        await store.claim(replay.origin)
        await RecordingLoader(clock, store, replay, lambda: replay.origin, known).round()
        before = await tables(database)

        asked: list[str] = []

        class Noting(Replay):
            def columns(self, kind: str, coin: str) -> bytes | None:
                asked.append(coin)
                return super().columns(kind, coin)

        replay.__class__ = Noting
        again = RecordingLoader(clock, store, replay, lambda: replay.origin, known)
        await again.round()
        assert not {*COINS, *ASSETS} & set(asked)
        assert again.complete.is_set()
        assert await tables(database) == before


async def test_nothing_is_loaded_before_the_store_holds_the_present_origin(
    database: Database, clock: FakeClock
) -> None:
    async with replayed(clock) as replay:
        store = MarketStore(database)
        await store.claim("another")
        bulk = RecordingLoader(clock, store, replay, lambda: replay.origin, known)
        await bulk.round()
        assert not bulk.days.is_set()
        assert (await tables(database))["bars"] == []
        await store.claim(replay.origin)
        await bulk.round()
        assert bulk.complete.is_set()
        assert (await tables(database))["bars"]


class Odd:
    """A recording of one coin whose columns are what a test says."""

    def __init__(self, columns: Mapping[str, bytes]) -> None:
        self._columns = columns

    def coins(self) -> list[str]:
        return ["BTC", "ETH"]

    def delisted(self) -> list[str]:
        return []

    def columns(self, kind: str, coin: str) -> bytes | None:
        return self._columns.get(kind) if coin == "BTC" else None

    def now(self) -> tuple[int, int]:
        return 10**12, 0

    async def prepared(self, origin: str) -> Path | None:
        assert origin == "odd"
        return None


async def test_bars_that_cannot_be_bars_are_left_out_and_equal_columns_may_be_one_value(
    database: Database, clock: FakeClock
) -> None:
    days = (
        b'{"t":[0,86400000,86400001,86399999],"o":"2","h":["2.5","1","2","2"],"l":"2","c":"2","v":"0","n":[1,1,0,-1]}'
    )
    store = MarketStore(database)
    await store.claim("odd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "EARLIEST_MS", 0)
        await RecordingLoader(clock, store, Odd({"candles-1d": days}), lambda: "odd", known).round()
    rows = await database.read("SELECT open_ms, open, high, low, close, volume, trades FROM candles ORDER BY 1")
    assert rows == [(0, 2.0, 2.5, 2.0, 2.0, 0.0, 1), (3 * DAY_MS, 2.0, 2.0, 2.0, 2.0, 0.0, 1)]


async def test_a_recording_that_cannot_be_read_by_column_is_left_to_the_refresh_loops(
    database: Database, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    store = MarketStore(database)
    await store.claim("odd")
    bulk = RecordingLoader(clock, store, Odd({"candles-1d": b'{"t":[0],"o":["NaN"]}'}), lambda: "odd", known)
    with caplog.at_level(logging.WARNING, "verdict.market"):
        await bulk.round()
    assert "Recorded history could not be loaded in bulk" in caplog.text
    assert bulk.days.is_set()
    assert bulk.complete.is_set()
