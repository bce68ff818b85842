from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.access.registrar import Registrar
from service.access.room import Access, open_access, open_registrar
from service.access.secrets import Secrets, open_secrets
from service.settings import Settings
from service.storage.database import Database, open_database
from tests.fakes.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url="https://api.example.org")


@pytest.fixture
def secrets(settings: Settings) -> Secrets:
    return open_secrets(settings.data_dir)


@pytest.fixture
async def db(settings: Settings, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(settings.data_dir / "verdict.db", clock) as database:
        yield database


@pytest.fixture
async def access(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> Access:
    return await open_access(settings, secrets, db, clock)


@pytest.fixture
def registrar(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> Registrar:
    return open_registrar(settings, secrets, db, clock)
