"""Breaks painted text into lines by words, where a word may change its colour in its middle (`**$3,730**, daily`)."""

from collections.abc import Iterable, Iterator
from typing import Final

from service.clients.cli.screen import Screen, Style, cells, safe

Span = tuple[str, Style | None]
"""A piece of a text, and how it is painted."""

_READABLE: Final = 100
"""Cells of a line at the most: the eye loses its place in longer ones."""


def wrap(screen: Screen, spans: Iterable[Span], first: str = "", rest: str = "") -> Iterator[str]:
    """Break a text into lines that fit the screen; a word that is longer than a line stands alone and whole.

    Args:
        screen: Where it is read.
        spans: The text in its pieces. What they hold is made safe.
        first: What the first line begins with.
        rest: What every other line begins with.
    """
    room = min(screen.width, _READABLE)
    line, taken, empty = first, cells(first), True
    for word in _words(spans):
        wide = sum(cells(text) for text, _ in word)
        if not empty and taken + 1 + wide > room:
            yield line
            line, taken, empty = rest, cells(rest), True
        line += ("" if empty else " ") + "".join(screen.paint(style, text) for text, style in word)
        taken += wide + (not empty)
        empty = False
    if not empty:
        yield line


def _words(spans: Iterable[Span]) -> Iterator[list[Span]]:
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
