"""A model as author: what it may use in a day, what is counted of what it did, and who ends it."""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.ask.author import Author, endpoint_of, most_of, open_author
from service.ask.budget import Allowance, Budget
from service.ask.model import Brief, ModelError
from service.ask.prompt import compose
from service.clock import DAY_MS, day_of
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database, open_database
from service.wire.ask import Classification, Entities
from tests.ask.findings import risk
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.model import Answer, Model, breaks_off, hangs_after, model, used, writes
from tests.upstream import faults

TODAY = day_of(START_MS)
TOKENS = 300
TEXT = "BTC is at the price above."
DRAFT = ("**BTC** is at the price above.", "It is.", "_Sources: here._")
BRIEF = Brief("BTC?", Classification(intent="price", entities=Entities()), (risk("BTC"),), DRAFT, "base")
MOST = most_of(compose(BRIEF)) + TOKENS


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "verdict.db", clock) as opened:
        yield opened


@pytest.fixture
async def fake() -> AsyncIterator[Model]:
    async with model() as it:
        it.answer = writes(TEXT, usage=used(400, 20))
        yield it


@asynccontextmanager
async def author(fake: Model, database: Database, clock: FakeClock, **settings: Any) -> AsyncIterator[Author]:
    named = {"llm_url": fake.url, "llm_model": "small", "llm_tokens": TOKENS, **settings}
    async with asyncio.timeout(20), open_author(Settings(**named), database, clock) as opened:
        assert isinstance(opened, Author)
        yield opened


async def spent(database: Database) -> dict[int, int]:
    return dict(await database.read("SELECT day - ?, tokens FROM model_use ORDER BY day", (TODAY,)))


async def refusal(it: Author) -> str:
    with pytest.raises(ModelError) as caught:
        await it.write(BRIEF)
    return str(caught.value)


async def test_without_a_url_there_is_no_model(database: Database, clock: FakeClock) -> None:
    async with open_author(Settings(), database, clock) as opened:
        assert opened is None
    assert endpoint_of(Settings()) is None


async def test_a_text_is_handed_on_and_what_it_used_is_counted(
    fake: Model, database: Database, clock: FakeClock
) -> None:
    async with author(fake, database, clock) as it:
        assert await it.write(BRIEF) == TEXT
        assert await it.write(BRIEF) == TEXT
    assert await spent(database) == {0: 840}
    assert fake.asked[0]["max_tokens"] == TOKENS


@pytest.mark.parametrize(
    ("answer", "said", "counted"),
    [
        (writes(TEXT), None, MOST),
        (writes(TEXT, usage=used(0, 0)), None, MOST),
        (writes(TEXT, usage=used(MOST, 9_000)), None, MOST + 9_000),
        (writes("BTC was hacked.", usage=used(1, 2)), "its text has a word that the draft does not have: hacked", 3),
        (breaks_off, "answer cut short", MOST),
        (faults.answer(500), "status 500", MOST),
        (faults.answer(401), "status 401", 0),
        (faults.answer(429), "status 429", 0),
    ],
)
async def test_what_nobody_tells_counts_as_the_most_that_it_can_be(
    fake: Model, database: Database, clock: FakeClock, answer: Answer, said: str | None, counted: int
) -> None:
    fake.answer = answer
    async with author(fake, database, clock) as it:
        if said is None:
            assert await it.write(BRIEF) == TEXT
        else:
            assert await refusal(it) == said
    assert await spent(database) == {0: counted}


async def test_the_most_is_set_aside_before_it_is_asked(fake: Model, database: Database, clock: FakeClock) -> None:
    seen = []

    async def look(request: Any) -> Any:
        seen.append(await spent(database))
        return await writes(TEXT, usage=used(1, 1))(request)

    fake.answer = look
    async with author(fake, database, clock) as it:
        await it.write(BRIEF)
    assert seen == [{0: MOST}]
    assert await spent(database) == {0: 2}


async def test_a_spent_day_asks_nobody_and_the_next_one_does(fake: Model, database: Database, clock: FakeClock) -> None:
    async with author(fake, database, clock, llm_daily_tokens=MOST + 419) as it:
        assert await it.write(BRIEF) == TEXT
        assert await refusal(it) == "the tokens of this day are used up"
        assert len(fake.asked) == 1
        clock.at_ms += DAY_MS
        assert await it.write(BRIEF) == TEXT
    assert await spent(database) == {0: 420, 1: 420}


