"""Runs one command line and turns every failure into a message and an exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from service.cli.environment import Environment
from service.cli.root import RootGroup
from service.client.errors import FAILED, INTERRUPTED, RefusalError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO


COMPLETE = "_VERDICT_COMPLETE"
"""Environment variable with which a shell's completion script calls this program."""


def run(typed: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run one command line.

    Args:
        typed: Arguments, without the program's name.
        environment: Environment variables.

    Returns:
        The exit code, one of `service.client.errors`.
    """
    state = Environment(environment)
    try:
        code = _run(typed, state)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`verdict coins | head`).
        _discard(sys.stdout)
        return FAILED
    except Exception as error:  # noqa: BLE001 - reported with its traceback and an exit code of its own
        return _report(error, typed, state)
    return code


def _run(typed: Sequence[str], state: Environment) -> int:
    root = RootGroup()
    if COMPLETE in state.variables:
        from click.shell_completion import shell_complete  # noqa: PLC0415 - only for the Tab key

        return shell_complete(root, {}, "verdict", COMPLETE, state.variables[COMPLETE])
    try:
        with root.make_context("verdict", list(typed), obj=state) as context:
            code: int = root.invoke(context)
            return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return FAILED
    except click.UsageError as error:
        context = error.ctx or root.make_context("verdict", [], resilient_parsing=True)
        if isinstance(error, click.NoSuchOption) and context.parent is None:
            message = f"No such option {error.option_name!r}. Options come after the command."
            raise UsageError(message, "verdict") from None
        from service.cli.error_report import new_name  # noqa: PLC0415 - for a mistake only

        renamed = new_name(typed)
        if renamed:
            raise RefusalError(f"`verdict {renamed[0]}` is now `verdict {renamed[1]}`.") from None
        raise UsageError(error.format_message(), context.command_path) from None


def _report(error: Exception, typed: Sequence[str], state: Environment) -> int:
    from service.cli.error_report import exit_code_of, is_output_lost, report  # noqa: PLC0415 - for a failure only

    if is_output_lost(error):
        _discard(sys.stdout)
    try:
        report(error, state.command, typed)
    except OSError:  # stderr is closed or full; the exit code remains
        _discard(sys.stderr)
    return exit_code_of(error)


def _discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that flushing it at exit cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
