"""Help, written from the table. Imports nothing; 80 columns, wherever it is read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from service.clients.cli.command import Argument, Command

_WIDTH = 80
_COLUMN = 24
_ABOUT = "Crypto market data you can check and verdicts you can reproduce."
_LAST = """
`verdict COMMAND --help` says more of each, with an example. Output is aligned for people on a terminal, JSON elsewhere.
Settings are environment variables; `verdict serve --help` lists them.
"""


def everything(sections: Sequence[tuple[str, Sequence[Command]]]) -> str:
    """Help of `verdict` alone: the first words of all commands, under their titles."""
    lines = ["usage: verdict COMMAND ...", "", _ABOUT]
    told: set[str] = set()
    for title, commands in sections:
        words = dict.fromkeys(command.words.split()[0] for command in commands)
        rows = [(word, _sum_up(word, sections)) for word in words if word not in told]
        told.update(words)
        lines += ["", f"{title}:", *_rows(rows, 16)]
    lines += ["", *_rows([("--version", "print the version")], 16)]
    for paragraph in _LAST.strip().splitlines():
        lines += ["", *_wrap(paragraph, "", "")]
    return "\n".join(lines) + "\n"


def group(words: str, below: Sequence[Command], own: Command | None) -> str:
    """Help of words that begin several commands."""
    commands = [command for command in (own, *below) if command is not None]
    rows = [(f"verdict {_typed(command)}", command.summary) for command in dict.fromkeys(commands)]
    lines = [f"usage: verdict {words} COMMAND ...", "", "commands:", *_rows(rows, _COLUMN)]
    if own is not None and own.words != words:
        lines += ["", f"`verdict {words}` alone is `verdict {own.words}`."]
    return "\n".join(lines) + "\n"


def command(row: Command) -> str:
    """Help of one command: usage, what it does, its arguments, an example."""
    lines = [*_wrap(f"usage: verdict {_typed(row)} [OPTIONS]", "", "  "), "", *_wrap(_sentence(row.summary), "", "")]
    shown = [argument for argument in row.arguments if not argument.hidden]
    for title, some in (
        ("arguments", [argument for argument in shown if not argument.named]),
        ("options", [argument for argument in shown if argument.named]),
    ):
        if some:
            lines += ["", f"{title}:", *_rows([(_heading(argument), _said(argument)) for argument in some], _COLUMN)]
    lines += ["", "example:", f"  {row.example}"]
    text = "\n".join(lines) + "\n"
    if row.more:
        from service.clients.cli.loading import load  # noqa: PLC0415 - few commands have more to say

        text += load(row.more)()
    return text


def _sum_up(word: str, sections: Sequence[tuple[str, Sequence[Command]]]) -> str:
    """What a first word is for: its command's summary, or the words that go on from it."""
    below = [row for _, commands in sections for row in commands if row.words.split()[0] == word]
    if len(below) == 1 and below[0].words == word:
        return below[0].summary
    alone = [row.summary + "; also" for row in below if row.words == word]
    return " ".join((*alone, ", ".join(row.words.removeprefix(f"{word} ") for row in below if row.words != word)))


def _typed(row: Command) -> str:
    """How a command is typed, with what it cannot do without."""
    return " ".join((row.words, *filter(None, map(_wanted, row.arguments))))


def _wanted(argument: Argument) -> str:
    if argument.named:
        return f"{argument.name} {argument.shown}" if argument.required and not argument.apart else ""
    if argument.many:
        return f"[{argument.shown} ...]"
    return f"[{argument.shown}]" if argument.optional else argument.shown


def _heading(argument: Argument) -> str:
    if not argument.named:
        return argument.shown
    return argument.name if argument.kind == "flag" else f"{argument.name} {argument.shown}"


def _said(argument: Argument) -> str:
    choices = "" if argument.shown == "|".join(argument.choices) else ", ".join(argument.choices)
    return f"{argument.summary}: {choices}" if choices else argument.summary


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _rows(rows: Iterable[tuple[str, str]], column: int) -> Iterator[str]:
    """Names beside what they mean; a name that is too long has a line of its own."""
    margin = " " * (column + 2)
    for name, text in rows:
        if len(name) < column - 1:
            yield from _wrap(text, f"  {name:<{column}}", margin)
        else:
            yield f"  {name}"
            yield from _wrap(text, margin, margin)


def _wrap(text: str, first: str, rest: str) -> Iterator[str]:
    line = first
    for word in text.split():
        apart = " " if line.strip() and line not in {first, rest} else ""
        if line.strip() and len(line) + len(apart) + len(word) > _WIDTH and line not in {first, rest}:
            yield line
            line, apart = rest, ""
        line += apart + word
    yield line
