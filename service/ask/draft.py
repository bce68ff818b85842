"""Prose that is being written: literals without numerals, and pieces that are tied to results."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.ask.figures import Bound
from service.ask.glossary import TERMS
from service.ask.numerals import scan

Piece = str | Bound | tuple["Piece", ...]
"""A literal, something tied to a result, or several of them."""

_JOINED: Final = ", "


class Draft:
    """The paragraphs of an answer.

    Args:
        explains: Whether terms are explained where a writer offers to.
    """

    def __init__(self, *, explains: bool = False) -> None:
        self._explains = explains
        self._explained: set[str] = set()
        self._paragraphs: list[str] = []

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """What is written so far."""
        return tuple(self._paragraphs)

    def say(self, *pieces: Piece) -> None:
        """Write a paragraph.

        Args:
            pieces: Set beside each other without a space.

        Raises:
            ValueError: If a literal holds a numeral of any kind: figures come from results only.
        """
        text = _render(pieces).strip()
        if text:
            self._paragraphs.append(text)

    def items(self, rows: Iterable[Piece]) -> None:
        """Write a list, one line each; nothing where there is nothing to list."""
        lines = [f"- {_render(row)}" for row in rows]
        if lines:
            self._paragraphs.append("\n".join(lines))

    def table(self, head: Sequence[Piece], rows: Iterable[Sequence[Piece]]) -> None:
        """Write a table; nothing where it has no rows.

        Args:
            head: What the columns hold.
            rows: As many cells each; the first one names what the row is about.
        """
        lines = [_row(row) for row in rows]
        if lines:
            self._paragraphs.append("\n".join([_row(head), f"|{' --- |' * len(head)}", *lines]))

    def explain(self, term: str) -> None:
        """Say in a sentence what a term means, once, and only for whom terms are explained.

        Args:
            term: A key of the glossary.
        """
        if self._explains and term not in self._explained:
            self._explained.add(term)
            self.say(TERMS[term].short)


def listed(pieces: Sequence[Piece]) -> Piece:
    """Several things in a sentence: `a, b and c`."""
    if len(pieces) < 2:  # noqa: PLR2004 - one thing needs no conjunction
        return tuple(pieces)
    return (*joined(pieces[:-1]), " and ", pieces[-1])


def joined(pieces: Sequence[Piece], by: str = _JOINED) -> tuple[Piece, ...]:
    """Several things with something between them."""
    return tuple(part for piece in pieces for part in (by, piece))[1:]


def bold(*pieces: Piece) -> Piece:
    """What is to be seen first."""
    return ("**", *pieces, "**")


def _row(cells: Sequence[Piece]) -> str:
    return f"| {' | '.join(_render(cell).replace('|', '/') for cell in cells)} |"


def _render(piece: Piece) -> str:
    if isinstance(piece, Bound):
        return piece.text
    if isinstance(piece, tuple):
        return "".join(_render(part) for part in piece)
    odd = scan(piece)
    if odd:
        raise ValueError(f"a literal holds a numeral: {piece!r}")
    return piece
