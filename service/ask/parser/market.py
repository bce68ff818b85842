"""What a query means where it is about the market, the present, or coins in several categories. Pure."""

import re
from typing import Final

from msgspec import structs

from service.ask.measure_table import MEASURES
from service.ask.parser.found import measure_of, tests_in
from service.ask.parser.slots import Slots
from service.ask.query import (
    Aggregate,
    Between,
    Check,
    Count,
    Exists,
    List,
    Measure,
    Now,
    Query,
    Rank,
    Record,
    Route,
    Screen,
    Share,
    Test,
    Value,
)

_OF_MARKET: Final = frozenset({"fear_greed", "breadth", "market_regime", "conviction"})
ALSO_OF_MARKET: Final = frozenset({"regime", "trend", "sentiment"})
"""Measures of the market where no coin is named."""

_WE: Final = "we"
_MARKETS: Final = {"regime": "market_regime", "confidence": "conviction"}
"""Measures of a coin, and what they are called of the market."""
_TODAY: Final = "today"
_EXTREME: Final = re.compile(r"\bextremes?\b")
_CLOSED: Final = re.compile(r"\bclose[ds]?\b")
_COINS: Final = frozenset({"coins", "tokens", "names", "cryptos"})
TOGETHER: Final = frozenset({"at once", "at the same time"})
"""What says that several things hold of one coin."""


def about_whom(slots: Slots, query: Query) -> Query | None:
    """What a clause is about that names nothing: the market by its measures, all coins by what is done."""
    subject, names = query.subject, {measure.name for measure in query.measures}
    tested = measure_of(query.where)
    names |= {tested.name} if tested is not None else set()
    if subject.scope != "coins" or subject.coins or subject.assets:
        return query
    of_sets = Rank | Count | Share | Exists | List | Aggregate | Screen | Record
    if names & _OF_MARKET:
        return structs.replace(query, subject=structs.replace(subject, scope="market"))
    if query.where is not None or isinstance(query.operation, of_sets):
        asked = isinstance(query.operation, List) and slots.is_question() and _WE in " ".join(slots.words).split()
        if asked and names == {"regime"}:  # "are we risk-on?"
            market = structs.replace(subject, scope="market")
            return structs.replace(query, subject=market, operation=Check())
        return structs.replace(query, subject=structs.replace(subject, scope="all"))
    if names and names <= ALSO_OF_MARKET and slots.first("word") is None:
        return structs.replace(query, subject=structs.replace(subject, scope="market"))
    return None


def of_market(slots: Slots, query: Query) -> Query:
    """The regime of the market is a measure of its own; its breadth is a route."""
    if query.subject.scope != "market":
        return query
    where = query.where
    neutral = isinstance(where, Test) and (where.measure.name, where.value) == ("verdict", "neutral")
    if isinstance(where, Test) and (neutral or where.measure.name == "regime"):
        where = structs.replace(where, measure=Measure("market_regime"))
    measures = tuple(structs.replace(one, name=_MARKETS.get(one.name, one.name)) for one in query.measures)
    if _counts_trends(slots, query):
        extreme = slots.is_question() and any(_EXTREME.search(words) for words in slots.words)
        route = Route("breadth", {"told": "extreme"} if extreme else {})
        return structs.replace(query, where=None, measures=(), time=Now(), operation=route)
    return structs.replace(query, where=where, measures=measures)


def _counts_trends(slots: Slots, query: Query) -> bool:
    """Whether breadth is asked for, which is told with its counts: "breadth at the last close: how many up, down?"."""
    closes = set(slots.measures("price")) if any(_CLOSED.search(words) for words in slots.words) else set()
    if {one.name for one in query.measures} - ({"price"} if closes else set()) != {"breadth"}:
        return False
    asks = isinstance(query.operation, Value | Count | Share | List | Check)
    tests = tests_in(query.where)
    plain = all(test.measure.over is None and test.value in {"UP", "DOWN", "HODL", 0.0} for test in tests)
    if not (asks and plain and isinstance(query.time, Now)):
        return False
    slots.take_asks("count", "share")
    slots.take("option")
    return True


def present(slots: Slots, query: Query) -> Query:
    """Of what is known of the present alone "today" is now."""
    del slots
    named = {*query.measures, *(test.measure for test in tests_in(query.where))}
    kept = any(MEASURES[one.name].past or MEASURES[one.name].windowed for one in named)
    today = isinstance(query.time, Between) and query.time.words == _TODAY
    return structs.replace(query, time=Now()) if named and today and not kept else query


def together(slots: Slots, query: Query) -> Query:
    """Coins in all of some categories: "tokens that are both DeFi and DEX"."""
    if len(query.subject.categories) < 2 or query.subject.each:  # noqa: PLR2004 - of one category all are in all
        return query
    said = {at for at, words in enumerate(slots.words) if words in TOGETHER}
    sets = [at for at, words in enumerate(slots.words) if not _COINS.isdisjoint(words.split())]
    of_set = bool(sets) and any(words in {"both", "also"} for words in slots.words[sets[0] :])
    alone = not any(slots.has_or(at) for at in range(len(slots.chunks))) and not slots.asks("compare", "difference")
    if not ((said or of_set) and alone and isinstance(query.operation, List | Count | Rank | Exists | Value)):
        return query
    slots.used |= said
    return structs.replace(query, subject=structs.replace(query.subject, together=True))
