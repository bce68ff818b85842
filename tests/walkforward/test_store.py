"""Runs in the database."""

import zlib

import pytest
from msgspec.structs import replace

from service.storage.database import Database
from service.walkforward import store
from service.walkforward.parameters import ENGINE, Parameters
from service.walkforward.records import BEGINNING
from service.walkforward.store import RunStore
from tests.walkforward.runs import TODAY, outcome, packed


async def test_a_run_is_read_as_it_was_put_and_later_ones_have_higher_numbers(runs: RunStore) -> None:
    assert await runs.newest("live") is None
    first = await runs.put("live", packed("a"))
    second = await runs.put("live", packed("b"))
    assert second > first
    assert await runs.newest("live") == second
    told = await runs.load(first, "live")
    assert told is not None
    assert (told.run, told.run_id) == (first, "a")
    assert told.outcomes.page(None, BEGINNING, 1).records == [outcome(0)]


async def test_runs_of_another_history_are_not_told(runs: RunStore) -> None:
    run = await runs.put("a replay", packed())
    assert await runs.newest("live") is None
    assert await runs.load(run, "live") is None
    assert not await runs.is_done("live", ENGINE, Parameters(), TODAY - 1)


async def test_a_day_counts_as_walked_by_engine_parameters_and_day(runs: RunStore) -> None:
    await runs.put("live", packed())
    assert await runs.is_done("live", ENGINE, Parameters(), TODAY - 1)
    assert not await runs.is_done("live", ENGINE, Parameters(), TODAY)
    assert not await runs.is_done("live", ENGINE, Parameters(scheme="rolling"), TODAY - 1)
    assert not await runs.is_done("live", "another", Parameters(), TODAY - 1)


async def test_records_of_old_runs_are_forgotten_and_their_names_are_not(
    runs: RunStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "RUNS_KEPT", 2)
    numbers = [await runs.put("live", packed(name)) for name in "abc"]
    assert [(await runs.load(number, "live")) is not None for number in numbers] == [False, True, True]
    assert await database.read("SELECT run_id FROM walkforward_runs ORDER BY run") == [("a",), ("b",), ("c",)]
    assert await database.read("SELECT DISTINCT run FROM walkforward_records") == [(numbers[1],), (numbers[2],)]


async def test_a_run_that_is_not_there_is_none(runs: RunStore) -> None:
    assert await runs.load(7, "live") is None


async def test_a_run_that_another_version_wrote_is_left_alone(runs: RunStore, caplog: pytest.LogCaptureFixture) -> None:
    other = replace(packed(), outcomes=zlib.compress(b'[{"coin":"BTC"}]'))
    assert await runs.load(await runs.put("live", other), "live") is None
    assert "A run of another version was skipped" in caplog.messages


async def test_nothing_of_a_run_is_kept_where_the_store_could_not_take_all_of_it(
    runs: RunStore, database: Database
) -> None:
    await database.write(lambda connection: connection.execute("DROP TABLE walkforward_records"))
    with pytest.raises(Exception, match="walkforward_records"):
        await runs.put("live", packed())
    assert await database.read("SELECT count(*) FROM walkforward_runs") == [(0,)]
