import pytest

from service.storage.database import Database
from service.walkforward.store import RunStore


@pytest.fixture
def runs(database: Database) -> RunStore:
    return RunStore(database)
