"""Periodic tasks: which process runs them, when they start, what wakes them, and how failures delay them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from service.errors import ServiceError
from service.scheduler import MAX_BACKOFF_S, EventFanout, Leadership, PeriodicTask, run_forever, running_tasks
from service.upstream.failures import UpstreamError
from tests.fakes.clock import FakeClock


class Steps:
    """Notes when it was done."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.at_s: list[float] = []

    async def __call__(self) -> None:
        self.at_s.append(self._clock.monotonic())


@asynccontextmanager
async def doing(clock: FakeClock, *tasks: PeriodicTask, leads: bool = True) -> AsyncIterator[None]:
    async with running_tasks(tasks, Leadership(lambda: leads), clock):
        await clock.settle()
        yield


async def test_tasks_run_at_their_own_intervals_until_the_block_ends(clock: FakeClock) -> None:
    fast, slow = Steps(clock), Steps(clock)
    async with doing(clock, PeriodicTask("fast", fast, 5), PeriodicTask("slow", slow, 10)):
        await clock.advance(20)
    await clock.advance(20)
    assert (fast.at_s, slow.at_s) == ([0, 5, 10, 15, 20], [0, 10, 20])


async def test_a_process_that_does_not_lead_runs_only_tasks_of_every_process(clock: FakeClock) -> None:
    own, shared = Steps(clock), Steps(clock)
    async with doing(
        clock, PeriodicTask("own", own, 5), PeriodicTask("shared", shared, 5, every_process=True), leads=False
    ):
        await clock.advance(5)
    assert (own.at_s, shared.at_s) == ([], [0, 5])


async def test_a_task_starts_after_its_event(clock: FakeClock) -> None:
    ready, step = asyncio.Event(), Steps(clock)
    async with doing(clock, PeriodicTask("step", step, 5, after=ready)):
        await clock.advance(7)
        ready.set()
        await clock.settle()
        await clock.advance(5)
    assert step.at_s == [7, 12]


async def test_no_task_starts_before_the_start_event(clock: FakeClock) -> None:
    begun, ready, own, shared, late = asyncio.Event(), asyncio.Event(), *(Steps(clock) for _ in range(3))
    tasks = [
        PeriodicTask("own", own, 5),
        PeriodicTask("shared", shared, 5, every_process=True),
        PeriodicTask("late", late, 5, after=ready),
    ]
    ready.set()
    async with running_tasks(tasks, Leadership(lambda: True, begun), clock):
        await clock.advance(7)
        assert own.at_s + shared.at_s + late.at_s == []
        begun.set()
        await clock.settle()
    assert (own.at_s, shared.at_s, late.at_s) == ([7], [7], [7])


async def test_the_wake_event_ends_one_pause(clock: FakeClock) -> None:
    news, step = asyncio.Event(), Steps(clock)
    async with doing(clock, PeriodicTask("step", step, 60, wake=news)):
        await clock.advance(7)
        news.set()
        await clock.settle()
        await clock.advance(10)
        assert step.at_s == [0, 7]
        await clock.advance(50)
    assert step.at_s == [0, 7, 67]


async def test_a_fanout_wakes_every_subscriber_a_busy_one_after_its_step(clock: FakeClock) -> None:
    signal, quick, slow = EventFanout(), Steps(clock), Steps(clock)

    async def take_five_seconds() -> None:
        await slow()
        await clock.sleep(5)

    tasks = [
        PeriodicTask("quick", quick, 60, wake=signal.subscribe()),
        PeriodicTask("slow", take_five_seconds, 60, wake=signal.subscribe()),
    ]
    async with doing(clock, *tasks):
        await clock.advance(3)
        signal.set()
        await clock.settle()
        await clock.advance(10)
    assert (quick.at_s, slow.at_s) == ([0, 3], [0, 5])


async def test_a_long_running_step_is_cancelled_within_a_second_of_losing_the_lead_and_restarted_with_it(
    clock: FakeClock,
) -> None:
    before, leads, begun, ended = asyncio.all_tasks(), [True], Steps(clock), Steps(clock)

    async def listen() -> None:
        await begun()
        try:
            await asyncio.Event().wait()
        finally:
            await ended()

    async with running_tasks(
        [PeriodicTask("listen", listen, 5, long_running=True)], Leadership(lambda: leads[0]), clock
    ):
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


