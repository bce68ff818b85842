"""The room at its worst moments: midnight in a fan-out, a store that fails between two writes, an earlier version."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import NoReturn, TypeVar

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.errors import ServiceError
from service.market.freshness import CHART, QUOTE
from service.storage.documents import DocumentStore
from service.storage.rows import insert_rows
from service.storage.writer import Answer, Work
from service.verdict.audit import audit_ledger
from service.verdict.ledger import COLUMNS, GENESIS, Ledger
from service.verdict.outcomes import OutcomeScorer
from service.verdict.scorecard import SCORECARD, Scorecard
from service.verdict.sources import SourceFacts
from service.wire.verdict import FundingFacts, Signal, VerdictInputs
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.issuing import Hours, judged
from tests.verdict.knowing import CLOSE_MS, HEARD_MS, ORIGIN, PAID_MS, World

T = TypeVar("T")


async def origins(world: World) -> list[str]:
    return [origin for (origin,) in await world.database.read("SELECT origin FROM verdict_ledger ORDER BY seq")]


async def test_what_was_known_before_midnight_is_not_written_down_of_the_history_that_begins_then(
    world: World, clock: FakeClock
) -> None:
    funding, asked = world.sources.funding, 0

    async def midnight_passes(symbol: str) -> SourceFacts[FundingFacts]:
        nonlocal asked
        asked += 1
        if asked == 1:
            await clock.sleep(1)
            world.origin = "the next day's"
            world.refresh(price=200.0)
        return await funding(symbol)

    world.ask(funding=midnight_passes)
    question = asyncio.ensure_future(world.signal())
    await clock.settle()
    await clock.advance(1)
    answer = await question
    assert answer.raw.risk is not None
    assert (answer.raw.risk.price, asked) == (200.0, 2)
    assert await origins(world) == ["the next day's"]


async def test_rows_that_were_begun_before_midnight_are_not_written_down_of_the_history_that_begins_then(
    world: World,
) -> None:
    observe_all = world.observer.collect_all

    async def midnight_passes() -> list[VerdictInputs]:
        found = await observe_all()
        world.show()
        return found

    world.observer.collect_all = midnight_passes  # type: ignore[method-assign]
    world.origin = "the next day's"  # as the upstreams tell it already, and the market not yet
    await world.recorder.round()
    assert await world.database.read("SELECT * FROM verdict_inputs") == []


async def test_outcomes_that_could_not_be_summed_up_are_summed_up_next_time(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours, drawer = Hours(world.database), DocumentStore(world.database).document(SCORECARD, Scorecard)
    scoring = OutcomeScorer(clock, world.database, hours.store, drawer, lambda: ORIGIN)
    await hours.list_coins("BTC")
    await Ledger(world.database).issue(ORIGIN, judged("BTC"), START_MS)
    await scoring.round()
    await hours.go_on("BTC", range(START_MS // HOUR_MS, START_MS // HOUR_MS + 26))
    clock.set_wall(START_MS + DAY_MS + 2 * HOUR_MS)

    async def full(*_: object) -> NoReturn:
        raise ServiceError("UNAVAILABLE", "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(drawer, "put", full)
        with pytest.raises(ServiceError):
            await scoring.round()
    assert drawer.current.value == Scorecard(2, [], [])
    await scoring.round()
    assert drawer.current.value is not None
    assert [cell.outcomes for cell in drawer.current.value.cells] == [1]


async def test_an_entry_of_an_earlier_version_does_not_break_a_question_about_then(world: World) -> None:
    issued = await world.signal()
    ((seq, *columns),) = await world.database.read(f"SELECT {', '.join(COLUMNS)} FROM verdict_ledger")  # noqa: S608
    body, at_ms = zlib.compress(b'{"symbol": "BTC", "inputs": "as they used to be"}'), START_MS + MINUTE_MS
    earlier = dict(zip(COLUMNS[1:], columns, strict=True)) | {"body": body, "issued_ms": at_ms, "verdict_id": "0" * 64}
    ((head,),) = await world.database.read("SELECT hash FROM verdict_ledger")
    row = (seq + 1, *earlier.values(), head, GENESIS)
    into = f"INSERT INTO verdict_ledger ({', '.join(COLUMNS)}, previous, hash)"
    await world.database.write(lambda connection: insert_rows(connection, into, [row]))
    await world.recorder.round()
    world.clock.set_wall(at_ms)
    assert (await world.signal(as_of="2025-07-25T12:01:00Z")).verdict_id == issued.verdict_id


def states(answer: Signal) -> str:
    """Its sources, by their first letters."""
    sources = answer.sources
    return "".join(state[0] for state in (sources.risk, sources.funding, sources.regime, sources.sentiment))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("observed_ms", "age_ms", "expected"),
    [
        (START_MS, QUOTE.stale, "f..."),
        (START_MS, QUOTE.stale + 1, "s..."),
        (START_MS, -QUOTE.stale - 1, "s..."),
        (START_MS, QUOTE.gone, "s..."),
        (START_MS, QUOTE.gone + 1, "r..."),
        (START_MS, -QUOTE.gone - 1, "r..."),
        (CLOSE_MS, CHART.stale, "..f."),
        (CLOSE_MS, CHART.stale + 1, "..s."),
        (CLOSE_MS, 48 * HOUR_MS, "..s."),
        (CLOSE_MS, 48 * HOUR_MS + 1, "..r."),
        (PAID_MS, 2 * HOUR_MS, ".f.."),
        (PAID_MS, 2 * HOUR_MS + 1, ".s.."),
        (PAID_MS, -2 * HOUR_MS - 1, ".s.."),
        (PAID_MS, 3 * HOUR_MS, ".s.."),
        (PAID_MS, 3 * HOUR_MS + 1, ".r.."),
        (HEARD_MS, 48 * HOUR_MS, "...f"),
        (HEARD_MS, 48 * HOUR_MS + 1, "...r"),
    ],
)
async def test_each_source_turns_at_the_very_millisecond_with_a_clock_set_back_too(
    world: World, clock: FakeClock, observed_ms: int, age_ms: int, expected: str
) -> None:
    clock.set_wall(observed_ms + age_ms)
    found = states(await world.signal())
    assert "".join(mark if mark == "." else state for mark, state in zip(expected, found, strict=True)) == expected


async def test_as_of_is_the_oldest_of_what_is_used_the_stale_too_and_never_of_what_was_rejected(
    world: World, clock: FakeClock
) -> None:
    for at_ms in (PAID_MS + 3 * HOUR_MS, CLOSE_MS + 48 * HOUR_MS):
        clock.set_wall(at_ms)
        world.refresh()
        assert (await world.signal()).as_of == "2025-07-25T00:00:00.000Z", "the close, stale"
    clock.set_wall(CLOSE_MS + 48 * HOUR_MS + 1)
    world.refresh()
    assert (await world.signal()).as_of == "2025-07-25T11:55:00.000Z", "the mood"
    clock.set_wall(HEARD_MS + 48 * HOUR_MS + 1)
    world.refresh()
    assert (await world.signal()).as_of == "2025-07-27T11:55:00.001Z", "the price"


@pytest.fixture
async def stubborn(world: World) -> AsyncIterator[World]:
    """A funding source that hangs, and takes its time over being cancelled."""

    async def hang(_: str) -> SourceFacts[FundingFacts]:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
        raise AssertionError

    world.ask(funding=hang)
    yield world
    assert asyncio.all_tasks() == {asyncio.current_task()}, "nobody is left behind"


async def test_a_caller_who_goes_away_while_a_source_hangs_leaves_nothing(stubborn: World, clock: FakeClock) -> None:
    question = asyncio.ensure_future(stubborn.signal())
    await clock.settle()
    question.cancel()
    await clock.settle()
    assert question.cancelled()
    assert await stubborn.entries() == []


async def test_a_source_that_was_cancelled_is_rejected_and_nobody_else_is(world: World) -> None:
    async def cancelled(_: str) -> NoReturn:
        raise asyncio.CancelledError

    world.ask(funding=cancelled)
    assert states(await world.signal()) == "frff"


async def test_a_caller_who_goes_away_while_his_verdict_is_written_leaves_a_whole_entry(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, submitted = world.database._writer.submit, asyncio.Event()

    def submitting(work: Work[T], answer: Answer) -> None:
        submit(work, answer)
        submitted.set()

    monkeypatch.setattr(world.database._writer, "submit", submitting)
    question = asyncio.ensure_future(world.signal())
    await submitted.wait()
    question.cancel()
    await asyncio.gather(question, return_exceptions=True)
    await world.database.write(lambda _: None)
    assert len(await world.entries()) == 1
    assert (await world.database.inspect(audit_ledger)).findings == []
    await world.signal()
    assert len(await world.entries()) == 1
