"""A real PostgreSQL for tests: one server for a session, one database that each test finds empty."""

import asyncio
import atexit
import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import asyncpg
import pytest

from service.clock import Clock
from service.settings import Secret
from service.storage.database import Database, open_database
from service.storage.postgres.database import open_postgres
from service.storage.postgres.opening import prepare
from tests.fakes.clock import FakeClock

T = TypeVar("T")

Kind = Literal["sqlite", "postgres"]
STORES: Final = ("sqlite", pytest.param("postgres", marks=pytest.mark.process))
"""Parameters of tests that run on each kind of store."""

_NOBODY: Final = 65_534
LOCKED: Final = "locked"
"""A user of the server who needs a password."""

_SETTINGS: Final = (
    "listen_addresses=127.0.0.1",
    "max_connections=90",
    "shared_buffers=32MB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=256MB",
    "log_min_messages=fatal",
    "unix_socket_directories=",
)
_PR_SET_PDEATHSIG: Final = 1
_START_S: Final = 60.0
_PORTS: Final = range(10_000, 32_000)
"""Below the ports that the kernel gives away, so that nobody is given the port of a stopped server."""
_READY: Final = 7
"""Line of `postmaster.pid` that says whether connections are taken; the first line is the process."""

_EMPTY: Final = """
DO $$
DECLARE
    place RECORD;
    filled BOOLEAN;
    wanted TEXT := '';
BEGIN
    FOR place IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relname NOT IN ('migrations', 'store_turn', 'notes')
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', place.relname) INTO filled;
        IF filled THEN
            wanted := wanted || format(', %I', place.relname);
        END IF;
    END LOOP;
    DROP TABLE IF EXISTS notes CASCADE;
    DROP FUNCTION IF EXISTS next_of_notes;
    IF wanted <> '' THEN
        EXECUTE 'TRUNCATE ' || substr(wanted, 3) || ' CASCADE';
    END IF;
END
$$
"""
_OTHERS: Final = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()"
)


class Server:
    """A PostgreSQL server in a folder of its own, durable as a real one; it ends with the process that made it.

    Args:
        binaries: Where `postgres` and `initdb` are.
    """

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._who: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.folder = Path(tempfile.mkdtemp(prefix="verdict-postgres-"))
        if self._who:
            os.chown(self.folder, _NOBODY, _NOBODY)
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._run(
            "initdb", "-D", str(self._data), "-U", "verdict", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        access = self._data / "pg_hba.conf"
        access.write_text(f"host all {LOCKED} 127.0.0.1/32 scram-sha-256\n{access.read_text()}")
        self.port = 0
        atexit.register(self.remove)

    def start(self) -> None:
        """Start it on the port it had, at first on one that nobody uses, and wait until it answers."""
        if self.port:
            assert self._started(), self._log()
            return
        for _ in range(20):
            self.port = secrets.choice(_PORTS)
            if self._started():
                return
            assert "could not create any TCP/IP sockets" in self._log(), self._log()
        raise AssertionError(self._log())

    def _started(self) -> bool:
        """Start it on its port; False if it ended at once."""
        settings = [word for setting in (*_SETTINGS, f"port={self.port}") for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, *settings],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 -- it calls the kernel and nothing else
                **self._who,
            )
        deadline_s = _START_S
        while not self._is_ready(self._process.pid):
            if self._process.poll() is not None:
                return False
            assert deadline_s > 0, self._log()
            _pause(0.02)
            deadline_s -= 0.02
        return True

    def _is_ready(self, pid: int) -> bool:
        """Whether this process takes connections, by what it says itself: the port could be another server's."""
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > _READY and lines[0] == str(pid) and lines[_READY].strip() == "ready"

    def _log(self) -> str:
        return (self.folder / "log").read_text()

    def stop(self, *, politely: bool = True) -> None:
        """Stop it: ending its sessions, or as if the power went."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT if politely else signal.SIGQUIT)
            self._process.wait(30)
        self._process = None

    def freeze(self, *, frozen: bool = True) -> None:
        """Have all of its processes stand still, or go on."""
        assert self._process is not None
        for pid in [self._process.pid, *_children(self._process.pid)]:
            os.kill(pid, signal.SIGSTOP if frozen else signal.SIGCONT)

    def address(self, database: str, user: str = "verdict") -> str:
        """The address of one of its databases."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def ask(self, sql: str, *values: object, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement beside the service."""

        async def run() -> list[tuple[Any, ...]]:
            connection = await asyncpg.connect(self.address(database))
            try:
                return [tuple(row) for row in await connection.fetch(sql, *values)]
            finally:
                await connection.close()

        return apart(run())

    def make_database(self, options: str = "") -> str:
        """Make a database that holds nothing at all; its name."""
        self._number += 1
        name = f"verdict{self._number}"
        self.ask(f"CREATE DATABASE {name} TEMPLATE template0 {options}")
        return name

    def remove(self) -> None:
        """Stop it and forget what it holds."""
        self.stop(politely=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / program, *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            timeout=60,
            **self._who,
        )


