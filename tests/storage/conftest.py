import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from service.storage.database import Database, open_database
from tests.fakes.clock import FakeClock

NOBODY = 65_534


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdict.db"


@pytest.fixture
async def db(path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(path, clock) as opened:
        await opened.write(
            lambda connection: connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)").rowcount
        )
        yield opened


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """A folder where the tests are nobody in particular: root may write anywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.geteuid() != 0:
            yield folder
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(0)
