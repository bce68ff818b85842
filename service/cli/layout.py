"""Lays out text: wrapped paragraphs, labelled facts, and tables that fit the terminal's width."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from service.cli.terminal import Cell, Display, Part, Span, cells, cut, head_of, safe

_GAP: Final = "  "
_NARROWEST: Final = 8
"""Narrowest line and column of words, in cells."""

_SENTENCE: Final = 24
"""Narrowest column of sentences, in cells."""

_READABLE: Final = 100
"""Widest line of prose, in cells."""


def heading(screen: Display, said: Iterable[Cell]) -> Iterator[str]:
    """A heading of several parts, on as few lines as possible."""
    return _filled(screen, _broken(([(cell.text, cell.style)] for cell in said), screen.width), screen.width, gap="   ")


def flow(screen: Display, parts: Iterable[Part], *, label: str = "", indent: int = 0) -> Iterator[str]:
    """Wrap text of several styles at a readable width.

    Args:
        screen: Where it is read.
        parts: Text; parts are separated by spaces.
        label: Dimmed text at the start of the first line.
        indent: Width of the left margin in cells; the label stands in it.
    """
    available = max(min(screen.width, _READABLE) - indent, _NARROWEST)
    label = safe(label)
    lead = screen.paint("dim", label) + " " * (indent - cells(label))
    return _filled(screen, _broken(_words(_spans(parts)), available), available, lead, " " * indent)


def wrap(screen: Display, spans: Iterable[Span], first: str = "", rest: str = "") -> Iterator[str]:
    """Wrap text to the screen after the prefixes `first` and `rest`; a word longer than a line gets its own line."""
    available = min(screen.width, _READABLE) - max(cells(first), cells(rest))
    return _filled(screen, _words(spans), available, first, rest)


def _filled(
    screen: Display, words: Iterable[Sequence[Span]], available: int, first: str = "", rest: str = "", gap: str = " "
) -> Iterator[str]:
    """Fill lines with words; no gap before a word that begins with a comma."""
    lead, taken = first, 0
    line: list[Span] = []
    for word in words:
        wide = sum(cells(text) for text, _ in word)
        between = gap if line and not word[0][0].startswith(",") else ""
        if line and taken + len(between) + wide > available:
            yield lead + _painted(screen, line)
            lead, line, taken, between = rest, [], 0, ""
        if between:
            line.append((between, word[0][1] if between == " " and line[-1][1] == word[0][1] else None))
        taken += len(between) + wide
        line += word
    if line:
        yield lead + _painted(screen, line)


def _painted(screen: Display, spans: Iterable[Span]) -> str:
    """Join pieces; neighbours of one style share their escape sequences."""
    return "".join(
        screen.paint(style, "".join(text for text, _ in alike)) for style, alike in groupby(spans, itemgetter(1))
    )


def _spans(parts: Iterable[Part]) -> Iterator[Span]:
    for part in parts:
        yield (part.text, part.style) if isinstance(part, Cell) else (part, None)
        yield " ", None


def _words(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Words as styled pieces."""
    word: list[Span] = []
    for text, style in spans:
        for place, piece in enumerate(re.split(r"\s+", text)):
            if place and word:
                yield word
                word = []
            if piece:
                word.append((safe(piece), style))
    if word:
        yield word


def _broken(words: Iterable[Sequence[Span]], available: int) -> Iterator[list[Span]]:
    """Words of one piece, those that are longer than a line broken."""
    for [(text, style)] in words:
        rest = text
        while cells(rest) > available:
            head = head_of(rest, available)
            yield [(head, style)]
            rest = rest[len(head) :]
        yield [(rest, style)]


def listed(cells: Iterable[Cell]) -> list[Part]:
    """Cells separated by commas."""
    return [part for cell in cells for part in (",", cell)][1:]


def facts(screen: Display, rows: Iterable[tuple[str, Sequence[Part]]]) -> Iterator[str]:
    """Labelled rows with a hanging indent. A row without parts is omitted."""
    said = [(safe(label), parts) for label, parts in rows if parts]
    indent = max((cells(label) for label, _ in said), default=0) + len(_GAP)
    for label, parts in said:
        yield from flow(screen, parts, label=label, indent=indent)


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
        right: One letter per column: `r` aligns right (numbers); `l`, the default, left; `w` left too, but whole;
            `s` is the last column, of sentences, which are wrapped.
        whole: Whether no column is cut.
    """
    grid = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    heads = [Cell(header, "dim") for header in headers]
    sides = right.ljust(len(headers), "l").replace("l", "w" if whole else "l")
    widths = [max(cells(row[place].text) for row in (heads, *grid)) for place in range(len(headers))]
    if not _narrow(widths, sides, screen.width - len(_GAP) * (len(widths) - 1)):
        for place, cell_row in enumerate(grid):
            yield from [""] * bool(place)
            yield from _below_itself(screen, headers, cell_row)
        return
    for row in (heads, *grid):
        shown = [_set(screen, cell, width, side) for cell, width, side in zip(row, widths, sides, strict=True)]
        if sides[-1] == "s":
            lead = "".join(one + _GAP for one in shown[:-1])
            indent = " " * sum(width + len(_GAP) for width in widths[:-1])
            words = _broken(_words([(row[-1].text, row[-1].style)]), widths[-1])
            yield from list(_filled(screen, words, widths[-1], lead, indent)) or [lead.rstrip()]
        else:
            yield _GAP.join(shown).rstrip()


def _narrow(widths: list[int], sides: str, available: int) -> bool:
    """Shrink text columns; whether the table fits now."""
    over = sum(widths) - available
    least = {"l": _NARROWEST, "s": _SENTENCE}
    giving = [place for place, side in enumerate(sides) if side in least]
    while over > 0 and (giving := [place for place in giving if widths[place] > least[sides[place]]]):
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
