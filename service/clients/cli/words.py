"""Finds the command that is meant by the first words of a command line. Imports nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.clients.cli.command import Command


class Found:
    """What the first words of a command line mean.

    Args:
        words: Those that were understood: `coin`, `coin risk`.
        command: The command, if they name one.
        below: Commands whose words begin with these and go on.
        rest: What was typed after them.
    """

    __slots__ = ("below", "command", "rest", "words")

    def __init__(self, words: str, command: Command | None, below: Sequence[Command], rest: Sequence[str]) -> None:
        self.words = words
        self.command = command
        self.below = below
        self.rest = rest

    @property
    def next_words(self) -> list[str]:
        """Words that may come next, in the order of the table."""
        start = len(self.words.split())
        return list(dict.fromkeys(command.words.split()[start] for command in self.below))

    @property
    def strange(self) -> str | None:
        """A next word that is none: there is no such command, and no command here that takes it."""
        if not self.below or not self.rest or self.rest[0].startswith("-"):
            return None
        takes = self.command is not None and any(not argument.named for argument in self.command.arguments)
        return None if takes else self.rest[0]


def find(typed: Sequence[str], commands: Sequence[Command]) -> Found:
    """Go along the words of a command line as far as they are words of commands.

    Args:
        typed: The command line without the program's name.
        commands: The table.
    """
    words: list[str] = []
    below: Sequence[Command] = commands
    for text in typed:
        going_on = [command for command in below if command.words.split()[len(words) : len(words) + 1] == [text]]
        if not going_on:
            break
        words.append(text)
        below = going_on
    joined = " ".join(words)
    exact = [command for command in below if command.words == joined]
    bare = [command for command in below if command.bare and command.words.rpartition(" ")[0] == joined]
    beyond = [command for command in below if command.words != joined]
    return Found(joined, next(iter(exact + bare), None), beyond, typed[len(words) :])
