"""Clocks that are set, and midnights that are crossed by many at once, over the whole service."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, midnight_after
from tests.fakes.clock import START_MS, FakeClock
from tests.service.indoors import Indoors, Kept, indoors

pytestmark = pytest.mark.slow

MIDNIGHT_MS = midnight_after(START_MS)
EVENING_MS = MIDNIGHT_MS - MINUTE_MS
"""So near to midnight that the prices are still good after it."""

AT_ONCE = 200


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with indoors(tmp_path, FakeClock(EVENING_MS), fixtures_dir=kept.fixtures_dir) as service:
        await service.be_ready()
        yield service


async def spend(house: Indoors) -> str:
    """Make a key and use its ten questions."""
    key = await house.make_key()
    assert [(await house.ask(key=key)).status for _ in range(11)] == [200] * 10 + [402]
    return key


async def set_clock(house: Indoors, at_ms: int) -> None:
    """Set wall time, and wait until prices are known again: those of a time that has not come yet are not shown."""
    observer = await house.make_key("pro")
    house.clock.set_wall(at_ms)
    await house.pass_time(20, 5)
    async with asyncio.timeout(60):
        while (await house.ask(key=observer)).status != 200:
            await house.pass_time(5, 5)


async def statuses(house: Indoors, key: str, calls: int) -> Counter[int]:
    replies = await asyncio.gather(*(house.ask(key=key) for _ in range(calls)))
    return Counter(reply.status for reply in replies)


@pytest.mark.promise("meter.clock-back")
@pytest.mark.parametrize("back_ms", [HOUR_MS, DAY_MS, 400 * DAY_MS])
async def test_a_clock_set_back_gives_no_question(house: Indoors, back_ms: int) -> None:
    key = await spend(house)
    await set_clock(house, EVENING_MS - back_ms)
    assert await statuses(house, key, 20) == {402: 20}
    await set_clock(house, EVENING_MS)
    assert await statuses(house, key, 20) == {402: 20}


@pytest.mark.promise("meter.clock-back", "quota.free")
async def test_a_day_that_comes_twice_gives_its_question_once(house: Indoors) -> None:
    key = await spend(house)
    for at_ms, expected in (
        (MIDNIGHT_MS, {200: 1, 402: 19}),
        (MIDNIGHT_MS - HOUR_MS, {402: 20}),
        (MIDNIGHT_MS + 5 * MINUTE_MS, {402: 20}),
        (MIDNIGHT_MS - 3 * DAY_MS, {402: 20}),
        (MIDNIGHT_MS, {402: 20}),
    ):
        await set_clock(house, at_ms)
        assert await statuses(house, key, 20) == expected


async def test_ten_years_ahead_is_one_question_and_not_three_thousand(house: Indoors) -> None:
    key = await spend(house)
    house.clock.set_wall(EVENING_MS + 3_650 * DAY_MS)
    # The prices are ten years old by then, so the service has nothing to say, and counts nothing.
    assert await statuses(house, key, 20) == {503: 20}
    for _ in range(20):
        await house.pass_time(15)
        if (await house.ask(key=key)).status == 200:
            break
    assert await statuses(house, key, 20) == {402: 20}


@pytest.mark.promise("quota.next-midnight", "meter.last-question", "quota.day-fixed")
async def test_across_midnight_a_spent_caller_gets_exactly_one_answer_of_two_hundred_calls(house: Indoors) -> None:
    key = await spend(house)
    house.clock.set_wall(MIDNIGHT_MS - 100)
    early = [asyncio.create_task(house.ask(key=key)) for _ in range(AT_ONCE // 2)]
    await asyncio.sleep(0)
    house.clock.set_wall(MIDNIGHT_MS + 100)
    late = [asyncio.create_task(house.ask(key=key)) for _ in range(AT_ONCE // 2)]
    replies = await asyncio.gather(*early, *late)
    assert Counter(reply.status for reply in replies) == {200: 1, 402: AT_ONCE - 1}


@pytest.mark.promise("quota.next-midnight")
async def test_just_before_midnight_none_is_answered_and_at_midnight_one(house: Indoors) -> None:
    key = await spend(house)
    house.clock.set_wall(MIDNIGHT_MS - 1)
    assert await statuses(house, key, AT_ONCE) == {402: AT_ONCE}
    house.clock.set_wall(MIDNIGHT_MS)
    assert await statuses(house, key, AT_ONCE) == {200: 1, 402: AT_ONCE - 1}


async def test_midnight_passes_over_a_running_service_without_a_gap(house: Indoors) -> None:
    key = await house.make_key("pro")
    house.clock.set_wall(MIDNIGHT_MS - 30 * SECOND_MS)
    for _ in range(8):
        await house.pass_time(15)
        reply = await house.ask(key=key)
        assert (reply.status, reply.json["meta"]["data_age_seconds"] <= 120) == (200, True), reply
