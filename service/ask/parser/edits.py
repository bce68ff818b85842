"""What a follow-up edits of the query before it: its things, its set, its order, its conditions. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.chunks import Chunk
from service.ask.parser.compose import SIZES
from service.ask.parser.condition_tree import PAIR, mapped, test_of, tests_in
from service.ask.parser.context import MONEY, VALUE, Clause, both_conditions, with_spans
from service.ask.parser.money import LARGEST
from service.ask.parser.slots import Slots
from service.ask.parser.windows import TREND_FRAMES, span_of

PLACING: Final = re.compile(r"(?:and )?rank(?:ed)? by\b")
_NAMES_COINS: Final = re.compile(r"\b(?:coins?|tokens?|any\w*)\b")
OF_THEM: Final = re.compile(r"\b(?:of|among|from) (?:them|those|these)\b")
_INSTEAD: Final = re.compile(r"\b(?:same|instead)\b")
_LEADER: Final = re.compile(r"(?:(?:and|also|show|give|tell|state|me|the) )*(?:leaders?|winners?|top coins?) ")
_OF_SETS: Final = q.List | q.Rank | q.Count | q.Share | q.Exists | q.Aggregate


def of_set(clause: Clause, query: q.Query) -> q.Query | None:
    """The last ranking or list in another order, of fewer coins, or with another value of its condition."""
    last = clause.last
    if isinstance(query.operation, q.Rank) and (ranked := _ranked(clause, query, query.operation)) is not None:
        return ranked
    if isinstance(last.operation, q.List) and query.where is None and (ordered := _of_list(clause, query)) is not None:
        return ordered
    if clause.leads and not clause.refers and _same_measure(query.where, last.where):
        return structs.replace(last, where=query.where)
    narrows = isinstance(last.operation, q.List) and isinstance(query.operation, q.List) and query.where is not None
    if narrows and not clause.asks():
        return structs.replace(last, where=both_conditions(last.where, query.where))
    return None


def of_same_message(clause: Clause, query: q.Query) -> q.Query | None:
    """A ranking, list or count without a set, behind a sentence that has one: "…? Top 3 by volume.", "Descending."."""
    last, operation = clause.last, query.operation
    has_set = clause.within and last.subject.scope in {"all", "category"} and isinstance(last.operation, _OF_SETS)
    if (
        not has_set
        or clause.refers
        or not isinstance(operation, q.Rank | q.List | q.Count | q.Share | q.Exists | q.Aggregate)
    ):
        return None
    if _NAMES_COINS.search(text := " ".join(clause.words)) or _LEADER.match(text):
        return None
    if isinstance(operation, q.Aggregate) and isinstance(last.operation, q.List):
        return structs.replace(query, subject=last.subject, where=both_conditions(last.where, query.where))
    if not isinstance(operation, q.Rank):
        parallel = last.subject.scope == "category" and query.where is not None and clause.asks() and not clause.leads
        return structs.replace(query, subject=last.subject) if parallel else None
    measured = _says_by_what(clause, query)
    if isinstance(last.operation, q.Rank):
        return _reordered(clause, query, measured=measured)
    where = None if isinstance(last.operation, q.Count | q.Share | q.Aggregate) else last.where
    items = where.items if isinstance(where, q.All) else (where,)
    tested = [one.measure for one in map(test_of, items) if one is not None and isinstance(one.value, float)]
    by = [one for one in tested if one.name == "change" or not measured]
    if query.measures[0] == q.Measure("change") and by:
        query = structs.replace(query, measures=(by[0], *query.measures[1:]))
    query = structs.replace(query, measures=with_spans(query.measures, tuple(tested)))
    return structs.replace(query, subject=last.subject, where=both_conditions(where, query.where))


def of_so_many(clause: Clause, query: q.Query) -> q.Query | None:
    """A ranking of so many, which a later sentence says: "least volatile coins, give me 5 tickers"."""
    ranked, listed = clause.last.operation, query.operation
    plain = query == q.Query(subject=q.Subject(scope="all"), operation=listed)
    if not (clause.within and plain and isinstance(ranked, q.Rank) and isinstance(listed, q.List) and listed.limit):
        return None
    return structs.replace(clause.last, operation=structs.replace(ranked, limit=listed.limit))


def only_orders(clause: Clause) -> bool:
    """Whether a clause only says an order: "ascending"."""
    orders = any((one := chunk.as_("super")) and one.orders for chunk in clause.part)
    return orders and not clause.names_measure and not clause.has("number")


def _reordered(clause: Clause, query: q.Query, *, measured: bool) -> q.Query:
    """A ranking behind a ranking: of the same coins, with what it does not say as before."""
    last = clause.last
    if only_orders(clause):
        return last
    first = query.measures if measured else tuple(dict.fromkeys((*last.measures, *query.measures[1:])))
    query = structs.replace(query, measures=with_spans(first, last.measures))
    return structs.replace(query, subject=last.subject, where=both_conditions(last.where, query.where))


def _says_by_what(clause: Clause, query: q.Query) -> bool:
    """Whether a ranking says by what it ranks: not in "the top 3 and their price"."""
    supers = (chunk.as_("super") for chunk in clause.part)
    changes = any(chunk.as_("measure") == q.Measure("change") for chunk in clause.part)
    return changes or query.measures[0] != q.Measure("change") or any(one and one.measure for one in supers)


def _of_list(clause: Clause, query: q.Query) -> q.Query | None:
    """The coins of the last list counted or ranked: "how many?", "sort by volume"."""
    by = isinstance(query.operation, q.Rank) and "by" in " ".join(clause.words).split()
    if not by and not isinstance(query.operation, q.Count):
        return None
    return structs.replace(query, subject=clause.last.subject, where=clause.last.where)


def _ranked(clause: Clause, query: q.Query, operation: q.Rank) -> q.Query | None:
    """The first, another end or another number of the last ranking: "the leader's price", "and the worst?"."""
    last = clause.last
    if isinstance(last.operation, q.Rank) and clause.names_measure and _LEADER.match(" ".join(clause.words)):
        named = tuple(one for one in query.measures if one.name != "change")
        first = q.Rank(last.operation.direction, 1)
        return structs.replace(last, measures=(*last.measures, *named), operation=first)
    placed = len(last.subject.coins) == 1 and PLACING.match(" ".join(clause.words))
    if placed or clause.names_measure or not last.measures:
        return None
    if isinstance(last.operation, q.Extreme):
        return structs.replace(last, operation=q.Extreme("max" if operation.direction == "most" else "min"))
    if isinstance(last.operation, q.Compare) or len(last.subject.coins) + len(last.subject.assets) > 1:
        how = last.operation.how if isinstance(last.operation, q.Compare) else None
        return structs.replace(last, operation=q.Compare(operation.direction, how))
    keeps = isinstance(last.operation, q.Rank) and last.operation.limit > 1 and operation.direction == "most"
    over = next((one.over for one in query.measures if one.over is not None), None)
    if over is not None:
        last = structs.replace(last, measures=(structs.replace(last.measures[0], over=over), *last.measures[1:]))
    direction = last.operation.direction if keeps and isinstance(last.operation, q.Rank) else operation.direction
    return structs.replace(last, operation=structs.replace(operation, direction=direction))


def of_category(clause: Clause, query: q.Query) -> bool:
    """Whether a clause is about those of the last coins that are in a category: "how many of them are L2s?"."""
    said = not query.subject.coins and query.subject.scope == "category" and clause.last.subject.scope == "all"
    counts = isinstance(query.operation, q.Count | q.Share | q.List | q.Exists | q.Rank)
    return said and counts and OF_THEM.search(" ".join(clause.words)) is not None


def of_these(clause: Clause, query: q.Query) -> q.Query:
    """A clause about the coins of the last answer: "how many of them are bullish?"."""
    last = clause.last
    counted = isinstance(last.operation, q.Count | q.Share) and not OF_THEM.search(" ".join(clause.words))
    where = query.where if counted else both_conditions(last.where, query.where)
    items = last.where.items if isinstance(last.where, q.All) else (last.where,)
    tested = [one.measure for one in map(test_of, items) if one is not None and isinstance(one.value, float)]
    moves = [measure for measure in tested if measure.name == "change"]
    by = tested if not clause.names_measure else moves if query.measures[:1] == (q.Measure("change"),) else []
    if isinstance(query.operation, q.Rank) and by and SIZES.isdisjoint(clause.words):
        query = structs.replace(query, measures=(next(iter(moves), by[0]),))
    if isinstance(last.operation, q.Rank) and not _INSTEAD.search(" ".join(clause.words)):
        if last.subject != q.Subject(scope="all") or last.where is not None or last.operation.skip:
            return last  # which of these are meant cannot be said
        where = both_conditions(q.Ranked(last.measures[0], last.operation.direction, last.operation.limit), where)
    return structs.replace(query, subject=_narrowed(last.subject, query.subject), where=where)


def _narrowed(subject: q.Subject, said: q.Subject) -> q.Subject:
    """A set of coins without those that are left out of it, or those of it in some categories."""
    excluded = tuple(dict.fromkeys((*subject.excluded, *said.excluded)))
    without = tuple(dict.fromkeys((*subject.excluded_categories, *said.excluded_categories)))
    subject = structs.replace(subject, excluded=excluded, excluded_categories=without)
    if not said.categories:
        return subject
    return structs.replace(subject, scope="category", categories=said.categories)


def _same_measure(one: q.Condition | None, other: q.Condition | None) -> bool:
    return isinstance(one, q.Test) and isinstance(other, q.Test) and one.measure.name == other.measure.name


_IS_IT: Final = re.compile(r"(?:and )?(?:is|are) ")
_AMONG: Final = re.compile(r"\b(?:one of|among|amongst|part of|in) (?:them|those|these|that list|the list|it)\b")
_AGAINST: Final = frozenset({"correlation", "strength"})
_WITH: Final = frozenset({"to", "with", "against", "versus", "vs"})
_REGIMES: Final = {q.Measure("market_regime"): q.Measure("regime")}
ADDING: Final = re.compile(r"(?:please )?(?:also )?(?:add|include)\b")
_BESIDE: Final = re.compile(r"(?:and )?(?:compared|vs|versus|against)\b")
SHORT: Final = 4
"""Pieces of a clause that names something and asks nothing: "ETH too?"."""


def of_amounts(clause: Clause) -> q.Query | None:
    """The last amount in another unit: "and how many SOL would that be?", "in ETH?"; or what its answer tells."""
    operation, words = clause.last.operation, set(clause.words)
    if isinstance(operation, q.ValueOf) and _of_parts(clause, operation):
        return clause.last
    coins = [chunk.value[0] for chunk in clause.part if chunk.kind == "coin"]
    counts = any(word.startswith("how m") for word in words) or not words.isdisjoint({"in", "into", "to"})
    whole = clause.is_of("coin", "filler", "ask", "and", "or", "among")
    if (
        isinstance(operation, q.Profit | q.Portfolio)
        or not isinstance(operation, MONEY)
        or not (coins and counts and whole)
    ):
        return None
    holdings = operation.holdings if isinstance(operation, q.ValueOf) else (operation.holding,)
    if len(holdings) > 1 or clause.last.measures:
        return None
    named = tuple(dict.fromkeys(coin for coin in (holdings[0].unit, *coins) if coin != "USD"))
    return q.Query(
        subject=q.Subject(coins=named), operation=q.Convert(holdings[0], tuple(coins)), time=clause.last.time
    )


def _of_parts(clause: Clause, operation: q.ValueOf) -> bool:
    """Whether a clause asks for the largest part or for shares of holdings, or their sum: every answer says them."""
    units = {holding.unit for holding in operation.holdings}
    largest = any(chunk.as_("super") in LARGEST for chunk in clause.part)
    known = all(
        chunk.kind in {"filler", "ask", "and"}
        or chunk.as_("super") in LARGEST
        or (chunk.kind == "coin" and chunk.value[0] in units)
        or chunk.as_("measure") == q.Measure("price")
        for chunk in clause.part
    )
    return known and len(units) > 1 and not clause.asks("count", "why", "when") and (largest or clause.asks("share"))


def compared(clause: Clause) -> q.Query | None:
    """What was named before against what is named now: "was ETH better?", "did it do worse than gold?"."""
    last = clause.last
    supers = [one for chunk in clause.part if (one := chunk.as_("super")) and one.comparative]
    times = [chunk.value for chunk in clause.part if chunk.kind == "time"]
    if len(supers) != 1 or supers[0].measure not in {None, "change"} or last.where is not None or len(times) > 1:
        return None
    if not clause.is_of("coin", "asset", "filler", "ask", "and", "super", "time", "word", "compare", "direction"):
        return None
    said = {
        kind: tuple(key for chunk in clause.part if chunk.kind == kind for key in chunk.value)
        for kind in ("coin", "asset")
    }
    coins = tuple(dict.fromkeys((*last.subject.coins, *said["coin"])))
    assets = tuple(dict.fromkeys((*last.subject.assets, *said["asset"])))
    if not any(said.values()) or bool(coins) == bool(assets) or len(coins) + len(assets) != PAIR:
        return None
    over = span_of(times[0]) if times else next((one.over for one in last.measures if one.name == "change"), None)
    if (times and over is None) or not {one.name for one in last.measures} <= VALUE:
        return None
    before = last.subject.coins
    if said["coin"] and before and not said["asset"] and Slots(clause.part, clause.words, set()).is_question():
        first, other = (
            coins if "than" in clause.words else coins[::-1]
        )  # "was ETH better?", "did it do better than ETH?"
        test = q.Test(q.Measure("change", over=over), "gt" if supers[0].direction == "most" else "lt", coin=other)
        return q.Query(subject=q.Subject(coins=(first,)), where=test, operation=q.Check())
    subject = q.Subject(scope="coins" if coins else "assets", coins=coins, assets=assets)
    return q.Query(
        subject=subject, measures=(q.Measure("change", over=over),), operation=q.Compare(supers[0].direction)
    )


def replaced(part: Sequence[Chunk], last: q.Query) -> set[int]:
    """Pieces of a correction that say what was not meant: "the low, not the high", "I meant ETH, not BTC"."""
    before = {one.name for one in last.measures}
    for at, chunk in enumerate(part):
        thing = next((place for place in range(at + 1, len(part)) if part[place].kind != "filler"), at)
        measure = part[thing].as_("measure")
        asked = (measure is not None and measure.name in before) or (
            part[thing].kind == "coin" and set(part[thing].value) <= set(last.subject.coins)
        )
        others = sum(other.kind == part[thing].kind for other in part)
        if chunk.kind == "neg" and asked and others > 1:
            return set(range(at, thing + 1))
    return set()


def frames(clause: Clause) -> set[int]:
    """The pieces that say which trend is meant."""
    return {at for at, chunk in enumerate(clause.part) if chunk.kind == "frame" and chunk.value in TREND_FRAMES}


def framed(clause: Clause, query: q.Query) -> q.Query | None:
    """A query about the trend of the frame that a clause says: "and the weekly one?", "and what about ETH weekly"."""
    said = {clause.part[at].value for at in frames(clause)}
    trends = {one.name for one in (*query.measures, *(test.measure for test in tests_in(query.where)))} & {"trend"}
    if len(said) != 1 or not trends or clause.names_measure:
        return None
    frame = said.pop()

    def of_frame(measure: q.Measure) -> q.Measure:
        return structs.replace(measure, frame=frame) if measure.name == "trend" else measure

    where = query.where and mapped(query.where, lambda test: structs.replace(test, measure=of_frame(test.measure)))
    return structs.replace(query, measures=tuple(map(of_frame, query.measures)), where=where)


def renamed(clause: Clause, query: q.Query) -> q.Query | None:
    """The last query about other things: "and SOL?", "only L2s", "add NEAR", "and to ETH, over 90 days?"."""
    last, subject = clause.last, query.subject
    if (other := _against_other(clause, query) or _among(clause, query)) is not None:
        return other
    text = " ".join(clause.words)
    adds = ADDING.match(text) is not None or _BESIDE.match(text) is not None
    named_only = isinstance(query.operation, q.Value) and not query.measures and query.where is None
    counts = (
        isinstance(query.operation, q.Count | q.Share | q.Exists)
        and subject.scope == "category"
        and query.where is None
    )
    short = isinstance(last.operation, type(query.operation)) and len(clause.part) <= SHORT
    if counts and ((isinstance(last.operation, q.List) and last.subject.scope == "all") or short):
        return structs.replace(query, where=last.where)  # "coins in an uptrend? how many are L1s?"
    if not named_only or not (adds or clause.leads or len(clause.words) <= SHORT):
        return None
    if subject.scope == "category":
        base = last.subject if last.subject.scope in {"all", "category"} else subject
        return structs.replace(last, subject=structs.replace(base, scope="category", categories=subject.categories))
    if subject.scope not in {"coins", "assets"} or last.subject.scope not in {"coins", "assets", "market"}:
        return None
    if adds or (isinstance(last.operation, q.Compare) and len(subject.coins) == 1):
        coins = tuple(dict.fromkeys((*last.subject.coins, *subject.coins)))
        subject = structs.replace(last.subject, coins=coins)
    # "is BTC up, since when? is SOL too?"
    if last.subject.scope == "market":
        last = structs.replace(last, measures=tuple(_REGIMES.get(one, one) for one in last.measures))
    checks = isinstance(last.operation, q.When) and last.where is not None and _IS_IT.match(" ".join(clause.words))
    return structs.replace(last, subject=subject, operation=q.Check() if checks else last.operation)


def sided(clause: Clause, query: q.Query) -> q.Query | None:
    """The last position in another coin or on the other side: "make it JUP, and short"."""
    last, sides = clause.last, [chunk.as_("side") or chunk.value for chunk in clause.part if chunk.has("side")]
    if (
        len(sides) != 1
        or clause.names_measure
        or query.where is not None
        or query.subject.scope not in {"coins", "all"}
    ):
        return None
    if isinstance(last.operation, q.Profit) and not query.subject.coins:
        return structs.replace(last, operation=structs.replace(last.operation, side=sides[0]))
    if not any(one.side is not None for one in last.measures):
        return None
    measures = (structs.replace(one, side=sides[0] if one.side else None) for one in last.measures)
    subject = query.subject if query.subject.coins else last.subject
    return structs.replace(last, subject=subject, measures=tuple(measures))


def _against_other(clause: Clause, query: q.Query) -> q.Query | None:
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
    return structs.replace(last, measures=tuple(measures)) if only_spans(query) else None


def only_spans(query: q.Query) -> bool:
    """Whether a query says a window alone."""
    return query.where is None and all(one == q.Measure("change", over=one.over) for one in query.measures)


def things(subject: q.Subject) -> int:
    """How many coins and assets are named."""
    return len(subject.coins) + len(subject.assets)


def _among(clause: Clause, query: q.Query) -> q.Query | None:
    """Whether a coin is one of those counted or listed before: "is ETH one of them?"."""
    if _AMONG.search(" ".join(clause.words)) is None or clause.last.where is None or query.measures:
        return None
    return structs.replace(clause.last, subject=query.subject, operation=q.Check())
