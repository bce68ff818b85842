"""A server that no longer takes what it was opened with, as when its password is changed: a 503 until it does again."""

import asyncio
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.settings import Secret
from service.storage.database import Database
from service.storage.postgres.database import open_postgres
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import LOCKED, locked_database, postgres_server

pytestmark = pytest.mark.process

CUT = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1"


async def outcomes(db: Database) -> list[str]:
    """What becomes of a read, a write and a long look."""
    works = [db.read("SELECT 1"), db.write(lambda _: None), db.inspect(lambda _: None)]
    found = await asyncio.gather(*works, return_exceptions=True)
    return [one.code if isinstance(one, ServiceError) else type(one).__name__ for one in found]


@pytest.mark.parametrize(
    ("shut", "opened"),
    [
        (f"ALTER USER {LOCKED} PASSWORD 'another'", f"ALTER USER {LOCKED} PASSWORD 'right'"),
        (f"ALTER USER {LOCKED} NOLOGIN", f"ALTER USER {LOCKED} LOGIN"),
        ("ALTER DATABASE {0} RENAME TO {0}_away", "ALTER DATABASE {0}_away RENAME TO {0}"),
    ],
    ids=["password", "login", "database"],
)
async def test_what_opens_a_server_may_be_changed_while_it_is_used(
    tmp_path: Path, clock: FakeClock, shut: str, opened: str
) -> None:
    server = postgres_server()
    with locked_database(server, "right", "right") as address:
        name = address.rpartition("/")[2]
        async with open_postgres(Secret(address), tmp_path / "verdict.db", clock) as db:
            # The listener comes back by itself, and a database that somebody uses is not renamed.
            server.ask(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            server.ask(CUT, name)
            server.ask(shut.format(name))
            server.ask(f"ALTER DATABASE {name}{'_away' * ('_away' in shut)} ALLOW_CONNECTIONS true")
            assert await outcomes(db) == ["UNAVAILABLE"] * 3
            server.ask(opened.format(name))
            async with asyncio.timeout(60):
                while await outcomes(db) != ["list", "NoneType", "NoneType"]:  # noqa: ASYNC110 - no event is set for it
                    await asyncio.sleep(0.05)
