"""A service that knows everything, made once and started from by many tests."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from service.walkforward.child_process import run_in_process
from tests.service.asking import Whole, whole_market
from tests.service.indoors import Kept, keep
from tests.service.walking import run_told, walkers


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return asyncio.run(keep(tmp_path_factory.mktemp("kept")))


@pytest.fixture(scope="session")
def walked(kept: Kept, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """What is kept, and one run over it, made a minute later as a service makes it: in a process of its own."""
    data_dir = tmp_path_factory.mktemp("walked") / "data"

    async def walk() -> int:
        async with kept.reopened(data_dir, walk=run_in_process) as house:
            await house.pass_until(lambda: bool(walkers(os.getpid())))
            await run_told(house, kept.key)
            return house.clock.at_ms

    return kept._replace(data_dir=data_dir, at_ms=asyncio.run(walk()))


@pytest.fixture(scope="package")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """A process over the whole recording at its last instant, which answers every route."""
    with whole_market(tmp_path_factory.mktemp("market"), replay="frozen") as whole:
        yield whole
