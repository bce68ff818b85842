"""Text for people, broken into lines by words; painted words keep their colour and their width."""

from collections.abc import Iterable, Iterator
from typing import Any

from service.clients.cli.figures import moment
from service.clients.cli.screen import Screen, Style, age, cells, safe

Span = tuple[str, Style | None]
"""A piece of a text, and how it is painted."""


def flow(screen: Screen, spans: Iterable[Span], first: str = "", rest: str = "") -> Iterator[str]:
    """Break a text into lines that fit the screen; a word that is longer than a line stands alone and whole.

    Args:
        screen: Where it is read.
        spans: The text in its pieces; a word may change its colour in its middle. What they hold is made safe.
        first: What the first line begins with.
        rest: What every other line begins with.
    """
    line, used, empty = first, cells(first), True
    for word in _words(spans):
        width = sum(cells(text) for text, _ in word)
        if not empty and used + 1 + width > screen.width:
            yield line
            line, used, empty = rest, cells(rest), True
        line += ("" if empty else " ") + "".join(screen.paint(style, text) if style else text for text, style in word)
        used += width + (not empty)
        empty = False
    if not empty:
        yield line


def paragraph(screen: Screen, text: str, style: Style | None = None, indent: str = "") -> Iterator[str]:
    """Break a text of one colour into lines."""
    return flow(screen, [(text, style)], indent, indent)


def freshness(meta: Any) -> str:
    """Of when an answer is: `as of 2025-07-25 23:59 UTC, 12 s old`; nothing where its `meta` does not say.

    Args:
        meta: `meta` of the envelope.
    """
    if "as_of" not in meta:
        return ""
    return f"as of {moment(safe(meta['as_of']))}, {age(float(meta['data_age_seconds']))}"


def _words(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """What stands between spaces, in its painted pieces."""
    word: list[Span] = []
    for text, style in spans:
        for place, part in enumerate(text.replace("\t", " ").replace("\n", " ").split(" ")):
            if place and word:
                yield word
                word = []
            if part:
                word.append((safe(part), style))
    if word:
        yield word
