"""What a query means where it is about the market, the present, days of a coin, or several categories. Pure.

Also which market a word means: spot markets and the sessions of exchanges are not held.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import structs

from service.ask import query as q
from service.ask.measure_table import MEASURES
from service.ask.parser.chunks import Chunk
from service.ask.parser.condition_tree import OPPOSITE, mapped, measure_of, tests_in
from service.ask.parser.slots import Slots
from service.ask.parser.windows import A_DAY

CONTRACTS: Final = frozenset({"futures", "perp", "perps", "perpetual", "perpetuals"})
EDGES: Final = frozenset({"close", "open"})
_OF_EDGES: Final = EDGES | {"closing", "opening", "closed", "opened"}
_GIVING: Final = frozenset({"give", "tell", "show", "get", "send"})
_BEFORE_EDGE: Final = frozenset({"the", "its", "utc", "each", "every"})

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
_PRICE: Final = q.Measure("price")
_CLOSE: Final = q.Measure("close")
TOGETHER: Final = frozenset({"at once", "at the same time"})
"""What says that several things hold of one coin."""


def about_whom(slots: Slots, query: q.Query) -> q.Query | None:
    """What a clause is about that names nothing: the market by its measures, all coins by what is done."""
    subject, names = query.subject, {measure.name for measure in query.measures}
    tested = measure_of(query.where)
    names |= {tested.name} if tested is not None else set()
    if subject.scope != "coins" or subject.coins or subject.assets:
        return query
    of_sets = q.Rank | q.Count | q.Share | q.Exists | q.List | q.Aggregate | q.Screen | q.Record
    if names & _OF_MARKET:
        return structs.replace(query, subject=structs.replace(subject, scope="market"))
    if query.where is not None or isinstance(query.operation, of_sets):
        asked = isinstance(query.operation, q.List) and slots.is_question() and _WE in " ".join(slots.words).split()
        if asked and names == {"regime"}:  # "are we risk-on?"
            market = structs.replace(subject, scope="market")
            return structs.replace(query, subject=market, operation=q.Check())
        return structs.replace(query, subject=structs.replace(subject, scope="all"))
    if names and names <= ALSO_OF_MARKET and slots.first("word") is None:
        return structs.replace(query, subject=structs.replace(subject, scope="market"))
    return None


def of_market(slots: Slots, query: q.Query) -> q.Query:
    """The regime of the market is a measure of its own; its breadth is a route."""
    if query.subject.scope != "market":
        return query
    where = query.where
    neutral = isinstance(where, q.Test) and (where.measure.name, where.value) == ("verdict", "neutral")
    if isinstance(where, q.Test) and (neutral or where.measure.name == "regime"):
        where = structs.replace(where, measure=q.Measure("market_regime"))
    measures = tuple(structs.replace(one, name=_MARKETS.get(one.name, one.name)) for one in query.measures)
    if _counts_trends(slots, query):
        extreme = slots.is_question() and any(_EXTREME.search(words) for words in slots.words)
        route = q.Route("breadth", {"told": "extreme"} if extreme else {})
        return structs.replace(query, where=None, measures=(), time=q.Now(), operation=route)
    return structs.replace(query, where=where, measures=measures)


def _counts_trends(slots: Slots, query: q.Query) -> bool:
    """Whether breadth is asked for. Its answer has the counts too: "breadth at the last close: how many up, down?"."""
    closes = set(slots.measures("price")) if any(_CLOSED.search(words) for words in slots.words) else set()
    if {one.name for one in query.measures} - ({"price"} if closes else set()) != {"breadth"}:
        return False
    asks = isinstance(query.operation, q.Value | q.Count | q.Share | q.List | q.Check)
    tests = tests_in(query.where)
    plain = all(test.measure.over is None and test.value in {"UP", "DOWN", "HODL", 0.0} for test in tests)
    if not (asks and plain and isinstance(query.time, q.Now)):
        return False
    slots.take_asks("count", "share")
    slots.take("option")
    return True


def present(slots: Slots, query: q.Query) -> q.Query:
    """Read "today" as now where a measure has no history."""
    del slots
    named = {*query.measures, *(test.measure for test in tests_in(query.where))}
    kept = any(MEASURES[one.name].past or MEASURES[one.name].windowed for one in named)
    today = isinstance(query.time, q.Between) and query.time.words == _TODAY
    return structs.replace(query, time=q.Now()) if named and today and not kept else query


def together(slots: Slots, query: q.Query) -> q.Query:
    """Coins in all of some categories: "tokens that are both DeFi and DEX"."""
    if len(query.subject.categories) <= 1 or query.subject.each:
        return query
    said = {at for at, words in enumerate(slots.words) if words in TOGETHER}
    sets = [at for at, words in enumerate(slots.words) if not _COINS.isdisjoint(words.split())]
    of_set = bool(sets) and any(words in {"both", "also"} for words in slots.words[sets[0] :])
    alone = not any(slots.has_or(at) for at in range(len(slots.chunks))) and not slots.asks("compare", "difference")
    if not ((said or of_set) and alone and isinstance(query.operation, q.List | q.Count | q.Rank | q.Exists | q.Value)):
        return query
    slots.used |= said
    return structs.replace(query, subject=structs.replace(query.subject, together=True))


def of_days(slots: Slots, query: q.Query) -> q.Query:
    """Test each day of a coin's span where its days are counted, and closes where closes are named."""
    where, time, operation = query.where, query.time, query.operation
    closes = any("clos" in word for word in slots.words)
    if closes and isinstance(operation, q.Extreme) and query.measures == (_PRICE,):
        return structs.replace(query, measures=(_CLOSE,))
    if where is None or not query.subject.coins:
        return query
    if closes and isinstance(operation, q.Check) and isinstance(time, q.Window | q.Between):
        return structs.replace(query, where=mapped(where, _closing))
    if not isinstance(operation, q.Count):
        return query
    spans = {test.measure.over for test in tests_in(where)} - {None, *A_DAY}
    if isinstance(time, q.Now) and len(spans) == 1:
        time = spans.pop() or time
    where = mapped(where, lambda test: _daily(test, time))
    if slots.absolute:
        both = mapped(where, _either)
        slots.absolute = both == where
        where = both
    return structs.replace(query, where=where, time=time)


