"""What is done with the things a clause names: value, list, rank, count and so on. Pure."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from service.ask import query as q
from service.ask.parser.condition_tree import PAIR, contradicting, test_of, tests_in
from service.ask.parser.lexicon import Super
from service.ask.parser.slots import Slots, neither
from service.ask.parser.superlatives import read_places, read_superlative

_LISTED: Final = 10
_SIZES: Final = ("volume", "open_interest", "market_cap")
_OF_SIZE: Final = {
    "better": "change", "stronger": "change", "worse": "change", "weaker": "change",
    "bigger": "market_cap", "larger": "market_cap", "smaller": "market_cap",
}  # fmt: skip
"""What is meant by comparatives of categories where no measure is named."""

_STATES: Final = ("trend", "regime", "verdict", "sentiment", "market_regime")
_PLACE: Final = frozenset({"rank", "ranked", "place", "position", "ranking"})
_LARGER: Final = ("bigger", "larger", "smaller")
_OF_PAIRS: Final = frozenset({"price", "change", "open", "high", "low", "close"})
_OF_BOTH: Final = frozenset({"are", "were", "do", "have", "prices", "both", "each", "changes", "better", "compare"})
"""Words that ask about two coins, not for the price of one in the other."""


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
    subject: q.Subject
    where: q.Condition | None
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


def read_operation(slots: Slots, subject: q.Subject, where: q.Condition | None) -> q.Operation:
    """What is done."""
    named = subject.scope == "market" or bool(subject.coins or subject.assets)
    named = named or bool(slots.measures("market_regime", "fear_greed"))
    asked = _Asked(slots, subject, where, named, slots.free(lambda chunk: chunk.has("super")))
    return next((operation for reader in _READERS if (operation := reader(asked)) is not None), q.Value())


def _why(asked: _Asked) -> q.Operation | None:
    explains = asked.named and any("explain" in words for words in asked.slots.words)
    if not asked.takes("why", *(["define"] if explains else [])):
        return None
    asked.slots.take_turns()
    return q.Why()


def _conditions(where: q.Condition | None) -> Sequence[q.Condition]:
    if where is None:
        return ()
    return where.items if isinstance(where, q.All) else (where,)


def _record(asked: _Asked) -> q.Operation | None:
    """How past verdicts did, or those of one kind."""
    others = any(test.measure.name != "verdict" for test in tests_in(asked.where))
    if not asked.slots.asks("record") or others or any(isinstance(one, q.Not) for one in _conditions(asked.where)):
        return None
    asked.takes("record")
    asked.slots.take_asks("any", "list", "share", "count", "mean", "all")
    asked.slots.take("measure")
    tests = [test_of(one) for one in _conditions(asked.where)]
    state = next((test.value for test in tests if test is not None and test.measure.name == "verdict"), None)
    return q.Record("verdicts", None if state is None else str(state))


def _screen(asked: _Asked) -> q.Operation | None:
    """What the data say for buying or shorting."""
    if asked.superlatives or asked.where is not None:
        return None
    for side, value in (("long", "buy"), ("short", "short")):
        if asked.takes(value):
            asked.slots.take("side")
            return q.Screen("long" if side == "long" else "short")
    return None


def _count(asked: _Asked) -> q.Operation | None:
    more = [at for at in asked.superlatives if asked.slots.word(at) in {"more", "fewer"}]
    if more and not asked.named and contradicting(asked.where):
        asked.slots.used.add(more[0])
        asked.takes("count")
        return q.Count()  # "more up or down?"
    if not asked.named and asked.takes("count"):
        return q.Count()
    if asked.where is not None and len(asked.subject.coins) == asked.things == 1 and _counts_days(asked):
        return q.Count()
    if asked.where is not None and asked.takes("share"):
        return q.Share()
    return None


def _counts_days(asked: _Asked) -> bool:
    """Whether the days of one coin are counted: "on how many days", "how many of the last 30 days"."""
    slots = asked.slots
    days = [at for at, words in enumerate(slots.words) if {"day", "days"} & set(words.split())]
    if asked.takes("days"):
        return True
    if not days or not asked.takes("count"):
        return False
    slots.used |= {at for at in days if slots.kind(at) == "word"}
    return True


def _when(asked: _Asked) -> q.Operation | None:
    """Since when a state holds, when it last began, or on which day a high was."""
    slots = asked.slots
    if not asked.named:
        return None
    if asked.takes("since"):
        return q.When("since")
    dated = slots.measures("high", "low")
    if asked.superlatives or not (dated or asked.where is not None or slots.measures(*_STATES)):
        return None
    if not asked.takes("when") and not (asked.where is not None and slots.asks("first")):
        return None
    slots.take_turns()
    if dated:
        return q.Extreme("min" if slots.measures("low") else "max")
    return q.When("since" if asked.where is None else "first" if _is_first(slots) else "last")


def _is_first(slots: Slots) -> bool:
    """Whether the first time is asked for; the words are marked as read."""
    said = slots.free(lambda chunk: chunk.kind == "word" and chunk.value == "first") + slots.asks("first")
    slots.used |= set(said)
    return bool(said)


def _exists(asked: _Asked) -> q.Operation | None:
    slots = asked.slots
    if asked.where is None or asked.named:
        return _of_several(asked) if asked.where is not None and asked.things > 1 else None
    if slots.word(0).startswith("any") or (slots.is_question() and slots.asks("any")):
        slots.take_asks("any")
        return q.Exists("any")
    if slots.is_question() and asked.takes("majority"):
        return q.Exists("most")
    if slots.asks("all"):
        slots.take_asks("all")
        if slots.is_question():
            return q.Exists("all")
    return q.Exists("none") if asked.takes("none") else None


def _of_several(asked: _Asked) -> q.Operation | None:
    """Whether any or none of some things named is so: "is either …", "BTC or ETH", "neither … nor", "none of …"."""
    slots, denied = asked.slots, neither(asked.slots)
    slots.used |= set(denied)
    one = any(f"{word} one" in " ".join(slots.words) for word in ("only", "just", "exactly"))
    if one:
        slots.used.clear()  # "is only one of them up?"
    if asked.takes("none") or denied:
        return q.Exists("none")
    between = (at for at, chunk in enumerate(slots.chunks) if chunk.kind == "or")
    joined = any(slots.kind(at - 1) == slots.kind(at + 1) in {"coin", "asset"} for at in between)
    which = any(words.startswith("which") for words in slots.words)
    if which or asked.superlatives or not (joined or "either" in slots.words or slots.asks("any")):
        return None
    slots.take_asks("any")
    return q.Exists("any")


def _categories(asked: _Asked) -> q.Operation | None:
    """Categories against each other: "memes or L1s, which did better?", "compare DeFi and AI by volume"."""
    slots = asked.slots
    if len(asked.subject.categories) <= 1 or asked.where is not None:
        return None
    said: Super | None = slots.as_(asked.superlatives[0], "super") if asked.superlatives else None
    against = [at for at, words in enumerate(slots.words) if words == "against"]
    if not ((said is not None and said.comparative) or against or slots.asks("compare", "difference")):
        return None
    slots.used |= set(against)
    if said is not None:
        slots.used.add(asked.superlatives[0])
        measure = said.measure or _OF_SIZE.get(slots.word(asked.superlatives[0]))
        if measure is not None and slots.first("measure") is None:
            slots.read_as(asked.superlatives[0], q.Measure(measure))
    slots.take("or", "topic")
    how: Sequence[q.Figure] = [one for one in ("mean", "median", "sum") if asked.takes(one)]
    asked.takes("compare", "difference", "list")
    return q.Compare(None if said is None else said.direction, how[0] if how else None)


def _superlative(asked: _Asked) -> q.Operation | None:
    if not asked.superlatives:
        return None
    return read_superlative(asked.slots, asked.superlatives, asked.things if asked.named else None)


def _aggregate(asked: _Asked) -> q.Operation | None:
    """The mean over coins; of the funding, price or volume of coins that are named it is that over time."""
    slots = asked.slots
    if asked.named or "its" in slots.words:
        averaged = [at for at in slots.measures("funding", "price", "volume") if at not in slots.used]
        said = slots.asks("mean")
        behind = [at for at in averaged if said and at > said[0]]
        if said and asked.where is None and (behind or (len(averaged) == 1 and "now" not in slots.words)):
            slots.take_asks("mean")
            slots.average((behind or averaged)[0])
        return None
    if asked.takes("mean"):
        return q.Aggregate("mean")
    if asked.takes("median"):
        return q.Aggregate("median")
    return q.Aggregate("sum") if asked.takes("sum") else None


def _place(asked: _Asked) -> q.Operation | None:
    """Where coins stand in a ranking, or the ranking."""
    slots = asked.slots
    ranks, measured = bool(slots.asks("rank")), slots.first("measure") is not None
    if not asked.named:
        places = read_places(slots) if measured else None
        if not (asked.takes("rank") or places):
            return None
        skip, limit = places or (0, slots.limit(None) or _LISTED)
        return q.Rank("most", limit, skip)
    said = any(not _PLACE.isdisjoint(words.split()) for words in slots.words)
    if measured and ((ranks and len(asked.subject.coins) == 1) or (said and slots.asks("position"))):
        slots.take_asks("position", "rank", "list")
        return q.Position()
    if ranks and len(asked.subject.coins) > 1:
        slots.take_asks("rank", "list")
        return q.Compare("most")
    return None


def _compare(asked: _Asked) -> q.Operation | None:
    slots = asked.slots
    priced = any(words == "in" and slots.kind(at + 1) == "coin" for at, words in enumerate(slots.words))
    divided = sum(bool(slots.measures(name)) for name in _SIZES) <= 1
    if (
        asked.named
        and divided
        and asked.things == PAIR
        and (asked.takes("ratio") or (priced and slots.measures("price")) or _is_pair(slots))
    ):
        larger = [at for at, words in enumerate(slots.words) if words.endswith(_LARGER)]
        if larger and slots.first("measure") is None and "it" not in slots.words:
            slots.imply(larger[0], "market_cap")
        return q.Ratio()
    return q.Compare() if asked.things > 1 and asked.takes("compare", "difference") else None


def _is_pair(slots: Slots) -> bool:
    """Whether two coins are written as one priced in the other, of which nothing but the price is asked: "eth/btc"."""
    measured = [measure for at in range(len(slots.chunks)) if (measure := slots.measure(at)) is not None]
    return (
        all(measure.name in _OF_PAIRS for measure in measured)
        and _OF_BOTH.isdisjoint(" ".join(slots.words).split())
        and any(
            chunk.gap == "/" and {chunk.kind, before.kind} <= {"coin", "asset"}
            for before, chunk in pairwise(slots.chunks)
        )
    )


def _list(asked: _Asked) -> q.Operation | None:
    slots = asked.slots
    if asked.where is not None:
        return q.Check() if asked.named else _by_name(slots, q.List(slots.limit(None)))
    plain = asked.subject.scope in {"all", "category"} and slots.asks("list") and slots.first("measure") is None
    return _by_name(slots, q.List(slots.limit(None))) if plain else None


def _by_name(slots: Slots, operation: q.List) -> q.List:
    """A list, which is by name where it has no measure: "in alphabetical order" says nothing more."""
    if slots.first("measure") is None:
        said = ("alphabet", "in alphabet", "by name", "a to z")
        slots.used |= {at for at, words in enumerate(slots.words) if words.startswith(said)}
    return operation


_READERS: Final[Sequence[Callable[[_Asked], q.Operation | None]]] = (
    _why, _record, _screen, _count, _when, _exists, _categories, _superlative, _aggregate, _place, _compare, _list,
)  # fmt: skip
"""In the order in which they are tried."""
