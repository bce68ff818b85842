"""Pages are made once in a few seconds."""

import asyncio

import pytest

from service.errors import ServiceError
from service.pages.page_cache import KEPT_S, MOST_KEPT, PageCache
from service.pages.rendering import HtmlPage
from tests.fakes.clock import FakeClock


class Maker:
    """Makes pages, and counts them."""

    def __init__(self) -> None:
        self.made = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: ServiceError | None = None

    async def make(self) -> HtmlPage:
        self.made += 1
        number = self.made
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return HtmlPage(b"%d" % number)


async def test_a_page_is_shown_again_for_a_few_seconds() -> None:
    clock, maker = FakeClock(), Maker()
    cache = PageCache(clock)
    assert (await cache.page("a", maker.make)).body == b"1"
    await clock.advance(KEPT_S - 0.1)
    assert (await cache.page("a", maker.make)).body == b"1"
    await clock.advance(0.1)
    assert (await cache.page("a", maker.make)).body == b"2"
    assert (await cache.page("b", maker.make)).body == b"3"
    await clock.advance(KEPT_S)
    assert (await cache.page("b", maker.make, KEPT_S + 1)).body == b"3"


async def test_who_asks_while_it_is_made_waits_for_that_one() -> None:
    maker = Maker()
    cache = PageCache(FakeClock())
    maker.gate.clear()
    both = asyncio.gather(cache.page("a", maker.make), cache.page("a", maker.make))
    await asyncio.sleep(0)
    maker.gate.set()
    assert {page.body for page in await both} == {b"1"}


async def test_who_leaves_does_not_end_it_for_the_others() -> None:
    maker = Maker()
    cache = PageCache(FakeClock())
    maker.gate.clear()
    first = asyncio.ensure_future(cache.page("a", maker.make))
    second = asyncio.ensure_future(cache.page("a", maker.make))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    maker.gate.set()
    assert (await second).body == b"1"


async def test_a_failure_is_told_and_not_kept() -> None:
    maker = Maker()
    cache = PageCache(FakeClock())
    maker.error = ServiceError("UNAVAILABLE", "not now")
    with pytest.raises(ServiceError):
        await cache.page("a", maker.make)
    maker.error = None
    assert (await cache.page("a", maker.make)).body == b"2"


async def test_only_so_many_are_kept() -> None:
    maker = Maker()
    cache = PageCache(FakeClock())
    for key in range(MOST_KEPT + 1):
        await cache.page(key, maker.make)
    await cache.page(1, maker.make)
    assert maker.made == MOST_KEPT + 1
    await cache.page(0, maker.make)
    assert maker.made == MOST_KEPT + 2
