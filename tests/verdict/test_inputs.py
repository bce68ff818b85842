"""What was known when: rows a quarter of an hour apart, of one history, read as of any instant."""

import zlib

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS
from service.errors import ServiceError
from service.verdict.inputs import KEPT_MS, SLOT_MS
from service.verdict.ledger import RecordedInputs
from service.wire.verdict import VerdictInputs
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.knowing import ORIGIN, World
from tests.verdict.test_input_collector import down


async def recorded_at(world: World) -> list[int]:
    rows = await world.database.read("SELECT recorded_ms FROM verdict_inputs ORDER BY id")
    return [recorded_ms for (recorded_ms,) in rows]


@pytest.fixture
async def inputs(world: World) -> VerdictInputs:
    return await world.observer.collect("BTC")


async def test_a_row_holds_what_was_known_of_every_coin(world: World) -> None:
    await world.recorder.round()
    for known in await world.observer.collect_all():
        assert await world.inputs.newest(ORIGIN, known.symbol, START_MS) == RecordedInputs(START_MS, known)
    assert await world.inputs.newest(ORIGIN, "ABSENT", START_MS) is None


async def test_the_newest_row_at_or_before_an_instant_is_read(world: World, inputs: VerdictInputs) -> None:
    later = replace(inputs, as_of="2025-07-26T00:00:00.000Z")
    await world.inputs.record(ORIGIN, START_MS, [inputs])
    await world.inputs.record(ORIGIN, START_MS + 1_000, [later])
    assert await world.inputs.newest(ORIGIN, "BTC", START_MS - 1) is None
    assert await world.inputs.newest(ORIGIN, "BTC", START_MS) == (START_MS, inputs)
    assert await world.inputs.newest(ORIGIN, "BTC", START_MS + 999) == (START_MS, inputs)
    assert await world.inputs.newest(ORIGIN, "BTC", START_MS + 1_000) == (START_MS + 1_000, later)


async def test_rows_of_another_history_are_kept_and_not_read(world: World, inputs: VerdictInputs) -> None:
    await world.inputs.record("other", START_MS - 1, [inputs])
    assert await world.inputs.newest(ORIGIN, "BTC", START_MS) is None
    assert await world.inputs.count(ORIGIN, 0, START_MS) == 0
    assert await world.inputs.since(ORIGIN) is None
    await world.inputs.record(ORIGIN, START_MS, [inputs])
    assert await world.inputs.since(ORIGIN) == START_MS
    assert await world.inputs.newest("other", "BTC", START_MS) == (START_MS - 1, inputs)


async def test_rows_are_forgotten_after_a_hundred_days_and_not_before(world: World, inputs: VerdictInputs) -> None:
    await world.inputs.record(ORIGIN, START_MS, [inputs])
    await world.inputs.record("other", START_MS + 1, [inputs])
    await world.inputs.record(ORIGIN, START_MS + KEPT_MS, [inputs])
    assert await recorded_at(world) == [START_MS, START_MS + 1, START_MS + KEPT_MS]
    await world.inputs.record(ORIGIN, START_MS + KEPT_MS + 1, [inputs])
    assert await recorded_at(world) == [START_MS + 1, START_MS + KEPT_MS, START_MS + KEPT_MS + 1]
    assert KEPT_MS == 100 * DAY_MS


async def test_a_row_that_another_version_wrote_is_not_read(world: World, caplog: pytest.LogCaptureFixture) -> None:
    body = zlib.compress(b'[{"symbol":"BTC"}]')
    await world.database.write(
        lambda connection: (
            connection.execute(
                "INSERT INTO verdict_inputs (recorded_ms, origin, body) VALUES (?, ?, ?)", (START_MS, ORIGIN, body)
            ).rowcount
        )
    )
    assert await world.inputs.newest(ORIGIN, "BTC", START_MS) is None
    assert "another version" in caplog.text


