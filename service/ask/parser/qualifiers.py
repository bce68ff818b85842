"""What stands behind a measure, a time or a number and qualifies it: units, periods, time frames, venues. Pure.

What can be converted becomes a part of its measure. Any other word in such a place refuses the question: by its place
it is neither a filler nor the name of a coin.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from service.ask import query as q
from service.ask.measure_table import MEASURES, Unit
from service.ask.parser.chunks import Chunk
from service.ask.parser.lexicon import Kind, Word
from service.ask.parser.market import CONTRACTS, EDGES, of_other_market
from service.ask.parser.names import CURRENCIES
from service.ask.parser.windows import frame_of

READ: Final = "read"
"""The value of a filler that a measure holds."""

_AMOUNTS: Final = frozenset({"volume", "open_interest", "market_cap"})
"""Measures in US dollars that are given in coins as well."""

_RATES: Final = frozenset({"funding", "carry"})
"""Measures in percent a year that are given per another period as well."""

_OWN_COINS: Final = frozenset({"coins", "coin", "tokens", "token", "units"})
_UNIT_BEHIND: Final = frozenset({"coin", "asset", "category", "set", "time", "number"})
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_RATE: Final = re.compile(
    r"(?:(?:per|an?)[ -](?:(\d+)[ -]?)?|every[ -](\d+)[ -]?)"
    r"(h|hr|hour|d|day|w|wk|week|mo|mth|month|y|yr|year|annum)s?"
)
_DAILY: Final = re.compile(r"\b(?:daily|(?:per|a) day)\b")
_HOURLY: Final = "hourly"

_LEADING: Final = frozenset({"in", "on", "at", "per", "via", "through", "from", "by", "using"})
"""Words before what qualifies something."""

_DETERMINERS: Final = frozenset({
    "a", "an", "the", "its", "their", "my", "your", "our", "his", "this", "that", "these", "those", "each", "both",
    "all", "it", "them", "they", "one", "any", "some", "same", "current", "current rate", "the current rate", "being",
    "now", "right now", "at the moment", "total", "whole", "entire", "own", "other", "another", "recent", "latest",
    "last", "present", "single", "more", "most recent", "others", "here", "there", "what", "which", "how", "what rate",
})  # fmt: skip
"""Words that name nothing: behind "in" or "per" they qualify nothing by themselves."""

_FORMS: Final = frozenset({"line", "lines", "row", "rows", "table", "list", "json", "csv", "word", "words", "sentence"})
"""Forms of an answer, which a word before them does not change."""

_ANNUALISED: Final = frozenset({"annualised", "annualized"})
_DOLLARS: Final = frozenset({"dollars", "usd", "us dollars", "bucks"})
_ASKING: Final = frozenset({"what", "which", "how", "what rate"})
"""Determiners that ask: "in which zone"."""

_GIVEN_ANYWAY: Final = frozenset({
    "percent", "percentage", "percentage points", "points", "counts", "count", "dollars", "usd", "us dollars", "usdt",
    "usdc", "bucks", "json", "csv", "markdown", "table", "format", "line", "lines", "row", "rows", "words", "numbers",
    "position", "places", "unit", "coin", "token", "symbol", "ticker", "name", "perps", "perp", "perpetual",
    "perpetuals", "futures", "hyperliquid", "exchange", "venue", "crypto", "data", "value", "value in", "size", "order",
    "coins", "tokens", "asset", "assets", "equal", "detail", "general", "utc", "people", "part", "word", "sentence",
    "bullets", "current mark", "mark", "per unit", "per position", "rate",
})  # fmt: skip
"""Units, formats and places that every answer has."""


def qualified(chunks: Sequence[Chunk], words: Sequence[str]) -> list[Chunk]:
    """Give measures the unit, period or time frame that stands beside them.

    Args:
        chunks: The pieces of a message.
        words: Their words.
    """
    found = list(chunks)
    for at in range(len(chunks)):
        _read_own_rate(found, words, at)
        _read_rate(found, words, at)
        _read_unit(found, words, at)
        if (frame := frame_of(found, words, at)) is not None:
            _put(found, at, *frame)
        if (market := of_other_market(found, words, at)) is not None:
            _put(found, at, market, None)
        if _is_currency(found, at):
            _put(found, at, "blocked", None)
    return found


def _measure(chunk: Chunk) -> q.Measure | None:
    named: q.Measure | None = chunk.as_("measure")
    return named


def _put(chunks: list[Chunk], at: int, kind: Kind, value: Any) -> None:
    chunks[at] = structs.replace(chunks[at], kind=kind, value=value, words=(Word(kind, value),))


def _consume(chunks: list[Chunk], first: int, last: int) -> None:
    for at in range(first, last + 1):
        chunks[at] = structs.replace(chunks[at], kind="filler", value=READ, words=())


def _sentence(chunks: Sequence[Chunk], at: int) -> range:
    """The chunks of the sentence that a chunk is in."""
    start = end = at
    while start > 0 and not _ends(chunks[start].gap):
        start -= 1
    while end + 1 < len(chunks) and not _ends(chunks[end + 1].gap):
        end += 1
    return range(start, end + 1)


def _ends(gap: str) -> bool:
    return any(mark in gap for mark in ".?!;:)")


def _read_own_rate(chunks: list[Chunk], words: Sequence[str], at: int) -> None:
    """A daily cost that one phrase names: "funding cost per day"."""
    named = _measure(chunks[at])
    if named is not None and named.name == "carry" and _DAILY.search(words[at]) is not None:
        _put(chunks, at, "measure", structs.replace(named, per_hours=_HOURS["d"]))


def _is_currency(chunks: Sequence[Chunk], at: int) -> bool:
    """Whether a currency is the unit of a number, or of what is asked about a coin: "100 euros", "BTC price EUR"."""
    if at == 0 or chunks[at].kind != "asset" or chunks[at].value not in CURRENCIES or chunks[at].gap not in {"", "/"}:
        return False
    of_coin = any(chunk.kind == "coin" for chunk in chunks[:at])
    before = chunks[at - 1]
    return before.kind == "number" or (of_coin and (before.kind == "coin" or _measure(before) is not None))


def _read_rate(chunks: list[Chunk], words: Sequence[str], at: int) -> None:
    """A period of funding: "per 8h", "a day", "hourly". Of a position it is the time that it is held, by default a day.

    A yearly rate is one anyway.
    """
    for last in range(at, min(at + 3, len(chunks))):
        if any(chunk.gap not in {"", "-"} for chunk in chunks[at + 1 : last + 1]):
            return
        text = " ".join(words[at : last + 1])
        rate = _RATE.fullmatch(text)
        if rate is None and not (text == _HOURLY and chunks[at].kind == "frame"):
            continue
        hours = 1 if rate is None else int(rate[1] or rate[2] or 1) * _HOURS[rate[3].replace("annum", "y")[0]]
        sentence = _sentence(chunks, at)
        amount = any(chunk.kind == "number" and (chunk.value.unit == "USD" or chunk.value.scaled) for chunk in chunks)
        if amount and any(chunk.has("side") for chunk in chunks):
            if hours == _HOURS["d"] and chunks[last].kind == "filler":
                _consume(chunks, at, last)
            return
        places = [
            one
            for one in sentence
            if (named := _measure(chunks[one])) and named.name in _RATES and named.per_hours is None
        ]
        if rate is None:
            places = [one for one in places if one in {at - 1, at + 1}]
        if not places or (hours == _HOURS["y"] and chunks[last].kind == "time"):
            return
        for one in places:
            named = _measure(chunks[one]) or q.Measure("funding")
            _put(chunks, one, "measure", structs.replace(named, per_hours=None if hours == _HOURS["y"] else hours))
        _consume(chunks, at, last)
        return


def _read_unit(chunks: list[Chunk], words: Sequence[str], at: int) -> None:
    """A unit of an amount that is named behind it: "in BTC" of a coin that is named before, "in coins"."""
    bracketed = words[at] in _OWN_COINS and "(" in chunks[at].gap
    unit = at if bracketed else at + 1
    behind = at > 0 and (chunks[at - 1].kind in _UNIT_BEHIND or _measure(chunks[at - 1]) is not None)
    if not behind or chunks[unit - 1].value == READ:
        return
    if not bracketed and (words[at].split()[-1:] != ["in"] or unit >= len(chunks) or chunks[unit].gap):
        return
    before = [chunk for chunk in chunks[_sentence(chunks, at).start : at] if chunk.value != READ]
    measures = [named for chunk in before if (named := _measure(chunk)) is not None]
    if any(measure.counted_in for measure in measures):
        return
    amounts = [measure.name in _AMOUNTS for measure in measures]
    if words[unit] in _OWN_COINS:
        if not any(amounts) or not any(chunk.kind == "coin" for chunk in chunks):
            return
        name = "coins"
    elif chunks[unit].kind == "coin" and len(chunks[unit].value) == 1:
        things = any(chunk.kind in {"coin", "asset", "category", "set"} for chunk in before)
        later = unit + 2 < len(chunks) and words[unit + 1] in _OF and chunks[unit + 2].kind in {"coin", "category"}
        if not amounts or not all(amounts) or not (things or later):
            return
        (name,) = chunks[unit].value
    else:
        return
    for one in range(_sentence(chunks, at).start, at):
        if (named := _measure(chunks[one])) is not None and named.name in _AMOUNTS:
            _put(chunks, one, "measure", structs.replace(named, counted_in=name))
    _consume(chunks, at, unit)


def heads(chunks: Sequence[Chunk], words: Sequence[str]) -> list[Chunk]:
    """Chunks behind "in", "per" or the like, or directly behind a time or a number; not those of "a numbered list"."""
    return [
        chunk
        for at, chunk in enumerate(chunks)
        if at
        and (at + 1 == len(chunks) or words[at + 1] not in _FORMS)
        and (_leads(chunks, words, at) or (not chunk.gap and chunks[at - 1].kind in {"time", "number"}))
    ]


def before_measures(chunks: Sequence[Chunk], words: Sequence[str]) -> list[Chunk]:
    """Chunks before a measure, which may qualify it, also across a kind of contract: "quarterly futures price"."""
    found = []
    for at, chunk in enumerate(chunks):
        to = at + 1
        while to < len(chunks) and words[to] in CONTRACTS and not chunks[to].gap:
            to += 1
        if words[at] not in _DETERMINERS and _begins_measure(chunks, to):
            found.append(chunk)
    return found


def unread_qualifiers(chunks: Sequence[Chunk], words: Sequence[str], queries: Sequence[q.Query]) -> list[int]:
    """Places of words that qualify a measure, a time or a number without being held by a query.

    Args:
        chunks: The pieces of a message; names that no coin has are still of the kind `unknown`.
        words: Their words.
        queries: What the message was read as.
    """
    begun = next((at for at, chunk in enumerate(chunks) if _may_be_qualified(chunk)), len(chunks))
    return [
        at
        for at in range(len(chunks))
        if (
            _is_unread_name(chunks, words, at)
            if chunks[at].kind == "unknown"
            else _is_of_other_unit(chunks, words, at, queries)
            or (
                at > begun
                and (words[at].startswith("per ") or _leads(chunks, words, at))
                and _is_unread(chunks, words, at, queries)
            )
        )
    ]


def _is_of_other_unit(chunks: Sequence[Chunk], words: Sequence[str], at: int, queries: Sequence[q.Query]) -> bool:
    """Whether a filler names a unit that no measure has: "annualised" of a change, "in dollars" of a percentage."""
    units = {MEASURES[one.name].unit for query in queries for one in query.measures}
    if chunks[at].kind not in {"filler", "ask"} or chunks[at].value == READ or not units:
        return False
    if words[at] in _ANNUALISED:
        return units.isdisjoint({Unit.PERCENT_A_YEAR, Unit.SPREAD})
    named = words[at].removeprefix("in ")
    return named in _DOLLARS and (named != words[at] or _leads(chunks, words, at)) and units == {Unit.PERCENT}


def _may_be_qualified(chunk: Chunk) -> bool:
    return chunk.kind in {"time", "number", "coin", "asset", "category"} or chunk.has("measure") or chunk.has("super")


def _leads(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> bool:
    """Whether "in", "per" or the like stands before a chunk, with at most determiners between."""
    while at > 0 and not chunks[at].gap and words[at - 1] in _DETERMINERS - _ASKING:
        at -= 1
    if at == 0 or chunks[at].gap or words[at - 1] not in _LEADING:
        return False
    return chunks[at - 1].value != READ and not _ends(chunks[at - 1].gap)


def _is_unread_name(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> bool:
    """Whether a name that no coin has is none of a coin: behind a time, a number, "on" or "@", or before a coin.

    So is one between a coin and a measure: "BTC NY close".
    """
    if _leads(chunks, words, at):
        return True
    counted = at > 0 and (chunks[at - 1].kind in {"time", "number"} or words[at - 1][:1].isdigit())
    behind = counted and not chunks[at].gap
    behind |= at > 0 and chunks[at].gap in _ATTACHED and _may_be_qualified(chunks[at - 1])
    to = at + 1
    if at > 0 and chunks[at - 1].kind == "coin" and not chunks[at].gap and _begins_measure(chunks, to):
        return True
    while to < len(chunks) and not chunks[to].gap and (_measure(chunks[to]) or words[to] in _OF):
        to += 1
    return behind or (to < len(chunks) and not chunks[to].gap and chunks[to].kind == "coin")


def _begins_measure(chunks: Sequence[Chunk], at: int) -> bool:
    return at < len(chunks) and not chunks[at].gap and chunks[at].has("measure")


def _is_unread(chunks: Sequence[Chunk], words: Sequence[str], at: int, queries: Sequence[q.Query]) -> bool:
    """Whether a word behind "in" or the like is a unit, a period or a venue that no query holds."""
    chunk = chunks[at]
    if chunk.kind == "filler":
        goods = words[at] in _MEASURES_OF_GOODS and any(one.kind == "asset" for one in chunks)
        speed = words[at] == "per day" and any(_is_of_breadth(one) for one in queries)
        said = goods or speed or words[at] in _DETERMINERS | _GIVEN_ANYWAY | _LEADING
        return not said and chunk.value != READ
    if chunk.kind == "time" and words[at - 1] == "per":
        return True
    if words[at - 1] == _BY_MEANS_OF:
        return bool(chunk.value != READ)
    if chunk.kind == "set":
        return all(_is_of_things(one) for one in queries) and bool(queries)
    if chunk.kind in {"coin", "asset"} and words[at - 1] in _VENUES:
        return _is_venue(chunks, words, at) and not any(one.other for query in queries for one in query.measures)
    return chunk.kind == "coin" and words[at - 1] == "in" and _is_unread_unit(chunks, at, queries)


def _is_of_things(query: q.Query) -> bool:
    """Whether a query is about things that are named, among no others."""
    named = query.subject.coins or query.subject.assets
    return bool(named) and query.subject.scope in {"coins", "assets"} and not isinstance(query.operation, _AMONG)


def _is_unread_unit(chunks: Sequence[Chunk], at: int, queries: Sequence[q.Query]) -> bool:
    """Whether a coin that is named before is named again as a unit: "price of BTC in BTC"."""
    named = {key for one in chunks[:at] if one.kind == "coin" for key in one.value}
    held = any(isinstance(one.operation, _IN_COINS) for one in queries)
    return not held and named.issuperset(chunks[at].value) and not _changes(chunks[:at])


def _is_venue(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> bool:
    """Whether a name says where something is traded whose coin is named before it: "ETH price via Coinbase"."""
    if at + 1 < len(chunks) and _measure(chunks[at + 1]) is not None and words[at + 1] not in EDGES:
        return False
    before = at - 1
    while before > 0 and not chunks[before].gap:
        before -= 1
        if chunks[before].kind in {"coin", "asset"}:
            return True
        if _measure(chunks[before]) is None and chunks[before].kind != "filler":
            return False
    return False


_BY_MEANS_OF: Final = "using"
_VENUES: Final = frozenset({"on", "at", "via", "from", "through", "by"})


def _is_of_breadth(query: q.Query) -> bool:
    """Whether a query is about breadth, whose speed is one per day."""
    return isinstance(query.operation, q.Route) and query.operation.topic == "breadth"


_MEASURES_OF_GOODS: Final = frozenset({"ounce", "barrel"})
_ATTACHED: Final = frozenset({"(", "@", "-", "/"})
"""Marks between a coin and where it is traded: "ETH@CME", "SOL (Kraken)"."""

_OF: Final = frozenset({"of", "for"})
_AMONG: Final = (q.Position, q.Why, q.Compare)
"""Operations that hold coins among others."""

_IN_COINS: Final = (q.Ratio, q.Convert, q.ValueOf, q.Profit, q.Portfolio, q.Why)
"""Operations that hold a coin as a unit."""


def _changes(before: Sequence[Chunk]) -> bool:
    """Whether something of another coin is asked for behind a comma or an "and": "price of ETH, change in BTC"."""
    last = max((at for at, chunk in enumerate(before) if chunk.kind in {"and", "or"} or chunk.gap), default=0)
    return any(chunk.has("measure") for chunk in before[last:]) and not any(
        chunk.kind == "coin" for chunk in before[last:]
    )
