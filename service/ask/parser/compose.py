"""Puts the slots of a clause together: what is left unsaid, and what some words mean beside others. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.condition_tree import PAIR, contradicting, test_of, tests_in
from service.ask.parser.market import ALSO_OF_MARKET, TOGETHER, about_whom, of_market, present, together, uptrends
from service.ask.parser.slots import BITCOIN, Slots
from service.ask.parser.superlatives import beating
from service.ask.parser.windows import WINDOWED, over_span, rolled, rolled_condition

_LISTED: Final = 10
_ORDERED: Final = 20
SIZES: Final = frozenset({"biggest", "largest", "smallest", "tiniest"})
"""Superlatives of a coin's size, which is its market cap where nothing else is measured."""

_ADDED: Final = frozenset({"open_interest", "volume", "market_cap"})
_SIGNED: Final = frozenset({"change", "funding", "strength", "correlation"})
_GROUP: Final = frozenset({"category", "sector", "group"})
_AT_ONCE: Final = TOGETHER | frozenset({"both", "at once", "as well as", "overlap", "also"})
_AGAINST: Final = frozenset({"correlation", "strength"})


def compose(slots: Slots, query: q.Query) -> list[q.Query]:
    """The queries of a clause; none where it asks for nothing or for what cannot hold together."""
    slots.take_asks("list", "overview", "compare", "rank", "any", "all")
    slots.take("set", "among", "and", "or")
    for rule in _RULES:
        changed = rule(slots, query)
        if changed is None:
            return []
        query = changed
    return uptrends(query) or _parts(slots, query)


def _with_other(slots: Slots, query: q.Query) -> q.Query | None:
    """Of two coins that are correlated, one is the subject and the other belongs to the measure."""
    coins = query.subject.coins
    if slots.against or len(coins) <= 1 or not any(one.name in _AGAINST for one in query.measures):
        return query
    if len(coins) > PAIR:
        slots.used.clear()
        return None
    other = BITCOIN if BITCOIN in coins else coins[-1]
    plain = isinstance(query.operation, q.Compare) and query.operation.direction is None
    return structs.replace(
        query,
        measures=tuple(structs.replace(one, other=other) if one.name in _AGAINST else one for one in query.measures),
        subject=structs.replace(query.subject, coins=tuple(coin for coin in coins if coin != other)),
        operation=q.Value() if plain else query.operation,
    )


def _below_high(slots: Slots, query: q.Query) -> q.Query:
    """How far a coin is from its high is its drawdown."""
    far = any(words.startswith("how far") for words in slots.words)
    names = [measure.name for measure in query.measures]
    if "drawdown" not in names and not (far and "high" in names):
        return query
    kept = (one for one in query.measures if one.name != ("price" if far else "high"))
    measures = (structs.replace(one, name="drawdown") if one.name == "high" else one for one in kept)
    return structs.replace(query, measures=tuple(dict.fromkeys(measures)))


def _each(slots: Slots, query: q.Query) -> q.Query | None:
    """Categories that are compared are each one thing: by their own values, else by the mean or sum of their coins."""
    operation, measures, time = query.operation, query.measures, query.time
    if not isinstance(operation, q.Compare) or len(query.subject.categories) <= 1:
        return query
    if not measures and isinstance(time, q.Window | q.Between):
        measures, time = (q.Measure("change", over=time),), q.Now()
    measures = measures or (q.Measure("change"), q.Measure("market_cap"), q.Measure("volume"))
    own = all(_is_of_category(one) for one in measures) and isinstance(time, q.Now)
    added = measures[0].name in _ADDED
    if own and added and operation.how == "sum":
        operation = structs.replace(operation, how=None)
    if not own and operation.how is None:
        operation = structs.replace(operation, how="sum" if added else "mean")
    if (operation.how is not None and len(measures) > 1) or measures[0].name in ALSO_OF_MARKET | {"verdict"}:
        slots.used.clear()
        return None
    subject = structs.replace(query.subject, each=True)
    return structs.replace(query, subject=subject, measures=measures, time=time, operation=operation)


def _is_of_category(measure: q.Measure) -> bool:
    """Whether a category has a value of its own, which is no figure of its coins."""
    if measure.name == "change":
        return getattr(measure.over, "words", "") in {"", "today", "24 hours", "1 day"}
    return measure in {q.Measure("market_cap"), q.Measure("volume"), q.Measure("breadth")}