async def test_what_is_asked_before_midnight_counts_on_the_day_before(
    fake: Model, database: Database, clock: FakeClock
) -> None:
    async def pass_midnight(request: Any) -> Any:
        clock.at_ms += DAY_MS
        return await writes(TEXT, usage=used(1, 1))(request)

    fake.answer = pass_midnight
    async with author(fake, database, clock) as it:
        await it.write(BRIEF)
    assert await spent(database) == {0: 2}


async def test_who_leaves_ends_the_request_and_it_counts_as_used(
    fake: Model, database: Database, clock: FakeClock
) -> None:
    fake.answer = hangs_after(b"")
    async with author(fake, database, clock) as it:
        writing = asyncio.create_task(it.write(BRIEF))
        await fake.came.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await fake.left.wait()
    assert await spent(database) == {0: MOST}


async def test_what_cannot_be_set_aside_is_not_asked(
    fake: Model, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Budget, "reserve", _unavailable)
    async with author(fake, database, clock) as it:
        assert await refusal(it) == "the store is busy"
    assert fake.asked == []


async def test_what_cannot_be_settled_stays_set_aside_and_is_told_the_operator(
    fake: Model,
    database: Database,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(Budget, "settle", _unavailable)
    async with author(fake, database, clock) as it:
        assert await it.write(BRIEF) == TEXT
    assert await spent(database) == {0: MOST}
    assert "what a model used could not be written down" in caplog.text


async def _unavailable(*_: object) -> None:
    raise ServiceError("UNAVAILABLE", "the store is busy")


async def test_a_draft_that_is_too_long_costs_nothing(fake: Model, database: Database, clock: FakeClock) -> None:
    long = Brief(BRIEF.question, BRIEF.classification, BRIEF.steps, ("x" * 40_000,), "base")
    async with author(fake, database, clock) as it:
        with pytest.raises(ModelError, match="too long for a model"):
            await it.write(long)
    assert (await spent(database), fake.asked) == ({}, [])


async def test_a_budget_is_spent_to_the_last_token_and_no_further(database: Database, clock: FakeClock) -> None:
    budget = Budget(database, clock, 100)
    assert await budget.reserve(101) is None
    assert await budget.reserve(100) == Allowance(TODAY, 100)
    assert await budget.reserve(1) is None
    await budget.settle(Allowance(TODAY, 100), 99)
    assert await budget.reserve(2) is None
    assert await budget.reserve(1) == Allowance(TODAY, 1)
    await budget.settle(Allowance(TODAY, 500), 0)
    assert await spent(database) == {0: 0}


_OTHER = """
import asyncio, sys
from pathlib import Path
from service.ask.budget import Budget
from service.storage.database import open_database
from tests.fakes.clock import FakeClock

async def main():
    clock = FakeClock()
    async with open_database(Path(sys.argv[1]), clock) as database:
        print("ready", flush=True)
        sys.stdin.readline()
        budget = Budget(database, clock, 1_000)
        print(sum(await asyncio.gather(*(take(budget) for _ in range(100)))))

async def take(budget):
    return await budget.reserve(7) is not None

asyncio.run(main())
"""


@pytest.mark.promise("question.model")
async def test_two_processes_share_one_budget(database: Database) -> None:
    async def start() -> asyncio.subprocess.Process:
        command = (sys.executable, "-c", _OTHER, str(database.path))
        return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)

    async with asyncio.timeout(60):
        processes = await asyncio.gather(start(), start())
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        told = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    assert sum(int(out) for out, _ in told) == 142
    assert await spent(database) == {0: 994}


async def test_a_refused_answer_is_logged_without_its_address_or_key(
    fake: Model, database: Database, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    fake.answer = faults.answer(401, b"averysecretkey")
    with caplog.at_level(logging.DEBUG):
        async with author(fake, database, clock) as it:
            assert await refusal(it) == "status 401"
    assert not any("averysecretkey" in repr(vars(record)) for record in caplog.records)
