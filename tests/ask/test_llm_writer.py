"""A language model that writes: its tokens of a day, what counts as used, and what ends a request."""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.ask.llm_writer import Allowance, Budget, LlmWriter, compose, endpoint_of, most_of, open_author, written_by
from service.ask.measure_table import Unit
from service.ask.query import Measure, Query, Subject
from service.ask.references import Brief, ModelError, Reference
from service.clock import DAY_MS, day_of
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database, open_database
from service.wire.ask import Message, Question
from tests.ask.planner.world import World
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.model import Answer, Model, breaks_off, hangs_after, model, used, writes
from tests.upstream import faults

TODAY = day_of(START_MS)
TOKENS = 300
TEXT = "The table shows {s1/BTC/price}."
BOUND = "The table shows BTC's price ($118,234)."
BRIEF = Brief("BTC?", "BTC, price", {"s1/BTC/price": Reference("BTC", "price", Unit.USD, "$118,234")}, "base")
MOST = most_of(compose(BRIEF)) + TOKENS
PRICE, FUNDING = Measure("price"), Measure("funding")


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
async def author(fake: Model, database: Database, clock: FakeClock, **settings: Any) -> AsyncIterator[LlmWriter]:
    named = {"llm_url": fake.url, "llm_model": "small", "llm_tokens": TOKENS, **settings}
    async with asyncio.timeout(20), open_author(Settings(**named), database, clock) as opened:
        assert isinstance(opened, LlmWriter)
        yield opened


async def spent(database: Database) -> dict[int, int]:
    return dict(await database.read("SELECT day - ?, tokens FROM model_use ORDER BY day", (TODAY,)))


async def refusal(it: LlmWriter) -> str:
    with pytest.raises(ModelError) as caught:
        await it.write(BRIEF)
    return str(caught.value)


async def test_without_a_url_there_is_no_model(database: Database, clock: FakeClock) -> None:
    async with open_author(Settings(), database, clock) as opened:
        assert opened is None
    assert endpoint_of(Settings()) is None


async def test_a_text_is_bound_and_what_it_used_is_counted(fake: Model, database: Database, clock: FakeClock) -> None:
    async with author(fake, database, clock) as it:
        assert await it.write(BRIEF) == BOUND
        assert await it.write(BRIEF) == BOUND
    assert await spent(database) == {0: 840}
    assert fake.asked[0]["max_tokens"] == TOKENS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said", "counted"),
    [
        (writes(TEXT), None, MOST),
        (writes(TEXT, usage=used(0, 0)), None, MOST),
        (writes(TEXT, usage=used(MOST, 9_000)), None, MOST + 9_000),
        (writes(f"{TEXT} It was hacked.", usage=used(1, 2)), "its text has a word that is not allowed: hacked", 3),
        (breaks_off, "answer cut short", MOST),
        (faults.answer(500), "status 500", MOST),
        (faults.answer(401), "It answered with status 401.", 0),
        (faults.answer(429), "status 429", 0),
    ],
)
async def test_what_nobody_tells_counts_as_the_most_that_it_can_be(
    fake: Model, database: Database, clock: FakeClock, answer: Answer, said: str | None, counted: int
) -> None:
    fake.answer = answer
    async with author(fake, database, clock) as it:
        if said is None:
            assert await it.write(BRIEF) == BOUND
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
        assert await it.write(BRIEF) == BOUND
        assert await refusal(it) == "the tokens of this day are used up"
        assert len(fake.asked) == 1
        clock.at_ms += DAY_MS
        assert await it.write(BRIEF) == BOUND
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
        assert await it.write(BRIEF) == BOUND
    assert await spent(database) == {0: MOST}
    assert "The tokens a language model used could not be stored." in caplog.text


async def _unavailable(*_: object) -> None:
    raise ServiceError("UNAVAILABLE", "the store is busy")


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
from service.ask.llm_writer import Budget
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


@pytest.mark.process
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
            assert await refusal(it) == "It answered with status 401."
    assert not any("averysecretkey" in repr(vars(record)) for record in caplog.records)


class Fixed:
    """A model that writes a text, or fails."""

    def __init__(self, text: str | ModelError) -> None:
        self._text = text
        self.asked: list[Brief] = []

    async def write(self, brief: Brief) -> str:
        self.asked.append(brief)
        if isinstance(self._text, ModelError):
            raise self._text
        return self._text


async def passage(it: Fixed, *queries: Query) -> str | None:
    results = [await World().ask(query) for query in queries]
    return await written_by(it, Question([Message("user", "and sol?")], archetype="trader"), queries, results)


async def test_a_model_is_given_the_question_how_it_was_read_and_what_was_found() -> None:
    it = Fixed("A text.")
    one = Query(subject=Subject(coins=("ETH",)), measures=(PRICE,))
    other = Query(subject=Subject(coins=("SOL",)), measures=(FUNDING,))
    assert await passage(it, one, other) == "A text."
    (brief,) = it.asked
    assert (brief.question, brief.read_as, brief.archetype) == ("and sol?", "ETH, price; then SOL, funding", "trader")
    assert [*brief.references] == ["s1/ETH/price", "s2/SOL/funding"]


async def test_a_model_is_not_asked_about_a_single_value() -> None:
    it = Fixed("A text.")
    assert await passage(it, Query(subject=Subject(coins=("ETH",)), measures=(PRICE,))) is None
    assert it.asked == []


async def test_a_failure_is_logged_and_there_is_no_text(caplog: pytest.LogCaptureFixture) -> None:
    it = Fixed(ModelError("its text is too long"))
    assert await passage(it, Query(subject=Subject(coins=("ETH", "SOL")), measures=(PRICE,))) is None
    (record,) = caplog.records
    assert vars(record)["reason"] == "its text is too long"
