"""A table of steps: who does them, when they begin, what wakes them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.errors import ServiceError
from service.market.schedule import Lead, Loop, Signal, running
from tests.fakes.clock import FakeClock


class Steps:
    """Notes when it was done."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.at_s: list[float] = []

    async def __call__(self) -> None:
        self.at_s.append(self._clock.monotonic())


@asynccontextmanager
async def doing(clock: FakeClock, *table: Loop, leads: bool = True) -> AsyncIterator[None]:
    async with running(table, Lead(lambda: leads), clock):
        await clock.settle()
        yield


async def test_steps_keep_their_own_rhythms_until_the_block_ends(clock: FakeClock) -> None:
    fast, slow = Steps(clock), Steps(clock)
    async with doing(clock, Loop("fast", fast, 5), Loop("slow", slow, 10)):
        await clock.advance(20)
    await clock.advance(20)
    assert (fast.at_s, slow.at_s) == ([0, 5, 10, 15, 20], [0, 10, 20])


async def test_who_does_not_lead_does_only_what_everybody_does(clock: FakeClock) -> None:
    own, shared = Steps(clock), Steps(clock)
    async with doing(clock, Loop("own", own, 5), Loop("shared", shared, 5, everywhere=True), leads=False):
        await clock.advance(5)
    assert (own.at_s, shared.at_s) == ([], [0, 5])


async def test_a_step_begins_after_its_event(clock: FakeClock) -> None:
    ready, step = asyncio.Event(), Steps(clock)
    async with doing(clock, Loop("step", step, 5, after=ready)):
        await clock.advance(7)
        ready.set()
        await clock.settle()
        await clock.advance(5)
    assert step.at_s == [7, 12]


async def test_nothing_begins_before_everything_may(clock: FakeClock) -> None:
    begun, ready, own, shared, late = asyncio.Event(), asyncio.Event(), *(Steps(clock) for _ in range(3))
    table = [Loop("own", own, 5), Loop("shared", shared, 5, everywhere=True), Loop("late", late, 5, after=ready)]
    ready.set()
    async with running(table, Lead(lambda: True, begun), clock):
        await clock.advance(7)
        assert own.at_s + shared.at_s + late.at_s == []
        begun.set()
        await clock.settle()
    assert (own.at_s, shared.at_s, late.at_s) == ([7], [7], [7])


async def test_a_step_is_woken_once_by_what_it_waits_for(clock: FakeClock) -> None:
    news, step = asyncio.Event(), Steps(clock)
    async with doing(clock, Loop("step", step, 60, wake=news)):
        await clock.advance(7)
        news.set()
        await clock.settle()
        await clock.advance(10)
        assert step.at_s == [0, 7]
        await clock.advance(50)
    assert step.at_s == [0, 7, 67]


async def test_a_signal_wakes_every_loop_that_follows_it_the_busy_one_once_its_step_ends(clock: FakeClock) -> None:
    signal, quick, slow = Signal(), Steps(clock), Steps(clock)

    async def take_five_seconds() -> None:
        await slow()
        await clock.sleep(5)

    table = [
        Loop("quick", quick, 60, wake=signal.follow()),
        Loop("slow", take_five_seconds, 60, wake=signal.follow()),
    ]
    async with doing(clock, *table):
        await clock.advance(3)
        signal.set()
        await clock.settle()
        await clock.advance(10)
    assert (quick.at_s, slow.at_s) == ([0, 3], [0, 5])


async def test_a_step_without_an_end_is_ended_within_a_second_of_the_loss_of_the_lead_and_taken_up_with_it(
    clock: FakeClock,
) -> None:
    before, leads, begun, ended = asyncio.all_tasks(), [True], Steps(clock), Steps(clock)

    async def listen() -> None:
        await begun()
        try:
            await asyncio.Event().wait()
        finally:
            await ended()

    async with running([Loop("listen", listen, 5, endless=True)], Lead(lambda: leads[0]), clock):
        await clock.settle()
        await clock.advance(7)
        assert (begun.at_s, ended.at_s) == ([0], [])
        leads[0] = False
        await clock.advance(1)
        assert ended.at_s == [8]
        leads[0] = True
        await clock.advance(5)
        assert begun.at_s == [0, 13]
    assert asyncio.all_tasks() == before


async def test_a_step_without_an_end_that_fails_is_begun_anew(clock: FakeClock) -> None:
    begun = Steps(clock)

    async def listen() -> None:
        await begun()
        raise ServiceError("UNAVAILABLE", "it broke")

    async with doing(clock, Loop("listen", listen, 5, endless=True)):
        await clock.advance(5)
    assert begun.at_s == [0, 5]


async def test_a_step_that_failed_for_long_and_did_well_once_is_tried_again_as_soon_as_at_first(
    clock: FakeClock,
) -> None:
    done = Steps(clock)

    async def fail_but_for_the_third_time() -> None:
        await done()
        if len(done.at_s) != 3:
            raise ServiceError("UNAVAILABLE", "it broke")

    async with doing(clock, Loop("step", fail_but_for_the_third_time, 5)):
        await clock.advance(35)
    assert done.at_s == [0, 5, 15, 20, 25, 35]
