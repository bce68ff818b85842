"""Cuts a text into typed pieces: names, times, numbers, and the words of the lexicon. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from service.ask.parser.lexicon import LEXICON, LONGEST, Word
from service.ask.parser.numbers import number_at
from service.ask.parser.times import now_at, read_time
from service.ask.parser.tokens import Token
from service.ask.query import Time

_PERCENT: Final = frozenset({"%", "percent", "pct", "percentage"})
_OTHER_CURRENCIES: Final = "\u20ac\u00a3"
"""Currency signs other than the dollar: answers are in US dollars alone."""

_POINTS: Final = frozenset({"points", "point", "pp"})
_KEYS: Final = frozenset({"n", "k", "window", "limit", "count", "days", "period", "lookback"})
"""Names of arguments whose value is no condition: `window=30d`."""

_USD: Final = frozenset({"usd", "dollars", "dollar", "bucks", "usdc", "usdt", "buck"})


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
    """Something named: tokens from `start` to before `end`.

    `per_coin`: one coin is meant of which the venue trades thousands.
    """

    kind: str
    value: Any
    start: int
    end: int
    per_coin: bool = False


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
    if time is not None and time[1] >= end:
        return Chunk("time", time[0], at, time[1], gap=gap)
    now = now_at(tokens, at)
    if now is not None and now.end >= end:
        return Chunk("filler", None, at, now.end, gap=gap)
    quantity = _quantity(tokens, at)
    article = bool(words) and words[0].kind == "filler" and not tokens[at].is_number
    if quantity is not None and quantity[1] >= end + article:
        other = tokens[at].sigil == "#" or tokens[at].name[0] in _OTHER_CURRENCIES
        return Chunk("blocked" if other else "number", quantity[0], at, quantity[1], gap=gap)
    return _worded(tokens, at, end, words)


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


def _time(tokens: Sequence[Token], inside: set[int], at: int, now_ms: int) -> tuple[Time, int] | None:
    found = read_time(tokens, at, now_ms)
    if found is None or any(place in inside for place in range(at, found.end)):
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
    elif word in _POINTS:  # no count of things
        end, scaled = end + (unit == "%"), True
    return Quantity(-number.value if token.minus else number.value, unit, scaled), end
