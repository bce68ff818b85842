"""Lays out text: wrapped paragraphs, labelled facts, and tables that fit the terminal's width."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from service.cli.terminal import Cell, Display, Part, Span, cells, cut, head_of, safe

_TEXT_GAP: Final = "  "
_APART: Final = "   "
_TEXT_NARROWEST: Final = 8
_READABLE: Final = 100
"""Cells of a line of prose at the most: the eye loses its place in longer ones."""


def heading(screen: Display, said: Iterable[Cell]) -> Iterator[str]:
    """A heading of several parts, on as few lines as possible."""
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


def flow(screen: Display, parts: Iterable[Part], *, label: str = "", indent: int = 0) -> Iterator[str]:
    """Wrap text of several styles at a readable width.

    Args:
        screen: Where it is read.
        parts: Text; parts are separated by spaces.
        label: Dimmed text at the start of the first line.
        indent: Width of the left margin in cells; the label stands in it.
    """
    available = max(min(screen.width, _READABLE) - indent, _TEXT_NARROWEST)
    lead = screen.paint("dim", label) + " " * (indent - cells(label))
    return filled(screen, _words(parts, available), lead, " " * indent, available)


def filled(screen: Display, words: Iterable[Sequence[Span]], first: str, rest: str, available: int) -> Iterator[str]:
    """Fill lines with words; no space before a word that begins with a comma.

    Args:
        screen: Where it is read.
        words: Each as styled pieces.
        first: What the first line begins with.
        rest: What every other line begins with.
        available: Cells of a line after its start; a longer word gets its own line.
    """
    lead, taken = first, 0
    line: list[Span] = []
    for word in words:
        wide = sum(cells(text) for text, _ in word)
        gap = " " if line and not word[0][0].startswith(",") else ""
        if line and taken + len(gap) + wide > available:
            yield lead + _painted(screen, line)
            lead, line, taken, gap = rest, [], 0, ""
        taken += len(gap) + wide
        if gap:
            line.append((gap, word[0][1] if line[-1][1] == word[0][1] else None))
        line += word
    if line:
        yield lead + _painted(screen, line)


def _painted(screen: Display, spans: Iterable[Span]) -> str:
    """Join pieces; neighbours of one style share their escape sequences."""
    return "".join(
        screen.paint(style, "".join(text for text, _ in alike)) for style, alike in groupby(spans, itemgetter(1))
    )


def _words(parts: Iterable[Part], available: int) -> Iterator[list[Span]]:
    for part in parts:
        text, style = (part.text, part.style) if isinstance(part, Cell) else (part, None)
        for piece in text.split():
            word = safe(piece)
            while cells(word) > available:
                head = head_of(word, available)
                yield [(head, style)]
                word = word[len(head) :]
            yield [(word, style)]


def listed(cells: Iterable[Cell]) -> list[Part]:
    """Cells separated by commas."""
    return [part for cell in cells for part in (",", cell)][1:]


def facts(screen: Display, rows: Iterable[tuple[str, Sequence[Part]]]) -> Iterator[str]:
    """Labelled rows with a hanging indent. A row without parts is omitted."""
    said = [(label, parts) for label, parts in rows if parts]
    indent = max((cells(label) for label, _ in said), default=0) + len(_TEXT_GAP)
    for label, parts in said:
        yield from flow(screen, parts, label=label, indent=indent)


def wrap(screen: Display, spans: Iterable[Span], first: str = "", rest: str = "") -> Iterator[str]:
    """Wrap text to the screen; a word longer than a line gets its own line.

    Args:
        screen: Where it is read.
        spans: Styled pieces; control characters are replaced.
        first: What the first line begins with.
        rest: What every other line begins with.
    """
    available = min(screen.width, _READABLE) - max(cells(first), cells(rest))
    return filled(screen, _unbroken(spans), first, rest, available)


def _unbroken(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Words as styled pieces."""
    word: list[Span] = []
    for text, style in spans:
        for place, part in enumerate(text.replace("\t", " ").split(" ")):
            if place and word:
                yield word
                word = []
            if part:
                word.append((safe(part), style))
    if word:
        yield word


_TABLE_GAP: Final = "  "
_TABLE_NARROWEST: Final = 8
"""Cells that are left to a column of words."""


def table(
    screen: Display,
    headers: Sequence[str],
    rows: Sequence[Sequence[Cell | object]],
    *,
    right: str = "",
    whole: bool = False,
) -> Iterator[str]:
    """A table with aligned columns; the widest text columns shrink on a narrow screen.

    Numbers are never cut: if shrinking is not enough, each row becomes a list.

    Args:
        screen: Where it is read.
        headers: One per column; a column with an empty header belongs to the one before it.
        rows: Cells, or values shown by `str` (None as `-`).
        right: One letter per column: `r` aligns right (numbers), `l` left, the default.
        whole: Whether text columns must not shrink either.
    """
    grid = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    heads = [Cell(header, "dim") for header in headers]
    sides = right.ljust(len(headers), "l")
    widths = [max(cells(row[place].text) for row in (heads, *grid)) for place in range(len(headers))]
    if not _narrow(widths, sides, screen.width - len(_TABLE_GAP) * (len(widths) - 1), whole=whole):
        for cell_row in grid:
            yield from _below_itself(screen, headers, cell_row)
        return
    for row in (heads, *grid):
        shown = [_set(screen, cell, width, side) for cell, width, side in zip(row, widths, sides, strict=True)]
        yield _TABLE_GAP.join(shown).rstrip()


def _narrow(widths: list[int], sides: str, available: int, *, whole: bool) -> bool:
    """Shrink text columns; whether the table fits now."""
    over = sum(widths) - available
    giving = [] if whole else [place for place, side in enumerate(sides) if side == "l"]
    while over > 0 and (giving := [place for place in giving if widths[place] > _TABLE_NARROWEST]):
        widths[max(giving, key=widths.__getitem__)] -= 1
        over -= 1
    return over <= 0


def _below_itself(screen: Display, headers: Sequence[str], row: Sequence[Cell]) -> Iterator[str]:
    """A row as a title and one line per column."""
    said: list[tuple[str, list[Cell]]] = []
    for header, cell in zip(headers, row, strict=True):
        if said and not (header.strip() and said[-1][0]):
            said[-1] = (said[-1][0] or header, [*said[-1][1], cell])
        else:
            said.append((header, [cell]))
    yield from flow(screen, [Cell(cell.text, cell.style or "strong") for cell in said[0][1]])
    yield from facts(screen, [(f"  {Cell(header).text}", parts) for header, parts in said[1:]])


def _set(screen: Display, cell: Cell, width: int, side: str) -> str:
    text = cut(cell.text, width)
    space = " " * (width - cells(text))
    painted = screen.paint(cell.style, text)
    return space + painted if side == "r" else painted + space
