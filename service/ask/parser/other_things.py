"""Follow-ups about other things: another coin, side, unit or trend, or one thing against another. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.context import MONEY, VALUE, Clause
from service.ask.parser.found import PAIR, mapped, tests_in
from service.ask.parser.money import LARGEST
from service.ask.parser.windows import TREND_FRAMES, span_of
from service.ask.query import (
    Check,
    Compare,
    Convert,
    Count,
    Exists,
    List,
    Measure,
    Portfolio,
    Profit,
    Query,
    Share,
    Subject,
    Value,
    ValueOf,
    When,
)

_IS_IT: Final = re.compile(r"(?:and )?(?:is|are) ")
_AMONG: Final = re.compile(r"\b(?:one of|among|amongst|part of|in) (?:them|those|these|that list|the list|it)\b")
_AGAINST: Final = frozenset({"correlation", "strength"})
_WITH: Final = frozenset({"to", "with", "against", "versus", "vs"})
_REGIMES: Final = {Measure("market_regime"): Measure("regime")}
ADDING: Final = re.compile(r"(?:please )?(?:also )?(?:add|include)\b")
SHORT: Final = 4
"""Pieces of a clause that names something and asks nothing: "ETH too?"."""


def of_amounts(clause: Clause) -> Query | None:
    """The last amount in another unit: "and how many SOL would that be?", "in ETH?"; or what its answer tells."""
    operation, words = clause.last.operation, set(clause.words)
    if isinstance(operation, ValueOf) and _of_parts(clause, operation):
        return clause.last
    coins = [chunk.value[0] for chunk in clause.part if chunk.kind == "coin"]
    counts = any(word.startswith("how m") for word in words) or not words.isdisjoint({"in", "into", "to"})
    whole = clause.is_of("coin", "filler", "ask", "and", "or", "among")
    if (
        isinstance(operation, Profit | Portfolio)
        or not isinstance(operation, MONEY)
        or not (coins and counts and whole)
    ):
        return None
    holdings = operation.holdings if isinstance(operation, ValueOf) else (operation.holding,)
    if len(holdings) > 1 or clause.last.measures:
        return None
    named = tuple(dict.fromkeys(coin for coin in (holdings[0].unit, *coins) if coin != "USD"))
    return Query(subject=Subject(coins=named), operation=Convert(holdings[0], tuple(coins)), time=clause.last.time)


def _of_parts(clause: Clause, operation: ValueOf) -> bool:
    """Whether a clause asks for the largest part or for shares of holdings, or their sum: every answer says them."""
    units = {holding.unit for holding in operation.holdings}
    largest = any(chunk.as_("super") in LARGEST for chunk in clause.part)
    known = all(
        chunk.kind in {"filler", "ask", "and"}
        or chunk.as_("super") in LARGEST
        or (chunk.kind == "coin" and chunk.value[0] in units)
        or chunk.as_("measure") == Measure("price")
        for chunk in clause.part
    )
    return known and len(units) > 1 and not clause.asks("count", "why", "when") and (largest or clause.asks("share"))


def compared(clause: Clause) -> Query | None:
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
    subject = Subject(scope="coins" if coins else "assets", coins=coins, assets=assets)
    return Query(subject=subject, measures=(Measure("change", over=over),), operation=Compare(supers[0].direction))


def replaced(part: Sequence[Chunk], last: Query) -> set[int]:
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


def framed(clause: Clause, query: Query) -> Query | None:
    """A query about the trend of the frame that a clause says: "and the weekly one?", "and what about ETH weekly"."""
    said = {clause.part[at].value for at in frames(clause)}
    trends = {one.name for one in (*query.measures, *(test.measure for test in tests_in(query.where)))} & {"trend"}
    if len(said) != 1 or not trends or clause.names_measure:
        return None
    frame = said.pop()

    def of_frame(measure: Measure) -> Measure:
        return structs.replace(measure, frame=frame) if measure.name == "trend" else measure

    where = query.where and mapped(query.where, lambda test: structs.replace(test, measure=of_frame(test.measure)))
    return structs.replace(query, measures=tuple(map(of_frame, query.measures)), where=where)


def renamed(clause: Clause, query: Query) -> Query | None:
    """The last query about other things: "and SOL?", "only L2s", "add NEAR", "and to ETH, over 90 days?"."""
    last, subject = clause.last, query.subject
    if (other := _against_other(clause, query) or _among(clause, query)) is not None:
        return other
    adds = ADDING.match(" ".join(clause.words)) is not None
    named_only = isinstance(query.operation, Value) and not query.measures and query.where is None
    counts = isinstance(query.operation, Count | Share | Exists) and subject.scope == "category" and query.where is None
    short = isinstance(last.operation, type(query.operation)) and len(clause.part) <= SHORT
    if counts and ((isinstance(last.operation, List) and last.subject.scope == "all") or short):
        return structs.replace(query, where=last.where)  # "coins in an uptrend? how many are L1s?"
    if not named_only or not (adds or clause.leads or len(clause.words) <= SHORT):
        return None
    if subject.scope == "category":
        base = last.subject if last.subject.scope in {"all", "category"} else subject
        return structs.replace(last, subject=structs.replace(base, scope="category", categories=subject.categories))
    if subject.scope not in {"coins", "assets"} or last.subject.scope not in {"coins", "assets", "market"}:
        return None
    if adds or (isinstance(last.operation, Compare) and len(subject.coins) == 1):
        coins = tuple(dict.fromkeys((*last.subject.coins, *subject.coins)))
        subject = structs.replace(last.subject, coins=coins)
    # "is BTC up, since when? is SOL too?"
    if last.subject.scope == "market":
        last = structs.replace(last, measures=tuple(_REGIMES.get(one, one) for one in last.measures))
    checks = isinstance(last.operation, When) and last.where is not None and _IS_IT.match(" ".join(clause.words))
    return structs.replace(last, subject=subject, operation=Check() if checks else last.operation)


def sided(clause: Clause, query: Query) -> Query | None:
    """The last position in another coin or on the other side: "make it JUP, and short"."""
    last, sides = clause.last, [chunk.as_("side") or chunk.value for chunk in clause.part if chunk.has("side")]
    if (
        len(sides) != 1
        or clause.names_measure
        or query.where is not None
        or query.subject.scope not in {"coins", "all"}
    ):
        return None
    if isinstance(last.operation, Profit) and not query.subject.coins:
        return structs.replace(last, operation=structs.replace(last.operation, side=sides[0]))
    if not any(one.side is not None for one in last.measures):
        return None
    measures = (structs.replace(one, side=sides[0] if one.side else None) for one in last.measures)
    subject = query.subject if query.subject.coins else last.subject
    return structs.replace(last, subject=subject, measures=tuple(measures))


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
    return structs.replace(last, measures=tuple(measures)) if only_spans(query) else None


def only_spans(query: Query) -> bool:
    """Whether a query says a window alone."""
    return query.where is None and all(one == Measure("change", over=one.over) for one in query.measures)


def things(subject: Subject) -> int:
    """How many coins and assets are named."""
    return len(subject.coins) + len(subject.assets)


def _among(clause: Clause, query: Query) -> Query | None:
    """Whether a coin is one of those counted or listed before: "is ETH one of them?"."""
    if _AMONG.search(" ".join(clause.words)) is None or clause.last.where is None or query.measures:
        return None
    return structs.replace(clause.last, subject=query.subject, operation=Check())
