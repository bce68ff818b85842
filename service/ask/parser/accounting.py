"""Accounts for every word of a clause: what was not read, and whether that changes the question. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any, Final

from msgspec import Struct

from service.ask import query as q
from service.ask.parser.chunks import Chunk, names_measure
from service.ask.parser.dates import WEEKDAYS
from service.ask.parser.language import is_plain
from service.ask.parser.lexicon import MEANINGFUL, MEASURE_WORDS
from service.ask.parser.qualifiers import before_measures, heads
from service.ask.parser.slots import BITCOIN
from service.ask.parser.tokens import Token
from service.ask.parser.windows import FRAMES, says_same
from service.ask.understanding import Refusal

_BLOCKING: Final = frozenset({
    "number", "time", "compare", "neg", "super", "state", "direction", "measure", "sign", "except", "side", "holding",
    "topic", "option", "frame", "coin", "asset", "category", "ordinal", "blocked",
})  # fmt: skip
"""Pieces that change a question: one that is not read is a reason to refuse."""

_ASKING: Final = frozenset({
    "days", "first",
    "count", "share", "none", "majority", "when", "since", "why", "mean", "median", "sum", "ratio",
    "record", "difference", "buy", "short", "rank",
})  # fmt: skip
"""Operations that may not be left undone."""

_NAMES: Final = frozenset({"coin", "asset", "category", "wallet", "show"})
_MONEY: Final = frozenset({"profit", "value_of", "convert", "portfolio"})
_SAID_BY: Final[Mapping[str, frozenset[str]]] = {
    "price": _MONEY | {"carry", "change", "close", "drawdown", "from_high", "from_low"},
    "change": _MONEY | {"why", "when", "drawdown", "from_high", "from_low", "extreme", "changed"},
    "high": frozenset({"drawdown", "from_high"}),
    "low": frozenset({"drawdown", "from_low"}),
    "drawdown": frozenset({"from_high"}),
    "breadth": frozenset({"share"}),
    "funding": frozenset({"carry"}),
    "regime": frozenset({"market_regime"}),
    "confidence": frozenset({"conviction"}),
    "verdict": frozenset({"record", "confidence", "score"}),
    "sentiment": frozenset({"news", "transcripts"}),
}
"""Measures and operations that a measure's words may stand for."""

_DAY: Final = q.Window(24, "h", "24 hours")
A_YEAR: Final = "a year"
"""Behind a rate of funding its unit, no span."""

_COUNTED_AGAIN: Final = frozenset({"the", "all", "both", "those", "these"})
"""Before a number in letters these repeat how many were named."""

_NARROWED: Final = frozenset({"set", "category", "measure", "super", "state", "sign"})
"""Pieces that a word before them narrows: "implied volatility", "institutional tokens"."""

_COUNTING: Final = frozenset({
    "per", "every", "each", "how", "only", "relative to", "on", "during", "around", "until", "before", "after", "since",
    "by",
})  # fmt: skip
"""Words that no unknown word may follow: "per fortnight", "how risky", "only stablecoins"."""

_ADDING: Final = frozenset({"add", "adding", "include", "comparison", "first", "day", "days", "week", "month"})
_BLOCKING_WORDS: Final = frozenset({
    "noon", "midday", "midnight", "dawn", "morning", "afternoon", "evening", "night", "lunchtime", "closer", "nearer",
    "closest", "nearest", "further", "farther", "ath", "atl",
})  # fmt: skip
"""Words that no query holds, but that change a question wherever they stand: a time of the day, a distance."""

_EXCERPT: Final = 80
_UNITS_TOLD: Final = re.compile(r"\b(?:percent|dollars|date|size|rate|no other|nothing else|now|which|how|where|in)\b")
"""Ends of a list that ask for nothing more: units, formats, and questions that every answer tells."""

_JOINING: Final = frozenset({"and", "plus", "as well as"})
_UNITS: Final = frozenset({"minute", "hour", "hours", "week", "weeks", "month", "months", "year", "years"})
_LEADS: Final = frozenset({"leader", "leaders", "winner", "winners", "loser", "losers"})
"""Superlatives of what coins are ranked by anyway: "rank memes by volume and show the leader's price"."""

_SETS: Final = frozenset({"set", "category", "topic", "asset", "wallet", "show"})
_PRONOUN: Final = re.compile(r"\b(it|its|that token|that coin|this coin|this one|that one|this token)\b")
_OWNED: Final = frozenset({"wallet", "wallets"})
_TOOLS: Final = frozenset({"you", "u", "do"})


