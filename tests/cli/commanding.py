"""Somebody types a command, at a terminal or in a script."""

import io
import json
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, TextIO
from unittest import mock

from service.__main__ import SECTIONS, run
from service.cli import main
from service.cli.command import Arguments
from service.cli.environment import Environment, VerdictCommand
from service.cli.parser import RowCommand, arguments_of


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


def parsed(*words: str) -> Arguments:
    """Parse a command line without running its command.

    Raises:
        UsageError: If it is not valid.
    """
    kept: list[Arguments] = []

    def keep(command: RowCommand, context: Any) -> int:
        kept.append(arguments_of(command.row, context.params))
        return 0

    with mock.patch.object(RowCommand, "invoke", keep):
        main._run(words, Environment({}, SECTIONS))
    [arguments] = kept
    return arguments


def check(*words: str) -> None:
    """Parse a command line without running its command.

    Raises:
        UsageError: If it is not valid.
    """
    with (
        mock.patch.object(RowCommand, "invoke", return_value=0),
        mock.patch.object(VerdictCommand, "invoke", return_value=0),
    ):
        main._run(words, Environment({}, SECTIONS))


def _pipe() -> io.TextIOWrapper:
    """A pipe of a machine that knows nothing but ASCII, as `main` sets it up."""
    return io.TextIOWrapper(io.BytesIO(), "ascii", "backslashreplace", newline="")


def _text(stream: TextIO) -> str:
    if isinstance(stream, Terminal):
        return stream.getvalue()
    stream.flush()
    buffer: Any = stream.buffer
    return str(buffer.getvalue(), "utf-8")
