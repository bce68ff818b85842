"""A store that has seen the honest market, made once, and worlds opened on copies of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from shutil import copyfile

import pytest

from tests.hostile.world import World, open_world

OpenWorld = Callable[[], AbstractAsyncContextManager[World]]


@pytest.fixture(scope="session")
def warm_store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A store after a first start with honest venues, and the instant at which it was closed."""
    path = tmp_path_factory.mktemp("warm") / "verdict.db"

    async def make() -> int:
        async with open_world(path) as world:
            await world.warm_up()
            assert world.wrong() == []
            assert world.not_fresh() == []
            return world.clock.now_ms()

    return path, asyncio.run(make())


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with its tables and nothing in them."""
    path = tmp_path_factory.mktemp("empty") / "verdict.db"

    async def make() -> None:
        async with open_world(path):
            pass

    asyncio.run(make())
    return path


@pytest.fixture
def warm(warm_store: tuple[Path, int], tmp_path: Path) -> OpenWorld:
    """Opens worlds that know the honest market, a few seconds after it was last seen."""
    number = count()

    @asynccontextmanager
    async def opened() -> AsyncIterator[World]:
        path = tmp_path / f"warm{next(number)}.db"
        copyfile(warm_store[0], path)
        async with open_world(path, at_ms=warm_store[1]) as world:
            await world.run(15)
            yield world

    return opened


@pytest.fixture
def cold(empty_store: Path, tmp_path: Path) -> OpenWorld:
    """Opens worlds that know nothing."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[World]:
        path = tmp_path / "cold.db"
        copyfile(empty_store, path)
        async with open_world(path) as world:
            yield world

    return opened
