"""Cuts a message into clauses, each of which asks one thing. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from service.ask.parser.chunks import Chunk

_INTRODUCING: Final = frozenset({
    "among", "amongst", "of", "for", "out", "within", "besides", "except", "excluding", "if", "given", "considering",
    "with", "in", "from",
})  # fmt: skip
"""A clause that begins so belongs to the next."""

_OF: Final = frozenset({"among", "amongst", "of", "out", "within", "in", "from"})
_LEADING: Final = frozenset({"also", "then", "please", "finally", "and", "say", "state"})
_OPENERS: Final = re.compile(
    r"(what|whats|how|hows|which|who|when|why|list|show|give|tell|compare|is|are|does|did|has|rank|find|name|count|whether|if)\b"
)


def segments(chunks: Sequence[Chunk], written: Sequence[str]) -> list[tuple[int, int]]:
    """Clauses: cut at marks that end a sentence, and before a second request after "and" or a comma."""
    cuts = [0]
    for at in range(1, len(chunks)):
        gap = chunks[at].gap
        if any(mark in gap for mark in "?!;") or ("." in gap and chunks[at - 1].kind != "number"):
            cuts.append(at)
        elif chunks[at].kind == "and" or "," in gap:
            begin = at + 1 if chunks[at].kind == "and" else at
            first = written[cuts[-1]].split()[0] if written[cuts[-1]] else ""
            if (
                (first not in _INTRODUCING or (first in _OF and _counts(chunks[cuts[-1] : at])))
                and _opens_request(chunks, written, begin)
                and _has_request(chunks[cuts[-1] : at])
            ):
                cuts.append(begin)
    cuts.append(len(chunks))
    spans = [(start, end) for start, end in pairwise(cuts) if start < end]
    return [
        span for span in spans if any(chunk.kind not in {"filler", "and"} for chunk in chunks[span[0] : span[1]])
    ] or spans


def _opens_request(chunks: Sequence[Chunk], written: Sequence[str], at: int) -> bool:
    while at < len(chunks) and written[at] in _LEADING:
        at += 1
    if at >= len(chunks):
        return False
    if _OPENERS.match(written[at]) is not None:
        return True
    if written[at] == "the" and at + 1 < len(chunks):
        at += 1
    # A superlative with its own subject or number: "…, the top 3 gainers today".
    value = chunks[at].as_("super")
    rest = [chunk.kind for chunk in chunks[at + 1 : at + 4]]
    more = any(kind in {"super", "set", "category", "measure"} for kind in rest)
    return value is not None and more and (value.plural or chunks[at + 1].kind == "number")


def _counts(chunks: Sequence[Chunk]) -> bool:
    """Whether a clause that begins with a set asks for a number of it: "of the memes, how many are up"."""
    return any(chunk.as_("ask") == "count" for chunk in chunks)


def _has_request(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks ask for something, and do not only name things."""
    things = sum(len(chunk.value) for chunk in chunks if chunk.kind in {"coin", "asset"})
    names = {"filler", "and", "or", "word", "coin", "asset", "category", "time", "frame", "neg", "set"}
    return any(chunk.kind not in names and not _only_opens(chunk, things) for chunk in chunks)


def _only_opens(chunk: Chunk, things: int) -> bool:
    """Whether a chunk only begins a request; one thing alone is compared with what follows."""
    opens = {"list", "any", "all", "none", "overview", "define", *(["compare"] if things <= 1 else [])}
    return chunk.kind == "ask" and chunk.value in opens