def _sized(slots: Slots, query: q.Query) -> q.Query | None:
    """The size of a move without its sign: "the biggest absolute movers", "moved most in either direction"."""
    if not slots.absolute:
        return query
    if not query.measures or query.measures[0].name not in _SIGNED:
        slots.used.clear()
        return None
    slots.both = False
    first = structs.replace(query.measures[0], absolute=True)
    return structs.replace(query, measures=(first, *query.measures[1:]))


def _at_high(slots: Slots, query: q.Query) -> q.Query | None:
    """None where coins of a set are at their high or low: there is no such condition."""
    of_set = query.subject.scope in {"all", "category"} and isinstance(query.operation, q.Value)
    if of_set and not {one.name for one in query.measures}.isdisjoint({"high", "low"}):
        slots.used.clear()
        return None
    return query


def _ranked(slots: Slots, query: q.Query) -> q.Query:
    """A ranking by what is named: a set with a measure is ranked by it, a ranking without one by its condition."""
    measures, operation, time = query.measures, query.operation, query.time
    of_set = query.subject.scope == "all" or (
        query.subject.scope == "category" and bool(measures) and measures[0].name != "sentiment"
    )
    if isinstance(operation, q.Value) and of_set and measures:
        if _is_of_one_category(slots, query):
            return structs.replace(query, subject=structs.replace(query.subject, each=True))
        operation = q.Rank("most", _LISTED)
    if isinstance(operation, q.List) and measures and _orders_by(slots, measures[0]):
        operation = q.Rank("most", operation.limit or _ORDERED)
    if not isinstance(operation, q.Rank):
        return query
    test = test_of(query.where)
    numeric = test is not None and isinstance(test.value, float)
    if _only_adds(slots, measures):
        default = q.Measure("change" if SIZES.isdisjoint(slots.words) else "market_cap")
        measures = ((test.measure if test is not None and numeric else default), *measures)
    tested = [one.measure for one in tests_in(query.where) if one.measure.name == measures[0].name and one.measure.over]
    if measures[0].over is None and len(set(tested)) == 1:
        measures = (tested[0], *measures[1:])  # "up over 15 % over 30 days, sorted by that return"
    if isinstance(time, q.Window | q.Between):
        first = measures[0]
        if first.name in WINDOWED | {"funding"}:
            first, time = structs.replace(first, over=time, mean=first.name == "funding"), q.Now()
        elif first.name == "price":
            first, time = q.Measure("change", over=time), q.Now()
        measures = (first, *measures[1:])
    return structs.replace(query, measures=measures, operation=operation, time=time)


def _is_of_one_category(slots: Slots, query: q.Query) -> bool:
    """Whether a value of a category itself is asked for: "volume of the gaming category", "how did the group move"."""
    said = any(not _GROUP.isdisjoint(words.split()) for words in slots.words)
    own = all(_is_of_category(one) and one.name != "breadth" for one in query.measures)
    said = said and len(query.subject.categories) == 1
    return said and own and isinstance(query.time, q.Now) and not any(chunk.kind == "set" for chunk in slots.chunks)


def _orders_by(slots: Slots, measure: q.Measure) -> bool:
    """Whether a list is ordered by a measure: "coins in an uptrend by 7-day change"."""
    ends = slots.measures(measure.name)
    before = (slots.word(at - 2 if slots.kind(at - 1) == "frame" else at - 1).split() for at in ends)
    return any(words and "by" in (words[0], words[-1]) for words in before)


def _only_adds(slots: Slots, measures: Sequence[q.Measure]) -> bool:
    """Whether no measure says what is ranked by: "the best and its price"."""
    first = next((at for at, chunk in enumerate(slots.chunks) if chunk.has("super")), None)
    places = [at for at in range(len(slots.chunks)) if slots.measure(at) in measures]
    return not measures or (
        first is not None and len(places) == len(measures) and all(slots.adds(first, at) for at in places)
    )


def _changed(slots: Slots, query: q.Query) -> q.Query | None:
    """A coin in a span, or its change on a day: the change over it; none at an hour."""
    named = query.subject.coins or query.subject.assets
    span = query.time if isinstance(query.time, q.Window | q.Between) else None
    if isinstance(query.operation, q.Value | q.Compare) and not query.measures and span is not None and named:
        return structs.replace(query, measures=(q.Measure("change", over=span),), time=q.Now())
    one = query.measures[0] if len(query.measures) == 1 else None
    if (
        isinstance(query.operation, q.Value)
        and one is not None
        and one.name == "change"
        and isinstance(query.time, q.At)
    ):
        slots.used.clear()
        return None
    return query


