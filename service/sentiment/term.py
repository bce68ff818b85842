"""One entry of the lexicon."""

from typing import NamedTuple


class Term(NamedTuple):
    """One term with its variants, its weight (0 silences a word of VADER's), and the reason for it."""

    variants: str
    weight: float
    why: str
