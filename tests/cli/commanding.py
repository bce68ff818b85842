"""Somebody types a command, at a terminal or in a script."""

import io
import json
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, TextIO
from unittest import mock

import click

from service.__main__ import run
from service.cli import main
from service.cli.environment import Environment, VerdictCommand
from service.cli.route_command import RouteCommand


class Terminal(io.StringIO):
    """A person looks at it."""

    def isatty(self) -> bool:
        return True


class Told(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def typed(*words: str, environment: Mapping[str, str] | None = None, terminal: bool = False) -> Told:
    """Run a command line to its end.

    Args:
        words: After `verdict`.
        environment: All there is of it.
        terminal: Whether stdout and stderr are one.
    """
    out, err = (Terminal(), Terminal()) if terminal else (_pipe(), _pipe())
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        code = run(words, {} if environment is None else environment)
    return Told(code, _text(out), _text(err))


def options(*words: str) -> tuple[click.Command, dict[str, Any]]:
    """Parse a command line without running its command.

    Returns:
        The command that was found, and its values by name.

    Raises:
        UsageError: If the line is not valid.
    """
    kept: list[tuple[click.Command, dict[str, Any]]] = []

    def keep(command: click.Command, context: click.Context) -> int:
        kept.append((command, context.params))
        return 0

    with mock.patch.object(RouteCommand, "invoke", keep), mock.patch.object(VerdictCommand, "invoke", keep):
        main._run(words, Environment({}))
    [found] = kept
    return found


def _pipe() -> io.TextIOWrapper:
    """A pipe of a machine that knows nothing but ASCII, as `main` sets it up."""
    return io.TextIOWrapper(io.BytesIO(), "ascii", "backslashreplace", newline="")


def _text(stream: TextIO) -> str:
    if isinstance(stream, Terminal):
        return stream.getvalue()
    stream.flush()
    buffer: Any = stream.buffer
    return str(buffer.getvalue(), "utf-8")
