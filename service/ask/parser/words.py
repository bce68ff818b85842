"""Plain English words: what a coin's name may be besides, and what is no typo of a coin's name."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from service.ask.load import load


class _Table(Struct):
    words: str


PLAIN: Final = frozenset(load(Path(__file__).with_name("english.toml"), _Table).words.split())
"""Lower case."""

_ENDINGS: Final = (
    ("ies", "y"), ("ied", "y"), ("ier", "y"), ("iest", "y"), ("ily", "y"), ("ing", ""), ("ing", "e"), ("ed", ""),
    ("ed", "e"), ("es", ""), ("es", "e"), ("est", ""), ("est", "e"), ("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"),
    ("ly", ""), ("s", ""), ("ness", ""), ("ment", ""), ("able", ""), ("ful", ""), ("less", ""), ("ation", "e"),
)  # fmt: skip
_SHORTEST_STEM: Final = 3


def is_plain(word: str) -> bool:
    """Whether a lower-case word is an English one, or one with an English ending."""
    return word in PLAIN or any(
        word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and _has(word[: -len(ending)] + instead)
        for ending, instead in _ENDINGS
    )


def _has(stem: str) -> bool:
    """Whether a stem is a word, also where its last letter was doubled ("ripp" of "ripped")."""
    return stem in PLAIN or (stem[-1] == stem[-2] and stem[:-1] in PLAIN)
