"""Other people's words: what does not stand up to the check is left out, and not all that stands beside it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from service.ask.draft import Draft, Piece
from service.ask.evidence import Evidence
from service.ask.grounding import check

Row = TypeVar("Row")
Compose = Callable[[Draft, Sequence[Row]], None]
"""Writes rows into a draft."""


def kept(evidence: Evidence, rows: Sequence[Row], compose: Compose[Row]) -> list[Row]:
    """The rows that stand up to the check. All are looked at together, and halves of them only where that fails."""
    draft = Draft()
    compose(draft, rows)
    if not check("\n\n".join(draft.paragraphs), evidence):
        return list(rows)
    half = len(rows) // 2
    if not half:
        return []
    return [*kept(evidence, rows[:half], compose), *kept(evidence, rows[half:], compose)]


def table(evidence: Evidence, draft: Draft, head: Sequence[Piece], rows: Sequence[Sequence[Piece]]) -> bool:
    """Write a table of the rows that are sound; say whether all of them are."""
    sound = kept(evidence, rows, lambda trial, some: trial.table(head, some))
    draft.table(head, sound)
    return len(sound) == len(rows)
