"""Somebody at a terminal, or a program, who types commands at a service that answers as it is told to."""

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
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


Typed = Callable[..., Told]


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self) -> bool:
        return True


class Pipe(io.TextIOWrapper):
    """What a program reads."""

    def __init__(self) -> None:
        self._held = io.BytesIO()
        super().__init__(self._held, encoding="utf-8")

    def getvalue(self) -> str:
        self.flush()
        return self._held.getvalue().decode()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of somebody with a home of their own, whose terminal has no colours; tests add to it."""
    return {"HOME": str(tmp_path), "COLUMNS": "80", "NO_COLOR": "1"}


@pytest.fixture
def program(environment: dict[str, str]) -> Typed:
    """Type a command where the output is no terminal."""
    return lambda line, *more: _told([*line.split(), *more], environment, Pipe(), Pipe())


@pytest.fixture
def person(environment: dict[str, str]) -> Typed:
    """Type a command at a terminal."""
    return lambda line, *more: _told([*line.split(), *more], environment, Terminal(), Terminal())


def _told(typed: list[str], environment: dict[str, str], out: Terminal | Pipe, err: Terminal | Pipe) -> Told:
    with redirect_stdout(out), redirect_stderr(err):
        code = run(typed, environment)
    return Told(code, out.getvalue(), err.getvalue())
