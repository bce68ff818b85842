"""A service's doors to sign in at, and somebody at a terminal."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.cli.environment import Environment
from tests.client.signin.gate import Gate, open_gate
from tests.client.signin.person import Person


@pytest.fixture
def gate() -> Iterator[Gate]:
    with open_gate() as opened:
        yield opened


@pytest.fixture
def person(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Somebody with a home of their own, who calls the gate's service, and pipes in nothing."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return Person({"HOME": str(tmp_path), "VERDICT_URL": gate.url})


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is a terminal."""
    monkeypatch.setattr("service.cli.login_commands.is_terminal", lambda _: True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(Environment, "prints_json", lambda _, as_json: as_json)
