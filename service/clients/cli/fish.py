"""Completions of fish: a line for each word and option. Imports nothing."""

from __future__ import annotations

from service.clients.cli.tree import is_file, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from service.clients.cli.command import Argument, Command
    from service.clients.cli.tree import Node

_FISH = """\
# Completions of verdict for fish: verdict completions fish > ~/.config/fish/completions/verdict.fish
function __verdict_path
    set -l at ""
    for word in (commandline -opc)[2..-1]
        set -l further (string trim -- "$at $word")
        if contains -- "$further" %(paths)s
            set at "$further"
        else
            echo "$at"
            string match -q -- "-*" "$word"
            return
        end
    end
    echo "$at"
end
function __verdict_at
    test (__verdict_path) = "$argv"
end
function __verdict_next
    set -l at (__verdict_path)
    and test "$at" = "$argv"
end
complete -c verdict -f
%(lines)s
"""


def fish(commands: Iterable[Command]) -> str:
    """Completions for fish, 3.0 and newer."""
    nodes = tree(commands)
    return _FISH % {
        "paths": " ".join(_quoted(node.path) for node in nodes if node.path),
        "lines": "\n".join(line for node in nodes for line in _lines(node)),
    }


def _lines(node: Node) -> Iterator[str]:
    here = f'complete -c verdict -n "__verdict_at {_quoted(node.path)}"'
    next_ = here.replace("_at ", "_next ")
    for word, summary in node.words.items():
        yield f"{next_} -a {_quoted(word)} -d {_quoted(summary)}"
    if list(node.choices):
        yield f"{next_} -a {_quoted(' '.join(node.choices))}"
    if node.files:
        yield f"{next_} -F"
    for option in node.options:
        yield f"{here} -l {option.name.removeprefix('--')}{_value(option)} -d {_quoted(option.summary)}"
    yield f"{here} -l help -d 'say more of it'"


def _value(option: Argument) -> str:
    if option.kind == "flag":
        return ""
    if option.choices:
        return f" -x -a {_quoted(' '.join(option.choices))}"
    return " -r -F" if is_file(option) else " -x"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
