"""`verdict completions SHELL`: prints the script with which a shell asks Click for completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import ShellComplete, get_completion_class

from service.cli.main import COMPLETE
from service.cli.output_format import put_lines
from service.cli.parser import RootGroup
from service.client.errors import DONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.cli.command import Arguments

_INSTALL = """
Install:
  bash, in ~/.bashrc:
    source <(verdict completions bash)
  zsh, in ~/.zshrc, after compinit:
    source <(verdict completions zsh)
  fish:
    verdict completions fish > ~/.config/fish/completions/verdict.fish
"""


def show(arguments: Arguments, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - as every command
    """Print the script of one shell."""
    shell = get_completion_class(arguments.shell)
    assert shell is not None  # noqa: S101 - the table allows only shells that Click knows
    # Not the class's own `source`: for bash it starts one to check its version, and fails where there is none.
    script = ShellComplete.source(shell(RootGroup(arguments.sections), {}, "verdict", COMPLETE))
    put_lines([script])
    return DONE


def how_to_install() -> str:
    """The help's section about where the script belongs."""
    return _INSTALL
