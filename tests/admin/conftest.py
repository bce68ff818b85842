import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.__main__ import run


class Told(NamedTuple):
    """What a command said: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Verdict = Callable[..., Told]
Look = Callable[..., tuple[Told, dict[str, Any]]]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def verdict(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Verdict:
    """Type a command: `verdict("admin", "keys", "list")`; settings as keywords (`data_dir="/x"`)."""

    def typed(*arguments: str, **settings: str) -> Told:
        environment = {
            f"VERDICT_{name.upper()}": value for name, value in {"data_dir": str(data_dir), **settings}.items()
        }
        environment["HOME"] = str(data_dir.parent)  # nothing of the developer's own is looked at
        capsys.readouterr()
        return Told(run(arguments, environment), *capsys.readouterr())

    return typed


@pytest.fixture
def somebody(verdict: Verdict) -> None:
    """A data folder in which there is one key."""
    verdict("admin", "keys", "create", "--name", "first")


@pytest.fixture
def look(verdict: Verdict, somebody: None) -> Look:
    """What the doctor says of one check: `look("wallets", wallets_rpc=url)`."""

    def asked(check: str, **settings: str) -> tuple[Told, dict[str, Any]]:
        told = verdict("admin", "doctor", "--json", **settings)
        (found,) = [found for found in told.json["checks"] if found["check"] == check]
        return told, found

    return asked
