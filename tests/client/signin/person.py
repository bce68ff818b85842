"""Somebody who types commands."""

from collections.abc import Mapping
from pathlib import Path

from service.cli import login_commands
from service.cli.command import Arguments
from service.cli.commands import _LOGIN_COMMANDS
from service.client import credentials
from service.client.credentials import StoredCredential

_LOGIN = _LOGIN_COMMANDS[0]


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

    def login(self, **given: object) -> int:
        flags = {argument.name[2:].replace("-", "_"): None for argument in _LOGIN.arguments}
        return login_commands.login(Arguments(**flags | given), self.environment)

    def logout(self) -> int:
        return login_commands.logout(Arguments(url=None), self.environment)
