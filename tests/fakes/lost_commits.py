"""A connection to a server that is cut exactly at a COMMIT, before the server has taken it or after."""

from typing import Any, Final

import pytest

from service.storage.postgres.connection import ServerConnection
from service.storage.postgres.errors import lost

TAKEN: Final = pytest.mark.parametrize("taken", [True, False], ids=["kept", "not-kept"])
"""Run a test with what was to be committed kept, and not kept. Nobody who asked is told which."""


def cut_at_commit(monkeypatch: pytest.MonkeyPatch, *, taken: bool, of: int = 1, again: int = 0) -> list[str]:
    """Cut the writer's connection at a COMMIT.

    Args:
        monkeypatch: Mends it after the test.
        taken: Whether the server has taken it by then.
        of: At which, counted from now.
        again: How many new connections fail then.

    Returns:
        What was cut: to be looked at, after the test has done what it does.
    """
    real, cut, seen = ServerConnection.command, list[str](), list[str]()

    def command(self: ServerConnection, text: str, *patience: Any) -> str:
        if cut and len(cut) <= again and text == "BEGIN":
            cut.append(text)
            raise lost("the server is away")
        if text != "COMMIT":
            return real(self, text, *patience)
        seen.append(text)
        if len(seen) != of:
            return real(self, text, *patience)
        if taken:
            real(self, text, *patience)
        cut.append(text)
        self.terminate()
        raise lost("the connection was cut")

    monkeypatch.setattr(ServerConnection, "command", command)
    return cut
