"""Weight, retries and the breaker, by a clock moved by hand."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from service.upstream.budget import SHARE, Breaker, RetryBudget, WeightBudget
from tests.fakes.clock import FakeClock


async def test_no_minute_ever_holds_more_than_eighty_percent_of_the_published_weight() -> None:
    clock, spent = FakeClock(), list[tuple[float, int]]()
    budget = WeightBudget(clock, 1_200)

    async def spend(weight: int) -> None:
        await budget.take(weight)
        spent.append((clock.monotonic(), weight))

    callers = [asyncio.create_task(spend(weight)) for weight in (20, 27, 104, 2) * 30]
    await clock.settle()
    await clock.advance(600)
    await asyncio.gather(*callers)
    for start, _ in spent:
        assert sum(weight for at, weight in spent if start <= at < start + 60) <= 1_200 * SHARE + 1e-3


async def test_weight_is_given_in_the_order_it_was_asked_for() -> None:
    clock, order = FakeClock(), list[int]()
    budget = WeightBudget(clock, 100)

    async def spend(number: int, weight: int) -> None:
        await budget.take(weight)
        order.append(number)

    callers = [asyncio.create_task(spend(number, weight)) for number, weight in enumerate((20, 20, 1, 1))]
    await clock.settle()
    assert order == [0]
    await clock.advance(60)
    await asyncio.gather(*callers)
    assert order == [0, 1, 2, 3]


async def test_a_call_heavier_than_a_burst_is_made_at_the_cost_of_the_next() -> None:
    clock = FakeClock()
    budget = WeightBudget(clock, 100)
    await budget.take(50)
    assert not budget.take_now(1)
    await clock.advance(31)
    assert budget.take_now(1)


async def test_spending_at_once_does_not_overtake_those_who_wait() -> None:
    clock = FakeClock()
    budget = WeightBudget(clock, 100)
    await budget.take(19)
    waiting = asyncio.create_task(budget.take(5))
    await clock.settle()
    assert not budget.take_now(1)
    await clock.advance(10)
    await waiting


@given(st.lists(st.booleans(), max_size=300))
def test_retries_never_exceed_a_tenth_of_the_calls_and_a_reserve_of_ten(calls: list[bool]) -> None:
    budget, retried = RetryBudget(), 0
    for wants_retry in calls:
        budget.deposit()
        retried += wants_retry and budget.withdraw()
    assert retried <= 10 + len(calls) * 0.1


async def test_a_success_forgets_the_failures_before_it() -> None:
    breaker = Breaker(FakeClock())
    for _ in range(4):
        breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert breaker.wait_s() == 0


async def test_a_success_does_not_shorten_the_pause_that_was_asked_for() -> None:
    breaker = Breaker(FakeClock())
    breaker.pause(30)
    breaker.pause(5)
    breaker.succeeded()
    assert breaker.wait_s() == 30


async def test_a_budget_of_few_calls_is_spread_evenly_and_used_up(clock: FakeClock) -> None:
    budget, times = WeightBudget(clock, 5), []

    async def call() -> None:
        for _ in range(9):
            await budget.take(1)
            times.append(clock.monotonic())

    task = asyncio.create_task(call())
    await clock.settle()
    await clock.advance(120)
    await task
    assert times == [15 * place for place in range(9)]
