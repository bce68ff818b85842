"""A service's routes to sign in at, and somebody who types `verdict login` and `verdict logout`."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.cli import main
from service.cli.environment import Environment
from service.client import credentials
from service.client.credentials import StoredCredential
from tests.client.signin.gate import Gate, open_gate


class Person:
    """Types commands at one service, with a home of their own."""

    def __init__(self, home: Path, url: str) -> None:
        self.environment = {"HOME": str(home), "VERDICT_URL": url}
        self.state_dir = home / ".local" / "state" / "verdict"

    @property
    def url(self) -> str:
        return self.environment["VERDICT_URL"]

    @property
    def credential(self) -> StoredCredential | None:
        """What is kept."""
        return credentials.find(self.environment, self.url)

    def login(self, *options: str) -> int:
        return main._run(("login", *options), Environment(self.environment))

    def logout(self) -> int:
        return main._run(("logout",), Environment(self.environment))


@pytest.fixture
def gate() -> Iterator[Gate]:
    with open_gate() as opened:
        yield opened


@pytest.fixture
def person(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Calls the gate's service, and pipes in nothing."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return Person(tmp_path, gate.url)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is a terminal."""
    monkeypatch.setattr("service.cli.login_commands.is_terminal", lambda _: True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(Environment, "prints_json", lambda _, as_json: as_json)
