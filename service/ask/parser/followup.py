"""Follow-ups: a clause that edits the slots of the query before it. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.completion import complete
from service.ask.parser.compose import over_span
from service.ask.parser.context import MONEY, VALUE, Clause, Edited, both_conditions, more_measures, with_spans
from service.ask.parser.found import test_of
from service.ask.parser.windows import span_of
from service.ask.query import (
    Aggregate,
    All,
    Check,
    Compare,
    Condition,
    Convert,
    Count,
    Exists,
    Extreme,
    List,
    Measure,
    Now,
    Position,
    Profit,
    Query,
    Rank,
    Ranked,
    Record,
    Route,
    Screen,
    Share,
    Subject,
    Test,
    Value,
    ValueOf,
    Window,
)

_LEADING: Final = re.compile(
    r"(?:and|no|what about|how about|ok|now|only|just|same|instead|also|but|or|then|over|by|in|for|since|why|with"
    r"|without|excluding|except|ignore|ignoring|exclude|drop|skip|remove|leave out|those|of those|which of|vs|versus"
    r"|compared)\b"
)
_REFERRING: Final = re.compile(
    r"\b(am i|which one|choose|pick|ones|only|it|its|them|they|their|those|these|that coin|this coin|that token"
    r"|that one|that|same|both|one)\b"
)
_ADDING: Final = re.compile(r"(?:please )?(?:also )?(?:add|include)\b")
_PLACING: Final = re.compile(r"(?:and )?rank(?:ed)? by\b")
_BOTH: Final = re.compile(r"\bboth\b(?! (?:trends|timeframes|frames))")
_NAMES_COINS: Final = re.compile(r"\b(?:coins?|tokens?|any\w*)\b")
_OF_THEM: Final = re.compile(r"\b(?:of|among|from) (?:them|those|these)\b")
_INSTEAD: Final = re.compile(r"\b(?:same|instead)\b")
_OF_ALL: Final = re.compile(r"\b(?:which|best|worst|highest|lowest)\b")
_LEADER: Final = re.compile(r"(?:(?:and|also|show|give|tell|state|me|the) )*(?:leaders?|winners?|top coins?) ")
_SHORT: Final = 4
"""Pieces of a clause that names something and asks nothing: "ETH too?"."""

_AGAINST: Final = frozenset({"correlation", "strength"})
_WITH: Final = frozenset({"to", "with", "against", "versus", "vs"})
_PRESENT: Final = frozenset({"today", "this week"})
_OF_MARKET: Final = frozenset({"fear_greed", "breadth", "market_regime"})
_IN_PERCENT: Final = frozenset({"funding", "volatility", "drawdown", "strength"})
_OF_SETS: Final = List | Rank | Count | Share | Exists | Aggregate
_NOT_NARROWED: Final = Route | ValueOf | Convert | Record
"""Operations whose parts cannot be asked about: "how many of them …", "which is worth the most"."""


def follow(  # noqa: PLR0913 - a clause, its reading and what was before it
    part: Sequence[Chunk],
    words: Sequence[str],
    before: Sequence[Query],
    read: Sequence[Query],
    used: set[int],
    *,
    within: bool,
) -> Edited | None:
    """Read a clause as a follow-up.

    Args:
        part: The clause.
        words: Its words.
        before: The queries before it.
        read: What it was read as by itself.
        used: The pieces that reading took.
        within: Whether the queries before it are of the same message.

    Returns:
        Null where it stands by itself.
    """
    if not before or not part:
        return None
    text = " ".join(words)
    clause = Clause(part, words, before[-1], bool(_LEADING.match(text)), bool(_REFERRING.search(text)), within)
    if _BOTH.search(text) and _things(before[-1].subject) == 1 and not clause.has("coin", "asset", "frame"):
        return Edited([], set())  # of one thing before it, which both are meant is not said
    if not read:
        completed = complete(clause)
        return completed if completed is None or _keeps_times(clause, completed) else Edited([], set())
    query = _in_context(clause, read[0])
    edited = _edited(clause, query) or (query if query != read[0] else None)
    if _asks_of_parts(clause, before, query) or (edited is not None and not _keeps(clause, edited, query)):
        return Edited([], set())
    if edited is None:
        return None
    edited = _respanned(clause, edited)
    if edited is not None and within and _only_names(clause.last) and not clause.says_now:
        edited = structs.replace(edited, time=clause.last.time) if isinstance(edited.time, Now) else edited
    if edited is None:
        return Edited([], set())
    narrows = isinstance(edited.operation, List) and edited == structs.replace(clause.last, where=edited.where)
    narrows = (narrows and not clause.asks()) or _restates(clause.last, edited)
    rest = (_of_same_set(one, read[0], edited) for one in read[1:])
    return Edited([edited, *rest], used | _adding(clause), narrows)


def _of_same_set(other: Query, first: Query, edited: Query) -> Query:
    """A further query of a clause, about what its first one was found to be about."""
    if (other.subject, other.where) != (first.subject, first.where):
        return other
    return structs.replace(other, subject=edited.subject, where=edited.where)


def _restates(last: Query, edited: Query) -> bool:
    """Whether a query orders or limits the coins of the one before it, or says what is asked of what it names."""
    if _only_names(last):
        return last.subject == edited.subject
    if not isinstance(edited.operation, Rank) or last.subject != edited.subject or last.where != edited.where:
        return False
    limit = edited.operation.limit
    if isinstance(last.operation, Rank):
        same = last.measures[0].name == edited.measures[0].name
        same = same and last.operation.direction == edited.operation.direction
        return same and (limit > 1 or last.operation.limit == 1)
    return isinstance(last.operation, List | Exists) and limit > 1


def _only_names(query: Query) -> bool:
    """Whether a query names things and a time and asks nothing: "ZEC, XMR, DASH: …"."""
    return query == Query(subject=query.subject, time=query.time)


def _respanned(clause: Clause, edited: Query) -> Query | None:
    """A query with its window as that of the changes it tests; None where it tests none."""
    last, where = clause.last, edited.where
    of_set = isinstance(edited.operation, List | Count | Share | Exists | Rank)
    if not of_set or where is None or edited.time == last.time or not isinstance(edited.time, Window):
        return edited
    over = over_span(where, edited.time, again=True)
    return None if over == where else structs.replace(edited, where=over, time=last.time)


def _things(subject: Subject) -> int:
    return len(subject.coins) + len(subject.assets)


def _keeps_times(clause: Clause, edited: Edited) -> bool:
    """Whether a time that a clause says is one of its queries; what is told "today" is told of the present."""
    said = {chunk.value for chunk in clause.part if chunk.kind == "time" and chunk.value.words not in _PRESENT}
    kept = {time for query in edited.queries for time in (query.time, *(one.over for one in query.measures))}
    return all(time in kept or span_of(time) in kept for time in said)


def _asks_of_parts(clause: Clause, before: Sequence[Query], query: Query) -> bool:
    """Whether a clause is about parts of an answer, which cannot be asked about: "how many of them are exchanges?"."""
    if len(before) > 1 and _is_split(before[-2], before[-1]) and _OF_ALL.search(" ".join(clause.words)):
        return True
    ranks = (query.operation, clause.last.operation)
    if isinstance(ranks[0], Rank) and isinstance(ranks[1], Rank) and clause.within and _only_orders(clause):
        return ranks[0].direction != ranks[1].direction  # "the top 5 … Ascending."
    said, of = query.subject.categories, clause.last.subject.categories
    if said and of and said != of and _OF_THEM.search(" ".join(clause.words)):
        return True
    unnamed = query.subject.scope == "all" and not clause.names_set
    return unnamed and isinstance(clause.last.operation, _NOT_NARROWED) and (clause.refers or clause.asks("list"))


def _is_split(one: Query, other: Query) -> bool:
    """Whether two queries ask the same, one of coins and one of real-world assets."""
    return structs.replace(one, subject=other.subject) == other and one.subject.scope != other.subject.scope


def _adding(clause: Clause) -> set[int]:
    """The pieces that say "add … to the comparison"."""
    adds = _ADDING.match(" ".join(clause.words)) is not None
    return {at for at, chunk in enumerate(clause.part) if chunk.kind in {"word", "ask"}} if adds else set()


def _keeps(clause: Clause, edited: Query, query: Query) -> bool:
    """Whether a query holds everything that a clause said: its measures, conditions and time."""
    if not set(query.subject.excluded) <= set(edited.subject.excluded):
        return False
    if query.subject.categories and query.subject.categories != edited.subject.categories:
        return False
    conditions = edited.where.items if isinstance(edited.where, All) else (edited.where,)
    measured = {one.name for one in edited.measures} | {one.measure.name for one in conditions if isinstance(one, Test)}
    if isinstance(edited.operation, MONEY):
        measured |= VALUE
    if clause.names_measure and not {one.name for one in query.measures} <= measured:
        return False
    if query.where is not None and query.where != edited.where and query.where not in conditions:
        return False
    times = (edited.time, *(one.over for one in edited.measures))
    if not {one.over for one in query.measures} - {None} <= set(times):
        return False
    return isinstance(query.time, Now) or query.time in times or span_of(query.time) in times


def _edited(clause: Clause, query: Query) -> Query | None:
    """The last query with the slots of a clause that could be read by itself; null where it stands by itself."""
    last, subject = clause.last, query.subject
    if isinstance(last.operation, MONEY) and clause.refers and {one.name for one in query.measures} <= VALUE:
        return last
    if subject.coins or subject.assets or subject.categories:
        return _of_these(clause, query) if _of_category(clause, query) else _renamed(clause, query)
    if subject.scope != "all" or clause.names_set:
        return None
    edited = _of_same_message(clause, query) or _of_set(clause, query)
    if edited is not None:
        return edited
    return _led_on(clause, query) if clause.refers or clause.leads else _of_named(clause, query)


def _of_set(clause: Clause, query: Query) -> Query | None:
    """The last ranking or list in another order, of fewer coins, or with another value of its condition."""
    last = clause.last
    if isinstance(query.operation, Rank) and (ranked := _ranked(clause, query, query.operation)) is not None:
        return ranked
    if isinstance(last.operation, List) and query.where is None and (ordered := _of_list(clause, query)) is not None:
        return ordered
    if clause.leads and not clause.refers and _same_measure(query.where, last.where):
        return structs.replace(last, where=query.where)
    narrows = isinstance(last.operation, List) and isinstance(query.operation, List) and query.where is not None
    if narrows and not clause.asks():
        return structs.replace(last, where=both_conditions(last.where, query.where))
    return None


def _of_same_message(clause: Clause, query: Query) -> Query | None:
    """A ranking, list or count without a set, behind a sentence that has one: "…? Top 3 by volume.", "Descending."."""
    last, operation = clause.last, query.operation
    of_set = clause.within and last.subject.scope in {"all", "category"} and isinstance(last.operation, _OF_SETS)
    if not of_set or clause.refers or not isinstance(operation, Rank | List | Count | Share | Exists):
        return None
    if _NAMES_COINS.search(text := " ".join(clause.words)) or _LEADER.match(text):
        return None
    if not isinstance(operation, Rank):
        parallel = last.subject.scope == "category" and query.where is not None and clause.asks() and not clause.leads
        return structs.replace(query, subject=last.subject) if parallel else None
    measured = _says_by_what(clause, query)
    if isinstance(last.operation, Rank):
        return _reordered(clause, query, measured=measured)
    where = None if isinstance(last.operation, Count | Share | Aggregate) else last.where
    items = where.items if isinstance(where, All) else (where,)
    tested = [one.measure for one in map(test_of, items) if one is not None and isinstance(one.value, float)]
    by = [one for one in tested if one.name == "change" or not measured]
    if query.measures[0] == Measure("change") and by:
        query = structs.replace(query, measures=(by[0], *query.measures[1:]))
    return structs.replace(query, subject=last.subject, where=both_conditions(where, query.where))


def _only_orders(clause: Clause) -> bool:
    """Whether a clause says no more than an order: "ascending"."""
    orders = any((one := chunk.as_("super")) and one.orders for chunk in clause.part)
    return orders and not clause.names_measure and not clause.has("number")


def _reordered(clause: Clause, query: Query, *, measured: bool) -> Query | None:
    """A ranking behind a ranking: of the same coins, with what it does not say as before."""
    last = clause.last
    if not isinstance(last.operation, Rank):
        return None
    if _only_orders(clause):
        return last
    if not measured:
        query = structs.replace(query, measures=(last.measures[0], *query.measures[1:]))
    return structs.replace(query, subject=last.subject, where=both_conditions(last.where, query.where))


def _says_by_what(clause: Clause, query: Query) -> bool:
    """Whether a ranking says by what it ranks: not in "the top 3 and their price"."""
    supers = (chunk.as_("super") for chunk in clause.part)
    changes = any(chunk.as_("measure") == Measure("change") for chunk in clause.part)
    return changes or query.measures[0] != Measure("change") or any(one and one.measure for one in supers)


def _of_list(clause: Clause, query: Query) -> Query | None:
    """The coins of the last list counted or ranked: "how many?", "sort by volume"."""
    by = isinstance(query.operation, Rank) and "by" in " ".join(clause.words).split()
    if not by and not isinstance(query.operation, Count):
        return None
    return structs.replace(query, subject=clause.last.subject, where=clause.last.where)


def _ranked(clause: Clause, query: Query, operation: Rank) -> Query | None:
    """The first, another end or another number of the last ranking: "the leader's price", "and the worst?"."""
    last = clause.last
    if isinstance(last.operation, Rank) and clause.names_measure and _LEADER.match(" ".join(clause.words)):
        named = tuple(one for one in query.measures if one.name != "change")
        first = Rank(last.operation.direction, 1)
        return structs.replace(last, measures=(*last.measures, *named), operation=first)
    placed = len(last.subject.coins) == 1 and _PLACING.match(" ".join(clause.words))
    if placed or clause.names_measure or not last.measures:
        return None
    if isinstance(last.operation, Extreme):
        return structs.replace(last, operation=Extreme("max" if operation.direction == "most" else "min"))
    if isinstance(last.operation, Compare) or len(last.subject.coins) + len(last.subject.assets) > 1:
        return structs.replace(last, operation=Compare(operation.direction))
    keeps = isinstance(last.operation, Rank) and last.operation.limit > 1 and operation.direction == "most"
    over = next((one.over for one in query.measures if one.over is not None), None)
    if over is not None:
        last = structs.replace(last, measures=(structs.replace(last.measures[0], over=over), *last.measures[1:]))
    direction = last.operation.direction if keeps and isinstance(last.operation, Rank) else operation.direction
    return structs.replace(last, operation=Rank(direction, operation.limit))


def _of_named(clause: Clause, query: Query) -> Query | None:
    """A clause without a set is about what was named before it: "…, and is the change positive?"."""
    named = clause.last.subject.coins or clause.last.subject.assets
    if not named or clause.asks("any", "count", "share", "all", "none"):
        return None
    if isinstance(query.operation, Rank) and _PLACING.match(" ".join(clause.words)):
        return structs.replace(query, subject=clause.last.subject, operation=Position())
    things = len(clause.last.subject.coins) + len(clause.last.subject.assets)
    if isinstance(query.operation, Rank) and query.operation.limit == 1 and things > 1:
        # "…, which is more volatile?"
        return structs.replace(query, subject=clause.last.subject, operation=Compare(query.operation.direction))
    if isinstance(query.operation, Rank | Screen | Record | Route):
        return None
    check = Check() if isinstance(query.operation, List) else query.operation
    return structs.replace(query, subject=clause.last.subject, operation=check)


def _led_on(clause: Clause, query: Query) -> Query:
    """A clause that leads on from the query before, or refers to what it was about."""
    last = clause.last
    if isinstance(last.operation, Profit):
        return last
    if clause.refers and isinstance(last.operation, Rank) and last.operation.limit == 1:
        # "The worst performer? … how much did it lose?": the same ranking, with what is asked of its first.
        return structs.replace(last, measures=more_measures(last, query))
    of_set = last.subject.scope != "coins"
    asks = Count | Share | Exists | Rank | Aggregate
    if clause.refers and of_set and (query.where is not None or isinstance(query.operation, asks)):
        return _of_these(clause, query)
    if not clause.leads:
        checks = isinstance(query.operation, List) and bool(last.subject.coins or last.subject.assets)
        return structs.replace(query, subject=last.subject, operation=Check() if checks else query.operation)
    changes = not isinstance(query.operation, Value | List | Check)
    adds = clause.refers and isinstance(last.operation, Rank) and not changes
    return structs.replace(
        last,
        measures=more_measures(last, query) if adds else with_spans(query.measures, last.measures) or last.measures,
        where=both_conditions(last.where, query.where),
        operation=query.operation if changes else last.operation,
        time=last.time if isinstance(query.time, Now) else query.time,
    )


def _of_category(clause: Clause, query: Query) -> bool:
    """Whether a clause is about those of the last coins that are in a category: "how many of them are L2s?"."""
    said = not query.subject.coins and query.subject.scope == "category" and clause.last.subject.scope == "all"
    counts = isinstance(query.operation, Count | Share | List | Exists | Rank)
    return said and counts and _OF_THEM.search(" ".join(clause.words)) is not None


def _of_these(clause: Clause, query: Query) -> Query:
    """A clause about the coins of the last answer: "how many of them are bullish?"."""
    last = clause.last
    counted = isinstance(last.operation, Count | Share) and not _OF_THEM.search(" ".join(clause.words))
    where = query.where if counted else both_conditions(last.where, query.where)
    items = last.where.items if isinstance(last.where, All) else (last.where,)
    tested = [one.measure for one in map(test_of, items) if one is not None and isinstance(one.value, float)]
    if isinstance(query.operation, Rank) and not clause.names_measure and tested:
        moves = (measure for measure in tested if measure.name == "change")
        query = structs.replace(query, measures=(next(moves, tested[0]),))
    if isinstance(last.operation, Rank) and not _INSTEAD.search(" ".join(clause.words)):
        if last.subject != Subject(scope="all") or last.where is not None:
            return last  # which of these are meant cannot be said
        where = both_conditions(Ranked(last.measures[0], last.operation.direction, last.operation.limit), where)
    return structs.replace(query, subject=_narrowed(last.subject, query.subject), where=where)


def _narrowed(subject: Subject, said: Subject) -> Subject:
    """A set of coins without those that are left out of it, or those of it in some categories."""
    excluded = tuple(dict.fromkeys((*subject.excluded, *said.excluded)))
    without = tuple(dict.fromkeys((*subject.excluded_categories, *said.excluded_categories)))
    subject = structs.replace(subject, excluded=excluded, excluded_categories=without)
    if not said.categories:
        return subject
    return structs.replace(subject, scope="category", categories=said.categories)


def _in_context(clause: Clause, query: Query) -> Query:
    """A query whose "neutral" is that of the measure asked about before, and whose trend is of what was named."""
    where, last = query.where, clause.last
    before = last.where.measure.name if isinstance(last.where, Test) else ""
    neutral = isinstance(where, Test) and (where.measure.name, where.value) == ("verdict", "neutral")
    if neutral and before in {"regime", "sentiment"}:
        query = structs.replace(query, where=Test(Measure(before), "eq", "neutral"))
    query = structs.replace(query, where=_of_tested(clause, query.where))
    names = {one.name for one in query.measures}
    regime = names == {"market_regime"} and not clause.names_market
    if query.subject.scope != "market" or clause.names_set or not (regime or _OF_MARKET.isdisjoint(names)):
        return query
    if regime:
        query = structs.replace(query, measures=(Measure("regime"),))
    if last.subject.coins or last.subject.assets:
        time = last.time if clause.leads and isinstance(query.time, Now) else query.time
        return structs.replace(query, subject=last.subject, time=time)
    return structs.replace(query, subject=Subject(scope="all")) if isinstance(last.operation, Rank) else query


def _of_tested(clause: Clause, where: Condition | None) -> Condition | None:
    """A percentage without a measure is one of the measure tested before: "and above 10 %?"."""
    before = clause.last.where
    if not isinstance(where, Test) or not isinstance(before, Test):
        return where
    plain = clause.is_of("ask", "filler", "and", "direction") and clause.within
    if plain and before.measure.name == "trend" and where.measure == Measure("change"):
        return structs.replace(before, value="UP" if where.op == "gt" else "DOWN")  # "how many in DOWN, how many in UP"
    if before.measure.name not in _IN_PERCENT:
        return where
    says = clause.names_measure or clause.has("direction", "time")
    implied = where.measure == Measure("change") and not says
    return structs.replace(where, measure=before.measure) if implied else where


def _renamed(clause: Clause, query: Query) -> Query | None:
    """The last query about other things: "and SOL?", "only L2s", "add NEAR", "and to ETH, over 90 days?"."""
    last, subject = clause.last, query.subject
    changed = _sided(clause, query) or _against_other(clause, query)
    if changed is not None:
        return changed
    adds = _ADDING.match(" ".join(clause.words)) is not None
    named_only = isinstance(query.operation, Value) and not query.measures and query.where is None
    counts = isinstance(query.operation, Count | Share | Exists) and subject.scope == "category" and query.where is None
    if counts and isinstance(last.operation, List) and last.subject.scope == "all":
        return structs.replace(query, where=last.where)  # "coins in an uptrend? how many are L1s?"
    if not named_only or not (adds or clause.leads or len(clause.words) <= _SHORT):
        return None
    if subject.scope == "category":
        base = last.subject if last.subject.scope in {"all", "category"} else subject
        return structs.replace(last, subject=structs.replace(base, scope="category", categories=subject.categories))
    if subject.scope not in {"coins", "assets"} or last.subject.scope not in {"coins", "assets", "market"}:
        return None
    if adds or (isinstance(last.operation, Compare) and len(subject.coins) == 1):
        coins = tuple(dict.fromkeys((*last.subject.coins, *subject.coins)))
        subject = structs.replace(last.subject, coins=coins)
    return structs.replace(last, subject=subject)


def _sided(clause: Clause, query: Query) -> Query | None:
    """The last position in another coin or on the other side: "make it JUP, and short"."""
    sides = [chunk.value for chunk in clause.part if chunk.kind == "side"]
    if len(sides) != 1 or clause.names_measure or not any(one.side is not None for one in clause.last.measures):
        return None
    measures = (structs.replace(one, side=sides[0] if one.side else None) for one in clause.last.measures)
    return structs.replace(clause.last, subject=query.subject, measures=tuple(measures))


def _against_other(clause: Clause, query: Query) -> Query | None:
    """The last correlation with another coin."""
    last = clause.last
    behind = any(
        chunk.kind == "coin" and words in _WITH for words, chunk in zip(clause.words, clause.part[1:], strict=False)
    )
    if (
        query.subject.scope != "coins"
        or not behind
        or len(query.subject.coins) != 1
        or not any(one.name in _AGAINST for one in last.measures)
    ):
        return None
    over = next((one.over for one in query.measures), None)
    other = query.subject.coins[0]
    measures = (
        structs.replace(one, other=other, over=over or one.over) if one.name in _AGAINST else one
        for one in last.measures
    )
    return structs.replace(last, measures=tuple(measures)) if _only_spans(query) else None


def _only_spans(query: Query) -> bool:
    return query.where is None and all(one == Measure("change", over=one.over) for one in query.measures)


def _same_measure(one: Condition | None, other: Condition | None) -> bool:
    return isinstance(one, Test) and isinstance(other, Test) and one.measure.name == other.measure.name
