"""A service that knows everything, made once and started from by many tests."""

import asyncio

import pytest

from tests.service.indoors import Kept, keep


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return asyncio.run(keep(tmp_path_factory.mktemp("kept")))
