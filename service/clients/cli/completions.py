"""What makes a shell complete commands, options and their choices: written from the table, asks nothing when used."""

from __future__ import annotations

import sys

from service.clients.cli.fish import fish
from service.clients.cli.posix import bash, zsh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

_HOW = """
bash, in ~/.bashrc:
  source <(verdict completions bash)
zsh, in ~/.zshrc, after compinit:
  source <(verdict completions zsh)
fish:
  verdict completions fish > ~/.config/fish/completions/verdict.fish
"""


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - it is the same everywhere
    """Print the completions of one shell."""
    commands = [command for _, some in arguments.sections for command in some]
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](commands))
    return 0


def how() -> str:
    """Say where they belong."""
    return _HOW