def as_written(tokens: Sequence[Token], chunk: Chunk) -> str:
    """A piece as the user wrote it."""
    return " ".join(token.sigil + token.text for token in tokens[chunk.start : chunk.end])


def unread(
    part: Sequence[Chunk], words: Sequence[str], used: set[int], read: Sequence[q.Query]
) -> tuple[list[Chunk], list[Chunk]]:
    """Pieces that were not read: those that change the question, and other words.

    A word of a phrase that means something elsewhere changes it, and so does a word that begins with a digit, and any
    word beside a list or a measure, behind a coin ("Solana network"), a time, a number or "in", or before a set or a
    state, which it narrows.
    """
    measured = {one.name for query in read for one in query.measures}
    narrows = any(isinstance(query.operation, q.Route) for query in read)
    left = [(chunk, word) for at, (chunk, word) in enumerate(zip(part, words, strict=True)) if at not in used]
    beside = [chunk for chunk, behind in pairwise(part) if behind.kind in _NARROWED and not behind.gap]
    beside += [
        chunk for before, chunk in pairwise(part) if (before.has("measure") or before.kind == "coin") and not chunk.gap
    ]
    beside += before_measures(part, words)
    for first, second, third in zip(part, part[1:], part[2:], strict=False):
        if first.kind == "coin" and third.kind in {"coin", "and"}:
            beside.append(second)  # an unknown name in a list
        if first.has("super") and second.kind == "number":
            beside.append(third)  # "top 5 bleeders"
    beside += [chunk for word, chunk in zip(words, part[1:], strict=False) if word in _COUNTING]
    beside += [chunk for word, chunk in zip(words, part[1:], strict=False) if word.endswith("market") and not chunk.gap]
    beside += [chunk for chunk, word in zip(part, words[1:], strict=False) if word == "of"]
    qualifying = heads(part, words)
    blocks = [
        chunk
        for chunk, word in left
        if _blocks(chunk)
        or (
            chunk.kind == "word"
            and (
                narrows
                or (word in MEANINGFUL and measured.isdisjoint(MEASURE_WORDS.get(word, ())))
                or word in _BLOCKING_WORDS | _UNITS | WEEKDAYS.keys()
                or word[:1].isdigit()
                or chunk in beside
                or (chunk in qualifying and measured.isdisjoint(MEASURE_WORDS.get(word, ())))
            )
        )
    ]
    return blocks, [chunk for chunk, _ in left if chunk.kind == "word" and chunk not in blocks]


def _blocks(chunk: Chunk) -> bool:
    if chunk.kind == "ask":
        return any(word.kind == "ask" and word.value in _ASKING for word in chunk.words)
    return chunk.kind in _BLOCKING and not any(word.kind in {"filler", "ask"} for word in chunk.words[1:])


def dropped(chunks: Sequence[Chunk], words: Sequence[str], queries: Sequence[q.Query]) -> list[Chunk]:
    """Names, numbers, times, frames, measures and superlatives that no query holds, whichever reader took them.

    Args:
        chunks: The pieces of the message.
        words: Their words.
        queries: All that the message was read as.
    """
    held = frozenset(value for query in queries for value in _values(query))
    return [chunk for at, chunk in enumerate(chunks) if not _is_held(chunks, words, at, held)]


def followed(part: Sequence[Chunk], words: Sequence[str], used: set[int]) -> set[int]:
    """The pieces that a follow-up used, without words that nothing reads: "was ETH better after fees?"."""
    return {at for at in used if part[at].kind != "word" or words[at] in _ADDING}


def guessed(
    chunks: Sequence[Chunk], words: Sequence[str], queries: Sequence[q.Query], ignored: Sequence[str]
) -> list[str]:
    """Words of a message whose reading is a guess: it says more, or something else, than what was read of it.

    The overview of a coin is one where words were not read or something else is asked as well; so is a ranking of one
    coin, or of all coins where some are named and compared; and so is a part of a list of which nothing was read.
    """
    named = " ".join(words)[:_EXCERPT]
    plain = [one for one in queries if _is_overview(one)]
    asked = "now" in words or any(chunk.as_("ask") in {"overview", "compare", "define"} for chunk in chunks)
    if plain and (ignored or (len(plain) < len(queries) and not asked)):
        return [*ignored] or [named]
    ranked = [one.subject for one in queries if isinstance(one.operation, q.Rank)]
    compared = any((value := chunk.as_("super")) and value.comparative for chunk in chunks)
    things = any(chunk.kind in {"coin", "asset"} for chunk in chunks)
    sets = any(chunk.kind in {"set", "category"} or chunk.has("topic") for chunk in chunks)
    of_one = any(one.scope == "coins" and len(one.coins) == 1 for one in ranked)
    of_all = compared and things and not sets and any(one.scope == "all" for one in ranked)
    asks = {type(one.operation) for one in queries}  # a list beside the record of past verdicts
    if of_one or of_all or asks >= {q.List, q.Record} or not all(map(_is_of_subject, queries)):
        return [named]
    return _empty_parts(chunks, words)


