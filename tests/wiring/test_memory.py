"""What the C library is told of freed memory."""

import asyncio
from types import SimpleNamespace

from service.wiring.resource_limits import TRIM_EVERY_S, configure_malloc, trim_periodically
from tests.fakes.clock import FakeClock


def test_the_c_library_is_told_once_each_to_keep_one_arena_and_thresholds_that_do_not_grow() -> None:
    told: list[tuple[int, int]] = []
    configure_malloc(SimpleNamespace(mallopt=lambda setting, value: told.append((setting, value))))
    assert sorted(told) == [(-8, 1), (-3, 131_072), (-1, 1_048_576)]


def test_a_c_library_that_has_nothing_to_set_is_left_alone() -> None:
    configure_malloc(SimpleNamespace())


def test_this_processs_own_library_takes_it() -> None:
    configure_malloc()


async def test_now_and_then_what_is_free_is_given_back(clock: FakeClock) -> None:
    told: list[int] = []
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()

    def trim(kept: int) -> int:
        told.append(kept)
        loop.call_soon_threadsafe(gone.set)
        return 1

    keeping = asyncio.create_task(trim_periodically(clock, SimpleNamespace(malloc_trim=trim)))
    await clock.settle()
    await clock.advance(TRIM_EVERY_S - 1)
    assert not told
    await clock.advance(1)
    await asyncio.wait_for(gone.wait(), 10)
    assert told == [0]
    keeping.cancel()


async def test_a_c_library_that_gives_nothing_back_is_asked_for_nothing(clock: FakeClock) -> None:
    await trim_periodically(clock, SimpleNamespace())


async def test_this_processs_own_library_gives_it_back(clock: FakeClock) -> None:
    keeping = asyncio.create_task(trim_periodically(clock))
    await clock.settle()
    assert not keeping.done()
    keeping.cancel()