async def test_one_row_is_written_in_every_quarter_of_an_hour(world: World, clock: FakeClock) -> None:
    for _ in range(61):
        world.refresh()
        await world.recorder.round()
        await clock.advance(60)
    assert await recorded_at(world) == [START_MS + place * SLOT_MS for place in range(5)]


async def test_a_process_that_comes_to_lead_goes_on_in_the_same_rhythm(world: World, clock: FakeClock) -> None:
    await world.recorder.round()
    clock.set_wall(START_MS + 7 * MINUTE_MS)
    world.refresh()
    successor = world.new_recorder()
    await successor.round()
    await successor.round()
    assert await recorded_at(world) == [START_MS]
    world.ask(funding=down)
    await successor.round()
    assert await recorded_at(world) == [START_MS, START_MS + 7 * MINUTE_MS]
    clock.set_wall(START_MS + 15 * MINUTE_MS)
    world.refresh()
    await successor.round()
    assert (await recorded_at(world))[2:] == [START_MS + 15 * MINUTE_MS]


async def test_when_a_source_falls_silent_or_tells_again_a_row_is_written_at_once(
    world: World, clock: FakeClock
) -> None:
    funding = world.sources.funding
    world.ask(funding=down)
    await world.recorder.round()
    for source in (funding, funding, down, down):
        await clock.advance(60)
        world.refresh()
        world.ask(funding=source)
        await world.recorder.round()
    assert await recorded_at(world) == [START_MS, START_MS + MINUTE_MS, START_MS + 3 * MINUTE_MS]
    rows = [await world.inputs.newest(ORIGIN, "BTC", at_ms) for at_ms in await recorded_at(world)]
    assert [row and row.inputs.sources.funding for row in rows] == ["rejected", "fulfilled", "rejected"]


async def test_sources_that_come_and_go_write_four_rows_in_a_quarter_of_an_hour_at_most(
    world: World, clock: FakeClock
) -> None:
    funding = world.sources.funding
    for minute in range(16):
        world.refresh()
        world.ask(funding=down if minute % 2 else funding)
        await world.recorder.round()
        await clock.advance(60)
    assert await recorded_at(world) == [START_MS + minute * MINUTE_MS for minute in (0, 1, 2, 3, 15)]


async def test_a_clock_that_was_set_back_is_no_reason_to_stop(world: World, clock: FakeClock) -> None:
    await world.recorder.round()
    for minutes in (0, 1, 15):
        clock.set_wall(START_MS - DAY_MS + minutes * MINUTE_MS)
        world.refresh()
        await world.recorder.round()
    assert await recorded_at(world) == [START_MS, START_MS - DAY_MS, START_MS - DAY_MS + 15 * MINUTE_MS]


async def test_nothing_is_written_while_the_market_tells_of_another_history(world: World, clock: FakeClock) -> None:
    world.origin = "tomorrow"
    await world.recorder.round()
    assert await recorded_at(world) == []
    observe_all = world.observer.collect_all

    async def midnight_passes() -> list[VerdictInputs]:
        found = await observe_all()
        world.origin = "the day after"
        world.show()
        return found

    world.show()
    world.observer.collect_all = midnight_passes  # type: ignore[method-assign]
    await world.recorder.round()
    assert await recorded_at(world) == []


async def test_a_row_that_could_not_be_written_is_due_still(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(world.database, "write", full)
        with pytest.raises(ServiceError):
            await world.recorder.round()
    await world.recorder.round()
    assert await recorded_at(world) == [START_MS]


async def test_a_market_of_230_coins_takes_tens_of_kilobytes_a_row(world: World) -> None:
    known = await world.observer.collect("BTC")
    coins = [replace(known, symbol=f"C{place}") for place in range(230)]
    await world.inputs.record(ORIGIN, START_MS, coins)
    ((size,),) = await world.database.read("SELECT length(body) FROM verdict_inputs")
    assert size < 50_000
