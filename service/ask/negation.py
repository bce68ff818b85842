"""Words that are said only to be left out: "not the price, just the funding"."""

from collections.abc import Sequence
from typing import Final

_LEAVING_OUT: Final[Sequence[tuple[tuple[str, ...], int]]] = (
    (("dont", "want"), 6),
    (("dont", "need"), 6),
    (("dont", "care"), 6),
    (("dont", "tell"), 6),
    (("dont", "show"), 6),
    (("dont", "give"), 6),
    (("do", "not"), 7),
    (("not", "asking"), 4),
    (("not", "interested"), 4),
    (("not", "about"), 3),
    (("not", "the"), 3),
    (("not", "its"), 3),
    (("no", "need"), 4),
    (("instead", "of"), 3),
    (("rather", "than"), 3),
    (("forget", "about"), 3),
    (("without", "the"), 2),
)
"""How leaving out begins, and how many words after it are left out at most."""

_RESUMING: Final = frozenset(
    {"just", "only", "but", "what", "whats", "how", "hows", "tell", "show", "give", "i", "is", "and", "want", "rather"}
)
"""Words with which a question goes on to what it does want."""


def left_out(words: Sequence[str]) -> frozenset[int]:
    """Places of the words that a question does not want to be taken for.

    Args:
        words: As phrases are looked for in them.
    """
    places: set[int] = set()
    for place in range(len(words) - 1):
        for opening, most in _LEAVING_OUT:
            if tuple(words[place : place + len(opening)]) == opening:
                places.update(_span(words, place, place + len(opening), most))
    return frozenset(places)


def _span(words: Sequence[str], opening: int, start: int, most: int) -> list[int]:
    span = list(range(opening, start))
    for place in range(start, min(start + most, len(words))):
        if words[place] in _RESUMING:
            break
        span.append(place)
    return span