def _is_of_subject(query: q.Query) -> bool:
    """Whether a conversion is one of the coins that are named."""
    held = query.operation
    return not isinstance(held, q.Convert) or {*query.subject.coins} <= {held.holding.unit, *held.into}


def _is_overview(query: q.Query) -> bool:
    """Whether nothing is asked of the things that a query names."""
    return query.subject.scope in {"coins", "assets"} and query == q.Query(subject=query.subject, time=query.time)


def without_headings(queries: Sequence[q.Query]) -> list[q.Query]:
    """Leave out a heading that the next query says more about: "ARB or OP: price and trend of each"."""
    return [
        one
        for one, following in zip_longest(queries, queries[1:])
        if following is None or not _is_overview(one) or one != q.Query(subject=following.subject)
    ]


def _empty_parts(chunks: Sequence[Chunk], words: Sequence[str]) -> list[str]:
    """The part behind "and" of which nothing was read, though it is no unit: "performance and current quote".

    A name that no coin has is answered on its own; its chunk holds the names that are like it.
    """
    for at in range(len(chunks)):
        end = at + 1
        while end < len(chunks) and chunks[end].kind == "filler" and not chunks[end].gap:
            end += 1
        part = " ".join(words[at + 1 : end])
        names_unknown = any(isinstance(chunk.value, tuple) for chunk in chunks[at + 1 : end])
        ends = end == len(chunks) or bool(chunks[end].gap) or words[end] in _JOINING
        if words[at] in _JOINING and part and ends and not (names_unknown or _UNITS_TOLD.search(part)):
            return [part]
    return []


def _is_held(chunks: Sequence[Chunk], words: Sequence[str], at: int, held: frozenset[Any]) -> bool:
    chunk = chunks[at]
    if chunk.kind in _NAMES:
        return held.issuperset(chunk.value)
    if chunk.kind == "number":
        again = at > 0 and words[at - 1] in _COUNTED_AGAIN and not words[at][:1].isdigit()
        return again or "portfolio" in held or abs(chunk.value.value) in held
    if chunk.kind == "time":
        of_rate = words[at] == A_YEAR and not held.isdisjoint({"funding", "carry"})
        return of_rate or _is_time_held(chunk.value, held)
    return _is_word_held(chunk, words[at], held)


def _is_word_held(chunk: Chunk, word: str, held: frozenset[Any]) -> bool:
    """Whether the frame of a trend, a condition beside breadth, a measure or a superlative is held."""
    if chunk.kind == "frame" and chunk.value == "weekly" and "trend" in held:
        return "weekly" in held or any(says_same(FRAMES["weekly"], one) for one in held if isinstance(one, q.Window))
    if chunk.kind == "super":
        other = chunk.value.measure in {None, "price"} or word in _LEADS  # "the priciest to be long": funding
        return other or not held.isdisjoint({chunk.value.measure, "route"})
    if chunk.kind == "neg":
        return not held.issuperset({"breadth", "route"}) or "not" in held
    if chunk.kind != "measure" or word in {"high", "low"} or any(one.kind != "measure" for one in chunk.words):
        return True
    names = _SAID_BY.get(chunk.value.name, frozenset[str]()) | {chunk.value.name, "route"}
    return not names.isdisjoint(held)


def _is_time_held(time: q.Time, held: frozenset[Any]) -> bool:
    """Whether a time is one of some values, or says the same as one; "today" may be the present."""
    said = getattr(time, "words", "")
    if said in held or said == "today" or ("volume" in held and says_same(_DAY, time)):
        return True
    times = [value for value in held if isinstance(value, q.At | q.Window | q.Between)]
    said_in = any(said in one.words or f"{one.words} ago" == said for one in times)  # "since <day>", "30 days ago"
    return said_in or any(says_same(time, one) or says_same(one, time) for one in times)


