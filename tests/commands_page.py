"""Writes docs/commands.md: the help of every command (`make commands`)."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from unittest import mock

import click

from service.__main__ import run
from service.cli.root import RootGroup

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
_INTRODUCTION: Final = """\
# Commands

What `verdict COMMAND --help` prints, command by command. [Command line](command-line.md) explains how to use them.
"""


def walk(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below a group, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        if isinstance(command, click.Group):
            yield from walk(command, (*words, name))
        else:
            yield (*words, name), command


EVERY: Final = {" ".join(words): command for words, command in walk(RootGroup())}
"""Every command by its words: `coin risk`."""


def help_of(words: str) -> str:
    """What a command's `--help` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), mock.patch.dict("os.environ", COLUMNS="80"):
        code = run([*words.split(), "--help"], {})
    assert code == 0, words
    return out.getvalue()


def page() -> str:
    """The whole page."""
    sections = [f"## {f'verdict {words}'}\n\n```text\n{help_of(words).strip()}\n```\n" for words in EVERY]
    return "\n".join([_INTRODUCTION, *sections])


if __name__ == "__main__":
    PAGE.write_text(page())
