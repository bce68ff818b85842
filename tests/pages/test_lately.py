"""Pages are made once in a few seconds."""

import asyncio

import pytest

from service.errors import ServiceError
from service.pages.lately import KEPT_S, MOST_KEPT, Lately
from service.pages.page import Page
from tests.fakes.clock import FakeClock


class Maker:
    """Makes pages, and counts them."""

    def __init__(self) -> None:
        self.made = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: ServiceError | None = None

    async def make(self) -> Page:
        self.made += 1
        number = self.made
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return Page(b"%d" % number)


async def test_a_page_is_shown_again_for_a_few_seconds() -> None:
    clock, maker = FakeClock(), Maker()
    lately = Lately(clock)
    assert (await lately.page("a", maker.make)).body == b"1"
    await clock.advance(KEPT_S - 0.1)
    assert (await lately.page("a", maker.make)).body == b"1"
    await clock.advance(0.1)
    assert (await lately.page("a", maker.make)).body == b"2"
    assert (await lately.page("b", maker.make)).body == b"3"


async def test_who_asks_while_it_is_made_waits_for_that_one() -> None:
    maker = Maker()
    lately = Lately(FakeClock())
    maker.gate.clear()
    both = asyncio.gather(lately.page("a", maker.make), lately.page("a", maker.make))
    await asyncio.sleep(0)
    maker.gate.set()
    assert {page.body for page in await both} == {b"1"}


async def test_who_leaves_does_not_end_it_for_the_others() -> None:
    maker = Maker()
    lately = Lately(FakeClock())
    maker.gate.clear()
    first = asyncio.ensure_future(lately.page("a", maker.make))
    second = asyncio.ensure_future(lately.page("a", maker.make))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    maker.gate.set()
    assert (await second).body == b"1"


async def test_a_failure_is_told_and_not_kept() -> None:
    maker = Maker()
    lately = Lately(FakeClock())
    maker.error = ServiceError("UNAVAILABLE", "not now")
    with pytest.raises(ServiceError):
        await lately.page("a", maker.make)
    maker.error = None
    assert (await lately.page("a", maker.make)).body == b"2"


async def test_only_so_many_are_kept() -> None:
    maker = Maker()
    lately = Lately(FakeClock())
    for key in range(MOST_KEPT + 1):
        await lately.page(key, maker.make)
    await lately.page(1, maker.make)
    assert maker.made == MOST_KEPT + 1
    await lately.page(0, maker.make)
    assert maker.made == MOST_KEPT + 2
