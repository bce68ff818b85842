"""Where in a text something stands: in which clause, under which head of a table, and after which coin's name."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_SENTENCE: Final = re.compile(r"[.!?](?=[\s*_)]|$)")
_CLAUSE: Final = re.compile(r"[;:()\u2013\u2014]|,(?=\s)|\s(?:and|while|but|whereas|versus|vs|against|than)(?=\s)")
_CELL: Final = re.compile(r"\|")

_FURTHEST: Final = 400
"""Characters around a figure that can be of its sentence: a longer one is read as if it were cut there."""

_LONGEST: Final = 50
_REMEMBERED: Final = 8
"""Names of earlier sentences that are remembered: the last one counts, and that before it where it is a benchmark."""

Span = tuple[int, int]


class Mention(NamedTuple):
    """A name of a coin, an asset or a category, and which one it is."""

    start: int
    end: int
    owner: str


class Place(NamedTuple):
    """What surrounds a figure.

    Attributes:
        span: Of its clause or its cell.
        own: Of its clause; in a table of its cell and the head of its column.
        near: Spans whose words say what it is about, the nearest first; the next ones count only where it says nothing.
        owners: Whose it may be by what is named around it, the most likely first; only the first counts.
        far: The same, with what earlier sentences name.
    """

    span: Span
    own: tuple[Span, ...]
    near: tuple[Span, ...]
    owners: tuple[str, ...]
    far: tuple[str, ...]


class _Line(NamedTuple):
    span: Span
    cells: tuple[Span, ...]
    head: tuple[Span, ...]


class Bearings:
    """A text's lines, tables, sentences and clauses.

    Args:
        text: As it is read: what was quoted is blanked out.
        mentions: The names in it, in order.
    """

    def __init__(self, text: str, mentions: Sequence[Mention]) -> None:
        self._text = text
        self._mentions = tuple(mentions)
        self._named_at = [name.start for name in mentions]
        self._lines = tuple(_lines(text))
        self._begun_at = [line.span[0] for line in self._lines]

    def place(self, start: int, end: int) -> Place:
        """Say what surrounds the figure between two positions of one line."""
        line = self._lines[bisect_right(self._begun_at, start) - 1]
        if line.cells:
            return self._in_table(line, start)
        window = (max(line.span[0], start - _FURTHEST), min(line.span[1], start + _FURTHEST))
        sentence = _part(self._text, window, _SENTENCE, start)
        clause = _part(self._text, sentence, _CLAUSE, start)
        before, after = self._around(sentence, start)
        close, later = self._around(clause, start)
        following = tuple(name.owner for name in self._within((end, end + _LONGEST)) if name.start == end + 1)
        owners = (*following, *close, *later, *before, *after)
        return Place(clause, (clause,), (clause, sentence), owners, (*owners, *self._earlier(sentence[0])))

    def _in_table(self, line: _Line, start: int) -> Place:
        column = next((index for index, cell in enumerate(line.cells) if start <= cell[1]), len(line.cells) - 1)
        cell, first = line.cells[column], line.cells[0]
        head = line.head[column] if column < len(line.head) else cell
        spans = dict.fromkeys((cell, first, head))
        owners = [name.owner for span in spans for name in self._within(span)]
        far = owners if line.head == line.cells else (*owners, *self._earlier(line.span[0]))
        return Place(cell, (cell, head), (cell, head, first), tuple(owners), tuple(far))

    def _within(self, span: Span) -> Iterator[Mention]:
        first, last = bisect_left(self._named_at, span[0]), bisect_left(self._named_at, span[1])
        return (name for name in self._mentions[first:last] if name.end <= span[1])

    def _around(self, span: Span, at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Whose names stand before a position of a span, the last one first, and after it."""
        before = [name.owner for name in self._within(span) if name.start < at]
        after = [name.owner for name in self._within(span) if name.start >= at]
        return tuple(reversed(before)), tuple(after)

    def _earlier(self, at: int) -> tuple[str, ...]:
        last = bisect_left(self._named_at, at)
        return tuple(name.owner for name in reversed(self._mentions[max(0, last - _REMEMBERED) : last]))


def _lines(text: str) -> Iterator[_Line]:
    start, head = 0, tuple[Span, ...]()
    for line in text.split("\n"):
        span = (start, start + len(line))
        cells = _cells(text, span) if line.startswith("|") else ()
        head = (head or cells) if cells else ()
        yield _Line(span, cells, head)
        start = span[1] + 1


def _cells(text: str, span: Span) -> tuple[Span, ...]:
    bars = [at.start() for at in _CELL.finditer(text, *span)]
    ends = [*bars[1:], span[1]]
    return tuple((bar + 1, end) for bar, end in zip(bars, ends, strict=True) if end > bar + 1)


def _part(text: str, span: Span, boundary: re.Pattern[str], at: int) -> Span:
    """The part of a span, cut at boundaries, that a position lies in."""
    start, end = span
    for cut in boundary.finditer(text, *span):
        if cut.end() > at:
            return start, cut.start()
        start = cut.end()
    return start, end
