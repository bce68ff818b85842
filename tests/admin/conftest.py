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
