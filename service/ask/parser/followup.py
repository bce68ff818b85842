"""Follow-ups: a clause that edits the slots of the query before it. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.chunks import Chunk
from service.ask.parser.completion import complete, of_earlier_measure, of_other_sign
from service.ask.parser.condition_tree import tests_in
from service.ask.parser.context import MONEY, VALUE, Clause, Edited, at_time, both_conditions, more_measures, with_spans
from service.ask.parser.edits import (
    ADDING,
    OF_THEM,
    PLACING,
    compared,
    framed,
    frames,
    of_amounts,
    of_category,
    of_same_message,
    of_set,
    of_so_many,
    of_these,
    only_orders,
    only_spans,
    renamed,
    sided,
    things,
)
from service.ask.parser.windows import over_span, span_of

_LEADING: Final = re.compile(
    r"(?:and|no|what about|how about|ok|now|only|just|same|instead|also|but|or|then|over|by|in|for|since|why|with"
    r"|without|excluding|except|ignore|ignoring|exclude|drop|skip|remove|leave out|those|of those|which of|vs|versus"
    r"|compared)\b"
)
_REFERRING: Final = re.compile(
    r"\b(am i|which one|choose|pick|ones|only|it|its|them|they|their|those|these|that coin|this coin|that token"
    r"|that one|that|same|both|one)\b"
)
_BOTH: Final = re.compile(
    r"\b(?:of|for|were|are|was|did|do|have|has) both\b|\bboth (?:of (?:them|those|these)|were|are)\b|\bboth$"
)
_RANKED_ONES: Final = re.compile(r"^(?:top|biggest|best|worst|largest) (?:gainer|loser|mover|performer)s?$")
_OF_ALL: Final = re.compile(r"\b(?:which|best|worst|highest|lowest)\b")
_PRESENT: Final = frozenset({"today", "this week"})
_OF_MARKET: Final = frozenset({"fear_greed", "breadth", "market_regime"})
_IN_PERCENT: Final = frozenset({"funding", "volatility", "drawdown", "strength"})
_MOVED: Final = (q.Test(q.Measure("change"), "gt", 0.0), q.Test(q.Measure("change"), "lt", 0.0))
_WON: Final = frozenset({"winner", "loser", "leader", "laggard"})
"""Of things that were compared, these are so by what was compared."""

_OF_COINS: Final = frozenset({"alerts", "news", "transcripts", "wallets"})
"""Topics that may be asked of the coin named before: "what was said about it"."""

_NOT_NARROWED: Final = q.Route | q.ValueOf | q.Portfolio | q.Convert | q.Record
"""Operations whose parts cannot be asked about: "how many of them …", "which is worth the most"."""


def follow(
    part: Sequence[Chunk],
    words: Sequence[str],
    before: Sequence[q.Query],
    read: Sequence[q.Query],
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
    if not before or not part or _ranks_all(words, before[-1], read):
        return None
    text = " ".join(words)
    clause = Clause(part, words, before[-1], bool(_LEADING.match(text)), bool(_REFERRING.search(text)), within)
    if _BOTH.search(text) and things(before[-1].subject) == 1 and not clause.has("coin", "asset", "frame"):
        return Edited([], set())  # of one thing before it, which both are meant is not said
    if (turned := sided(clause, read[0] if read else q.Query())) is not None:
        return Edited([turned], {at for at, chunk in enumerate(part) if chunk.kind in {"side", "coin", "ask"}})
    if (whole := of_amounts(clause) or compared(clause) or of_other_sign(clause)) is not None:
        return Edited([whole], set(range(len(part))))
    if not read or _of_days(clause) or sum(chunk.kind == "time" for chunk in part) > 1:
        completed = complete(clause)
        return completed if completed is None or _keeps_times(clause, completed) else Edited([], set())
    return _of_read(clause, before, read, used)


def _ranks_all(words: Sequence[str], last: q.Query, read: Sequence[q.Query]) -> bool:
    """Whether a clause behind one about coins ranks all of them, which its noun names: "…, and the top gainer"."""
    ranks = len(read) == 1 and isinstance(read[0].operation, q.Rank) and read[0].subject.scope == "all"
    return ranks and last.subject.scope in {"coins", "assets"} and any(_RANKED_ONES.search(word) for word in words)


def _of_days(clause: Clause) -> bool:
    """Whether a clause without a name asks for a day of the coin before it: "its best day"."""
    days = (
        words.endswith(" day") for words, chunk in zip(clause.words, clause.part, strict=True) if chunk.has("super")
    )
    return bool(clause.last.subject.coins) and not clause.has("coin", "asset", "category", "set") and any(days)


def _of_read(clause: Clause, before: Sequence[q.Query], read: Sequence[q.Query], used: set[int]) -> Edited | None:
    """A clause that could be read by itself, with what it does not say as before it; none where that is not kept."""
    query = _in_context(clause, read[0])
    edited = _edited(clause, query) or (query if query != read[0] else None)
    parts = _asks_of_parts(clause, before, query)
    if edited is None and not parts:
        return None
    timed = _timed(clause, edited) if edited is not None and not parts and _keeps(clause, edited, query) else None
    if timed is None:
        return Edited([], set())
    edited = timed
    narrows = isinstance(edited.operation, q.List) and edited == structs.replace(clause.last, where=edited.where)
    narrows = (narrows and not clause.asks()) or _restates(clause.last, edited)
    rest = (_of_same_set(one, read[0], edited) for one in read[1:])
    other = framed(clause, edited) if clause.has("coin", "asset") else None
    return Edited([other or edited, *rest], used | _adding(clause) | (frames(clause) if other else set()), narrows)


def _of_same_set(other: q.Query, first: q.Query, edited: q.Query) -> q.Query:
    """A further query of a clause: the same of other things, or another question about the same ones."""
    if other.subject != first.subject:
        return structs.replace(edited, subject=other.subject)
    where = edited.where if other.where == first.where else other.where
    return structs.replace(other, subject=edited.subject, where=where)


def _restates(last: q.Query, edited: q.Query) -> bool:
    """Whether a query only changes the order or number of the coins listed before, or says what to do with them."""
    if _only_names(last):
        return last.subject == edited.subject
    if not isinstance(edited.operation, q.Rank) or last.subject != edited.subject or last.where != edited.where:
        return False
    limit = edited.operation.limit
    if isinstance(last.operation, q.Rank):
        same = last.measures[0].name == edited.measures[0].name
        same = same and last.operation.direction == edited.operation.direction
        return same and (limit > 1 or last.operation.limit == 1)
    return isinstance(last.operation, q.List | q.Exists) and limit > 1


def _only_names(query: q.Query) -> bool:
    """Whether a query names things and a time and asks nothing: "ZEC, XMR, DASH: …"."""
    return query == q.Query(subject=query.subject, time=query.time)


def _timed(clause: Clause, edited: q.Query) -> q.Query | None:
    """A query at the given time; a window also replaces those of the changes it tests. None if there is no time."""
    last, where = clause.last, edited.where
    if clause.within and _only_names(last) and isinstance(edited.time, q.Now) and not clause.says_now:
        return structs.replace(edited, time=last.time)
    in_set = isinstance(edited.operation, q.List | q.Count | q.Share | q.Exists | q.Rank)
    if not in_set or where is None or edited.time == last.time or not isinstance(edited.time, q.Window):
        return edited
    over = over_span(where, edited.time, again=True)
    return None if over == where else structs.replace(edited, where=over, time=last.time)


def _keeps_times(clause: Clause, edited: Edited) -> bool:
    """Whether the time a clause names is in one of its queries; "today" may also be the present."""
    said = {chunk.value for chunk in clause.part if chunk.kind == "time" and chunk.value.words not in _PRESENT}
    kept = {time for query in edited.queries for time in (query.time, *(one.over for one in query.measures))}
    kept |= {test.measure.over for query in edited.queries for test in tests_in(query.where)}
    return all(time in kept or span_of(time) in kept for time in said)


def _asks_of_parts(clause: Clause, before: Sequence[q.Query], query: q.Query) -> bool:
    """Whether a clause is about parts of an answer, which cannot be asked about: "how many of them are exchanges?"."""
    if len(before) > 1 and _is_split(before[-2], before[-1]) and _OF_ALL.search(" ".join(clause.words)):
        return True
    ranks = (query.operation, clause.last.operation)
    if isinstance(ranks[0], q.Rank) and isinstance(ranks[1], q.Rank) and only_orders(clause):
        return ranks[0].direction != ranks[1].direction  # "the top 5 … Ascending."
    of_them = OF_THEM.search(" ".join(clause.words)) is not None
    said, of = query.subject.categories, clause.last.subject.categories
    belongs = isinstance(query.operation, q.Value) and clause.asks("any", "all", "none")  # "are any of them memes?"
    if of_them and said and (belongs or (of and said != of)):
        return True
    again = "same" in clause.words and bool(query.measures) and only_spans(query) and not clause.names_measure
    if again and clause.last.measures and clause.last.measures[0].name != "change":
        return True  # "funding of BTC | same for ETH, over 30 days"
    comparative = any((one := chunk.as_("super")) and one.comparative for chunk in clause.part)
    if isinstance(query.operation, q.Rank) and comparative and things(clause.last.subject) == 1:
        return True  # "did it do worse?": than what is not said
    unnamed = query.subject.scope == "all" and not clause.names_set
    return unnamed and isinstance(clause.last.operation, _NOT_NARROWED) and (clause.refers or clause.asks("list"))


def _is_split(one: q.Query, other: q.Query) -> bool:
    """Whether two queries ask the same, one of coins and one of real-world assets."""
    return structs.replace(one, subject=other.subject) == other and one.subject.scope != other.subject.scope


def _adding(clause: Clause) -> set[int]:
    """The pieces that say "add … to the comparison"."""
    adds = ADDING.match(" ".join(clause.words)) is not None
    return {at for at, chunk in enumerate(clause.part) if chunk.kind in {"word", "ask"}} if adds else set()


def _keeps(clause: Clause, edited: q.Query, query: q.Query) -> bool:
    """Whether a query holds everything that a clause said: its measures, conditions and time."""
    if not set(query.subject.excluded) <= set(edited.subject.excluded):
        return False
    conditions = edited.where.items if isinstance(edited.where, q.All) else (edited.where,)
    measured = {one.name for one in edited.measures} | {
        one.measure.name for one in conditions if isinstance(one, q.Test)
    }
    if isinstance(edited.operation, MONEY):
        measured |= VALUE
    if clause.names_measure and not {one.name for one in query.measures} <= measured:
        return False
    moved = isinstance(edited.operation, MONEY) and query.where in _MOVED  # "am I up?"
    if query.where is not None and query.where != edited.where and query.where not in conditions and not moved:
        return False
    times = (edited.time, *(one.over for one in edited.measures))
    if not {one.over for one in query.measures} - {None} <= set(times):
        return False
    return isinstance(query.time, q.Now) or query.time in times or span_of(query.time) in times


def _edited(clause: Clause, query: q.Query) -> q.Query | None:
    """The last query with the slots of a clause that could be read by itself; null where it stands by itself."""
    last, subject = clause.last, query.subject
    if (
        isinstance(last.operation, MONEY)
        and clause.refers
        and "price" not in clause.words
        and {one.name for one in query.measures} <= VALUE
    ):
        return at_time(last, query)
    named = subject.coins or subject.assets or subject.categories
    again = clause.within and isinstance(query.operation, q.Route) and query.operation == last.operation
    if not named and (again or (isinstance(last.operation, q.Profit | q.Portfolio) and query.where in _MOVED)):
        return last  # "what do shows say about TAO? quote it", "…, and what is the gain?"
    if named:
        same_set = of_category(clause, query)
        return of_these(clause, query) if same_set else renamed(clause, query) or of_earlier_measure(clause, query)
    edited = of_so_many(clause, query)
    if edited is None and (subject.scope != "all" or clause.names_set):
        return _of_topic(clause, query)
    edited = edited or of_same_message(clause, query) or of_set(clause, query)
    if edited is not None:
        return edited
    return _led_on(clause, query) if clause.refers or clause.leads else _of_named(clause, query)


def _of_topic(clause: Clause, query: q.Query) -> q.Query | None:
    """A topic of the coin named before: "…, and what was said about it on podcasts?"."""
    route, coins = query.operation, clause.last.subject.coins
    refers = isinstance(route, q.Route) and route.topic in _OF_COINS and clause.refers and coins
    return structs.replace(query, subject=clause.last.subject) if refers else None


def _of_named(clause: Clause, query: q.Query) -> q.Query | None:
    """A clause without a set is about what was named before it: "…, and is the change positive?"."""
    named = clause.last.subject.coins or clause.last.subject.assets
    if not named or clause.asks("any", "count", "share", "all", "none"):
        return None
    if isinstance(query.operation, q.Rank) and PLACING.match(" ".join(clause.words)):
        return structs.replace(query, subject=clause.last.subject, operation=q.Position())
    things = len(clause.last.subject.coins) + len(clause.last.subject.assets)
    if isinstance(query.operation, q.Rank) and query.operation.limit == 1 and things > 1:
        # "…, which is more volatile?"
        return structs.replace(query, subject=clause.last.subject, operation=q.Compare(query.operation.direction))
    if isinstance(query.operation, q.Rank | q.Screen | q.Record | q.Route):
        return None
    whole = q.Exists("any") if things > 1 and "either" in clause.words else q.Check()
    check = whole if isinstance(query.operation, q.List) else query.operation
    return structs.replace(query, subject=clause.last.subject, operation=check)


def _led_on(clause: Clause, query: q.Query) -> q.Query:
    """A clause that leads on from the query before, or refers to what it was about."""
    last = clause.last
    if isinstance(last.operation, q.Profit):
        return last
    if clause.refers and isinstance(last.operation, q.Rank) and last.operation.limit == 1:
        # "The worst performer? … how much did it lose?": the same ranking, with what is asked of its first.
        return structs.replace(last, measures=more_measures(last, query))
    has_set = last.subject.scope != "coins"
    asks = q.Count | q.Share | q.Exists | q.Rank | q.Aggregate
    if clause.refers and has_set and (query.where is not None or isinstance(query.operation, asks)):
        return of_these(clause, query)
    if not clause.leads:
        checks = isinstance(query.operation, q.List) and bool(last.subject.coins or last.subject.assets)
        operation = q.Check() if checks else query.operation
        if isinstance(operation, q.Rank) and things(last.subject) > 1:
            operation = q.Compare(operation.direction)
        return structs.replace(query, subject=last.subject, operation=operation)
    changes = not isinstance(query.operation, q.Value | q.List | q.Check)
    adds = clause.refers and isinstance(last.operation, q.Rank) and not changes
    return structs.replace(
        last,
        measures=more_measures(last, query) if adds else with_spans(query.measures, last.measures) or last.measures,
        where=both_conditions(last.where, query.where),
        operation=query.operation if changes else last.operation,
        time=last.time if isinstance(query.time, q.Now) else query.time,
    )


def _in_context(clause: Clause, query: q.Query) -> q.Query:
    """A query that tests the earlier measure where a word such as "neutral" is a value of several measures."""
    where, last = query.where, clause.last
    before = last.where.measure.name if isinstance(last.where, q.Test) else ""
    neutral = isinstance(where, q.Test) and (where.measure.name, where.value) == ("verdict", "neutral")
    if neutral and before in {"regime", "sentiment"}:
        query = structs.replace(query, where=q.Test(q.Measure(before), "eq", "neutral"))
    query = structs.replace(query, where=_of_tested(clause, query.where))
    if last.measures and things(last.subject) > 1 and not _WON.isdisjoint(clause.words) and not query.subject.coins:
        query = structs.replace(query, measures=last.measures)
    names = {one.name for one in query.measures}
    regime = names == {"market_regime"} and not clause.names_market
    if query.subject.scope != "market" or clause.names_set or not (regime or _OF_MARKET.isdisjoint(names)):
        return query
    if regime:
        query = structs.replace(query, measures=(q.Measure("regime"),))
    if last.subject.coins or last.subject.assets:
        time = last.time if clause.leads and isinstance(query.time, q.Now) else query.time
        return structs.replace(query, subject=last.subject, time=time)
    return structs.replace(query, subject=q.Subject(scope="all")) if isinstance(last.operation, q.Rank) else query


def _of_tested(clause: Clause, where: q.Condition | None) -> q.Condition | None:
    """A percentage without a measure is one of the measure tested before: "and above 10 %?"."""
    before = clause.last.where
    if not isinstance(where, q.Test) or not isinstance(before, q.Test):
        return where
    plain = clause.is_of("ask", "filler", "and", "direction") and clause.within
    if plain and before.measure.name == "trend" and where.measure == q.Measure("change"):
        return structs.replace(before, value="UP" if where.op == "gt" else "DOWN")  # "how many in DOWN, how many in UP"
    if before.measure.name not in _IN_PERCENT:
        return where
    says = clause.names_measure or clause.has("direction", "time")
    implied = where.measure == q.Measure("change") and not says
    return structs.replace(where, measure=before.measure) if implied else where
