"""Pieces that mean something else beside others: a high that is fallen from, a coin that is compared with. Pure."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.accounting import A_YEAR
from service.ask.parser.chunks import Chunk
from service.ask.parser.lexicon import Super
from service.ask.parser.slots import BITCOIN, Slots
from service.ask.parser.states import PAYS
from service.ask.parser.superlatives import GROWING
from service.ask.parser.windows import says_same, span_since

_FROM: Final = frozenset({"off", "below", "under", "from", "beneath"})
_TOPS: Final = frozenset({"high", "top", "peak", "highs", "ath"})
_ABOVE_LOW: Final = frozenset({"from", "above", "within"})
_BELOW: Final = frozenset({"lt", "le"})
_BOUNDS: Final = (q.Measure("high"), q.Measure("low"))
_MOVES: Final = frozenset({"change", "drawdown"})
_FOLLOWS: Final = frozenset({"follow", "follows"})
_NEAR: Final = 4
_MOVE: Final = q.Measure("change")
_FALLS: Final[Mapping[str, q.Comparator]] = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
_LEVELS: Final = {"low": _BELOW, "high": frozenset({"gt", "ge"})}
_ENDS: Final = {"highest": "high", "lowest": "low", "how high": "high", "how low": "low"}
_REACHED: Final = frozenset({"went", "gone", "traded at", "trade at", "trades at"})
_ABSOLUTE: Final = frozenset({
    "absolute", "absolute terms", "in absolute terms", "either direction", "in either direction",
    "regardless of direction",
    "regardless of sign", "magnitude", "in magnitude",
})  # fmt: skip
_DIVISIBLE: Final = ("volume", "open_interest", "market_cap")
_DIVISIBLE_MEASURES: Final = tuple(q.Measure(name) for name in _DIVISIBLE)
_DIVIDES: Final = frozenset({
    "ratio", "ratio of", "divided by", "relative to", "relative to its", "compared with its", "compared with",
    "compared to",
    "per", "in relation to", "against its", "as a multiple of",
})  # fmt: skip
_COMPARING: Final = frozenset({"correlation", "strength"})
_NOT_FOLLOWED: Final = GROWING | {"verdict", "score", "confidence", "sentiment", "funding", "breadth"}
THAN: Final = frozenset({"vs", "versus", "against", "compared to", "compared with", "relative to", "than"})
_STRENGTHS: Final = frozenset({"strongest", "weakest"})
_AGAINST: Final = frozenset({"to", "with", "against", "versus", "vs", "than"})
_PAYING: Final = frozenset({
    "pay", "paid", "paying", "pays", "receive", "receiving", "received", "receives", "earn", "earning", "earned",
    "collect", "get", "gets", "getting",
})  # fmt: skip
_EARNING: Final = _PAYING - {"pay", "paid", "paying", "pays"}
_CLOSING: Final = frozenset({
    "close", "closed", "closes", "closing", "finish", "finished", "finishes", "end", "ended", "settle", "settled",
})  # fmt: skip


def _closes(slots: Slots) -> None:
    """What a close does is what the day did: "finish green"; above or below a level is said of the close."""
    for at, word in enumerate(slots.words):
        to = slots.past(at + 1)
        if word not in _CLOSING or to >= len(slots.chunks) or slots.chunks[to].gap:
            continue
        if slots.has(to, "direction"):
            slots.drop(at)
        elif slots.has(to, "compare") and slots.measure(at) is None:
            slots.put(at, "measure", q.Measure("price"))


def _drawdowns(slots: Slots) -> None:
    """Below a high is a drawdown: "more than 35 % off its 30-day top", "within 5 % of its high"."""
    ranked = any((value := chunk.as_("super")) is not None and value.measure == "drawdown" for chunk in slots.chunks)
    for at in range(len(slots.chunks)):
        name = slots.as_(at, "measure")
        high, low = name is not None and name.name == "high", name is not None and name.name == "low"
        if low and ranked:
            slots.put(at, "blocked")  # "closest to its low"
        elif low:
            _mark_rise(slots, at)
        elif high and ranked:
            slots.put(at, "measure", q.Measure("drawdown"))
        elif high or slots.word(at) in _TOPS:
            _mark_fall(slots, at)


def _rates(slots: Slots) -> None:
    """A rate of funding is one of a year: "funding above 20 % a year", "longs pay more than 20 % a year"."""
    rates = [at for at, word in enumerate(slots.words) if word in PAYS] + slots.measures("funding")
    for at in range(1, len(slots.chunks)):
        before = slots.chunks[at - 1]
        of_rate = slots.kind(at - 2) == "compare" and any(at - _NEAR <= place < at for place in rates)
        if of_rate and slots.word(at) == A_YEAR and before.kind == "number" and before.value.unit == "%":
            slots.drop(at)


def _mark_rise(slots: Slots, low: int) -> None:
    """A low that a rise is measured from: "up from its 30-day low", "how far above the October low is it?"."""
    at = next((place for place in range(low - 1, low - _NEAR, -1) if slots.word(place) in _ABOVE_LOW), None)
    if at is not None:
        _measure_from(slots, at, low, "from_low")


def _measure_from(slots: Slots, at: int, bound: int, name: str) -> None:
    """Let a high or low be the distance of the price from it; block it beside a size or another bound."""
    others = (place for place in range(len(slots.chunks)) if place != bound)
    sized = any(
        slots.kind(one) == "number" or slots.has(one, "super") or slots.as_(one, "measure") in _BOUNDS for one in others
    )
    if sized or not any(chunk.kind == "coin" for chunk in slots.chunks):
        slots.put(bound, "blocked")
        return
    slots.put(bound, "measure", q.Measure(name))
    for place in range(at + 1):
        measure = slots.as_(place, "measure")
        if place == at or slots.has(place, "direction") or (measure is not None and measure.name in _MOVES):
            slots.drop(place)


def _mark_fall(slots: Slots, high: int) -> None:
    """A high that a fall is measured from becomes a drawdown, and the size of the fall a negative number."""
    at = high - 1
    while slots.kind(at) in {"filler", "time"} and slots.word(at) not in _FROM | {"of"}:
        at -= 1
    within = next((place for place in range(at) if slots.word(place) == "within"), None)
    is_from = (
        slots.word(at) in _FROM or (slots.word(at) == "of" and within is not None) or slots.as_(at, "compare") in _BELOW
    )
    if at < 0 or not is_from or (slots.has(at, "compare") and slots.kind(high) == "number"):
        return
    if any(_is_past(slots.chunks[place].value) for place in range(at, high) if slots.kind(place) == "time"):
        _measure_from(slots, at, high, "from_high")
        return  # "below its October high": the drawdown in October is another figure
    slots.put(high, "measure", q.Measure("drawdown"))
    slots.drop(at)
    if within is not None:
        slots.put(within, "compare", "ge")
    for place in range(at):
        number = slots.chunks[place]
        if number.kind != "number" or number.value.unit != "%":
            continue
        slots.put_value(place, "number", structs.replace(number.value, value=-abs(number.value.value)))
        if within is None and slots.has(place - 1, "compare"):
            slots.put(place - 1, "compare", _FALLS.get(slots.as_(place - 1, "compare"), "lt"))


def _is_past(time: q.Time) -> bool:
    return isinstance(time, q.Between) and time.end_ms is not None


def _highest(slots: Slots) -> None:
    """Of a set, "the highest price" is a superlative; of one coin it is a high. "High funding" is no high."""
    compared = {chunk.as_("compare") for chunk in slots.chunks}
    for at in range(len(slots.chunks) - 1):
        behind = slots.as_(at + 1, "measure")
        if slots.word(at) not in {"high", "low"} or slots.chunks[at + 1].gap or slots.kind(at - 1) in {"time", "frame"}:
            continue
        if behind is not None and behind.name not in {"price", "high", "low"}:
            if not compared.isdisjoint(_LEVELS[slots.word(at)]) or (
                slots.word(at) == "high" and slots.has(at - 1, "super")
            ):
                slots.drop(at)  # "low correlation (under 0.35)"
            else:
                slots.put(at, "blocked")
    if any(chunk.kind in {"coin", "asset", "time"} for chunk in slots.chunks):
        return
    for at, words in enumerate(slots.words):
        if words in {"highest price", "lowest price"} and slots.as_(at, "measure") is not None:
            value = Super("most" if words.startswith("highest") else "least", "price")
            slots.put(at, "super", value)


def _times(slots: Slots) -> None:
    """Of "last month (30d)" the window counts: what says the same twice is one."""
    times = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "time"]
    said = {getattr(slots.chunks[at].value, "words", ""): at for at in times}
    for words, at in said.items():
        if f"{words} so far" in said:
            slots.drop(at)
    for first, second in pairwise(times):
        if slots.are(range(first + 1, second), "filler"):
            if says_same(slots.chunks[first].value, slots.chunks[second].value):
                slots.drop(first)
            elif says_same(slots.chunks[second].value, slots.chunks[first].value) or _explains(slots, first, second):
                slots.drop(second)


def _since(slots: Slots) -> None:
    """A move against an earlier instant is one since then: "is it up vs 24h ago"."""
    moves = slots.measures("change") or any(chunk.has("direction") for chunk in slots.chunks)
    named = [one for at in range(len(slots.chunks)) if (one := slots.as_(at, "measure")) and one.name != "change"]
    for at, chunk in enumerate(slots.chunks):
        if moves and not named and isinstance(chunk.value, q.At) and slots.word(at - 1) in THAN:
            slots.put_value(at, "time", span_since(chunk.value))
            slots.drop(at - 1)
            if slots.word(at - 2) in {"today", "now"}:
                slots.drop(at - 2)


def _explains(slots: Slots, first: int, second: int) -> bool:
    """Whether a window in brackets says how long ago a time was: "a week ago (7 days)"."""
    ago, window = slots.chunks[first].value, slots.chunks[second]
    return "(" in window.gap and getattr(ago, "words", "") == f"{getattr(window.value, 'words', '')} ago"


def _ratios(slots: Slots) -> None:
    """Two measures that are divided are one: "volume to market cap ratio", "volume relative to its market cap"."""
    named = [at for at in slots.measures(*_DIVISIBLE) if slots.measure(at) in _DIVISIBLE_MEASURES]
    for first, second in pairwise(named):
        said = [at for at in (first - 1, *range(first + 1, second), second + 1) if slots.word(at) in _DIVIDES]
        plain = all(at in said or slots.kind(at) in {"filler", "and"} for at in range(first + 1, second))
        taken = slots.measure(first) is None  # by the pair before
        if taken or not said or not plain or slots.measure(first) == slots.measure(second):
            continue
        measure = q.Measure(slots.as_(first, "measure").name, per=slots.as_(second, "measure").name)
        slots.put(first, "measure", measure)
        for at in (*said, second):
            slots.drop(at)


def _absolute(slots: Slots) -> None:
    """What says that a sign does not count: "the biggest absolute movers", "in either direction".

    Where no size is compared, or only rises or falls are, "absolute" may mean dollars: it stays unread.
    """
    supers = [value for chunk in slots.chunks if (value := chunk.as_("super")) is not None]
    percents = any(chunk.kind == "number" and chunk.value.unit == "%" for chunk in slots.chunks)
    signed = any(value.measure == "change" and not value.both for value in supers)
    for at, words in enumerate(slots.words):
        if words in _ABSOLUTE and "absolute" in words and (signed or not (supers or percents)):
            slots.put(at, "blocked")
        elif words in _ABSOLUTE:
            slots.absolute = True
            slots.drop(at)


def mark_other(slots: Slots) -> None:
    """What coins are correlated with is no subject: "lowest correlation to Bitcoin"."""
    ranked = any(chunk.has("super") for chunk in slots.chunks)
    for at in range(len(slots.chunks)):
        if slots.word(at) in _FOLLOWS and slots.kind(at + 1) == "coin" and (ranked or slots.kind(at - 1) == "coin"):
            slots.put(at, "measure", q.Measure("correlation"))
    for at, words in enumerate(slots.words[:-1]):
        if words.rpartition(" ")[2] in _AGAINST and slots.kind(at + 1) == "coin":
            for first in (place for place in range(at) if slots.word(place) in _STRENGTHS):
                slots.put(first, "super", structs.replace(slots.as_(first, "super"), measure="strength"))
                slots.drop(at)
    names = slots.measures("correlation", "strength")
    coins = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    ranked = any((value := chunk.as_("super")) is not None and value.measure in _COMPARING for chunk in slots.chunks)
    if not (names or ranked) or not (len(coins) > 1 or any(_is_of_set(chunk) for chunk in slots.chunks)):
        return
    if len(coins) > 1 and len(slots.measures("correlation")) > 1:
        slots.put(slots.measures("correlation")[1], "blocked")  # "ETH to BTC correlation vs SOL to BTC correlation"
        return
    single = [at for at in coins if len(slots.chunks[at].value) == 1]
    behind = [at for at in single if slots.word(at - 1).rpartition(" ")[2] in _AGAINST | _FOLLOWS]
    other = next(iter(behind or [at for at in single if at + 1 in names]), None)
    if other is not None:
        _take_other(slots, other, names)


def _is_of_set(chunk: Chunk) -> bool:
    return chunk.kind in {"set", "category"} or chunk.has("super") or chunk.has("compare")


def _take_other(slots: Slots, at: int, names: list[int]) -> None:
    """Let the measures be against a coin."""
    slots.used.add(at)
    other: str = slots.chunks[at].value[0]
    slots.against = other
    for name in names:
        measure = slots.measure(name)
        if other != BITCOIN and measure is not None:
            slots.read_as(name, structs.replace(measure, other=other))


def _other_changes(slots: Slots) -> None:
    """Of what is no price the change is not known: "how did the verdict of SOL change since last week"."""
    for at in range(1, len(slots.chunks)):
        others = [one for place in range(at) if (one := slots.as_(place, "measure")) and one.name in _NOT_FOLLOWED]
        beside = slots.kind(at - 1) in {"coin", "asset", "measure"} and not slots.chunks[at].gap
        if others and beside and slots.word(at) in {"change", "changed"}:
            slots.put(at, "blocked")


def _majority(slots: Slots) -> None:
    """Of a set that is asked about, "most" is the larger part: "are most L1s in an uptrend"."""
    for at, words in enumerate(slots.words):
        if words == "most" and slots.kind(at + 1) in {"set", "category"} and slots.words[0] in {"is", "are"}:
            slots.put(at, "ask", "majority")


def mark_position_costs(slots: Slots) -> None:
    """What is cheap or expensive beside a side is the position: "cheaper to be long" is the lower funding.

    Before a measure it is this measure: "the most expensive funding".
    """
    sides = {slots.as_(at, "side") for at in slots.free(lambda chunk: chunk.has("side"))}
    for at in slots.free(lambda chunk: (value := chunk.as_("super")) is not None and value.measure == "price"):
        said: Super = slots.as_(at, "super")
        if slots.as_(at + 1, "measure") is not None:
            slots.put(at, "super", structs.replace(said, measure=None))
        elif len(sides) == 1:
            least = (said.direction == "least") == (sides == {"long"})
            value = structs.replace(said, measure="funding", direction="least" if least else "most")
            slots.put(at, "super", value)
            slots.take("side")


def _moved_more(slots: Slots) -> None:
    """A move and a comparative are one: "which fell more" is the lowest change, "lost less" the highest."""
    for at in range(len(slots.chunks) - 1):
        direction, value = slots.as_(at, "direction"), slots.as_(at + 1, "super")
        if direction is None or value is None or not value.comparative or value.measure or slots.chunks[at + 1].gap:
            continue
        most = (value.direction == "most") == (direction > 0)
        moved = structs.replace(value, measure="change", direction="most" if most else "least")
        slots.put(at + 1, "super", moved)
        slots.drop(at)


def _growth(slots: Slots) -> None:
    """Only the price's change is known: "volume change", "increase in open interest", "whose funding dropped"."""
    for at in range(len(slots.chunks)):
        name = slots.as_(at, "measure")
        if name is None or name.name not in GROWING | {"fear_greed", "correlation", "drawdown"}:
            continue
        before = at - 2 if slots.word(at - 1) in {"in", "of"} else at
        if slots.kind(before if before != at else at - 1) == "number":
            continue  # "above 20 billion in market cap, up this week"
        rising = at - 1 if slots.word(at - 1).endswith("ing") else at
        for beside in (at + 1, before, rising):
            apart = beside == at + 1 < len(slots.chunks) and slots.chunks[beside].gap
            if beside != at and not apart and (slots.has(beside, "direction") or slots.as_(beside, "measure") == _MOVE):
                slots.put(beside, "blocked")


