"""Machines that share one store: what each knows of the processes of the others, and what becomes of what they held."""

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.access.usage_ledger import LEASE_MS, UsageLedger
from service.clock import SECOND_MS
from service.settings import Secret
from service.storage.journal import Journal, path_of
from service.storage.postgres.database import PostgresDatabase, open_postgres
from service.storage.runs import Runs, _plant, node_of
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import postgres_dsn

PRO = Caller(1, "api_key", 1, "pro")
RESERVED, COMMITTED, RELEASED = 0, 1, 2
NO_PROCESS = 2**22 + 1
"""More than a kernel counts to."""


@pytest.fixture
def address() -> Iterator[Secret]:
    with postgres_dsn() as found:
        yield Secret(found)


class Machines:
    """Machines on one store; each has a folder of its own."""

    def __init__(self, address: Secret, folder: Path, clock: FakeClock) -> None:
        self._address = address
        self._folder = folder
        self._clock = clock

    def path(self, name: str) -> Path:
        return self._folder / name / "verdict.db"

    @asynccontextmanager
    async def running(self, name: str) -> AsyncIterator[tuple[PostgresDatabase, Meter]]:
        opened = open_postgres(self._address, self.path(name), self._clock)
        async with opened as database, open_meter(database, self._clock) as meter:
            yield database, meter

    @asynccontextmanager
    async def dying(self, name: str) -> AsyncIterator[Meter]:
        """A machine whose process ends without signing out: its store is gone before it can."""
        opened = open_postgres(self._address, self.path(name), self._clock)
        metering = open_meter(await opened.__aenter__(), self._clock)
        try:
            yield await metering.__aenter__()
        finally:
            await opened.__aexit__(None, None, None)
            await metering.__aexit__(None, None, None)


@pytest.fixture
def machines(address: Secret, tmp_path: Path, clock: FakeClock) -> Machines:
    return Machines(address, tmp_path, clock)


async def states(database: PostgresDatabase) -> list[int]:
    return [state for (state,) in await database.read("SELECT state FROM usage_events ORDER BY id")]


async def reserve_and_charge(meter: Meter) -> None:
    await meter.reserve(PRO, "ask")
    await meter.charge(PRO, "coin.risk")  # counted, and its answer does not leave


@pytest.mark.process
async def test_what_a_dead_machine_held_is_given_back_by_another_when_its_lease_runs_out(
    machines: Machines, clock: FakeClock
) -> None:
    async with machines.dying("one") as meter:
        await reserve_and_charge(meter)
    async with machines.running("two") as (database, _):
        assert await states(database) == [RESERVED, COMMITTED], "it may live: nothing is concluded from here"
        clock.set_wall(clock.at_ms + LEASE_MS + SECOND_MS)
    async with machines.running("two") as (database, meter):
        watching = asyncio.create_task(meter.watch())
        async with asyncio.timeout(30):
            while await states(database) == [RESERVED, COMMITTED]:
                await clock.settle()
        watching.cancel()
        assert await states(database) == [RELEASED, COMMITTED]
        assert await meter.verify() == []


@pytest.mark.process
async def test_a_machines_own_next_start_gives_back_all_that_its_dead_process_left(machines: Machines) -> None:
    async with machines.dying("one") as meter:
        await reserve_and_charge(meter)
        dead = meter.run_id
    async with machines.running("two") as (other, meter):
        runs = Runs(other)
        assert dead in await runs.alive_now()
        async with machines.running("one") as (database, again):
            assert await states(database) == [RELEASED, RELEASED]
            assert again.run_id > meter.run_id > dead
            assert dead not in await runs.alive_now(), "others learn of it"
        assert await meter.verify() == []


@pytest.mark.process
async def test_who_has_signed_out_is_over_for_every_machine(machines: Machines) -> None:
    async with machines.running("two") as (database, _):
        async with machines.running("one") as (_, meter):
            run_id = meter.run_id
            assert run_id in await database.write(Runs(database).alive)
        assert run_id not in await database.write(Runs(database).alive)


@pytest.mark.process
async def test_a_journal_of_work_on_another_store_says_nothing_of_the_runs_that_are_here(
    machines: Machines, tmp_path: Path
) -> None:
    async with machines.dying("one") as meter:
        await meter.charge(PRO, "coin.risk")
        run_id = meter.run_id
    (journal,) = (tmp_path / "one").glob("verdict.db-runs/*.marks")
    elsewhere = tmp_path / "two" / "verdict.db-runs" / f"{run_id}.marks"
    elsewhere.parent.mkdir(parents=True)
    shutil.copy(journal, elsewhere)
    async with machines.running("two") as (database, _):
        assert await states(database) == [COMMITTED]


def test_a_folder_has_one_name_and_its_copy_another(tmp_path: Path) -> None:
    machine = tmp_path / "machine-id"
    unnamed = node_of(tmp_path / "runs", machine)
    assert unnamed == node_of(tmp_path / "runs", machine)
    machine.write_text("one")
    named = node_of(tmp_path / "runs", machine)
    machine.write_text("two")
    assert len({unnamed, named, node_of(tmp_path / "runs", machine)}) == 3
    shutil.copytree(tmp_path / "runs", tmp_path / "copy", copy_function=shutil.copy2)
    assert node_of(tmp_path / "copy", machine) != node_of(tmp_path / "runs", machine)


def test_processes_that_name_a_folder_at_once_give_it_one_name(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    def name(folder: Path) -> str:
        together.wait(20)
        return node_of(folder)

    with ThreadPoolExecutor(4) as pool:
        for number in range(50):
            runs = tmp_path / str(number)
            assert len(set(pool.map(name, [runs] * 4))) == 1
            assert [path.name for path in runs.iterdir()] == ["node"]


def test_a_folder_whose_name_was_left_half_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "node").touch()
    assert node_of(tmp_path) == node_of(tmp_path)
    assert (tmp_path / "node").stat().st_size == 32


@pytest.mark.process
async def test_a_process_that_starts_right_behind_another_does_not_take_it_for_dead(
    machines: Machines, address: Secret, clock: FakeClock
) -> None:
    """Between being entered and having a journal: none of these has one. The first is killed then."""
    async with open_postgres(address, machines.path("one"), clock) as database:
        folder = Runs(database).folder
        folder.mkdir()

        async def over() -> list[bool]:
            ledger = UsageLedger(database, clock, Runs(database))
            await database.write(partial(ledger.start_run, dead=[]))
            return [
                bool(row[0]) for row in await database.read("SELECT ended_ms IS NOT NULL FROM usage_runs ORDER BY id")
            ]

        assert await over() == [False]
        assert await over() == [False, False]
        (folder / f"1.{os.getpid()}").rename(folder / f"1.{NO_PROCESS}")
        assert await over() == [True, False, False]
        Journal(path_of(folder, 2), 0, b"").close(settled=True)
        assert await over() == [True, True, False, False]


def test_a_seed_that_another_process_has_given_meanwhile_stays(tmp_path: Path) -> None:
    seed = tmp_path / "node"
    _plant(seed)
    given = seed.read_bytes()
    _plant(seed)
    assert seed.read_bytes() == given
