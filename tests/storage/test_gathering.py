"""Steps of many callers share a closure, and no caller's failure is another's."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.errors import ServiceError
from service.storage.database import Database, open_database
from service.storage.engine import Connection, IntegrityError
from service.storage.gathering import Gathering
from service.storage.turnstile import Turnstile
from tests.fakes.clock import FakeClock
from tests.storage.conftest import on_both

Step = Callable[[Connection], str]


def noting(text: str) -> Step:
    def step(connection: Connection) -> str:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))
        return text

    return step


def failing(step: Step, error: Exception) -> Step:
    """A step that fails when it has written."""

    def work(connection: Connection) -> str:
        step(connection)
        raise error

    return work


def refusing(_: Connection) -> str:
    raise ServiceError("NOT_FOUND", "nothing written")


def doubled(connection: Connection) -> str:
    return str(connection.execute("INSERT INTO notes (id, text) VALUES (1, 'twice')").rowcount)


async def noted(db: Database) -> list[str]:
    return [text for (text,) in await db.read("SELECT text FROM notes ORDER BY id")]


@on_both
async def test_steps_of_one_turn_share_a_closure_in_their_order(db: Database) -> None:
    gathering, before = Gathering(db), db.closures
    names = [f"step {number}" for number in range(50)]
    assert await asyncio.gather(*(gathering.take(noting(name)) for name in names)) == names
    assert await noted(db) == names
    assert db.closures - before == 1


@on_both
async def test_a_step_that_raises_before_it_writes_costs_nobody_anything(db: Database) -> None:
    gathering, before = Gathering(db), db.closures
    seen = await asyncio.gather(
        gathering.take(noting("a")), gathering.take(refusing), gathering.take(noting("b")), return_exceptions=True
    )
    assert [str(each) for each in seen] == ["a", "nothing written", "b"]
    assert await noted(db) == ["a", "b"]
    assert db.closures - before == 1


@on_both
@pytest.mark.parametrize(
    "broken",
    [
        failing(noting("half"), ServiceError("NOT_FOUND", "half done")),
        failing(noting("half"), RuntimeError("half done")),
        failing(noting("half"), KeyError("half done")),
    ],
)
@pytest.mark.parametrize("neighbours", [0, 2])
async def test_a_step_that_fails_halfway_is_undone_and_its_neighbours_are_not(
    db: Database, broken: Step, neighbours: int
) -> None:
    gathering, names = Gathering(db), ["a", "b"][:neighbours]
    steps = [gathering.take(noting(name)) for name in names]
    *others, failed = await asyncio.gather(*steps, gathering.take(broken), return_exceptions=True)
    assert others == names
    assert isinstance(failed, ServiceError | RuntimeError | KeyError)
    assert "half done" in str(failed)
    assert await noted(db) == names


@on_both
async def test_what_the_store_refuses_is_one_steps_failure(db: Database) -> None:
    gathering = Gathering(db)
    await gathering.take(noting("a"))
    seen = await asyncio.gather(gathering.take(doubled), gathering.take(noting("b")), return_exceptions=True)
    assert isinstance(seen[0], IntegrityError)
    assert seen[1] == "b"
    assert await noted(db) == ["a", "b"]


@on_both
async def test_who_comes_while_the_writer_is_at_work_is_served_too(db: Database) -> None:
    gathering = Gathering(db)
    late: list[asyncio.Task[str]] = []

    def answer(_value: Any, _error: BaseException | None) -> None:
        late.append(asyncio.get_running_loop().create_task(gathering.take(noting("second"))))

    gathering.submit(noting("first"), answer)
    first = gathering.take(noting("beside"))
    assert await asyncio.wait_for(first, 5) == "beside"
    assert await asyncio.wait_for(late[0], 5) == "second"


async def test_a_turn_that_comes_from_an_answer_is_called_once(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    gathering, turns = Gathering(db), []
    submit = db.submit

    def counted(*arguments: Any) -> None:
        turns.append(arguments)
        if len(turns) == 1:  # from now on everybody comes too late for this closure
            monkeypatch.setattr(gathering, "_gather", lambda batch: batch.append(gathering._waiting.popleft()))
        submit(*arguments)

    monkeypatch.setattr(db, "submit", counted)
    names = ["a", "b", "c"]
    assert await asyncio.wait_for(asyncio.gather(*(gathering.take(noting(name)) for name in names)), 5) == names
    assert len(turns) == len(names)


async def test_a_store_that_takes_nothing_is_told_to_everybody_at_once_and_the_next_turn_is_served(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathering = Gathering(db)
    with monkeypatch.context() as patched:
        patched.setattr(Turnstile, "take", lambda *_: False)
        seen = await asyncio.gather(*(gathering.take(noting("x")) for _ in range(3)), return_exceptions=True)
    assert [error.code for error in seen if isinstance(error, ServiceError)] == ["UNAVAILABLE"] * 3
    assert await gathering.take(noting("y")) == "y"
    assert await noted(db) == ["y"]


async def test_a_closed_store_is_told_too(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db:
        gathering = Gathering(db)
    with pytest.raises(ServiceError, match="stopping"):
        await asyncio.wait_for(gathering.take(refusing), 5)


@on_both
async def test_whoever_is_gone_holds_nobody_up(db: Database) -> None:
    gathering = Gathering(db)
    gone = asyncio.ensure_future(gathering.take(noting("a")))
    await asyncio.sleep(0)
    gone.cancel()
    assert await asyncio.wait_for(gathering.take(noting("b")), 5) == "b"
    assert await noted(db) == ["a", "b"]
