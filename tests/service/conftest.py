"""A service that knows everything, made once and started from by many tests."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.service.asking import Whole, whole_market
from tests.service.indoors import Kept, keep


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return asyncio.run(keep(tmp_path_factory.mktemp("kept")))


@pytest.fixture(scope="session")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """A process over the whole recording at its last instant, which answers every route."""
    with whole_market(tmp_path_factory.mktemp("market"), replay="frozen") as whole:
        yield whole
