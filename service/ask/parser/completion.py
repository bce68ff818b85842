"""Follow-ups that say too little by themselves: a measure, a time, a size, "why", "since when". Pure."""

import re
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.chunks import Chunk, Quantity
from service.ask.parser.clause import read_clause
from service.ask.parser.context import MONEY, VALUE, Clause, Edited, at_time, both_conditions, more_measures
from service.ask.parser.edits import framed, frames
from service.ask.parser.slots import Slots, read_subject
from service.ask.parser.superlatives import read_places
from service.ask.parser.windows import WINDOWED, over_span, span_of

_MEAN: Final = frozenset({"mean", "average", "avg", "mean of", "average of"})
_SPANNED: Final = WINDOWED | {"funding", "carry"}
_OVER_TIME: Final = _SPANNED | {"price", "volume", "open_interest"}
_PERFORMING: Final = re.compile(r"\b(?:do|did|does|doing|done|went|fared?|perform\w*)\b")
"""Words that ask for a change without naming it."""

_BY_HOW_MUCH: Final = re.compile(r"\bby how (?:much|many)\b")


def complete(clause: Clause) -> Edited | None:
    """A clause that says too little by itself: a measure, a time, a size, "why", "since when", "only those …"."""
    part, last = clause.part, clause.last
    if (told := _told(clause) or _at_times(clause)) is not None:
        return told
    if (changed := _placed(clause) or _sized(clause)) is not None:
        return Edited([changed], set(range(len(part))))
    if isinstance(last.operation, MONEY) and any(chunk.as_("holding") == "profit" for chunk in part):
        return Edited([last], {at for at, chunk in enumerate(part) if chunk.kind in {"holding", "ask"}})
    stand_in = Chunk("coin", last.subject.coins or ("BTC",), part[-1].end, part[-1].end + 1, gap=",")
    read, used = read_clause([*part, stand_in], [*clause.words, "it"])
    used.discard(len(part))
    if len(read) != 1:
        return Edited(read, used) if read and last.subject.coins else None
    if not read[0].measures and read[0].where is None and (other := framed(clause, last)) is not None:
        return Edited([other], used | frames(clause))
    return _merged(clause, read[0], used)


def _at_times(clause: Clause) -> Edited | None:
    """The last query at each of several times: "what about 7 days and 30 days?"."""
    times = [chunk.value for chunk in clause.part if chunk.kind == "time"]
    if len(times) <= 1 or not clause.is_of("time", "and", "filler", "ask"):
        return None
    whole = set(range(len(clause.part)))
    read = [_retimed(clause, q.Query(time=time), whole) for time in times]
    return Edited([query for one in read if one for query in one.queries], whole) if all(read) else None


def _sized(clause: Clause) -> q.Query | None:
    """The last position or amount in another size: "and a 25k one", "what about 2?"."""
    last, operation = clause.last, clause.last.operation
    sizes: list[Quantity] = [chunk.value for chunk in clause.part if chunk.kind == "number"]
    quantity = sizes[0] if len(sizes) == 1 and clause.is_of("number", "filler", "ask", "and", "set") else None
    if quantity is None or quantity.unit not in {None, "USD"}:
        return None
    dollars, amount = quantity.unit == "USD" or quantity.scaled, quantity.value
    if any(one.notional for one in last.measures):
        measures = (structs.replace(one, notional=amount if one.notional else None) for one in last.measures)
        return structs.replace(last, measures=tuple(measures))
    if isinstance(operation, q.Convert | q.Profit) and operation.holding is not None:
        unit = "USD" if dollars else operation.holding.unit
        return structs.replace(last, operation=structs.replace(operation, holding=q.Holding(amount, unit)))
    return None


def of_other_sign(clause: Clause) -> q.Query | None:
    """The last condition with the opposite sign: "…, and how many negative?"."""
    where, signs = clause.last.where, [chunk.as_("sign") for chunk in clause.part if chunk.has("sign")]
    if len(signs) != 1 or not isinstance(where, q.Test) or where.value != 0.0:
        return None
    if not clause.is_of("sign", "filler", "ask", "and", "set"):
        return None
    return structs.replace(clause.last, where=structs.replace(where, op="gt" if signs[0] > 0 else "lt"))


