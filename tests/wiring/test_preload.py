"""A second process prepares a recording's history in files; the store takes their tables over."""

import asyncio
import errno
import logging
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.clock import HOUR_MS, FrozenClock, SystemClock
from service.settings import Secret, Settings
from service.storage.database import DATABASE
from service.storage.engine import connect
from service.storage.store import open_store
from service.upstream.replay.server import replay_server
from service.wiring.build import build
from service.wiring.clocks import choose_clock
from service.wiring.preload import FILES, Preload, preloading
from tests.fakes.handful import COINS, handful


def recorded_in(folder: Path) -> Settings:
    return Settings(source="fixtures", fixtures_dir=handful(), data_dir=folder)


async def origin_of(settings: Settings) -> str:
    async with replay_server(settings.fixtures_dir, choose_clock(settings), settings.replay) as replay:
        return replay.origin


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} & set(FILES)


async def rows_of(preload: Preload, origin: str) -> list[tuple[int, int, int]]:
    """How many bars, payments and coins with judged funding each file has that is given."""
    found = []
    tables = ("candles", "funding_rates", "funding_watch")
    counts = f"SELECT {', '.join(f'(SELECT count(*) FROM {table})' for table in tables)}"  # noqa: S608 - constants
    while path := await preload.next(origin):
        with connect(path) as connection:
            found.append(connection.execute(counts).fetchone())
        connection.close()
    return found


@pytest.mark.process
async def test_files_have_daily_bars_then_payments_then_hourly_bars_and_at_last_alerts(tmp_path: Path) -> None:
    settings = recorded_in(tmp_path)
    with preloading(settings, choose_clock(settings)) as preload:
        assert preload is not None
        async with asyncio.timeout(60):
            days, payments, *hours, alerts = await rows_of(preload, await origin_of(settings))
        assert left_in(tmp_path) == set()
    assert days[0] > 500 * len(COINS)
    assert days[1] == payments[0] == 0
    assert payments[1] >= 2_000 * len(COINS)
    assert len(hours) == len(FILES) - 3
    assert sum(bars for bars, *_ in hours) >= 2_000 * len(COINS)
    assert alerts == (0, 0, len(COINS))


@pytest.mark.process
async def test_hourly_bars_are_prepared_up_to_the_present_instant_and_no_further(tmp_path: Path) -> None:
    settings, clock = recorded_in(tmp_path), FrozenClock(SystemClock().now_ms() - 7 * HOUR_MS)
    newest = 0
    with preloading(settings, clock) as preload:
        assert preload is not None
        async with asyncio.timeout(60), replay_server(settings.fixtures_dir, clock, settings.replay) as replay:
            while path := await preload.next(replay.origin):
                with connect(path) as connection:
                    of_hours = "SELECT coalesce(max(open_ms), 0) FROM candles WHERE interval = '1h'"
                    newest = max(newest, connection.execute(of_hours).fetchone()[0])
                connection.close()
    assert newest == clock.now_ms() // HOUR_MS * HOUR_MS - HOUR_MS


@pytest.mark.process
async def test_a_prepared_start_looks_at_funding_only_after_the_service_is_ready(tmp_path: Path) -> None:
    settings = replace(recorded_in(tmp_path), port=1)
    clock = choose_clock(settings)
    looks: list[int] = []
    with preloading(settings, clock) as preload:
        async with (
            asyncio.timeout(60),
            build(settings, clock, preload) as service,
            open_store(settings, clock) as store,
        ):

            async def look() -> int:
                ((through_ms,),) = await store.read("SELECT through_ms FROM market_watches WHERE name = 'funding'")
                return int(through_ms)

            while not service.health.ready:
                await clock.sleep(0.05)
            ((newest_ms,),) = await store.read("SELECT max(paid_ms) FROM funding_rates")
            looks.append(await look())
            service.ready.set()
            while await look() == newest_ms:
                await clock.sleep(0.05)
    assert looks == [newest_ms]


@pytest.mark.process
async def test_what_was_prepared_of_another_history_is_not_given(tmp_path: Path) -> None:
    with preloading(recorded_in(tmp_path), SystemClock()) as preload:
        assert preload is not None
        async with asyncio.timeout(60):
            assert [await preload.next("another") for _ in range(len(FILES) + 1)] == [None] * (len(FILES) + 1)


@pytest.mark.process
async def test_a_process_that_fails_gives_nothing_and_leaves_no_file(tmp_path: Path) -> None:
    settings = recorded_in(tmp_path)
    with preloading(replace(settings, fixtures_dir=tmp_path), SystemClock()) as preload:
        assert preload is not None
        async with asyncio.timeout(60):
            assert await preload.next(await origin_of(settings)) is None
    assert left_in(tmp_path) == set()


def test_nothing_is_prepared_for_a_store_that_exists_or_is_a_server_or_live(tmp_path: Path) -> None:
    settings = recorded_in(tmp_path)
    for other in (replace(settings, source="live"), replace(settings, store=Secret("postgresql://user@host/name"))):
        with preloading(other, choose_clock(other)) as preload:
            assert preload is None
    (tmp_path / DATABASE).touch()
    (tmp_path / FILES[1]).touch()
    with preloading(settings, choose_clock(settings)) as preload:
        assert preload is None
        assert left_in(tmp_path) == set(), "what a killed start left is removed"


def test_a_machine_without_room_for_another_process_starts_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with (
        caplog.at_level(logging.WARNING, "verdict.wiring"),
        preloading(recorded_in(tmp_path), SystemClock()) as preload,
    ):
        assert preload is None
    assert "Could not start the process that prepares the recorded history." in caplog.text
