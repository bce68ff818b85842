import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import (
    DAY_MS,
    LATEST_MS,
    Clock,
    FrozenClock,
    SystemClock,
    day_of,
    iso,
    midnight_after,
    parse_iso,
    sleep_or_wake,
)
from tests.fakes.clock import START_MS, FakeClock

INSTANTS = st.integers(0, LATEST_MS)


@pytest.mark.promise("time.iso")
def test_an_instant_is_written_with_milliseconds_and_z() -> None:
    assert iso(0) == "1970-01-01T00:00:00.000Z"
    assert iso(START_MS + 7) == "2025-07-25T12:00:00.007Z"
    assert iso(LATEST_MS) == "9999-12-31T23:59:59.999Z"


@given(INSTANTS)
def test_written_instants_sort_like_the_instants_themselves(at_ms: int) -> None:
    assert len(iso(at_ms)) == 24
    assert iso(max(0, at_ms - 1)) <= iso(at_ms)


@given(INSTANTS)
def test_the_next_midnight_is_after_the_instant_and_within_a_day(at_ms: int) -> None:
    assert at_ms < midnight_after(at_ms) <= at_ms + DAY_MS
    assert midnight_after(at_ms) % DAY_MS == 0
    assert day_of(midnight_after(at_ms)) == day_of(at_ms) + 1


def test_midnight_itself_belongs_to_the_day_it_begins() -> None:
    assert day_of(DAY_MS) == 1
    assert day_of(DAY_MS - 1) == 0
    assert midnight_after(DAY_MS) == 2 * DAY_MS


async def test_the_system_clock_moves_on_and_sleeps_on_the_loop() -> None:
    clock: Clock = SystemClock()
    wall, before = clock.now_ms(), clock.monotonic()
    async with asyncio.timeout(5):
        await clock.sleep(0.001)
    assert clock.monotonic() > before
    assert clock.now_ms() >= wall > START_MS


def test_a_frozen_clock_stands_at_its_instant_while_durations_go_on() -> None:
    clock = FrozenClock(START_MS)
    before = clock.monotonic()
    assert clock.now_ms() == clock.now_ms() == START_MS
    assert clock.monotonic() >= before


async def test_a_wait_that_ended_leaves_nothing_that_waits_on() -> None:
    clock, wake, before = FakeClock(), asyncio.Event(), asyncio.all_tasks()
    wake.set()
    await sleep_or_wake(clock, 5, wake)
    assert not wake.is_set()
    waiting = asyncio.create_task(sleep_or_wake(clock, 5, wake))
    await clock.settle()
    await clock.advance(5)
    await waiting
    assert asyncio.all_tasks() == before


async def test_moving_the_fake_clock_wakes_sleepers_in_order_and_setting_the_wall_wakes_none() -> None:
    clock = FakeClock()
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper("late", 2))
        group.create_task(sleeper("early", 1))
        await clock.settle()
        clock.set_wall(START_MS + DAY_MS)
        await clock.settle()
        assert woken == []
        await clock.advance(1)
        assert woken == ["early"]
        await clock.advance(1)
    assert woken == ["early", "late"]
    assert clock.now_ms() == START_MS + DAY_MS + 2_000
    assert clock.monotonic() == pytest.approx(2.0)


@given(st.integers(0, LATEST_MS))
def test_an_instant_is_read_as_it_was_written(at_ms: int) -> None:
    assert parse_iso(iso(at_ms)) == at_ms


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2025-07-25T14:00:00+02:00", 1_753_444_800_000),
        ("2025-07-25T11:59:59.9999Z", 1_753_444_799_999),
        ("2025-07-25T12:00:00.123456789-00:00", 1_753_444_800_123),
    ],
)
def test_an_instant_is_read_in_any_zone_and_cut_to_milliseconds(text: str, at_ms: int) -> None:
    assert parse_iso(text) == at_ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-07-25",
        "2025-07-25T12:00:00",
        "2025-07-25 12:00:00Z",
        "2025-07-25t12:00:00z",
        "2025-07-25T12:00Z",
        "2025-07-25T12:00:00Z\n",
        "2025-07-25T12:00:00,5Z",
        "2025-02-30T00:00:00Z",
        "2025-07-25T24:00:01Z",
        "2025-07-25T23:59:60Z",
        "2025-07-25T12:00:00+24:00",
        "٢٠٢٥-07-25T12:00:00Z",
        "+2025-07-25T12:00:00Z",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59-01:00",
        "10000-01-01T00:00:00Z",
        "1753444800",
    ],
)
def test_what_is_no_instant_of_one_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="with its zone"):
        parse_iso(text)