def _placed(clause: Clause) -> q.Query | None:
    """Other places of the last ranking, or more of them: "and the second?", "the next five", "who is next?"."""
    last, operation = clause.last, clause.last.operation
    slots = Slots(clause.part, clause.words, set())
    following = slots.free(lambda chunk: chunk.as_("ordinal") == "0")
    places = None if following else read_places(slots)
    limit = None if places else slots.limit(None)
    plain = {"filler", "ask", "and", "set", *(["except", "ordinal"] if following else [])}
    if not (following or places or limit) or slots.free(lambda chunk: chunk.kind not in plain):
        return None
    if isinstance(operation, q.Position) and not limit:
        scope: q.Scope = "category" if last.subject.categories else "all"
        last = structs.replace(last, subject=structs.replace(last.subject, scope=scope, coins=()))
        operation = q.Rank(operation.direction, 1)
    if not isinstance(operation, q.Rank):
        return None
    skip, limit = places or (operation.skip, limit or operation.limit)
    skip += operation.limit if following else 0
    return structs.replace(last, operation=q.Rank(operation.direction, limit, skip))


def _told(clause: Clause) -> Edited | None:
    """What the answer before tells by itself: the day of a high, a difference, what an amount is worth today."""
    last = clause.last
    said = ("holding",) if isinstance(last.operation, MONEY) else ()
    if not clause.is_of("filler", "ask", "and", "time", *said):
        return _excluding(clause)
    whole = set(range(len(clause.part)))
    if clause.says_now and not isinstance(last.time, q.Now):
        return Edited([structs.replace(last, time=q.Now())], whole)
    times = [chunk.value for chunk in clause.part if chunk.kind == "time"]
    asks = {word.value for chunk in clause.part for word in chunk.words[:1] if word.kind == "ask"}
    if times:
        today = all(getattr(time, "words", "") == "today" for time in times)
        worth = isinstance(last.operation, MONEY) and asks <= {"list", "convert", "sum"}
        return Edited([last], whole) if today and worth else None
    differs = isinstance(last.operation, q.Compare) and _BY_HOW_MUCH.search(" ".join(clause.words))
    summed = isinstance(last.operation, q.ValueOf | q.Portfolio) and "sum" in asks
    if differs or summed or (isinstance(last.operation, q.Extreme) and asks == {"when"}):
        return Edited([last], whole)
    one = last.measures[0] if len(last.measures) == 1 else None
    if asks != {"when"} or one is None or one.name not in {"high", "low"}:
        return None
    dated = q.Extreme("max" if one.name == "high" else "min")
    query = structs.replace(last, operation=dated, measures=(q.Measure(one.name),), time=one.over or last.time)
    return Edited([query], whole)


def _excluding(clause: Clause) -> Edited | None:
    """The last set without some coins: "exclude BTC and ETH"."""
    subject = read_subject(Slots(clause.part, clause.words, set()))
    out = subject.excluded or subject.excluded_categories
    if not out or subject.coins or not clause.is_of("except", "neg", "coin", "category", "and", "filler"):
        return None
    last = clause.last.subject
    excluded = structs.replace(
        last,
        excluded=(*last.excluded, *subject.excluded),
        excluded_categories=(*last.excluded_categories, *subject.excluded_categories),
    )
    return Edited([structs.replace(clause.last, subject=excluded)], set(range(len(clause.part))))


def of_earlier_measure(clause: Clause, query: q.Query) -> q.Query | None:
    """The measure named before, of other coins over a span: "funding of BTC | and for ETH over 30 days"."""
    span, last = _implied_span(clause, query), clause.last
    names = {one.name for one in last.measures}
    of_things = {query.subject.scope, last.subject.scope} <= {"coins", "assets"}
    values = isinstance(query.operation, q.Value) and isinstance(last.operation, q.Value | q.Extreme)
    if span is None or not (of_things and values and names) or "change" in names:
        return None
    return at_other_time(structs.replace(last, subject=query.subject, time=q.Now()), span)


