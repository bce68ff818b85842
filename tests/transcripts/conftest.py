"""The room over feeds moved by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.transcripts.broadcast import Room, open_room


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def room(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Room]:
    async with open_room(tmp_path, clock) as opened:
        yield opened
