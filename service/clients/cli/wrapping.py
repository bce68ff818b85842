"""Breaks painted text into lines by words, where a word may change its colour in its middle (`**$3,730**, daily`)."""

from collections.abc import Iterable, Iterator

from service.clients.cli.screen import READABLE, Screen, Span, cells, filled, safe


def wrap(screen: Screen, spans: Iterable[Span], first: str = "", rest: str = "") -> Iterator[str]:
    """Break a text into lines that fit the screen; a word that is longer than a line stands alone and whole.

    Args:
        screen: Where it is read.
        spans: The text in its pieces. What they hold is made safe.
        first: What the first line begins with.
        rest: What every other line begins with.
    """
    room = min(screen.width, READABLE) - max(cells(first), cells(rest))
    return filled(screen, _words(spans), first, rest, room)


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
