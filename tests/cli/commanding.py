"""Somebody types a command, at a terminal or in a script."""

import io
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TextIO
from unittest import mock

import click

from service.__main__ import run
from service.cli import main
from service.cli.command import Arguments
from service.cli.commands import SECTIONS
from service.cli.environment import Environment, VerdictCommand
from service.cli.parser import RootGroup, RowCommand, arguments_of


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


class Described(NamedTuple):
    """A command as its help describes it.

    Attributes:
        words: As typed after `verdict`: `coin risk`.
        summary: What it does, without a full stop.
        example: A complete line.
        command: The command itself.
    """

    words: str
    summary: str
    example: str
    command: click.Command


def described_commands() -> list[Described]:
    """Every command, in the order of the help."""
    root = RootGroup(SECTIONS)
    return list(_described(root, click.Context(root), ""))


def _described(group: click.Group, context: click.Context, before: str) -> Iterator[Described]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _described(command, context, f"{before}{name} ")
        elif isinstance(command, RowCommand):
            yield Described(command.row.words, command.row.summary, command.row.example, command)
        else:
            assert isinstance(command, VerdictCommand)
            summary = command.get_short_help_str(200).rstrip(".")
            yield Described(f"{before}{name}", summary[0].lower() + summary[1:], command.example, command)


def parsed(*words: str) -> Arguments:
    """Parse a command line without running its command.

    Raises:
        UsageError: If it is not valid.
    """
    kept: list[Arguments] = []

    def keep(command: RowCommand | VerdictCommand, context: Any) -> int:
        of_row = arguments_of(command.row, context.params) if isinstance(command, RowCommand) else None
        kept.append(of_row or Arguments(**context.params))
        return 0

    with mock.patch.object(RowCommand, "invoke", keep), mock.patch.object(VerdictCommand, "invoke", keep):
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
