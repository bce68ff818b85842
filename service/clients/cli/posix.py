"""Completions of bash and zsh: two case tables, of words and of what may follow them. Imports nothing.

They hold no text but what stands in the table of commands: nothing is expanded or run while completing.
"""

from __future__ import annotations

from service.clients.cli.tree import is_file, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from service.clients.cli.command import Command
    from service.clients.cli.tree import Node

_FILES = "@files"

_BASH = """\
# Completions of verdict for bash. In ~/.bashrc: source <(verdict completions bash)
_verdict() {
    local cur="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}" at="" next="" more=yes i
    if [ "$cur" = "=" ]; then cur=""
    elif [ "$before" = "=" ]; then before="${COMP_WORDS[COMP_CWORD - 2]}"; fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at/${COMP_WORDS[i]}" in
            %(paths)s) at="${at:+$at }${COMP_WORDS[i]}" ;;
            */-*) break ;;
            *) more=no; break ;;
        esac
    done
    case "$at/$before" in
%(values)s
        *) case "$cur" in
            -*) case "$at" in
%(options)s
            esac ;;
            *) case "$at/$more" in
%(words)s
            esac ;;
        esac ;;
    esac
    if [ "$next" = "@files" ]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$cur"))
    else
        COMPREPLY=($(compgen -W "$next" -- "$cur"))
    fi
}
complete -F _verdict verdict
"""

_ZSH = """\
#compdef verdict
# Completions of verdict for zsh. In ~/.zshrc, after compinit: source <(verdict completions zsh)
_verdict() {
    local before="${words[CURRENT - 1]}" at="" next="" more=yes i
    if [[ "$PREFIX" = --*=* ]]; then
        before="${PREFIX%%%%=*}"
        compset -P "*="
    fi
    for ((i = 2; i < CURRENT; i++)); do
        case "$at/${words[i]}" in
            %(paths)s) at="${at:+$at }${words[i]}" ;;
            */-*) break ;;
            *) more=no; break ;;
        esac
    done
    case "$at/$before" in
%(values)s
        *) case "$PREFIX" in
            -*) case "$at" in
%(options)s
            esac ;;
            *) case "$at/$more" in
%(words)s
            esac ;;
        esac ;;
    esac
    if [[ "$next" = "@files" ]]; then _files; else compadd -- ${=next}; fi
}
compdef _verdict verdict
"""


def bash(commands: Iterable[Command]) -> str:
    """Completions for bash, 3.2 and newer."""
    return _BASH % _tables(commands)


def zsh(commands: Iterable[Command]) -> str:
    """Completions for zsh."""
    return _ZSH % _tables(commands)


def _tables(commands: Iterable[Command]) -> dict[str, str]:
    nodes = tree(commands)
    options = [_case(node.path, " ".join((*(option.name for option in node.options), "--help"))) for node in nodes]
    words = [_case(f"{node.path}/yes", _words(node)) for node in nodes if _words(node)]
    return {
        "paths": " | ".join(_key(*_parted(node.path)) for node in nodes if node.path),
        "values": "\n".join(_values(nodes)),
        "options": "\n".join(options),
        "words": "\n".join(words),
    }


def _values(nodes: Iterable[Node]) -> Iterator[str]:
    """What may follow an option that takes a value: mostly the same in whatever command it stands."""
    found: dict[str, dict[str, list[str]]] = {}
    for node in nodes:
        for option in node.options:
            if option.kind != "flag":
                next_ = _FILES if is_file(option) else " ".join(option.choices)
                found.setdefault(option.name, {}).setdefault(next_, []).append(node.path)
    for name, values in found.items():
        for next_, paths in values.items():
            keys = [f'*"/{name}"'] if len(values) == 1 else [_key(path, name) for path in paths]
            yield f'        {" | ".join(keys)}) next="{next_}" ;;'


def _words(node: Node) -> str:
    return _FILES if node.files else " ".join((*node.words, *node.choices))


def _case(path: str, next_: str) -> str:
    return f'                "{path}") next="{next_}" ;;'


def _parted(path: str) -> tuple[str, str]:
    before, _, word = path.rpartition(" ")
    return before, word


def _key(path: str, word: str) -> str:
    return f'"{path}/{word}"'