def _implied_span(clause: Clause, query: q.Query) -> q.Span | None:
    """The span of a change that is not asked for: "over 30 days", but not "how did it do over 30 days"."""
    one = query.measures[0] if len(query.measures) == 1 else None
    if one is None or one != q.Measure("change", over=one.over) or clause.names_measure:
        return None
    return None if _PERFORMING.search(" ".join(clause.words)) else one.over


def _merged(clause: Clause, query: q.Query, used: set[int]) -> Edited | None:
    last = clause.last
    over = _implied_span(clause, query)
    windowed = any(measure.name in _OVER_TIME for measure in last.measures)
    windowed = windowed or (bool(last.measures) and isinstance(last.operation, q.Value))
    if over is not None and (windowed or (last.where is not None and last.subject.scope != "coins")):
        # A window without a measure belongs to the measure named before.
        query = structs.replace(query, measures=(), time=over)
    if (
        isinstance(last.operation, MONEY)
        and "price" not in clause.words
        and query.measures
        and {one.name for one in query.measures} <= VALUE
    ):
        return Edited([at_time(last, query)], used)
    if isinstance(query.operation, q.Value) and not query.measures and query.where is None:
        return _retimed(clause, query, used)
    if (
        isinstance(query.operation, q.Value)
        and query.measures
        and isinstance(last.operation, q.Rank | q.Compare | q.Extreme)
    ):
        measures = more_measures(last, query) if clause.refers else query.measures
        at_present = structs.replace(query, subject=last.subject)
        told_now = clause.says_now and last.subject.scope == "coins"
        return Edited([at_present if told_now else structs.replace(last, measures=measures)], used)
    if isinstance(query.operation, q.Check) and last.subject.scope in {"all", "category"}:
        return Edited([structs.replace(last, where=both_conditions(last.where, query.where))], used)
    if isinstance(query.operation, q.When | q.Why) and query.where is None and last.where is not None:
        return Edited([structs.replace(last, operation=query.operation)], used)
    measures = query.measures or last.measures
    time = last.time if isinstance(query.time, q.Now) and not clause.says_now else query.time
    return Edited([structs.replace(query, subject=last.subject, measures=measures, time=time)], used)


def _retimed(clause: Clause, query: q.Query, used: set[int]) -> Edited | None:
    """The last query at another time: "over 7 days?", "and a week ago?"."""
    if isinstance(query.time, q.Now):
        return None
    last, span = clause.last, span_of(query.time)
    if last.where is not None and span is not None and (where := over_span(last.where, span, again=True)) != last.where:
        return Edited([structs.replace(last, where=where)], used)
    if last.where is not None and last.subject.scope != "coins" and isinstance(query.time, q.Window):
        return None
    changed = at_other_time(last, query.time)
    if any(one.mean for one in changed.measures):
        used = used | {at for at, chunk in enumerate(clause.part) if chunk.as_("ask") and clause.words[at] in _MEAN}
    return Edited([changed], used)


def at_other_time(query: q.Query, time: q.Time) -> q.Query:
    """A query at another time; where every measure takes it as its span, the query's own time stays."""
    if isinstance(query.operation, q.Extreme):
        return structs.replace(query, time=time)
    measures = tuple(_over(one, span_of(time), whole=isinstance(time, q.At)) for one in query.measures)
    spanned = measures and all(one.over is not None for one in measures)
    return structs.replace(query, measures=measures, time=query.time if spanned else time)


def _over(measure: q.Measure, span: q.Span | None, *, whole: bool) -> q.Measure:
    """A measure over another span; of funding its mean, but on a day the value of that day."""
    if span is None or (measure.name == "funding" and whole):
        return measure
    if measure.over is None and measure.name not in _SPANNED:
        return measure
    return structs.replace(measure, over=span, mean=measure.name == "funding")
