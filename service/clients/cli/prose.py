"""Words in lines: prose that wraps, what is known with a label before each, what an answer is about."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from service.clients.cli.screen import Cell, Part, Screen, Span, cells, cut, head_of, safe

_GAP: Final = "  "
_APART: Final = "   "
_NARROWEST: Final = 8
_READABLE: Final = 100
"""Cells of a line of prose at the most: the eye loses its place in longer ones."""


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


def flow(screen: Screen, parts: Iterable[Part], *, label: str = "", indent: int = 0) -> Iterator[str]:
    """Words in lines, each in the style of its part; lines are no longer than is good to read.

    Args:
        screen: Where it is read.
        parts: What is said, parted by blanks.
        label: What the first line begins with, in quiet letters.
        indent: Cells before the words of each line; the label stands there in the first.
    """
    room = max(min(screen.width, _READABLE) - indent, _NARROWEST)
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
                head = head_of(word, room)
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


def wrap(screen: Screen, spans: Iterable[Span], first: str = "", rest: str = "") -> Iterator[str]:
    """Break a text into lines that fit the screen; a word that is longer than a line stands alone and whole.

    Args:
        screen: Where it is read.
        spans: The text in its pieces. What they hold is made safe.
        first: What the first line begins with.
        rest: What every other line begins with.
    """
    room = min(screen.width, _READABLE) - max(cells(first), cells(rest))
    return filled(screen, _unbroken(spans), first, rest, room)


def _unbroken(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """What stands between blanks, in its painted pieces."""
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
