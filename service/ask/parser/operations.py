"""What is done with the things a clause names: value, list, rank, count and so on. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from service.ask.parser.found import test_of
from service.ask.parser.slots import Slots
from service.ask.parser.superlatives import read_places, read_superlative
from service.ask.query import (
    Aggregate,
    All,
    Check,
    Compare,
    Condition,
    Count,
    Exists,
    Extreme,
    List,
    Not,
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

_LISTED: Final = 10
_PAIR: Final = 2
_STATES: Final = ("trend", "regime", "verdict", "sentiment", "market_regime")
_PLACE: Final = frozenset({"rank", "ranked", "place", "position", "ranking"})


class _Asked(Struct, frozen=True):
    """A clause of which subject and conditions are known.

    Attributes:
        slots: The clause.
        subject: Who it is about.
        where: Its conditions.
        named: Whether it is about single things or the market.
        superlatives: Chunks of superlatives.
    """

    slots: Slots
    subject: Subject
    where: Condition | None
    named: bool
    superlatives: Sequence[int]

    @property
    def things(self) -> int:
        """How many coins and real-world assets are named."""
        return len(self.subject.coins) + len(self.subject.assets)

    def takes(self, *values: str) -> bool:
        """Whether a clause asks for one of some operations; the words are marked as read."""
        asked = bool(self.slots.asks(*values))
        if asked:
            self.slots.take_asks(*values)
        return asked


def read_operation(slots: Slots, subject: Subject, where: Condition | None) -> Operation:
    """What is done."""
    named = subject.scope == "market" or bool(subject.coins or subject.assets)
    named = named or bool(slots.measures("market_regime", "fear_greed"))
    asked = _Asked(slots, subject, where, named, slots.free(lambda chunk: chunk.has("super")))
    return next((operation for reader in _READERS if (operation := reader(asked)) is not None), Value())


def _why(asked: _Asked) -> Operation | None:
    explains = asked.named and any("explain" in words for words in asked.slots.words)
    if not asked.takes("why", *(["define"] if explains else [])):
        return None
    asked.slots.take_turns()
    return Why()


def _conditions(where: Condition | None) -> Sequence[Condition]:
    if where is None:
        return ()
    return where.items if isinstance(where, All) else (where,)


def _record(asked: _Asked) -> Operation | None:
    """How past verdicts did, or those of one kind."""
    if not asked.slots.asks("record") or any(isinstance(one, Not) for one in _conditions(asked.where)):
        return None
    asked.takes("record")
    asked.slots.take_asks("any", "list", "share", "count", "mean", "all")
    asked.slots.take("measure")
    tests = [test_of(one) for one in _conditions(asked.where)]
    state = next((test.value for test in tests if test is not None and test.measure.name == "verdict"), None)
    return Record("verdicts", None if state is None else str(state))


def _screen(asked: _Asked) -> Operation | None:
    """What the data say for buying or shorting."""
    if asked.superlatives or asked.where is not None:
        return None
    for side, value in (("long", "buy"), ("short", "short")):
        if asked.takes(value):
            asked.slots.take("side")
            return Screen("long" if side == "long" else "short")
    return None


def _count(asked: _Asked) -> Operation | None:
    if not asked.named and asked.takes("count"):
        return Count()
    if asked.where is not None and asked.takes("share"):
        return Share()
    return None


def _when(asked: _Asked) -> Operation | None:
    """Since when a state holds, when it last began, or on which day a high was."""
    slots = asked.slots
    if not asked.named:
        return None
    if asked.takes("since"):
        return When("since")
    dated = slots.measures("high", "low")
    if asked.superlatives or not (dated or asked.where is not None or slots.measures(*_STATES)):
        return None
    if not asked.takes("when"):
        return None
    slots.take_turns()
    if dated:
        return Extreme("min" if slots.measures("low") else "max")
    return When("since" if asked.where is None else "last")


def _exists(asked: _Asked) -> Operation | None:
    slots = asked.slots
    if asked.where is None or asked.named:
        return None
    if slots.word(0).startswith("any") or (slots.is_question() and slots.asks("any")):
        slots.take_asks("any")
        return Exists("any")
    if slots.asks("all"):
        slots.take_asks("all")
        if slots.is_question():
            return Exists("all")
    return Exists("none") if asked.takes("none") else None


def _superlative(asked: _Asked) -> Operation | None:
    if not asked.superlatives:
        return None
    return read_superlative(asked.slots, asked.superlatives, asked.things if asked.named else None)


def _aggregate(asked: _Asked) -> Operation | None:
    """The mean over coins; of the funding of one coin it is that over time."""
    slots = asked.slots
    if asked.named:
        funding = [at for at in slots.measures("funding") if at not in slots.used]
        if funding and asked.takes("mean"):
            for at in funding:
                slots.average(at)
        return None
    if asked.takes("mean"):
        return Aggregate("mean")
    if asked.takes("median"):
        return Aggregate("median")
    return Aggregate("sum") if asked.takes("sum") else None


def _place(asked: _Asked) -> Operation | None:
    """Where coins stand in a ranking, or the ranking."""
    slots = asked.slots
    ranks, measured = bool(slots.asks("rank")), slots.first("measure") is not None
    if not asked.named:
        places = read_places(slots) if measured else None
        if not (asked.takes("rank") or places):
            return None
        skip, limit = places or (0, slots.limit(None) or _LISTED)
        return Rank("most", limit, skip)
    said = any(not _PLACE.isdisjoint(words.split()) for words in slots.words)
    if measured and ((ranks and len(asked.subject.coins) == 1) or (said and slots.asks("position"))):
        slots.take_asks("position", "rank", "list")
        return Position()
    if ranks and len(asked.subject.coins) > 1:
        slots.take_asks("rank", "list")
        return Compare("most")
    return None


def _compare(asked: _Asked) -> Operation | None:
    slots = asked.slots
    priced = any(words == "in" and slots.kind(at + 1) == "coin" for at, words in enumerate(slots.words))
    if asked.named and asked.things == _PAIR and (asked.takes("ratio") or (priced and slots.measures("price"))):
        return Ratio()
    return Compare() if asked.things > 1 and asked.takes("compare", "difference") else None


def _list(asked: _Asked) -> Operation | None:
    slots = asked.slots
    if asked.where is not None:
        return Check() if asked.named else List(slots.limit(None))
    plain = asked.subject.scope in {"all", "category"} and slots.asks("list") and slots.first("measure") is None
    return List(slots.limit(None)) if plain else None


_READERS: Final[Sequence[Callable[[_Asked], Operation | None]]] = (
    _why,
    _record,
    _screen,
    _count,
    _when,
    _exists,
    _superlative,
    _aggregate,
    _place,
    _compare,
    _list,
)
"""In the order in which they are tried."""
