"""What is done with the things a clause names: value, list, rank, count and so on. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.conditions import Found, test_of
from service.ask.parser.lexicon import Super
from service.ask.parser.slots import Slots
from service.ask.query import (
    Aggregate,
    Check,
    Compare,
    Condition,
    Count,
    Exists,
    Extreme,
    List,
    Operation,
    Position,
    Rank,
    Ratio,
    Record,
    Screen,
    Share,
    Subject,
    Value,
    When,
    Why,
)

_SUPERLATIVE_PLURAL: Final = 5


_MOST_ROWS: Final = 50


def read_operation(
    slots: Slots, subject: Subject, where: Condition | None, found: Sequence[Found]
) -> tuple[Operation, Condition | None]:
    """What is done, and a condition that a superlative among a set adds."""
    named = subject.scope == "market" or (
        subject.scope in {"coins", "assets"} and bool(subject.coins or subject.assets)
    )
    superlatives = [at for at in slots.free(lambda chunk: chunk.has("super"))]
    for kind, make in (("why", Why),):
        if slots.asks(kind):
            slots.take_asks(kind)
            return make(), None
    if slots.asks("record"):
        slots.take_asks("record", "any", "list", "share", "count", "mean", "all")
        slots.take("measure")
        tests = [
            test for one in found if (test := test_of(one.condition)) is not None and test.measure.name == "verdict"
        ]
        return Record("verdicts", str(tests[0].value) if tests else None), None
    if (slots.asks("buy") or slots.asks("short")) and not superlatives and where is None:
        buys = bool(slots.asks("buy"))
        slots.take_asks("buy" if buys else "short")
        slots.take("side")
        return Screen("long" if buys else "short"), None
    if slots.asks("count") and not named:
        slots.take_asks("count")
        return Count(), None
    if slots.asks("share") and where is not None:
        slots.take_asks("share")
        return Share(), None
    if slots.asks("since") and named:
        slots.take_asks("since")
        return When("since"), None
    if (
        slots.asks("when")
        and named
        and not superlatives
        and any(
            (measure := chunk.as_("measure")) is not None and measure.name in {"high", "low"} for chunk in slots.chunks
        )
    ):
        slots.take_asks("when")
        low = any((m := chunk.as_("measure")) is not None and m.name == "low" for chunk in slots.chunks)
        return Extreme("min" if low else "max"), None
    states = {"trend", "regime", "verdict", "sentiment", "market_regime"}
    turned = any((m := chunk.as_("measure")) is not None and m.name in states for chunk in slots.chunks)
    if slots.asks("when") and where is None and named and turned and not superlatives:
        slots.take_asks("when", "since")
        return When("since"), None
    if slots.asks("when") and where is not None and named and not superlatives:
        slots.take_asks("when")
        return When("last"), None
    if where is not None and not named and slots.words[0].startswith("any"):
        slots.take_asks("any")
        return Exists("any"), None
    if where is not None and not named:
        for quantifier in ("any", "all", "none"):
            if slots.asks(quantifier) and (quantifier != "any" or slots.is_question()):
                slots.take_asks(quantifier)
                if quantifier != "all" or slots.is_question():
                    return Exists(quantifier), None
    if superlatives:
        return _superlative(slots, subject, superlatives, named=named), None
    paid = any((m := chunk.as_("measure")) is not None and m.name == "funding" for chunk in slots.chunks)
    if slots.asks("mean") and named and paid:
        slots.take_asks("mean")
        slots.chunks = [
            structs.replace(chunk, kind="measure", value=structs.replace(measure, mean=True), words=())
            if at not in slots.used and (measure := chunk.as_("measure")) is not None
            else chunk
            for at, chunk in enumerate(slots.chunks)
        ]
    for how in ("mean", "median", "sum"):
        if slots.asks(how) and not named and subject.scope != "market":
            slots.take_asks(how)
            return Aggregate(how), None
    if slots.asks("rank") and named and len(subject.coins) == 1 and slots.first("measure") is not None:
        slots.take_asks("position", "rank", "list")
        return Position(), None
    if slots.asks("position") and named and slots.first("measure") is not None and _rank_word(slots):
        slots.take_asks("position", "rank", "list")
        return Position(), None
    if slots.asks("rank") and named and len(subject.coins) > 1:
        slots.take_asks("rank", "list")
        return Compare("most"), None
    if slots.asks("rank") and not named:
        slots.take_asks("rank")
        return Rank("most", slots.limit(None) or _SUPERLATIVE_PLURAL * 2), None
    if slots.asks("ratio") and named and len(subject.coins) + len(subject.assets) == 2:
        slots.take_asks("ratio")
        return Ratio(), None
    if slots.asks("compare") and len(subject.coins) + len(subject.assets) > 1:
        slots.take_asks("compare")
        return Compare(), None
    if where is not None:
        if named:
            return Check(), None
        limit = slots.limit(None)
        return List(limit), None
    if not named and subject.scope in {"all", "category"} and slots.asks("list") and slots.first("measure") is None:
        return List(slots.limit(None)), None
    return Value(), None


def _rank_word(slots: Slots) -> bool:
    return any(
        word in {"rank", "ranked", "place", "position", "ranking"} for words in slots.words for word in words.split()
    )


def _superlative(slots: Slots, subject: Subject, superlatives: Sequence[int], *, named: bool) -> Operation:
    first = superlatives[0]
    value: Super = slots.chunks[first].as_("super")
    slots.used.add(first)
    slots.both = value.both
    signs = slots.free(lambda chunk: chunk.has("sign"))
    if signs:
        # "Most negative" is the least.
        slots.used.add(signs[0])
        if slots.chunks[signs[0]].as_("sign") < 0:
            value = structs.replace(value, direction="least" if value.direction == "most" else "most")
    after = first + 1
    while slots.kind(after) in {"filler", "number"}:
        after += 1
    direction = slots.chunks[after].as_("direction") if after < len(slots.chunks) else None
    if value.measure is None and direction is not None and after not in slots.used:
        # "The greatest gain", "the largest fall".
        turned = value.direction if direction > 0 else ("least" if value.direction == "most" else "most")
        value = Super(turned, "change", value.plural)
        slots.used.add(after)
    for later in superlatives[1:]:
        other: Super = slots.chunks[later].as_("super")
        if (
            value.measure is None
            and later == first + 1 + sum(slots.kind(at) in {"number", "filler"} for at in range(first + 1, later))
            and other.measure is not None
        ):
            value = other
            slots.used.add(later)
        elif other.direction == value.direction:
            slots.used.add(later)
    days = slots.free(lambda chunk: chunk.kind == "word" and chunk.value.lower() in {"day", "days"})
    if named and days:
        slots.used.add(days[0])
        slots.imply(first, "change")
    if named and len(subject.coins) + len(subject.assets) == 1:
        slots.take_asks("when")
        if value.measure is not None:
            slots.used |= set(slots.free(lambda chunk: (m := chunk.as_("measure")) is not None and m.name == "price"))
            slots.imply(first, value.measure)
        return Extreme("max" if value.direction == "most" else "min")
    if named:
        if value.measure is not None:
            slots.imply(first, value.measure)
        slots.take_asks("compare", "list")
        slots.take("or")
        return Compare(value.direction)
    if value.measure is not None:
        slots.imply(first, value.measure)
    plural = value.plural or any(
        slots.kind(at) in {"set", "category"} and slots.words[at].endswith("s") for at in range(len(slots.chunks))
    )
    singular = any(
        words in {"which coin", "what coin", "the coin", "which one", "coin", "token", "which token"}
        for words in slots.words
    )
    singular = singular or any(words.split()[0] == "has" for words in slots.words if words)
    default = 1 if singular and not value.plural else _SUPERLATIVE_PLURAL if plural else 1
    limit = slots.limit(default) or default
    slots.take_asks("rank", "list")
    return Rank(value.direction, min(limit, _MOST_ROWS))
