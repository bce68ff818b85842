"""Cuts a text into typed pieces and a message into clauses. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from service.ask.parser.condition_tree import PAIR
from service.ask.parser.lexicon import LEXICON, LONGEST, Word
from service.ask.parser.times import now_at, read_time
from service.ask.parser.tokens import Token, number_at
from service.ask.parser.zones import UnclearTime
from service.ask.query import Time

_PERCENT: Final = frozenset({"%", "percent", "pct", "percentage"})
_OTHER_CURRENCIES: Final = "\u20ac\u00a3"
"""Currency signs other than the dollar: answers are in US dollars alone."""

_POINTS: Final = frozenset({"points", "point", "pp"})
_KEYS: Final = frozenset({"n", "k", "window", "limit", "count", "days", "period", "lookback", "date", "qty", "type"})
"""Names of arguments whose value is no condition: `window=30d`."""

_CENTS: Final = frozenset({"cent", "cents"})
_USD: Final = frozenset({"usd", "dollars", "dollar", "bucks", "usdc", "usdt", "buck"})
_BEFORE_YEAR: Final = frozenset({"of", "in", "for", "from", "since", "the", "during"})


class Quantity(Struct, frozen=True):
    """A number and its unit: `%`, `USD`, `x`, or null; `scaled`: written with a suffix such as k."""

    value: float
    unit: str | None
    scaled: bool = False


class Chunk(Struct, frozen=True):
    """A piece of a text: tokens from `start` to before `end`.

    Attributes:
        kind: What it is. `coin`, `asset`, `category`, `unknown`, `wallet` and `show` are names.
        value: By kind: keys of names, a `Quantity`, a `Time`, what the lexicon holds.
        words: Every meaning of a phrase of the lexicon.
        gap: Punctuation before it.
    """

    kind: str
    value: Any
    start: int
    end: int
    words: tuple[Word, ...] = ()
    gap: str = ""

    def as_(self, kind: str) -> Any:
        """The value of a phrase in one of its meanings; None where it has none of that kind."""
        return next((word.value for word in self.words if word.kind == kind), None)

    def has(self, kind: str) -> bool:
        """Whether a phrase has a meaning of a kind."""
        return self.kind == kind or any(word.kind == kind for word in self.words)


def names_measure(part: Iterable[Chunk]) -> bool:
    """Whether chunks say what is measured, by a name or by a superlative."""
    return any(chunk.has("measure") or ((value := chunk.as_("super")) and value.measure) for chunk in part)


class Name(Struct, frozen=True):
    """Something named: tokens from `start` to before `end`."""

    kind: str
    value: Any
    start: int
    end: int


def cut(tokens: Sequence[Token], words: Sequence[str], names: Sequence[Name], now_ms: int) -> list[Chunk]:
    """Cut a text.

    Args:
        tokens: Its tokens.
        words: Their words, with typos mended.
        names: What is named, in order.
        now_ms: Epoch milliseconds, which relative times count from.

    Returns:
        Chunks that cover every token, in order.
    """
    named = {name.start: name for name in names}
    inside = {at for name in names for at in range(name.start, name.end)}
    mended = [token._replace(word=word) for token, word in zip(tokens, words, strict=True)]
    chunks: list[Chunk] = []
    at = 0
    while at < len(tokens):
        chunk = _next(mended, named, inside, at, now_ms)
        chunks.append(chunk)
        at = chunk.end
    return chunks


def _next(tokens: Sequence[Token], named: Mapping[int, Name], inside: set[int], at: int, now_ms: int) -> Chunk:
    """The piece that begins at a token: a name, else the longest of a phrase, a time, the present and a number."""
    gap = tokens[at].gap
    if at in named:
        name = named[at]
        return Chunk(name.kind, name.value, at, name.end, gap=gap)
    end, words = _phrase(tokens, inside, at)
    time = _time(tokens, inside, at, now_ms)
    if time is not None and time[1] >= end and not _is_amount(tokens, named, at, time[1]):
        kind = "blocked" if isinstance(time[0], UnclearTime) else "time"
        return Chunk(kind, time[0], at, time[1], gap=gap)
    now = now_at(tokens, at)
    if now is not None and now.end >= end:
        return Chunk("filler", None, at, now.end, gap=gap)
    quantity = _quantity(tokens, at)
    article = bool(words) and words[0].kind == "filler" and not tokens[at].is_number
    if quantity is not None and quantity[1] >= end + article:
        other = tokens[at].sigil == "#" or tokens[at].name[0] in _OTHER_CURRENCIES
        return Chunk("blocked" if other else "number", quantity[0], at, quantity[1], gap=gap)
    return _worded(tokens, at, end, words)


def _is_amount(tokens: Sequence[Token], named: Mapping[int, Name], at: int, end: int) -> bool:
    """Whether what looks like a year is an amount: "of 2000 dollars", "of 2025 worth of SOL", "price of 2000 SOL"."""
    follows = tokens[end] if end < len(tokens) and not tokens[end].gap else None
    if follows is None or not {token.word for token in tokens[at : end - 1]} <= _BEFORE_YEAR:
        return False
    counts = tokens[at].word == "of" and end in named and named[end].kind in _NAMES
    return tokens[end - 1].word.isdigit() and (counts or follows.word in _USD | {"worth"})


def _worded(tokens: Sequence[Token], at: int, end: int, words: tuple[Word, ...]) -> Chunk:
    """A phrase of the lexicon, or a word that is none. In `symbol=BTC` the sign compares nothing."""
    gap = tokens[at].gap
    key = at > 0 and tokens[at - 1].word in _KEYS
    if tokens[at].text in {"=", "=="} and (key or not (at + 1 < len(tokens) and tokens[at + 1].is_number)):
        return Chunk("filler", None, at, at + 1, gap=gap)
    if words:
        return Chunk(words[0].kind, words[0].value, at, end, words, gap)
    return Chunk("word", tokens[at].text, at, at + 1, gap=gap)


def _phrase(tokens: Sequence[Token], inside: set[int], at: int) -> tuple[int, tuple[Word, ...]]:
    """The longest phrase of the lexicon that begins at a token, and where it ends."""
    reach = at + 1
    while reach < min(len(tokens), at + LONGEST) and reach not in inside and _joins(tokens[reach].gap):
        reach += 1
    for end in range(reach, at, -1):
        found = LEXICON.get(" ".join(token.word for token in tokens[at:end]))
        if found is not None:
            return end, found
    return at, ()


def _joins(gap: str) -> bool:
    return gap in {"", "-", "_", "/", "&", "'", '"'}


def _time(tokens: Sequence[Token], inside: set[int], at: int, now_ms: int) -> tuple[Time | UnclearTime, int] | None:
    found = read_time(tokens, at, now_ms)
    if found is None or any(place in inside and place not in found.zone for place in range(at, found.end)):
        return None
    # A colon or bracket within a time is part of it, as in "a month (30 days) ago".
    if any(token.opens and token.gap not in {":", "(", ")"} for token in tokens[at + 1 : found.end]):
        return None
    if any(_phrase(tokens, inside, later)[0] > found.end for later in range(at + 1, found.end)):
        return None  # "the 24h volume": the time belongs to a longer phrase
    return found.time, found.end


def _quantity(tokens: Sequence[Token], at: int) -> tuple[Quantity, int] | None:
    token, number = tokens[at], number_at(tokens, at)
    if number is None:
        return None
    unit, scaled, end = "USD" if token.sigil == "$" else number.unit, number.scaled, at + number.size
    word = tokens[end].word if end < len(tokens) and not tokens[end].gap else ""
    if unit is None and word in _PERCENT:
        unit, end = "%", end + 1
    elif unit is None and word in _USD:
        unit, end = "USD", end + 1
    elif unit is None and word in _CENTS:
        return Quantity(number.value / 100, "USD"), end + 1
    elif word in _POINTS:  # no count of things
        end, scaled = end + (unit == "%"), True
    return Quantity(-number.value if token.minus else number.value, unit, scaled), end


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
_ABOUT: Final = ("what about", "how about")
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
            about = " ".join(written[cuts[-1] : at]).startswith(_ABOUT)
            asked = asked or (about and _measures_one(chunks[begin : begin + 2]))
            asked = asked and (about or _has_request(chunks[cuts[-1] : at]))
            if apart and (asked or _said_now(chunks, written, cuts[-1], at)):
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


def _measures_one(part: Sequence[Chunk]) -> bool:
    """Whether something is named and measured at once: "what about AVAX, and AVAX funding"."""
    return len(part) == PAIR and part[0].kind in _NAMES and part[1].has("measure")


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
