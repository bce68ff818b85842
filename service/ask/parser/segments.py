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
_APART: Final = "separately"
_NAMING_AGAIN: Final = (["those"], ["these"])
_LEADING: Final = frozenset({"also", "then", "please", "finally", "and", "say", "state"})
_NAMES: Final = frozenset({"coin", "asset"})
RANKED: Final = frozenset({"measure", "category"})
"""What a superlative may have of its own."""

_OPENING: Final = frozenset({"count", "share", "why", "since"})
"""Operations that begin a new request behind a comma: "BTC's price, the number of coins in an uptrend"."""

_OF_THESE: Final = frozenset({"these", "them", "those", "of these", "of them", "of those"})
_OPENERS: Final = re.compile(
    r"(what|whats|how|hows|which|who|when|why|list|show|give|tell|compare|is|are|does|did|has|rank|find|name|count|whether|if)\b"
)


def segments(chunks: Sequence[Chunk], written: Sequence[str]) -> list[tuple[int, int]]:
    """Clauses: cut at marks that end a sentence, and before a second request after "and" or a comma."""
    cuts = [0]
    for at in range(1, len(chunks)):
        gap = chunks[at].gap
        if (
            any(mark in gap for mark in "?!;")
            or (written[at] == _APART and written[at + 1 : at + 2] not in _NAMING_AGAIN)
            or ("." in gap and chunks[at - 1].kind != "number")
            or (":" in gap and all(chunk.kind in {"filler", "and"} for chunk in chunks[cuts[-1] : at]))
        ):
            cuts.append(at)
        elif chunks[at].kind == "and" or "," in gap:
            begin = at + 1 if chunks[at].kind == "and" else at
            first = written[cuts[-1]].split()[0] if written[cuts[-1]] else ""
            apart = first not in _INTRODUCING or (first in _OF and _counts(chunks[cuts[-1] : at]))
            asked = _opens_request(chunks, written, cuts[-1], begin) or _of_another(chunks, written, cuts[-1], begin)
            asked = asked or _ranks_again(chunks, cuts[-1], at, begin)
            if apart and ((asked and _has_request(chunks[cuts[-1] : at])) or _said_now(chunks, written, cuts[-1], at)):
                cuts.append(begin)
    cuts.append(len(chunks))
    spans = [(start, end) for start, end in pairwise(cuts) if start < end]
    return [
        span for span in spans if any(chunk.kind not in {"filler", "and"} for chunk in chunks[span[0] : span[1]])
    ] or spans


def _opens_request(chunks: Sequence[Chunk], written: Sequence[str], start: int, at: int) -> bool:
    before = any(chunk.kind == "time" for chunk in chunks[start:at])
    while at < len(chunks) and written[at] in _LEADING:
        at += 1
    if at >= len(chunks):
        return False
    if _OPENERS.match(written[at]) is not None:
        return True
    if written[at] == "the" and at + 1 < len(chunks):
        at += 1
    if any(word.kind == "ask" and word.value in _OPENING for word in chunks[at].words):
        return True
    # A superlative with its own subject or number: "…, the top 3 gainers today", "…, the 3 worst L1s".
    numbered = chunks[at].kind == "number" and at + 1 < len(chunks)
    value = chunks[at + numbered].as_("super")
    rest = [chunk.kind for chunk in chunks[at + 1 : at + 4]]
    more = any(kind in {"super", "set", "category", "measure"} for kind in rest)
    more = more or not _OF_THESE.isdisjoint(written[at + 1 : at + 4])
    timed = before and any(chunk.kind == "time" for chunk in chunks[at + 1 : at + 4])
    if value is None or not (more or timed):
        return False
    return value.plural or numbered or timed or chunks[at + 1].kind == "number"


def _ranks_again(chunks: Sequence[Chunk], start: int, at: int, begin: int) -> bool:
    """Whether two superlatives have each a measure or a category: "highest volume and lowest funding"."""
    end = next((to for to in range(begin + 1, len(chunks)) if chunks[to].kind == "and" or chunks[to].gap), len(chunks))
    if any(chunk.kind in _NAMES for chunk in chunks[start:end]):
        return False
    own, other = _behind_superlative(chunks[start:at]), _behind_superlative(chunks[begin:end])
    return bool(own and other) and (other <= own or own.isdisjoint(other) or own == {"category"})


def _behind_superlative(part: Sequence[Chunk]) -> set[str]:
    """What a superlative has of its own: a measure, a category."""
    first = next((at for at, chunk in enumerate(part) if chunk.kind == "super"), len(part))
    return {chunk.kind for chunk in part[first:]} & RANKED


def _said_now(chunks: Sequence[Chunk], written: Sequence[str], start: int, at: int) -> bool:
    """Whether something follows that is named and measured, behind what is said of the present: "gold now, BTC's …"."""
    named = any(chunk.kind in _NAMES for chunk in chunks[start:at])
    measured = any(chunk.has("measure") for chunk in chunks[at + 1 : at + 4])
    return named and measured and chunks[at].kind in _NAMES and written[at - 1] in {"now", "right now"}


def _of_another(chunks: Sequence[Chunk], written: Sequence[str], start: int, at: int) -> bool:
    """Whether the market is asked about behind a coin, or a coin behind the market."""
    while at < len(chunks) and written[at] in {*_LEADING, "the"}:
        at += 1
    named = any(chunk.kind in _NAMES for chunk in chunks[start:at])
    if at < len(chunks) and chunks[at].kind in _NAMES:
        return not named and any(_is_of_market(*pair) for pair in zip(chunks[start:at], written[start:at], strict=True))
    ranked = any(chunk.has("super") for chunk in chunks[start:at])
    cap = written[at + 1 : at + 2] == ["cap"]
    return at < len(chunks) and (named or ranked) and not cap and _is_of_market(chunks[at], written[at])


def _is_of_market(chunk: Chunk, words: str) -> bool:
    measure = chunk.as_("measure")
    if measure is None:
        return "market" in words.split() and chunk.kind not in _NAMES
    return measure.name in {"fear_greed", "breadth", "market_regime"}


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
