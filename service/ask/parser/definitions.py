"""The terms that a message asks to define. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from service.ask.parser.chunks import Chunk

_DEFINING: Final = re.compile(
    r"\b(?:define|definition|explain|meaning|(?<!i )means?|signify|signifies|stand for|stands for|difference between"
    r"|calculated|computed|determined|derived|do you (?:calculate|compute|determine|derive)|plain english|pays whom)\b"
)
_PLAIN: Final = re.compile(
    r"(?:what(?:s| is| are|s a| is a| is an)|whats the term|term) (?:a |an )?(.+?)(?: here| please| in crypto)?"
)
"""So: "what is funding?". With an article before it ("what is the funding") a figure is asked for."""

_DATA: Final = frozenset({"coin", "asset", "category", "time", "set", "wallet", "show", "neg"})
_LONGEST: Final = 4
_MEANING: Final = (["mean"], ["means"])


def defined_terms(terms: Mapping[str, str], chunks: Sequence[Chunk], written: Sequence[str]) -> list[str]:
    """The terms a message asks to define, one or two; none where it asks for data.

    Args:
        terms: Words of the glossary to their key.
        chunks: The pieces of the message.
        written: Their words.
    """
    if any(chunk.kind in _DATA or (chunk.kind == "number" and chunk.value.unit) for chunk in chunks):
        return []
    text = " ".join(written)
    plain = _PLAIN.fullmatch(text)
    key = terms.get(plain[1]) or terms.get(plain[1].removesuffix("s")) if plain is not None else None
    if key is not None:
        return [key]
    words = text.split()
    if _DEFINING.search(text) is None or "why" in words:
        return []
    found: list[str] = []
    at = 0
    while at < len(words):
        size = next((size for size in range(_LONGEST, 0, -1) if " ".join(words[at : at + size]) in terms), 0)
        if size and words[at : at + size] not in _MEANING:
            found.append(terms[" ".join(words[at : at + size])])
        at += size or 1
    return list(dict.fromkeys(found))[: 2 if "difference" in words else 1]
