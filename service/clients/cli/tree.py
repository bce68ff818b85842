"""The table as a shell sees it: what may follow which words. Imports nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from service.clients.cli.command import Argument, Command

FILES = frozenset({"FILE", "DIR", "OUT"})
"""What stands for a path in help."""


class Node:
    """A place in the tree of words.

    Args:
        path: The words up to here: `coin`.

    Attributes:
        path: As given.
        words: Words that may come next, with what they are for.
        arguments: What the command at this place takes, if there is one.
    """

    __slots__ = ("arguments", "path", "words")

    def __init__(self, path: str) -> None:
        self.path = path
        self.words: dict[str, str] = {}
        self.arguments: Sequence[Argument] = ()

    @property
    def options(self) -> Iterator[Argument]:
        """What it takes by name."""
        return (argument for argument in self.arguments if argument.named and not argument.hidden)

    @property
    def choices(self) -> Iterator[str]:
        """What it takes by place, as far as that is a closed list."""
        return (choice for argument in self.arguments if not argument.named for choice in argument.choices)

    @property
    def files(self) -> bool:
        """Whether it takes a path by place."""
        return any(is_file(argument) for argument in self.arguments if not argument.named)


def tree(commands: Iterable[Command]) -> list[Node]:
    """Every place in the tree of words, the root first."""
    nodes = {"": Node("")}
    for command in commands:
        path = ""
        for word in command.words.split():
            node = nodes[path]
            path = f"{path} {word}".lstrip()
            node.words.setdefault(word, command.summary if path == command.words else "")
            nodes.setdefault(path, Node(path))
        nodes[path].arguments = command.arguments
        if command.bare:
            nodes[path.rpartition(" ")[0]].arguments = command.arguments
    for node in nodes.values():
        for word, summary in node.words.items():
            below = nodes[f"{node.path} {word}".lstrip()]
            node.words[word] = summary or ", ".join(below.words)
    return list(nodes.values())


def is_file(argument: Argument) -> bool:
    """Whether it is a path."""
    return argument.shown in FILES
