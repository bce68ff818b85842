import asyncio
from pathlib import Path
from typing import Any

import pytest

from service import scheduler
from service.access.authenticator import Authenticator
from service.access.factory import open_admin
from service.access.secrets import open_secrets
from service.clock import Clock, FrozenClock, SystemClock
from service.http.app import App
from service.settings import Settings
from service.storage.database import DATABASE, open_database
from service.upstream.feed_fetcher import FeedFetcher
from service.wiring.build import _assemble, base_url, build
from service.wiring.clocks import choose_clock
from service.wiring.metrics import _read_upstreams, wal_bytes
from tests.fakes.clock import START_MS, FakeClock


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (Settings(port=1), "http://127.0.0.1:1"),
        (Settings(host="::1", port=1), "http://[::1]:1"),
        (Settings(port=1, tls_cert=Path("c"), tls_key=Path("k")), "https://127.0.0.1:1"),
        (Settings(public_url="https://api.example.org"), "https://api.example.org"),
    ],
)
def test_documents_name_the_address_that_callers_use(settings: Settings, url: str) -> None:
    assert base_url(settings) == url


@pytest.mark.promise("fixtures.frozen")
def test_a_frozen_replay_stands_at_the_recordings_end_and_all_else_on_the_systems_clock() -> None:
    frozen = choose_clock(Settings(source="fixtures", replay="frozen"))
    assert isinstance(frozen, FrozenClock)
    assert frozen.now_ms() < SystemClock().now_ms()
    for settings in (Settings(source="fixtures"), Settings(source="live", replay="frozen")):
        assert type(choose_clock(settings)) is SystemClock


def test_a_database_without_a_log_has_none_to_measure(tmp_path: Path) -> None:
    assert wal_bytes(tmp_path / "verdict.db") == 0
    (tmp_path / "verdict.db-wal").write_bytes(b"1234")
    assert wal_bytes(tmp_path / "verdict.db") == 4


def test_what_was_asked_of_strangers_is_counted_beside_the_venues() -> None:
    fetcher = FeedFetcher(None, FakeClock(), None)  # type: ignore[arg-type]
    fetcher.calls, fetcher.failures = 7, 2
    calls, failures, weight = _read_upstreams({}, fetcher)
    assert (calls.values, failures.values, weight.values) == ({("feeds",): 7}, {("feeds",): 2}, {})


@pytest.mark.process
async def test_rooms_are_opened_and_closed_without_leaving_a_task_behind(tmp_path: Path) -> None:
    clock: Clock = SystemClock()
    settings = Settings(source="fixtures", data_dir=tmp_path, port=1)
    async with asyncio.timeout(60):
        async with build(settings, clock) as service:
            while not service.health.ready:
                await clock.sleep(0.01)
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_no_loop_begins_before_every_room_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()
    begun_when_assembled: list[bool] = []

    async def begin(*_: object) -> None:
        begun.set()

    def assemble(*rooms: Any) -> App:
        begun_when_assembled.append(begun.is_set())
        return _assemble(*rooms)

    monkeypatch.setattr(scheduler, "run_forever", begin)
    monkeypatch.setattr("service.wiring.build._assemble", assemble)
    async with asyncio.timeout(60), build(Settings(source="fixtures", data_dir=tmp_path, port=1), FakeClock()):
        await begun.wait()
    assert begun_when_assembled == [False]


async def test_what_was_used_in_the_last_minute_is_noted_before_the_store_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticators = []

    async def watch(authenticator: Authenticator) -> None:
        authenticators.append(authenticator)

    monkeypatch.setattr(Authenticator, "watch", watch)
    clock = FakeClock()
    settings = Settings(source="fixtures", data_dir=tmp_path, port=1)
    async with asyncio.timeout(60):
        async with build(settings, clock), open_database(tmp_path / DATABASE, clock) as db:
            key = (await open_admin(settings, open_secrets(tmp_path), db, clock).create_key("mine")).key
            await asyncio.sleep(0)
            await authenticators[0].authenticate(key)
        async with open_database(tmp_path / DATABASE, clock) as db:
            assert await db.read("SELECT last_used_ms FROM credentials") == [(START_MS,)]


async def test_a_loop_that_fails_ends_the_service_rather_than_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Authenticator) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Authenticator, "watch", fail)
    with pytest.raises(ExceptionGroup) as failed:
        async with asyncio.timeout(60), build(Settings(source="fixtures", data_dir=tmp_path, port=1), FakeClock()):
            await asyncio.Event().wait()
    assert failed.group_contains(ZeroDivisionError)
