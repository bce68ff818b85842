"""Somebody who types commands."""

from collections.abc import Mapping
from pathlib import Path

from service.cli import main
from service.cli.environment import Environment
from service.client import credentials
from service.client.credentials import StoredCredential


class Person:
    """Types `verdict login` and `verdict logout`.

    Args:
        environment: Of the commands.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)

    @property
    def url(self) -> str:
        return self.environment["VERDICT_URL"]

    @property
    def state_dir(self) -> Path:
        return Path(self.environment["HOME"]) / ".local" / "state" / "verdict"

    @property
    def credential(self) -> StoredCredential | None:
        """What is kept."""
        return credentials.find(self.environment, self.url)

    def login(self, *options: str) -> int:
        return self._run("login", *options)

    def logout(self) -> int:
        return self._run("logout")

    def _run(self, *words: str) -> int:
        return main._run(words, Environment(self.environment))
