"""Either store for a room's tests: each is run on SQLite's file and, as the same words, on a PostgreSQL server."""

import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from service.clock import Clock
from service.settings import Secret
from service.storage import database
from service.storage.database import Database

_FOLDER: Final = "tmp_path"
_TEST: Final = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
_SERVER: Final = pytest.param("postgres", marks=pytest.mark.process)
_SERVER_AT_LEISURE: Final = pytest.param("postgres", marks=[pytest.mark.process, pytest.mark.soak])


class _Server:
    """The databases of one test: a path of SQLite's is one of them, so that what is opened twice is the same."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._addresses: dict[Path, str] = {}

    def address(self, path: Path) -> str:
        """The address of the database that stands for a file."""
        from tests.fakes.postgres import postgres_dsn  # noqa: PLC0415 - asyncpg, and a server, where they are used

        if path not in self._addresses:
            self._addresses[path] = self._stack.enter_context(postgres_dsn(fresh=bool(self._addresses)))
        return self._addresses[path]

    @asynccontextmanager
    async def open(self, path: Path, clock: Clock) -> AsyncIterator[Database]:
        """Open the database that stands for a file."""
        from service.storage.postgres.database import open_postgres  # noqa: PLC0415 - as above

        async with open_postgres(Secret(self.address(path)), path, clock) as opened:
            yield opened


_servers: Final[list[_Server]] = []


def open_database(path: Path, clock: Clock) -> AbstractAsyncContextManager[Database]:
    """As the storage room's, on the store that the test is run on.

    Args:
        path: A file that makes one store of several: the same path is the same store.
        clock: Stamps migrations.
    """
    return _servers[-1].open(path, clock) if _servers else database.open_database(path, clock)


@pytest.fixture(autouse=True)
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """Which store the test is run on."""
    kind = getattr(request, "param", "sqlite")
    with ExitStack() as stack:
        if kind == "postgres":
            _servers.append(_Server(stack))
            stack.callback(_servers.pop)
        yield kind


def on_both(*, often: Collection[str], but: Collection[str] = ()) -> Callable[[pytest.Metafunc], None]:
    """Make `pytest_generate_tests` of a room whose tests are run on both stores, those that use one.

    Args:
        often: Tests that every run does on a server too: between them, each statement of the room at least once. The
            rest is done there by `make soak`.
        but: Tests, or whole modules, that are about SQLite's file, or open it in processes of their own.

    Returns:
        The hook. It fails where a name is nobody's: a test that was renamed would else be run on one store alone.
    """
    checked: list[str] = []

    def generate(metafunc: pytest.Metafunc) -> None:
        module = metafunc.module.__name__.rpartition(".")[2]
        if not checked:
            checked.append(module)
            _check_names(Path(metafunc.module.__file__ or "").parent, {*often, *but})
        if _FOLDER in metafunc.fixturenames and not {module, metafunc.function.__name__} & {*but}:
            server = _SERVER if metafunc.function.__name__ in often else _SERVER_AT_LEISURE
            metafunc.parametrize("store", ["sqlite", server], indirect=True)

    return generate


def _check_names(room: Path, wanted: Collection[str]) -> None:
    """Refuse names that no test, and no module of tests, of a room has."""
    known: set[str] = set()
    for path in room.rglob("test_*.py"):
        known |= {path.stem, *_TEST.findall(path.read_text())}
    assert not {*wanted} - known, f"no test of {room.name} is called {', '.join(sorted({*wanted} - known))}"