def postgres_server() -> Server:
    """The session's server; its test is skipped where none can be had."""
    found = _session_server()
    if found is None:
        pytest.skip("no PostgreSQL is installed (pip install pgserver, or apt install postgresql)")
    return found


@contextmanager
def own_server() -> Iterator[Server]:
    """A server that a test may stop, start and freeze."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL is installed (pip install pgserver, or apt install postgresql)")
    server = Server(binaries)
    try:
        server.start()
        yield server
    finally:
        server.remove()
        atexit.unregister(server.remove)


@contextmanager
def postgres_dsn(*, fresh: bool = False) -> Iterator[str]:
    """The address of a database that is migrated and empty.

    Args:
        fresh: Whether it is one of the test's own, and not even migrated.
    """
    server = postgres_server()
    if fresh:
        yield server.address(server.make_database())
        return
    name = _common_database()
    try:
        yield server.address(name)
    finally:  # after a failure too, which the next test would suffer from
        server.ask(_OTHERS, name)
        server.ask(_EMPTY, database=name)


@contextmanager
def locked_database(server: Server, password: str, given: str) -> Iterator[str]:
    """The address of a new database whose owner, `LOCKED`, needs a password.

    Args:
        server: Where it is made.
        password: Which that is.
        given: What the address says instead.
    """
    known = server.ask("SELECT FROM pg_roles WHERE rolname = $1", LOCKED)
    server.ask(f"{'ALTER' if known else 'CREATE'} USER {LOCKED} LOGIN PASSWORD '{password}'")
    name = server.make_database(f"OWNER {LOCKED}")
    yield server.address(name, f"{LOCKED}:{given}")
    server.ask(f"DROP DATABASE {name} WITH (FORCE)")
    if not known:
        server.ask(f"DROP USER {LOCKED}")


@asynccontextmanager
async def open_either(kind: Kind, path: Path, clock: Clock) -> AsyncIterator[Database]:
    """An empty store of either kind.

    Args:
        kind: Which.
        path: SQLite's file, or what a process's own files stand beside.
        clock: Stamps migrations.
    """
    if kind == "sqlite":
        async with open_database(path, clock) as file:
            yield file
        return
    with postgres_dsn() as address:
        async with open_postgres(Secret(address), path, clock) as server:
            yield server


def apart(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a thread and an event loop of its own, whatever runs here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@cache
def _session_server() -> Server | None:
    binaries = _binaries()
    if binaries is None:
        return None
    server = Server(binaries)
    server.start()
    return server


@cache
def _common_database() -> str:
    server = postgres_server()
    name = server.make_database()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(prepare, Secret(server.address(name)), FakeClock()).result()
    return name


def _binaries() -> Path | None:
    package = find_spec("pgserver")
    brought = (
        [Path(place) / "pginstall" / "bin" for place in (package.submodule_search_locations or ())] if package else []
    )
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    return next((folder for folder in (*brought, *debian) if (folder / "initdb").exists()), None)


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _pause(seconds: float) -> None:
    apart(asyncio.sleep(seconds))
