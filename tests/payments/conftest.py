from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.payments.shop import Shop


@pytest.fixture
async def shop(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Shop]:
    """A process that takes payments."""
    opened = await Shop(tmp_path / "shop.db", clock).open()
    yield opened
    await opened.close()
