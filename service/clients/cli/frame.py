"""The way of a command: its words, its arguments, its function, and what is told where it fails."""

from __future__ import annotations

import os
import sys

from service import __version__
from service.clients.cli import help as helping
from service.clients.cli.arguments import read
from service.clients.cli.loading import load
from service.clients.cli.words import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn, TextIO

    from service.clients.cli.command import Command
    from service.clients.cli.words import Found

    Sections = Sequence[tuple[str, Sequence[Command]]]

_HELP = frozenset({"-h", "--help"})
INTERRUPTED = 130
_DONE, _FAILED = 0, 1
"""As `refusal` has them, which is loaded only where something is refused."""


def run(typed: Sequence[str], environment: Mapping[str, str], sections: Sections) -> int:
    """Run one command line.

    Args:
        typed: Without the program's name.
        environment: What settings are read from.
        sections: The table: commands, under titles.

    Returns:
        The exit code, as `service.clients.cli` lists them.
    """
    found = find(typed, [command for _, commands in sections for command in commands])
    try:
        code = _run(found, environment, sections)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has read enough (`verdict keys list | head`).
        _give_up(sys.stdout)
        return _FAILED
    except Exception as error:  # noqa: BLE001 - told, with its traceback and an exit code of its own
        return _tell(error, found)
    return code


def _tell(error: Exception, found: Found) -> int:
    from service.clients.cli.failure import code_of, is_lost, tell  # noqa: PLC0415 - for a failure only

    if is_lost(error):
        _give_up(sys.stdout)
    try:
        tell(error, found)
    except OSError:  # nobody can be told; the exit code says it all the same
        _give_up(sys.stderr)
    return code_of(error)


def _give_up(stream: TextIO) -> None:
    """See that nothing more is flushed where nothing more is taken, at the end of the process neither."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(found: Found, environment: Mapping[str, str], sections: Sections) -> int:
    asked = found.rest[: found.rest.index("--")] if "--" in found.rest else found.rest
    if found.strange is not None:
        _refuse_words(found, f"there is no command {found.strange!r} here", found.strange)
    if not _HELP.isdisjoint(asked):
        return _say(_help(found, sections))
    if not found.words and "--version" in asked[:1]:
        return _say(f"verdict {__version__}\n")
    if not found.words and not found.rest:
        sys.stderr.write(_help(found, sections))
        return _FAILED
    if not found.words:
        _refuse_words(found, f"unrecognized arguments: {found.rest[0]} (options come after the command)")
    if found.command is None:
        _refuse_words(found, f"the following arguments are required: COMMAND ({', '.join(found.next_words)})")
    arguments = read(found.command, found.rest)
    arguments.sections = sections
    code: int = load(arguments.run)(arguments, environment)
    return code


def _help(found: Found, sections: Sections) -> str:
    if not found.words:
        return helping.everything(sections)
    if found.command is None or found.below:
        return helping.group(found.words, found.below, found.command)
    return helping.command(found.command)


def _say(text: str) -> int:
    sys.stdout.write(text)
    return _DONE


def _refuse_words(found: Found, message: str, strange: str = "") -> NoReturn:
    from service.clients.cli.usage import UsageError, meant  # noqa: PLC0415 - for a mistake only

    whose = " ".join(("verdict", *found.words.split()))
    beyond = [row.words for row in found.below if strange in row.words.split()]
    guess = f" (did you mean {beyond[0]}?)" if beyond else meant(strange, found.next_words)
    raise UsageError(message + guess, whose)