def _doing(slots: Slots, query: q.Query) -> q.Query:
    """How a thing is doing is its price and its change, but for a past span."""
    told = isinstance(query.operation, q.Value) and isinstance(query.time, q.Now) and query.where is None
    if not told or not (query.subject.coins or query.subject.assets):
        return query
    one = query.measures[0] if len(query.measures) == 1 and slots.words.count("doing") == 1 else None
    if one is None or one.name != "change" or (isinstance(one.over, q.Between) and one.over.end_ms is not None):
        return query
    return structs.replace(query, measures=(q.Measure("price"), one))


def _with_score(slots: Slots, query: q.Query) -> q.Query:
    """Add the score to a verdict."""
    del slots
    verdict, score = q.Measure("verdict"), q.Measure("score")
    if not isinstance(query.operation, q.Value) or not query.subject.coins:
        return query
    if verdict not in query.measures or score in query.measures:
        return query
    at = query.measures.index(verdict) + 1
    return structs.replace(query, measures=(*query.measures[:at], score, *query.measures[at:]))


def _dated(slots: Slots, query: q.Query) -> q.Query | None:
    """Ask for the day of a high or low of one coin; an extreme without a measure is one of the price."""
    several = any(slots.several(at) for at in range(len(slots.chunks)))
    if (several and not isinstance(query.operation, q.Value)) or (
        isinstance(query.operation, q.Extreme) and len(query.measures) > 1
    ):
        slots.used.clear()  # "the widest range", "the day of its highest volume and price"
        return None
    if isinstance(query.operation, q.Extreme):
        return structs.replace(query, measures=query.measures or (q.Measure("price"),))
    if not isinstance(query.operation, q.Value) or query.where is not None or query.subject.assets:
        return query
    if not len(query.subject.coins) == len(query.measures) == 1 or not isinstance(query.time, q.Now):
        return query
    one = query.measures[0]
    if one.name not in {"high", "low"}:
        return query
    operation = q.Extreme("max" if one.name == "high" else "min")
    return structs.replace(query, operation=operation, measures=(q.Measure(one.name),), time=one.over or q.Now())


def _asked_of_two(slots: Slots, query: q.Query) -> q.Query | None:
    """Of "did ETH outperform BTC?" yes or no is asked; None where a condition stands beside it."""
    subject, operation = query.subject, query.operation
    if not isinstance(operation, q.Compare) or operation.direction is None or not slots.is_question():
        return query
    which = any(chunk.kind == "or" for chunk in slots.chunks)  # "did ETH or BTC do better?"
    if which or len(subject.coins) != PAIR or subject.assets or len(query.measures) != 1:
        return query
    if query.where is not None:
        slots.used.clear()
        return None
    first, second = subject.coins
    test = q.Test(query.measures[0], "gt" if operation.direction == "most" else "lt", coin=second)
    subject = structs.replace(subject, coins=(first,))
    return q.Query(subject=subject, time=query.time, where=test, operation=q.Check())


def _spanned(slots: Slots, query: q.Query) -> q.Query | None:
    """A window of a filtered set is that of its change; None where nothing in the filter has one."""
    sets = isinstance(query.operation, q.List | q.Count | q.Share | q.Exists | q.Rank)
    if query.where is None or not sets or query.subject.coins or not isinstance(query.time, q.Window):
        return query
    where = over_span(query.where, query.time)
    if where == query.where:
        slots.used.clear()
        return None
    return structs.replace(query, where=where, time=q.Now())


def _without_spare(slots: Slots, query: q.Query) -> q.Query | None:
    """None where a measure is named that an operation has no use for: "how many coins, and their price"."""
    counts = isinstance(query.operation, q.Count | q.Share | q.Exists | q.Check)
    since = isinstance(query.operation, q.When) and query.where is not None
    if isinstance(query.operation, q.Extreme) and query.where is not None:
        test = test_of(query.where)
        moved = {one.name for one in query.measures} == {"change"}
        if not moved or test is None or test.measure.name != "change" or test.value != 0.0:
            slots.used.clear()
            return None
        return structs.replace(query, where=None)  # "its best day, and the gain"
    if isinstance(query.operation, q.Aggregate) and not query.measures:
        return None
    tested = repr(query.where)
    spare = [one for one in query.measures if f"name='{one.name}'" not in tested]
    if "verdicts" in slots.words:
        spare = [one for one in spare if one != q.Measure("verdict")]  # "how many verdicts have low confidence?"
    if not spare or not (counts or since):
        return query
    slots.used -= set(slots.measures(*(one.name for one in spare)))
    return None


