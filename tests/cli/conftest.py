"""Somebody at a terminal, or a program, who types commands at a service that answers as it is told to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commanding import Told, typed

Typed = Callable[..., Told]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of somebody with a home of their own, whose terminal has no colours; tests add to it."""
    return {"HOME": str(tmp_path), "COLUMNS": "80", "NO_COLOR": "1"}


@pytest.fixture
def program(environment: dict[str, str]) -> Typed:
    """Type a command where the output is no terminal."""
    return lambda line, *more: typed(*line.split(), *more, environment=environment)


@pytest.fixture
def person(environment: dict[str, str]) -> Typed:
    """Type a command at a terminal."""
    return lambda line, *more: typed(*line.split(), *more, environment=environment, terminal=True)