def _closing(test: q.Test) -> q.Test:
    return structs.replace(test, measure=_CLOSE) if test.measure == _PRICE else test


def _daily(test: q.Test, time: q.Time) -> q.Test:
    """A test of one day: its change is that of the day."""
    if test.measure.name == "change" and test.measure.over in (None, time, *A_DAY):
        return structs.replace(test, measure=q.Measure("change", over=A_DAY[0]))
    return test


def _either(test: q.Test) -> q.Condition:
    """A move of a size, up or down."""
    if test.measure.name != "change" or not isinstance(test.value, float):
        return test
    return q.Any_((test, structs.replace(test, op=OPPOSITE[test.op], value=-test.value)))


def uptrends(query: q.Query) -> list[q.Query]:
    """The share of uptrends in each of some categories, which is their breadth."""
    subject = query.subject
    if not subject.each or q.Measure("breadth") not in query.measures:
        return []
    up = q.Test(q.Measure("trend"), "eq", "UP")
    sets = (structs.replace(subject, categories=(name,), each=False) for name in subject.categories)
    return [q.Query(subject=one, where=up, operation=q.Share()) for one in sets]


def of_other_market(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> Literal["blocked", "filler"] | None:
    """What a word is that may say that another market is meant: `blocked` where it does.

    Args:
        chunks: The pieces of a message.
        words: Their words.
        at: The place of the word.

    Returns:
        `filler` for the place in "the top spot"; null for what is read as anywhere else, such as the price "spot".
    """
    if words[at].split()[0] == "spot" and chunks[at].has("measure"):
        if at and (chunks[at - 1].has("super") or chunks[at - 1].kind in {"number", "ordinal"}):
            return "filler"
        return "blocked" if _is_of_spot(chunks, words, at) else None
    return "blocked" if _is_of_session(chunks, words, at) else None


def _is_of_spot(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> bool:
    """Whether spot markets are meant, by what is measured or compared: "spot volume", "spot vs perp price"."""
    if any(not CONTRACTS.isdisjoint(said.split()) for said in words):
        return True
    for step, end in ((1, len(chunks)), (-1, -1)):
        for to in range(at + step, end, step):
            if chunks[max(to, to - step)].gap not in {"", "-"} or chunks[to].kind in {"and", "or"}:
                break
            if (named := chunks[to].as_("measure")) is not None:
                if named.name != "price":
                    return True
                break
    return False


def _is_of_session(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> bool:
    """Whether a word is of the hours of an exchange: "US close", or "at the close" where no time is named.

    A day has a close and an open of its own, at midnight UTC.
    """
    if words[at] == "us":
        follows = set(words[at + 1].split()) if at + 1 < len(chunks) else set()
        return bool(follows & _OF_EDGES) and "interest" not in follows and words[at - 1] not in _GIVING
    before = at - 1
    while before > 0 and not chunks[before + 1].gap and words[before] in _BEFORE_EDGE:
        before -= 1
    led = before >= 0 and words[before].split()[-1] == "at" and not chunks[before + 1].gap
    said = words[at].split()
    is_edge = said[-1] in EDGES and "daily" not in said
    return is_edge and (led or "at" in said) and not any(chunk.kind == "time" for chunk in chunks)