def _values(item: object) -> Iterator[Any]:
    """Every value within a query, the kinds of its parts, and what they stand for without saying it."""
    if isinstance(item, Struct):
        yield item.__struct_config__.tag
        if isinstance(item, q.At | q.Window | q.Between):
            yield item
        if isinstance(item, q.Rank) and item.skip:
            yield from range(item.skip + 1, item.skip + item.limit + 1)
        for name in item.__struct_fields__:
            yield from _values(getattr(item, name))
    elif isinstance(item, tuple | dict):
        for one in item.values() if isinstance(item, dict) else item:
            yield from _values(one)
    elif isinstance(item, int | float) and not isinstance(item, bool):
        yield abs(item)
    elif isinstance(item, str):
        yield float(item) if item.isdigit() else item
        if item in {"correlation", "strength"}:
            yield BITCOIN


_PRICES: Final = frozenset({"price", "open", "high", "low", "close"})


def in_lots(
    lots: Mapping[str, str], chunks: Sequence[Chunk], tokens: Sequence[Token], queries: Sequence[q.Query]
) -> Refusal | None:
    """Refuse an amount or a price of a coin that is named by the ticker of a thousand of it: "500 kPEPE"."""
    for chunk in chunks:
        for lot, coin in lots.items():
            named = chunk.kind == "coin" and coin in chunk.value and tokens[chunk.start].name.startswith(lot)
            if named and any(coin in query.subject.coins and _counts_coin(query, coin) for query in queries):
                return Refusal("per-coin", (as_written(tokens, chunk),), (coin,))
    return None


def _counts_coin(item: object, coin: str) -> bool:
    """Whether a part of a query holds an amount or a price of a coin."""
    if isinstance(item, tuple):
        return any(_counts_coin(one, coin) for one in item)
    if not isinstance(item, Struct):
        return False
    counts = (
        (isinstance(item, q.Holding) and item.unit == coin)
        or (isinstance(item, q.Convert) and coin in item.into)
        or (isinstance(item, q.Profit) and item.entry_price is not None)
        or (isinstance(item, q.Test) and item.measure.name in _PRICES and item.value is not None)
    )
    return counts or any(_counts_coin(getattr(item, name), coin) for name in item.__struct_fields__)


def both_of_one(part: Sequence[Chunk], words: Sequence[str]) -> list[str]:
    """The word "both" in a clause that names one thing, where another clause names the other: it is not shared out."""
    named = sum(chunk.kind in {"coin", "asset"} for chunk in part)
    return [word for word in words if "both" in word.split()] if named == 1 else []


def not_available(chunks: Sequence[Chunk], tokens: Sequence[Token]) -> Refusal | None:
    """Why a message is not answered that asks for a measure which is not kept."""
    if any(chunk.value == "walkforward" for chunk in chunks):
        return None
    for chunk in chunks:
        verb = chunk.start > 0 and tokens[chunk.start - 1].word in _TOOLS  # "do you support …"
        if chunk.kind == "unsupported" and not verb:
            return Refusal("not-available", (as_written(tokens, chunk),))
    return None


def about_nothing(part: Sequence[Chunk], words: Sequence[str], query: q.Query, used: set[int]) -> Refusal | None:
    """Why a clause is about nothing here: a pronoun without what it stands for, or another subject."""
    if any(chunk.kind in _SETS for chunk in part):
        return _of_other_wallets(part, words, query)
    text = " ".join(words)
    refers = _PRONOUN.search(text) is not None
    coins = sum(chunk.kind == "coin" for chunk in part)
    if coins:
        compares = any(word.value == "compare" for chunk in part for word in chunk.words)
        return Refusal("ambiguous") if coins == 1 and refers and compares else None
    if query.subject.scope not in {"all", "market"} or names_measure(part):
        return None
    if isinstance(query.operation, q.Count) and query.where is None:
        counts = (word for chunk, word in zip(part, words, strict=True) if chunk.as_("ask") == "count")
        return Refusal("unread", tuple(counts))  # "…, and how many": of what is not said
    if refers and not (query.subject.scope == "market" and text.startswith("is it")):
        return Refusal("ambiguous")
    left = tuple(words[at] for at, chunk in enumerate(part) if chunk.kind == "word" and at not in used)
    return Refusal("out-of-scope", left) if left else None


def _of_other_wallets(part: Sequence[Chunk], words: Sequence[str], query: q.Query) -> Refusal | None:
    """Of "Vitalik's wallet" nothing is known."""
    if not isinstance(query.operation, q.Route) or query.operation.topic != "wallets" or query.subject.wallets:
        return None
    for owner, chunk, owned in zip(words, part, words[1:], strict=False):
        if chunk.kind == "word" and owned in _OWNED and (owner.endswith("s") or not is_plain(owner)):
            return Refusal("not-available", (owner,))
    return None
