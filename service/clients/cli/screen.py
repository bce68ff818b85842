"""What a person reads is written with: widths, colours, words that wrap, tables, ages.

Everything here gives lines of text; nothing writes. `Screen` says how wide and whether in colour, so that the same
answer gives the same lines for the same screen. Widths are counted in cells (East Asian wide letters take two).
Colour is never the only one to say something: without it the words are the same.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, takewhile
from operator import itemgetter
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
_APART: Final = "   "
_NARROWEST: Final = 8
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))
_ZERO_WIDTH: Final = frozenset({"Mn", "Me"})
READABLE: Final = 100
"""Cells of a line of prose at the most: the eye loses its place in longer ones."""


class Screen:
    """Where lines are read.

    Args:
        width: Cells in a line.
        colour: Whether escape sequences of colour are understood.
    """

    def __init__(self, width: int, *, colour: bool) -> None:
        self.width = width
        self.colour = colour

    def paint(self, style: Style | None, text: str) -> str:
        """Colour a text, where there is colour; its width stays."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style and text else text


class Cell:
    """A text, and how it is painted. None is shown as `-`."""

    __slots__ = ("style", "text")

    def __init__(self, text: object, style: Style | None = None) -> None:
        self.text = "-" if text is None else safe(text)
        self.style = style


Part = str | Cell
"""What lines of words are made of."""

Span = tuple[str, Style | None]
"""A piece of a word, and how it is painted."""


def cells(text: str) -> int:
    """Terminal cells that a text without escape sequences takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(letter: str) -> int:
    if unicodedata.category(letter) in _ZERO_WIDTH:
        return 0
    return 1 + (unicodedata.east_asian_width(letter) in "WF")


def safe(text: object) -> str:
    """A text that cannot steer the terminal, whoever wrote it."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text))


def cut(text: str, width: int) -> str:
    """As much of a text as so many cells hold, its end marked where something is missing."""
    return text if cells(text) <= width else _head(text, width - 1) + "…"


def _head(text: str, width: int) -> str:
    """The longest beginning of a text that so many cells hold."""
    upto = accumulate(map(_cells, text))
    return text[: sum(1 for _ in takewhile(width.__ge__, upto))]


