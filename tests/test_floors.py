"""The oldest releases without a known hole: `pip-audit` needs a network, this does not."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {
    "starlette": "1.3.1",
    "aiohttp": "3.14.3",
    "PyJWT": "2.13",
    "h11": "0.16",
    "httptools": "0.8",
}
SQLITE_FLOOR = (3, 53, 2)
"""SQLite 3.7.0 to 3.51.2 can corrupt a WAL when it is reset; pysqlite3 0.6.1 brings 3.53.4."""


@pytest.mark.parametrize("name", FLOORS)
def test_no_release_with_a_known_hole_is_installed(name: str) -> None:
    assert Version(version(name)) >= Version(FLOORS[name])


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock", "requirements-tools.lock"])
def test_no_release_with_a_known_hole_is_locked(lock: str) -> None:
    locked = dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", (ROOT / lock).read_text(), re.MULTILINE))
    for name in FLOORS if lock != "requirements-tools.lock" else FLOORS.keys() & locked.keys():
        assert Version(locked[name.lower()]) >= Version(FLOORS[name]), name


def test_the_project_itself_asks_for_no_less_than_the_floors() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = dict(re.findall(r"^([A-Za-z0-9_-]+)>=([0-9.]+)", "\n".join(project["dependencies"]), re.MULTILINE))
    for name in FLOORS.keys() & asked.keys():
        assert Version(asked[name]) >= Version(FLOORS[name]), name


def test_the_sqlite_in_use_is_past_the_wal_reset_bug() -> None:
    pysqlite3 = pytest.importorskip("pysqlite3")
    assert pysqlite3.sqlite_version_info >= SQLITE_FLOOR