async def test_a_long_running_step_that_fails_is_restarted(clock: FakeClock) -> None:
    begun = Steps(clock)

    async def listen() -> None:
        await begun()
        raise ServiceError("UNAVAILABLE", "it broke")

    async with doing(clock, PeriodicTask("listen", listen, 5, long_running=True)):
        await clock.advance(5)
    assert begun.at_s == [0, 5]


async def test_a_success_resets_the_backoff(
    clock: FakeClock,
) -> None:
    done = Steps(clock)

    async def fail_but_for_the_third_time() -> None:
        await done()
        if len(done.at_s) != 3:
            raise ServiceError("UNAVAILABLE", "it broke")

    async with doing(clock, PeriodicTask("step", fail_but_for_the_third_time, 5)):
        await clock.advance(35)
    assert done.at_s == [0, 5, 15, 20, 25, 35]


class FailingStep:
    """Raises the given failures in order and notes when it was called."""

    def __init__(self, clock: FakeClock, *failures: Exception | None) -> None:
        self._clock = clock
        self._failures = list(failures)
        self.at_s: list[float] = []

    async def __call__(self) -> None:
        self.at_s.append(self._clock.monotonic())
        failure = self._failures.pop(0) if self._failures else None
        if failure is not None:
            raise failure


@asynccontextmanager
async def repeating(step: FailingStep, clock: FakeClock, every_s: float = 15) -> AsyncIterator[None]:
    task = asyncio.create_task(run_forever("test", step, every_s, clock))
    await clock.settle()
    yield
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_step_runs_at_its_interval(clock: FakeClock) -> None:
    step = FailingStep(clock)
    async with repeating(step, clock):
        await clock.advance(45)
    assert step.at_s == [0, 15, 30, 45]


async def test_failures_double_the_pause_up_to_a_minute_and_a_success_resets_it(clock: FakeClock) -> None:
    down = UpstreamError("hyperliquid", 500, b"down")
    step = FailingStep(clock, down, down, down, down, None, down)
    async with repeating(step, clock):
        await clock.advance(15 + 30 + 60 + 60 + 15 + 15)
    assert step.at_s == [0, 15, 45, 105, 165, 180, 195]
    assert MAX_BACKOFF_S == 60


async def test_retry_after_of_one_upstream_does_not_delay_the_loop(clock: FakeClock) -> None:
    step = FailingStep(clock, UpstreamError("hyperliquid", 429, b"", retry_after_s=86_400))
    async with repeating(step, clock):
        await clock.advance(30)
    assert step.at_s == [0, 15, 30]


@pytest.mark.promise("upstreams.reasons")
async def test_repeated_failures_of_one_kind_are_logged_once(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    down, gone = UpstreamError("hyperliquid", 500, b"down"), UpstreamError("hyperliquid", None, b"DNS lookup failed")
    with caplog.at_level(logging.WARNING, logger="verdict.scheduler"):
        async with repeating(FailingStep(clock, down, down, down, gone, gone, None, gone), clock):
            await clock.advance(600)
    codes = [getattr(record, "code", None) for record in caplog.records]
    assert codes == ["UPSTREAM_5XX", "UPSTREAM_UNREACHABLE", "UPSTREAM_UNREACHABLE"]


async def test_a_busy_store_and_a_defect_are_logged_and_do_not_end_the_loop(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    step = FailingStep(clock, ServiceError("UNAVAILABLE", "busy"), ZeroDivisionError("a defect"))
    with caplog.at_level(logging.WARNING, logger="verdict.scheduler"):
        async with repeating(step, clock):
            await clock.advance(45)
    assert step.at_s == [0, 15, 45]
    refused, defect = caplog.records
    assert (refused.levelname, refused.exc_info) == ("WARNING", None)
    assert defect.levelname == "ERROR"
    assert defect.exc_info is not None
    assert defect.exc_info[0] is ZeroDivisionError