def age(seconds: float) -> str:
    """How old something is: `12 s old`, `5 min old`, `3 h old`, `2 d old`."""
    for unit_s, name in _UNITS:
        if seconds >= unit_s:
            return f"{int(seconds // unit_s)} {name} old"
    return f"{int(seconds)} s old"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """A row of bars as tall as values are large; gaps where nothing is known.

    Where there are more values than cells, a cell shows the one of its stretch that stands out most: a peak stays one.
    """
    known = [value for value in values if value is not None]
    if not known:
        return ""
    if len(values) > width:
        values = list(_outstanding(values, width, sum(known) / len(known)))
    low, span = min(known), max(known) - min(known)
    steps = len(_BARS) - 1
    return "".join(" " if v is None else _BARS[round((v - low) / span * steps) if span else steps // 2] for v in values)


def heading(screen: Screen, said: Iterable[Cell]) -> Iterator[str]:
    """What an answer is about, on as few lines as it fits on, set apart by blanks."""
    lead, taken = "", 0
    for cell in said:
        text = cut(cell.text, screen.width)
        if lead and taken + len(_APART) + cells(text) > screen.width:
            yield lead
            lead, taken = "", 0
        apart = _APART if lead else ""
        lead += apart + screen.paint(cell.style, text)
        taken += len(apart) + cells(text)
    if lead:
        yield lead


def _outstanding(values: Sequence[float | None], width: int, mean: float) -> Iterator[float | None]:
    for place in range(width):
        stretch = values[place * len(values) // width : (place + 1) * len(values) // width]
        known = [value for value in stretch if value is not None]
        yield max(known, key=lambda value: abs(value - mean), default=None)


def flow(screen: Screen, parts: Iterable[Part], *, label: str = "", indent: int = 0) -> Iterator[str]:
    """Words in lines, each in the style of its part; lines are no longer than is good to read.

    Args:
        screen: Where it is read.
        parts: What is said, parted by blanks.
        label: What the first line begins with, in quiet letters.
        indent: Cells before the words of each line; the label stands there in the first.
    """
    room = max(min(screen.width, READABLE) - indent, _NARROWEST)
    lead = screen.paint("dim", label) + " " * (indent - cells(label))
    return filled(screen, _words(parts, room), lead, " " * indent, room)


def filled(screen: Screen, words: Iterable[Sequence[Span]], first: str, rest: str, room: int) -> Iterator[str]:
    """Words in lines; what begins with a comma stands right behind the word before it.

    Args:
        screen: Where it is read.
        words: Each in its painted pieces.
        first: What the first line begins with.
        rest: What every other line begins with.
        room: Cells of a line behind that; a word that is longer stands alone.
    """
    lead, taken = first, 0
    line: list[Span] = []
    for word in words:
        wide = sum(cells(text) for text, _ in word)
        gap = " " if line and not word[0][0].startswith(",") else ""
        if line and taken + len(gap) + wide > room:
            yield lead + _painted(screen, line)
            lead, line, taken, gap = rest, [], 0, ""
        taken += len(gap) + wide
        if gap:
            line.append((gap, word[0][1] if line[-1][1] == word[0][1] else None))
        line += word
    if line:
        yield lead + _painted(screen, line)


def _painted(screen: Screen, spans: Iterable[Span]) -> str:
    """Pieces side by side, those of one style painted at once."""
    return "".join(
        screen.paint(style, "".join(text for text, _ in alike)) for style, alike in groupby(spans, itemgetter(1))
    )


def _words(parts: Iterable[Part], room: int) -> Iterator[list[Span]]:
    for part in parts:
        text, style = (part.text, part.style) if isinstance(part, Cell) else (part, None)
        for piece in text.split():
            word = safe(piece)
            while cells(word) > room:
                head = _head(word, room)
                yield [(head, style)]
                word = word[len(head) :]
            yield [(word, style)]


def listed(cells: Iterable[Cell]) -> list[Part]:
    """What is counted up, with commas between."""
    return [part for cell in cells for part in (",", cell)][1:]


def facts(screen: Screen, rows: Iterable[tuple[str, Sequence[Part]]]) -> Iterator[str]:
    """What is known, a label before each; what is too long goes on under itself. A row without parts is left out."""
    said = [(label, parts) for label, parts in rows if parts]
    indent = max((cells(label) for label, _ in said), default=0) + len(_GAP)
    for label, parts in said:
        yield from flow(screen, parts, label=label, indent=indent)


def table(
    screen: Screen,
    headers: Sequence[str],
    rows: Sequence[Sequence[Cell | object]],
    *,
    right: str = "",
    whole: bool = False,
) -> Iterator[str]:
    """Rows under headers, columns aligned; the widest column of words gives way where the screen is too narrow.

    Half a figure is a wrong one: where words cannot give way far enough, what each row holds stands below itself.

    Args:
        screen: Where it is read.
        headers: One for each column; a column without one belongs to that before it.
        rows: Cells, or what is shown by `str` (None as `-`).
        right: One letter a column, `r` for figures, set against their right edge (`lrr`); left where there is none.
        whole: Whether nothing gives way, words neither.
    """
    grid = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    heads = [Cell(header, "dim") for header in headers]
    sides = right.ljust(len(headers), "l")
    widths = [max(cells(row[place].text) for row in (heads, *grid)) for place in range(len(headers))]
    if not _narrow(widths, sides, screen.width - len(_GAP) * (len(widths) - 1), whole=whole):
        for cell_row in grid:
            yield from _below_itself(screen, headers, cell_row)
        return
    for row in (heads, *grid):
        shown = [_set(screen, cell, width, side) for cell, width, side in zip(row, widths, sides, strict=True)]
        yield _GAP.join(shown).rstrip()


def _narrow(widths: list[int], sides: str, room: int, *, whole: bool) -> bool:
    """Have columns of words give way; whether they fit now."""
    over = sum(widths) - room
    giving = [] if whole else [place for place, side in enumerate(sides) if side == "l"]
    while over > 0 and (giving := [place for place in giving if widths[place] > _NARROWEST]):
        widths[max(giving, key=widths.__getitem__)] -= 1
        over -= 1
    return over <= 0


def _below_itself(screen: Screen, headers: Sequence[str], row: Sequence[Cell]) -> Iterator[str]:
    """A row as a title and what belongs to it, a line each."""
    said: list[tuple[str, list[Cell]]] = []
    for header, cell in zip(headers, row, strict=True):
        if said and not (header.strip() and said[-1][0]):
            said[-1] = (said[-1][0] or header, [*said[-1][1], cell])
        else:
            said.append((header, [cell]))
    yield from flow(screen, [Cell(cell.text, cell.style or "strong") for cell in said[0][1]])
    yield from facts(screen, [(f"  {Cell(header).text}", parts) for header, parts in said[1:]])


def _set(screen: Screen, cell: Cell, width: int, side: str) -> str:
    text = cut(cell.text, width)
    space = " " * (width - cells(text))
    painted = screen.paint(cell.style, text)
    return space + painted if side == "r" else painted + space
