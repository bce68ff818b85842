"""Steps of many callers share a closure, and no caller's failure is another's."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from service.errors import ServiceError
from service.storage.batcher import Batcher
from service.storage.database import Database, open_database
from service.storage.engine import Connection, IntegrityError
from service.storage.sqlite_session import WriteLock
from tests.fakes.clock import FakeClock
from tests.storage.conftest import on_both


def note(connection: Connection, texts: Sequence[str]) -> list[str]:
    """Write a row for each text; with `!` at its end, fail afterwards."""
    for text in texts:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text.rstrip("!"),))
        if text.endswith("!"):
            raise KeyError(text)
    return [text.upper() for text in texts]


def count(connection: Connection, numbers: Sequence[int]) -> list[int]:
    (rows,) = connection.execute("SELECT count(*) FROM notes").fetchone()
    return [rows + number for number in numbers]


def twice(connection: Connection, _: Sequence[str]) -> list[str]:
    return [str(connection.execute("INSERT INTO notes (id, text) VALUES (1, 'twice')").rowcount)]


async def noted(db: Database) -> list[str]:
    return [text for (text,) in await db.read("SELECT text FROM notes ORDER BY id")]


@on_both
async def test_items_of_one_turn_share_a_closure_in_their_order_and_each_gets_its_result(db: Database) -> None:
    batcher, before = Batcher(db), db.closures
    names = [f"item {number}" for number in range(50)]
    seen = await asyncio.gather(*(batcher.run(note, name) for name in names))
    assert seen == [name.upper() for name in names]
    assert await noted(db) == names
    assert db.closures - before == 1


@on_both
async def test_items_of_the_same_work_are_handled_together_and_of_other_work_beside_them(db: Database) -> None:
    batcher, before = Batcher(db), db.closures
    seen = await asyncio.gather(
        batcher.run(note, "a"), batcher.run(count, 10), batcher.run(note, "b"), batcher.run(count, 20)
    )
    assert [*seen] == ["A", 12, "B", 22]
    assert db.closures - before == 1


@on_both
@pytest.mark.parametrize("neighbours", [0, 2])
async def test_an_item_that_fails_is_undone_and_its_neighbours_are_not(db: Database, neighbours: int) -> None:
    batcher, names = Batcher(db), ["a", "b"][:neighbours]
    items = [batcher.run(note, name) for name in names]
    *others, failed = await asyncio.gather(*items, batcher.run(note, "half!"), return_exceptions=True)
    assert others == [name.upper() for name in names]
    assert isinstance(failed, KeyError)
    assert await noted(db) == names


@on_both
async def test_an_item_that_is_refused_as_a_service_error_fails_alone(db: Database) -> None:
    def refuse(_: Connection, items: Sequence[str]) -> Sequence[str]:
        if "bad" in items:
            raise ServiceError("NOT_FOUND", "There is no such item.")
        return items

    batcher = Batcher(db)
    first, bad, last = await asyncio.gather(
        batcher.run(refuse, "one"), batcher.run(refuse, "bad"), batcher.run(refuse, "two"), return_exceptions=True
    )
    assert (first, last) == ("one", "two")
    assert isinstance(bad, ServiceError)
    assert bad.code == "NOT_FOUND"


@on_both
async def test_what_the_store_refuses_is_one_items_failure(db: Database) -> None:
    batcher = Batcher(db)
    await batcher.run(note, "a")
    seen = await asyncio.gather(batcher.run(twice, ""), batcher.run(note, "b"), return_exceptions=True)
    assert isinstance(seen[0], IntegrityError)
    assert seen[1] == "B"
    assert await noted(db) == ["a", "b"]


@on_both
async def test_who_comes_while_the_writer_is_at_work_is_served_too(db: Database) -> None:
    batcher = Batcher(db)
    late: list[asyncio.Task[str]] = []

    def answer(_value: Any, _error: BaseException | None) -> None:
        late.append(asyncio.get_running_loop().create_task(batcher.run(note, "second")))

    batcher.submit(note, "first", answer)
    first = batcher.run(note, "beside")
    assert await asyncio.wait_for(first, 20) == "BESIDE"
    assert await asyncio.wait_for(late[0], 20) == "SECOND"


async def test_a_turn_that_comes_from_an_answer_is_called_once(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    batcher, turns = Batcher(db), []
    submit = db.submit

    def counted(*arguments: Any) -> None:
        turns.append(arguments)
        if len(turns) == 1:  # from now on everybody comes too late for this closure
            monkeypatch.setattr(batcher, "_gather", lambda batch: batch.append(batcher._waiting.popleft()))
        submit(*arguments)

    monkeypatch.setattr(db, "submit", counted)
    names = ["a", "b", "c"]
    assert await asyncio.wait_for(asyncio.gather(*(batcher.run(note, name) for name in names)), 20) == ["A", "B", "C"]
    assert len(turns) == len(names)


async def test_a_store_that_takes_nothing_is_told_to_everybody_at_once_and_the_next_turn_is_served(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    batcher = Batcher(db)
    with monkeypatch.context() as patched:
        patched.setattr(WriteLock, "acquire", lambda *_: False)
        seen = await asyncio.gather(*(batcher.run(note, "x") for _ in range(3)), return_exceptions=True)
    assert [error.code for error in seen if isinstance(error, ServiceError)] == ["UNAVAILABLE"] * 3
    assert await batcher.run(note, "y") == "Y"
    assert await noted(db) == ["y"]


async def test_a_closed_store_is_told_too(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db:
        batcher = Batcher(db)
    with pytest.raises(ServiceError, match="stopping"):
        await asyncio.wait_for(batcher.run(note, "x"), 20)


@on_both
async def test_whoever_is_gone_holds_nobody_up(db: Database) -> None:
    batcher = Batcher(db)
    gone = asyncio.ensure_future(batcher.run(note, "a"))
    await asyncio.sleep(0)
    gone.cancel()
    assert await asyncio.wait_for(batcher.run(note, "b"), 20) == "B"
    assert await noted(db) == ["a", "b"]
