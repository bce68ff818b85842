"""An operator types commands on a data folder."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commanding import Told, typed

Admin = Callable[..., Told]
Look = Callable[..., tuple[Told, dict[str, Any]]]


def settings_of(home: Path, **settings: str) -> dict[str, str]:
    """The environment: these settings, and nothing of the developer's own."""
    named = {"data_dir": str(home / "data"), **settings}
    return {"HOME": str(home), "NO_COLOR": "1", **{f"VERDICT_{name.upper()}": value for name, value in named.items()}}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def admin(tmp_path: Path) -> Admin:
    """Type a command after `verdict admin`, with settings as keywords: `admin("keys list", source="fixtures")`."""

    def run(line: str, *more: str, terminal: bool = False, **settings: str) -> Told:
        environment = settings_of(tmp_path, **settings)
        return typed("admin", *line.split(), *more, environment=environment, terminal=terminal)

    return run


@pytest.fixture(scope="session")
def _used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("used")
    assert typed("admin", "keys", "create", "--name", "first", environment=settings_of(home)).code == 0
    return home / "data"


@pytest.fixture
def used(data_dir: Path, _used: Path) -> Path:
    """A data folder of one user with one key, `first`."""
    return shutil.copytree(_used, data_dir)


@contextmanager
def opened(data_dir: Path) -> Iterator[sqlite3.Connection]:
    """The database, past the service."""
    with closing(sqlite3.connect(data_dir / "verdict.db", isolation_level=None)) as connection:
        yield connection


@pytest.fixture
def look(admin: Admin, used: Path) -> Look:
    """What the doctor says of one check: `look("wallets", wallets_rpc=url)`."""

    def asked(check: str, **settings: str) -> tuple[Told, dict[str, Any]]:
        told = admin("doctor --json", **settings)
        (found,) = [found for found in told.json["checks"] if found["check"] == check]
        return told, found

    return asked