def _reached(slots: Slots) -> None:
    """What one coin went to is its high or low: "the lowest SUI went in October", "how high did BTC get?"."""
    named = slots.free(lambda chunk: chunk.has("measure"))
    reached = [at for at in named if slots.word(at) in _REACHED]
    ends = [at for at, words in enumerate(slots.words) if words in _ENDS]
    coins = sum(len(chunk.value) for chunk in slots.chunks if chunk.kind == "coin")
    if coins != 1 or len(ends) != 1:
        return
    end = _ENDS[slots.word(ends[0])]
    past = slots.word(ends[0] + 1) in {"did", "has"}
    if named == reached and (reached or past):
        slots.read_as(ends[0], q.Measure(end))
        for at in reached:
            slots.drop(at)
    elif past:  # "how high did its funding get?"
        value = Super("most" if end == "high" else "least")
        slots.put(ends[0], "super", value)


def read_sides(slots: Slots, subject: q.Subject) -> None:
    """Long and short beside a coin: who pays whom is its funding, which of both to be is its verdict."""
    sides = slots.free(lambda chunk: chunk.has("side"))
    if not sides or (slots.measures("regime") and any(slots.as_(at, "side") == "short" for at in sides)):
        return  # what the rules shorted is told by the positions alone
    paying = any(not _PAYING.isdisjoint(words.split()) for words in slots.words)
    if slots.measures("funding", "carry"):
        slots.used |= set(sides)
        said = {slots.as_(at, "side") for at in sides}
        for at in slots.measures("carry") if len(said) == 1 else ():
            slots.read_as(at, structs.replace(slots.as_(at, "measure"), side=next(iter(said))))
    elif (paying or subject.coins) and not slots.asks("buy", "short"):
        earns = any(not _EARNING.isdisjoint(words.split()) for words in slots.words)
        ranked = any(chunk.has("super") for chunk in slots.chunks)
        if paying and ranked and earns == (slots.as_(sides[0], "side") == "long"):
            return  # who earns the most as a long has the lowest funding
        slots.used |= set(sides)
        slots.read_as(sides[0], q.Measure("funding" if paying else "verdict"))


REWRITES: Final[Sequence[Callable[[Slots], None]]] = (
    _closes, _drawdowns, _growth, _other_changes, _majority, _highest, _reached, _since, _moved_more, _times, _rates,
    _ratios, _absolute,
)  # fmt: skip
"""What is done to a clause before its conditions are read, in this order."""
