"""Other people's words: what does not stand up to the check is left out, and not all that stands beside it."""

from collections.abc import Callable, Sequence

from service.ask.draft import Draft, Piece
from service.ask.evidence import Evidence
from service.ask.grounding import check

Compose = Callable[[Draft], None]
"""Writes something into a draft."""


def is_sound(evidence: Evidence, compose: Compose) -> bool:
    """Whether what is written stands up to the check by itself."""
    draft = Draft()
    compose(draft)
    return not check("\n\n".join(draft.paragraphs), evidence)


def table(evidence: Evidence, draft: Draft, head: Sequence[Piece], rows: Sequence[Sequence[Piece]]) -> bool:
    """Write a table of the rows that are sound; say whether all of them are."""
    kept = rows
    if not is_sound(evidence, lambda trial: trial.table(head, rows)):
        kept = [row for row in rows if is_sound(evidence, lambda trial, row=row: trial.table(head, [row]))]  # type: ignore[misc] # bound at once
    draft.table(head, kept)
    return len(kept) == len(rows)
