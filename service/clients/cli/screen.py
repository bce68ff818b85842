"""What a person reads is written with: widths, colours, tables, ages, small pictures.

Everything here gives lines of text; nothing writes. `Screen` says how wide and whether in colour, so that the same
answer gives the same lines for the same screen. Widths are counted in terminal cells (East Asian wide letters take two).
"""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, Literal

Style = Literal["good", "bad", "warn", "dim", "strong", "accent"]

_CODES: Final[dict[Style, str]] = {
    "good": "32",
    "bad": "31",
    "warn": "33",
    "dim": "2",
    "strong": "1",
    "accent": "36",
}
_BARS: Final = "▁▂▃▄▅▆▇█"
_GAP: Final = "  "
_NARROWEST: Final = 8
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


class Screen:
    """Where lines are read.

    Args:
        width: Cells in a line.
        colour: Whether escape sequences of colour are understood.
    """

    def __init__(self, width: int, *, colour: bool) -> None:
        self.width = width
        self.colour = colour

    def paint(self, style: Style, text: str) -> str:
        """Colour a text, where there is colour; its width stays."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and text else text


def cells(text: str) -> int:
    """Terminal cells that a text without escape sequences takes."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def safe(text: object) -> str:
    """A text that cannot steer the terminal, whoever wrote it."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text))


def age(seconds: float) -> str:
    """How old something is: `12 s old`, `5 min old`, `3 h old`, `2 d old`."""
    for unit_s, name in _UNITS:
        if seconds >= unit_s:
            return f"{int(seconds // unit_s)} {name} old"
    return f"{int(seconds)} s old"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """A row of bars as tall as values are large; gaps where nothing is known."""
    if len(values) > width:
        values = [values[place * len(values) // width] for place in range(width)]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    steps = len(_BARS) - 1
    return "".join(" " if v is None else _BARS[round((v - low) / span * steps) if span else steps // 2] for v in values)


class Cell:
    """One cell of a table: a text, and how it is painted."""

    __slots__ = ("style", "text")

    def __init__(self, text: object, style: Style | None = None) -> None:
        self.text = "-" if text is None else safe(text)
        self.style = style


def table(
    screen: Screen, headers: Sequence[str], rows: Sequence[Sequence[Cell | object]], *, right: str = ""
) -> Iterator[str]:
    """Rows under headers, columns aligned; the widest column gives way where the screen is too narrow.

    Args:
        screen: Where it is read.
        headers: One for each column.
        rows: Cells, or what is shown by `str` (None as `-`).
        right: One letter a column, `r` where it is set against its right edge (`lrr`); left where there is none.
    """
    grid = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    widths = [max(map(cells, (header, *(row[place].text for row in grid)))) for place, header in enumerate(headers)]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - screen.width
    while over > 0 and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
        over -= 1
    heads = [Cell(header, "dim") for header in headers]
    for row in (heads, *grid):
        shown = [
            _set(screen, cell, width, right[place : place + 1])
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield _GAP.join(shown).rstrip()


def _set(screen: Screen, cell: Cell, width: int, side: str) -> str:
    text = cut(cell.text, width)
    space = " " * (width - cells(text))
    painted = screen.paint(cell.style, text) if cell.style else text
    return space + painted if side == "r" else painted + space


def cut(text: str, width: int) -> str:
    """As much of a text as so many cells hold, its end marked where something is missing."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return text + "…"
