"""The terminal: width, colour, cell widths of text, and escaping of control characters.

`NO_COLOR` (https://no-color.org) wins; then `CLICOLOR_FORCE` (https://bixense.com/clicolors) forces colour; else colour
is used on a terminal that is not `TERM=dumb`.
"""

import os
import sys
import unicodedata
from collections.abc import Mapping
from itertools import accumulate, takewhile
from typing import Final, Literal, NamedTuple, TextIO

from service.formats import duration

Style = Literal["good", "bad", "warn", "dim", "strong", "accent"]

_CODES: Final[dict[Style, str]] = {"good": "32", "bad": "31", "warn": "33", "dim": "2", "strong": "1", "accent": "36"}
_ZERO_WIDTH: Final = frozenset({"Mn", "Me"})
_WIDTH: Final = 80
_NARROWEST: Final = 20
_LONGEST_REPLY: Final = 100


class Display(NamedTuple):
    """An output: cells in a line, and whether it supports colour."""

    width: int
    colour: bool

    def paint(self, style: Style | None, text: str) -> str:
        """Colour a text if the output supports it."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style and text else text


class Cell:
    """A text and its style. None is shown as `-`."""

    __slots__ = ("style", "text")

    def __init__(self, text: object, style: Style | None = None) -> None:
        self.text = "-" if text is None else safe(text)
        self.style = style


Part = str | Cell
"""An element of a line."""

Span = tuple[str, Style | None]
"""A piece of a word and its style."""


def cells(text: str) -> int:
    """Terminal cells that a text without escape sequences takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(letter: str) -> int:
    if unicodedata.category(letter) in _ZERO_WIDTH:
        return 0
    return 1 + (unicodedata.east_asian_width(letter) in "WF")


def safe(text: object) -> str:
    """A text with unprintable characters replaced, so that it cannot control the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text))


def cut(text: str, width: int) -> str:
    """A text cut to a width in cells, with `…` at the end if it was cut."""
    return text if cells(text) <= width else head_of(text, width - 1) + "…"


def head_of(text: str, width: int) -> str:
    """The longest beginning of a text that fits into a width in cells."""
    upto = accumulate(map(_cells, text))
    return text[: sum(1 for _ in takewhile(width.__ge__, upto))]


def age(seconds: float) -> str:
    """How old something is: `12 s old`, `5 min old`, `3 h old`, `2 days old`."""
    return f"{duration(seconds)} old"


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal."""
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def is_plain(environment: Mapping[str, str]) -> bool:
    """Whether the terminal cannot move its cursor."""
    return environment.get("TERM") == "dumb"


def tell(text: str) -> None:
    """Write a line for a person to standard error."""
    sys.stderr.write(f"{safe(text)}\n")
    sys.stderr.flush()


def can_ask() -> bool:
    """Whether a person can answer: standard input and standard error are terminals."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def agrees(question: str) -> bool:
    """Ask a person on standard error. Any reply but yes is a no."""
    sys.stderr.write(f"{safe(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline(_LONGEST_REPLY).strip().lower() in {"y", "yes"}


def screen_of(environment: Mapping[str, str], stream: TextIO) -> Display:
    """Width and colours of a stream."""
    forced = environment.get("CLICOLOR_FORCE", "0") not in {"", "0"}
    colour = forced or (is_terminal(stream) and not is_plain(environment))
    return Display(
        max(size_of("columns", environment, stream, _WIDTH), _NARROWEST), colour and not environment.get("NO_COLOR")
    )


def size_of(side: Literal["columns", "lines"], environment: Mapping[str, str], stream: TextIO, otherwise: int) -> int:
    """Columns or lines of a terminal: the variable `COLUMNS` or `LINES`, else its own size, else `otherwise`."""
    text = environment.get(side.upper(), "")
    if text.isascii() and text.isdigit() and int(text):
        return int(text)
    try:
        return getattr(os.get_terminal_size(stream.fileno()), side) or otherwise
    except (OSError, ValueError):  # no terminal, no file, or closed
        return otherwise
