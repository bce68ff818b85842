"""Superlatives: "the top 5 by volume", "the highest of both", "its worst day". Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.condition_tree import PAIR, test_of
from service.ask.parser.lexicon import Super
from service.ask.parser.slots import Slots
from service.ask.parser.windows import A_DAY, over_span

GROWING: Final = frozenset({"volume", "open_interest", "market_cap", "funding", "volatility", "score"})
_IN_A_DAY: Final = re.compile(r"\b(?:day|daily|24h)\b")
_PLURAL: Final = 5
"""How many are told where several are asked for without a number."""

_ORDERED: Final = 20
"""How many are told where only their order is asked for."""

_SETS: Final = frozenset({"set", "category", "topic"})
_SAID: Final = {"the two": 2, "the three": 3}
"""Numbers before a set; elsewhere such words name what was listed."""

_SPANS: Final = {"week": 7, "month": 30, "year": 365}
_PLACES: Final = frozenset(
    {"place", "places", "position", "positions", "ranks", "ranked", "rank", "spot", "spots", "from", "numbers"}
)
_RANKED: Final = frozenset({"rank", "ranks", "ranked", "from"})
_TO: Final = frozenset({"to", "through", "thru", "until"})

_ONE: Final = frozenset({"which coin", "what coin", "the coin", "which one", "coin", "token", "which token"})


def read_superlative(slots: Slots, superlatives: Sequence[int], things: int | None) -> q.Operation:
    """What a superlative asks for.

    Args:
        slots: The clause.
        superlatives: Its superlatives.
        things: How many things are named; None: a set is meant.
    """
    first = superlatives[0]
    if _is_unclear(slots, first, things):
        return q.Value()
    value = _meant(slots, superlatives)
    if things != 1:
        value = _of_span(slots, superlatives, value)
    ordered = slots.free(lambda chunk: chunk.value == "first" and chunk.kind == "word")
    if ordered and things != 1 and _ends(slots, ordered[0]):
        slots.used.add(ordered[0])
        value = structs.replace(value, orders=True)
    slots.both = value.both
    if things is None:
        if value.measure is not None:
            slots.imply(first, value.measure)
        slots.used |= {at for at in ordered if slots.kind(at + 1) == "number"}  # "the first ten"
        skip, limit = read_places(slots) or (0, _limit(slots, value))
        slots.take_asks("rank", "list")
        return q.Rank(value.direction, limit, skip)
    return _of_things(slots, first, value, things)


def _is_unclear(slots: Slots, first: int, things: int | None) -> bool:
    """Whether what a superlative is of, or compares with, is not said or not known."""
    said: Super = slots.as_(first, "super")
    sets = sum(chunk.kind == "category" for chunk in slots.chunks)
    if (said.comparative and (things == 1 or sets > 1 or "than" in slots.words)) or (said.orders and things == 1):
        return True  # "is it better?", "higher than the others": than what is not said
    if said.plural and things == 1 and slots.is_question():
        return True  # "is it among the best performers?"
    spans = [chunk.value for chunk in slots.chunks if chunk.kind == "time"]
    if things is None and _IN_A_DAY.search(slots.word(first)) and any(span not in A_DAY for span in spans):
        return True  # "the biggest one-day gain of any L1 this month"
    if slots.word(first) in {"more", "fewer", "less"} and things is None and slots.first("measure") is None:
        return True  # "more up or down?"
    return _of_growth(slots, first)  # "whose funding rose the most": only the price's change is known


def _of_things(slots: Slots, first: int, value: Super, things: int) -> q.Operation:
    """The extreme of one thing, or the first of several."""
    days = slots.free(lambda chunk: chunk.kind == "word" and chunk.value.lower() in {"day", "days"})
    if days:
        slots.used.add(days[0])
        slots.imply(first, "change")
    if things == 1:
        slots.take_asks("when")
        if value.measure is not None:
            slots.used |= set(slots.measures("price"))
            slots.imply(first, value.measure)
        return q.Extreme("max" if value.direction == "most" else "min")
    if value.measure is not None:
        slots.imply(first, value.measure)
    slots.take_asks("compare", "list", "difference")
    slots.take("or")
    return q.Compare(value.direction)


def read_places(slots: Slots) -> tuple[int, int] | None:
    """How many are skipped and how many wanted: "the second", "2nd and 3rd", "places two to four"."""
    said = slots.free(lambda chunk: chunk.has("ordinal"))
    places = [int(slots.as_(at, "ordinal")) for at in said]
    if not said:
        begins = [at for at, words in enumerate(slots.words) if words.split()[-1] in _PLACES and slots.row(at + 1)]
        if not begins:
            return None
        said = slots.row(begins[0] + 1)
        places = [int(slots.chunks[at].value.value) for at in said]
        if len(said) == 1 and slots.word(begins[0]) in _RANKED:
            return None  # "rank 5 coins"
        slots.used.add(begins[0])
    ranges = len(said) == PAIR and any(slots.word(at) in _TO for at in range(said[0], said[1]))
    first, last = min(places), max(places)
    if first < 1 or not (ranges or sorted(places) == list(range(first, last + 1))):
        return None
    slots.used |= set(range(said[0], said[-1] + 1))
    if slots.limit(None) not in {None, last - first + 1}:
        return None  # "top 5, places 2 to 4"
    return first - 1, last - first + 1


def _of_span(slots: Slots, superlatives: Sequence[int], value: Super) -> Super:
    """A superlative of a span is one of the change over it: "the strongest week", "the better month"."""
    said = [at + 1 for at in superlatives if slots.word(at + 1) in _SPANS and slots.kind(at + 1) == "word"]
    if not said or value.measure not in {None, "change"}:
        return value
    count = _SPANS[slots.word(said[0])]
    span = q.Window(count, "d", f"{count} days")
    slots.put_value(said[0], "time", span)
    return structs.replace(value, measure="change")


def _ends(slots: Slots, at: int) -> bool:
    """Whether a word ends a clause or a part of it: "…, highest funding first, at most 6"."""
    return at + 1 == len(slots.chunks) or bool(slots.chunks[at + 1].gap)


def _meant(slots: Slots, superlatives: Sequence[int]) -> Super:
    """The first superlative with what stands beside it: "most negative", "largest fall", "top gainers"."""
    first = superlatives[0]
    value: Super = slots.as_(first, "super")
    slots.used.add(first)
    signs = slots.free(lambda chunk: chunk.has("sign"))
    if signs:
        slots.used |= {at for at in signs if slots.as_(at, "sign") == slots.as_(signs[0], "sign")}
        value = _turned(value) if slots.as_(signs[0], "sign") < 0 else value
    after = first + 1
    while slots.kind(after) in {"filler", "number"} or slots.word(after) == "day":
        after += 1
    direction = slots.as_(after, "direction")
    if value.measure is None and direction is not None and after not in slots.used:
        value = structs.replace(value if direction > 0 else _turned(value), measure="change")
        slots.used.add(after)
    for later in superlatives[1:]:
        other: Super = slots.as_(later, "super")
        beside = slots.are(range(first + 1, later), "number", "filler", "category", "set", "time")
        if value.measure is None and other.measure is not None and beside:
            if value.direction == "least" and other.direction == "most":
                if not slots.word(later).endswith("performers"):
                    continue  # "the worst gainers": which are meant is not said
                other = _turned(other)
            value = other
            slots.used.add(later)
        elif value.measure is None and other.measure is not None and slots.are(range(first + 1, later), "and"):
            value = structs.replace(value, measure=other.measure)  # "best and worst day"
        elif other.measure in {None, value.measure} and (other.direction == value.direction or later + 1 in signs):
            slots.used.add(later)
    return value


def _of_growth(slots: Slots, first: int) -> bool:
    """Whether the change of another measure than the price is asked for."""
    said: Super = slots.as_(first, "super")
    verb = said.measure == "change" and slots.word(first).endswith(("most", "hardest"))
    grows = said.measure is None and slots.as_(slots.past(first + 1), "direction") is not None
    others = [
        at
        for at in slots.free(lambda chunk: chunk.has("measure"))
        if (one := slots.measure(at)) and one.name in GROWING
    ]
    change_in = any(slots.word(at - 1) == "in" and slots.as_(at - 2, "measure") == q.Measure("change") for at in others)
    return bool(others) and (verb or grows or change_in)


def _turned(value: Super) -> Super:
    return structs.replace(value, direction="least" if value.direction == "most" else "most")


def _limit(slots: Slots, value: Super) -> int:
    """How many are wanted: the number said, one for "which coin", several for a plural."""
    sets = any(slots.kind(at) in _SETS and words.endswith("s") for at, words in enumerate(slots.words))
    one = any(words in _ONE or words.startswith("has ") or words == "has" for words in slots.words)
    default = _ORDERED if value.orders else _PLURAL if value.plural or (sets and not one) else 1
    said = (
        _SAID[words]
        for at, words in enumerate(slots.words)
        if words in _SAID
        and (slots.kind(at + 1) in _SETS or slots.word(at + 1) == "with" or slots.has(at + 1, "super"))
    )
    return slots.limit(0) or next(said, default)


def beating(slots: Slots, query: q.Query) -> q.Query:
    """Coins that beat another one the most do so over the window of the ranking."""
    del slots
    test = test_of(query.where)
    over = query.measures[0].over if isinstance(query.operation, q.Rank) else None
    return (
        query if test is None or not test.coin or over is None else structs.replace(query, where=over_span(test, over))
    )