def _known(slots: Slots, query: q.Query) -> q.Query | None:
    """None for a ranking of weekly streaks, which are not known, and where nothing is asked about all coins."""
    ranks = isinstance(query.operation, q.Rank)
    streaks = ranks and query.measures[0].name == "streak" and query.where is not None and "weekly" in repr(query.where)
    # "did BTC beat the market this week"
    moved = isinstance(query.operation, q.Extreme) and {one.name for one in query.measures} == {"change"}
    moved = moved and any("market" in words.split() for words in slots.words)
    # "the top 10 by one measure ranked by another"
    twice = ranks and len(query.measures) > 1 and sum(words.split().count("by") for words in slots.words) > 1
    itself = any(one.name in _AGAINST and one.other is None for one in query.measures)
    # coins in each of some categories, or one category against another, cannot be asked for
    at_once = any(words in _AT_ONCE for words in slots.words) or slots.asks("compare", "difference")
    several = len(query.subject.categories) > 1 and at_once and not (query.subject.each or query.subject.together)
    items = query.where.items if isinstance(query.where, q.All) else ()
    turned = {(one.measure, one.to) for one in items if isinstance(one, q.Changed)}
    # "went from bear to bull": only the state behind a change can be asked for
    comes = any(isinstance(one, q.Test) and any(one.measure == to[0] for to in turned) for one in items)
    if comes or streaks or moved or twice or several or (itself and query.subject.coins == (BITCOIN,)):
        slots.used.clear()
        return None
    asks = query.measures or query.where is not None or slots.asks("list")
    if query.subject.scope == "all" and isinstance(query.operation, q.Value) and not asks:
        return None
    return query


def _rolling(slots: Slots, query: q.Query) -> q.Query:
    """The change "today" is that over 24 hours, "this week" over 7 days; "so far" says that the calendar counts."""
    if any(one.mean for one in query.measures):
        slots.take_asks("mean")
    measures = tuple(structs.replace(one, over=rolled(one)) for one in query.measures)
    return structs.replace(query, measures=measures, where=query.where and rolled_condition(query.where))


_RULES: Final[Sequence[Callable[[Slots, q.Query], q.Query | None]]] = (
    _with_other, about_whom, present, of_market, _below_high, _each, _at_high, _ranked, beating, _sized, _changed,
    _doing, _with_score, _dated, _asked_of_two, _without_spare, _spanned, together, _known, _rolling,
)  # fmt: skip
"""In the order in which they are tried; a rule that gives none refuses the clause."""


def _parts(slots: Slots, query: q.Query) -> list[q.Query]:
    """One query for each of opposite conditions, for coins and real-world assets, for breadth and other measures."""
    counts = isinstance(query.operation, q.Count) and not {"more", "fewer"}.isdisjoint(slots.words)
    parts = contradicting(query.where) if counts or isinstance(query.where, q.All) else ()
    if parts and isinstance(query.operation, q.Why):
        test = test_of(parts[0])  # "why neutral and not bull?"
        return [structs.replace(query, where=None, measures=(test.measure,) if test else query.measures)]
    if isinstance(query.where, q.All) and any(isinstance(item, q.Not) for item in query.where.items):
        parts = ()  # "neither up nor down" holds together
    if parts and isinstance(query.operation, q.Count | q.Share):
        return [structs.replace(query, where=part) for part in parts]
    subject, breadth = query.subject, q.Measure("breadth")
    mixed = bool(subject.coins and subject.assets)
    several = mixed or len(subject.assets) > 1
    priced = several and any(
        words in {"in", "on"} and slots.kind(at + 1) == "asset" for at, words in enumerate(slots.words)
    )
    of_breadth = subject.scope == "market" and breadth in query.measures
    moves = isinstance(query.operation, q.Ratio) and (
        query.where or any(one.name in WINDOWED for one in query.measures)
    )
    if (
        parts
        or moves
        or priced
        or (of_breadth and (query.where or query.measures == (breadth,)))  # of the past there is no breadth
        or (mixed and isinstance(query.operation, q.Ratio | q.Position))
    ):
        slots.used.clear()  # what contradicts itself, or has no answer
        return []
    if of_breadth and isinstance(query.operation, q.Value):
        others = tuple(one for one in query.measures if one != breadth)
        return [
            structs.replace(query, measures=others),
            q.Query(subject=subject, time=query.time, operation=q.Route("breadth")),
        ]
    if mixed:
        coins, assets = structs.replace(subject, assets=()), structs.replace(subject, scope="assets", coins=())
        return [structs.replace(query, subject=coins), structs.replace(query, subject=assets)]
    return [query]
