"""Follow-ups about a set of coins: in another order, fewer of them, or those that something holds for. Pure."""

import re
from typing import Final

from msgspec import structs

from service.ask.parser.context import Clause, both_conditions, with_spans
from service.ask.parser.found import test_of
from service.ask.query import (
    Aggregate,
    All,
    Compare,
    Condition,
    Count,
    Exists,
    Extreme,
    List,
    Measure,
    Query,
    Rank,
    Ranked,
    Share,
    Subject,
    Test,
)

PLACING: Final = re.compile(r"(?:and )?rank(?:ed)? by\b")
_NAMES_COINS: Final = re.compile(r"\b(?:coins?|tokens?|any\w*)\b")
OF_THEM: Final = re.compile(r"\b(?:of|among|from) (?:them|those|these)\b")
_INSTEAD: Final = re.compile(r"\b(?:same|instead)\b")
_LEADER: Final = re.compile(r"(?:(?:and|also|show|give|tell|state|me|the) )*(?:leaders?|winners?|top coins?) ")
_OF_SETS: Final = List | Rank | Count | Share | Exists | Aggregate


def of_set(clause: Clause, query: Query) -> Query | None:
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


def of_same_message(clause: Clause, query: Query) -> Query | None:
    """A ranking, list or count without a set, behind a sentence that has one: "…? Top 3 by volume.", "Descending."."""
    last, operation = clause.last, query.operation
    has_set = clause.within and last.subject.scope in {"all", "category"} and isinstance(last.operation, _OF_SETS)
    if not has_set or clause.refers or not isinstance(operation, Rank | List | Count | Share | Exists | Aggregate):
        return None
    if _NAMES_COINS.search(text := " ".join(clause.words)) or _LEADER.match(text):
        return None
    if isinstance(operation, Aggregate) and isinstance(last.operation, List):
        return structs.replace(query, subject=last.subject, where=both_conditions(last.where, query.where))
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
    query = structs.replace(query, measures=with_spans(query.measures, tuple(tested)))
    return structs.replace(query, subject=last.subject, where=both_conditions(where, query.where))


def of_so_many(clause: Clause, query: Query) -> Query | None:
    """A ranking of so many, which a later sentence says: "least volatile coins, give me 5 tickers"."""
    ranked, listed = clause.last.operation, query.operation
    plain = query == Query(subject=Subject(scope="all"), operation=listed)
    if not (clause.within and plain and isinstance(ranked, Rank) and isinstance(listed, List) and listed.limit):
        return None
    return structs.replace(clause.last, operation=structs.replace(ranked, limit=listed.limit))


def only_orders(clause: Clause) -> bool:
    """Whether a clause only says an order: "ascending"."""
    orders = any((one := chunk.as_("super")) and one.orders for chunk in clause.part)
    return orders and not clause.names_measure and not clause.has("number")


def _reordered(clause: Clause, query: Query, *, measured: bool) -> Query:
    """A ranking behind a ranking: of the same coins, with what it does not say as before."""
    last = clause.last
    if only_orders(clause):
        return last
    first = query.measures if measured else tuple(dict.fromkeys((*last.measures, *query.measures[1:])))
    query = structs.replace(query, measures=with_spans(first, last.measures))
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
    placed = len(last.subject.coins) == 1 and PLACING.match(" ".join(clause.words))
    if placed or clause.names_measure or not last.measures:
        return None
    if isinstance(last.operation, Extreme):
        return structs.replace(last, operation=Extreme("max" if operation.direction == "most" else "min"))
    if isinstance(last.operation, Compare) or len(last.subject.coins) + len(last.subject.assets) > 1:
        how = last.operation.how if isinstance(last.operation, Compare) else None
        return structs.replace(last, operation=Compare(operation.direction, how))
    keeps = isinstance(last.operation, Rank) and last.operation.limit > 1 and operation.direction == "most"
    over = next((one.over for one in query.measures if one.over is not None), None)
    if over is not None:
        last = structs.replace(last, measures=(structs.replace(last.measures[0], over=over), *last.measures[1:]))
    direction = last.operation.direction if keeps and isinstance(last.operation, Rank) else operation.direction
    return structs.replace(last, operation=structs.replace(operation, direction=direction))


def of_category(clause: Clause, query: Query) -> bool:
    """Whether a clause is about those of the last coins that are in a category: "how many of them are L2s?"."""
    said = not query.subject.coins and query.subject.scope == "category" and clause.last.subject.scope == "all"
    counts = isinstance(query.operation, Count | Share | List | Exists | Rank)
    return said and counts and OF_THEM.search(" ".join(clause.words)) is not None


def of_these(clause: Clause, query: Query) -> Query:
    """A clause about the coins of the last answer: "how many of them are bullish?"."""
    last = clause.last
    counted = isinstance(last.operation, Count | Share) and not OF_THEM.search(" ".join(clause.words))
    where = query.where if counted else both_conditions(last.where, query.where)
    items = last.where.items if isinstance(last.where, All) else (last.where,)
    tested = [one.measure for one in map(test_of, items) if one is not None and isinstance(one.value, float)]
    moves = [measure for measure in tested if measure.name == "change"]
    by = tested if not clause.names_measure else moves if query.measures[:1] == (Measure("change"),) else []
    if isinstance(query.operation, Rank) and by:
        query = structs.replace(query, measures=(next(iter(moves), by[0]),))
    if isinstance(last.operation, Rank) and not _INSTEAD.search(" ".join(clause.words)):
        if last.subject != Subject(scope="all") or last.where is not None or last.operation.skip:
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


def _same_measure(one: Condition | None, other: Condition | None) -> bool:
    return isinstance(one, Test) and isinstance(other, Test) and one.measure.name == other.measure.name
