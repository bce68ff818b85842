"""Operations over sets of things: values, lists, ranks, places, counts, shares, yes or no, and figures of all."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Final

from msgspec.structs import replace

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.conditions import first_bound, measures_in, ordered, trend_meant, truths
from service.ask.planner.data_reader import MARKET
from service.ask.planner.query_context import Cells, QueryContext, carry_figures, first_of
from service.ask.planner.result import Column, Figure, Figures, Refused, Result, Row, Values, found
from service.ask.planner.units import column_of
from service.ask.query import (
    Aggregate,
    Check,
    Compare,
    Count,
    Exists,
    List,
    Measure,
    Now,
    Position,
    Rank,
    Share,
    Subject,
    Value,
    Window,
)

OVERVIEW: Final = (
    Measure("price"),
    Measure("change", Window(24, "h", "24 hours")),
    Measure("trend", frame="daily"),
    Measure("funding"),
    Measure("verdict"),
)
"""What is said of a thing of which no measure is asked."""

_OF_ASSETS: Final = OVERVIEW[:-1]
_OF_MARKET: Final = (Measure("market_regime"), Measure("breadth"), Measure("fear_greed"))
_IN_LISTS: Final = OVERVIEW[:2]

_MOST_NAMED: Final = 10
"""Most things that a count names, if it names them all."""

_ALL_LISTED: Final = 5
"""Most things that the sentence above a table names, if it names them all."""

_PROSE: Final = 3
"""Most things whose values are said in a sentence instead of a table."""

_PAIR: Final = 2
_PERCENTAGES: Final = frozenset({Unit.PERCENT, Unit.PERCENT_A_YEAR, Unit.SHARE, Unit.SPREAD})
"""Units whose differences are percentage points."""

_HOW: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {"mean": fmean, "median": median, "sum": sum}

_QUANTIFIED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "any": lambda true, _: true > 0,
    "all": lambda true, known: true == known,
    "none": lambda true, _: true == 0,
    "most": lambda true, known: true * 2 > known,
}
"""Whether so many of the things of which it is known are any, all, none or most of them."""


async def value(asked: QueryContext, _: Value) -> Result:
    """The measures of each thing named."""
    if asked.query.where is not None or asked.query.subject.scope in {"all", "category"}:
        return await list_all(asked, List())
    measures = _expanded(asked)
    columns, rows = await asked.table(measures, asked.ids)
    if all(cell is None for row in rows for cell in row.values):
        raise await asked.unknown(columns[0].label)
    if len(rows) == 1:
        return await _one(asked, measures, [*zip(columns, rows[0].values, strict=True)])
    known = [row for row in rows if any(cell is not None for cell in row.values)]
    in_prose = len(columns) == 1 and len(rows) <= _PROSE
    return found(
        "each" if in_prose else "table",
        asked.headline(columns, known),
        columns=columns,
        rows=known,
        shown=0 if in_prose else 10,
        unknown=[row.subject for row in rows if row not in known],
    )


async def _one(asked: QueryContext, measures: Sequence[Measure], cells: Cells) -> Result:
    """The measures of one thing, with what belongs beside them."""
    subject = asked.name(asked.ids[0])
    beside = asked.query.measures and len(measures) <= _PROSE
    known = [cell for cell in (await asked.detailed(measures, cells) if beside else cells) if cell[1] is not None]
    figures, notes = await asked.remarks(measures) if asked.query.measures else ({}, [])
    kind = "value" if len(cells) == 1 else "values"
    if kind == "value" and measures[0].name == "carry":
        kind, figures = "value_carry", carry_figures(measures[0], cells[0][1])
    columns, rows = [column for column, _ in known], [Row(subject, tuple(cell for _, cell in known))]
    return found(
        kind,
        {**asked.headline(columns, rows), **figures},
        columns=columns,
        rows=rows,
        unknown=[column.label for column, cell in cells if cell is None],
        notes=notes,
    )


def _expanded(asked: QueryContext) -> list[Measure]:
    """The measures asked for: both trends where neither is named, both sides of a carry."""
    measures = asked.main()
    if not measures:
        return list(_OF_MARKET if asked.ids == [MARKET] else _OF_ASSETS if asked.reading.others else OVERVIEW)
    if len(measures) == 1 and measures[0].name == "carry" and measures[0].side is None:
        one = measures[0]
        return [replace(one, side="long"), replace(one, side="short")]
    expanded = []
    for one in measures:
        both = one.name == "trend" and one.frame is None
        expanded += [replace(one, frame="daily"), replace(one, frame="weekly")] if both else [one]
    return expanded


async def list_all(asked: QueryContext, operation: List) -> Result:
    """Everything that fulfils the conditions: by the first measure, the highest first, or by the first bound; by name.

    Of "more than 5 %" the highest come first, of "less than 5 %" the lowest.
    """
    matching, unknown = await asked.split()
    measures = _once([*asked.main(), *measures_in(asked.query.where)])
    measures = _scored(measures or list(_OF_ASSETS[:2] if asked.reading.others else _IN_LISTS))
    order = matching
    if asked.query.measures:
        order = ordered(await asked.values(measures[0], matching), measures[0], most=True)
    elif (bound := first_bound(asked.query.where)) is not None:
        order = ordered(await asked.values(bound.measure, matching), bound.measure, most=bound.op in {"gt", "ge"})
    columns, rows = await asked.table(measures, order)
    return found(
        "list" if rows else "nothing",
        asked.matched(len(matching)) | _named([row.subject for row in rows], _ALL_LISTED),
        columns=columns,
        rows=rows,
        shown=operation.limit or 20,
        total=len(asked.ids),
        unknown=asked.names([*unknown, *(id_ for id_ in matching if id_ not in order)]),
    )


def _once(measures: Sequence[Measure]) -> list[Measure]:
    """Measures without those that are called the same as one before: "trend" and "daily trend"."""
    called: dict[str, Measure] = {}
    for measure in measures:
        called.setdefault(label_of(measure), measure)
    return [*called.values()]


def _scored(measures: list[Measure]) -> list[Measure]:
    """Verdicts with their score beside them."""
    verdict, score = Measure("verdict"), Measure("score")
    if verdict not in measures or score in measures:
        return measures
    at = measures.index(verdict) + 1
    return [*measures[:at], score, *measures[at:]]


def _named(names: Sequence[str], most: int) -> Figures:
    """All names, or the first three of many and how many more there are."""
    left = len(names) - _PROSE if len(names) > most else 0
    return {"names": ", ".join(names[:_PROSE] if left else names), "more": left or ""}


async def rank(asked: QueryContext, operation: Rank) -> Result:
    """The first so many by the first measure, those of equal values by ticker."""
    if asked.query.subject.scope == "coins" and len(asked.ids) == 1:
        raise Refused("no-pair")
    matching, unknown = await asked.split()
    measure = asked.main(needed=True)[0]
    by = Measure("score") if measure.name == "verdict" else measure
    order = ordered(await asked.values(by, matching), by, most=operation.direction == "most")
    if order and operation.skip >= len(order):
        raise Refused("too-few", of=len(order), noun=asked.noun(len(order)), label=label_of(measure))
    shown = order[operation.skip : operation.skip + operation.limit]
    signed = replace(measure, absolute=False)
    measures = _once([signed, by, *asked.query.measures[1:], *measures_in(asked.query.where)])
    columns, rows = await asked.table(measures, shown)
    if measure.name == "streak":
        columns = [*columns, Column("since", Unit.DATE)]
        days, now_ms = await asked.reading.daily(), asked.reading.now_ms
        runs = [days.trend_daily(id_, now_ms) for id_ in shown]
        rows = [
            replace(row, values=(*row.values, None if run is None else run.since_ms))
            for row, run in zip(rows, runs, strict=True)
        ]
    figures = asked.headline(columns, rows) | asked.matched(len(matching))
    figures |= {"order": first_of(measure, operation.direction), "alone": "yes" if len(rows) == 1 else ""}
    figures |= {"label": f"{columns[0].label}{' up or down' if measure.absolute else ''}"}
    figures |= {"of": len(order), "place": operation.skip + 1}
    return found(
        "nothing" if not rows else "position" if operation.skip else "rank",
        figures,
        columns=columns,
        rows=rows,
        shown=0 if len(rows) == 1 else operation.limit,
        total=len(asked.ids),
        unknown=asked.names([*unknown, *(id_ for id_ in matching if id_ not in order)]),
    )


async def position(asked: QueryContext, operation: Position) -> Result:
    """The places of the coins named among a category, or all coins."""
    measure, subject, reading = asked.main(needed=True)[0], asked.query.subject, asked.reading
    members = {symbol for name in subject.categories for symbol in reading.data.members(name)} & reading.coins()
    among = (members if subject.categories else reading.coins()).union(subject.coins)
    values = await asked.values(measure, sorted(among))
    order = ordered(values, measure, most=operation.direction == "most")
    known = [symbol for symbol in subject.coins if symbol in order]
    if not known:
        raise await asked.unknown(label_of(measure))
    columns = [Column("place", Unit.COUNT), column_of(measure)]
    rows = [Row(asked.name(symbol), (order.index(symbol) + 1, values[symbol])) for symbol in known]
    return found(
        "position",
        {
            "subject": rows[0].subject,
            "place": order.index(known[0]) + 1,
            "value": Figure(values[known[0]], columns[1].unit),
            "of": len(order),
            "label": columns[1].label,
            "order": "highest" if operation.direction == "most" else "lowest",
            "when": asked.when,
        },
        columns=columns,
        rows=rows,
        shown=0 if len(rows) == 1 else len(rows),
        unknown=asked.names(sorted(among.difference(order))),
    )


async def counted(asked: QueryContext, operation: Count | Share | Exists) -> Result:
    """How many, which share, or whether any, all or none: of things of which it is known."""
    subject, where = asked.query.subject, asked.query.where
    if isinstance(operation, Exists) and (subject.coins or subject.assets):
        return await check(asked, operation)
    of_set = subject.scope in {"all", "category", "assets"} and isinstance(asked.query.time, Now)
    if where is None and not of_set:
        raise Refused("no-condition")
    matching, unknown = await asked.split()
    among = await asked.ranked()
    known, notes = len(set(among).difference(unknown)), []
    if not known:
        raise Refused("unknown-value", subject="these", label="what was asked")
    figures = asked.matched(len(matching)) | _named(asked.names(matching), _MOST_NAMED)
    figures |= {"of": known, "noun": asked.noun(known)}
    if isinstance(operation, Exists):
        figures["answer"] = "Yes" if _QUANTIFIED[operation.quantifier](len(matching), known) else "No"
    elif isinstance(operation, Share):
        of_all = Figure(len(matching) / len(among) * 100, Unit.SHARE) if known < len(among) else ""
        figures |= {"share": Figure(len(matching) / known * 100, Unit.SHARE), "of_all": of_all, "all": len(among)}
    elif (trend := trend_meant(where)) is not None and not asked.reading.has_others(among):
        states = await truths(asked.reading, trend, asked.query.time, among)
        figures |= {"trending": [*states.values()].count(True), "trend": str(trend.value)}
        notes = ["trending"]
    kind = type(operation).__name__.lower()
    return found(kind, figures, total=len(among), unknown=asked.names(unknown), notes=notes)


async def check(asked: QueryContext, operation: Check | Exists) -> Result:
    """Whether the conditions hold for all, any or none of the things named, with the values that decide it."""
    where = asked.query.where
    if where is None:
        raise Refused("no-measure")
    held = await truths(asked.reading, where, asked.query.time, asked.ids)
    measures = _scored(_once([*measures_in(where), *asked.main()]))
    if all(answer is None for answer in held.values()):
        raise await asked.unknown(label_of(measures[0]))
    columns, rows = await asked.table(measures, asked.ids)
    words = {True: "yes", False: "no", None: None}
    against = await asked.benchmarks(where)
    columns = [Column("holds", Unit.STATE), *columns, *(column for column, _ in against)]
    rows = [
        replace(row, values=(words[held[id_]], *row.values, *(value for _, value in against)))
        for id_, row in zip(asked.ids, rows, strict=True)
    ]
    quantifier = operation.quantifier if isinstance(operation, Exists) else "all"
    holds = _QUANTIFIED[quantifier]([*held.values()].count(True), len(held))
    figures: Figures = {"when": asked.when, "verb": asked.verb, "answer": "Yes" if holds else "No"}
    notes: list[str] = []
    if len(rows) == 1:
        cells = [*zip(columns, rows[0].values, strict=True)]
        cells = await asked.detailed([None, *measures, *(None for _ in against)], cells)
        columns, rows = [column for column, _ in cells], [Row(rows[0].subject, tuple(cell for _, cell in cells))]
        remarks, notes = await asked.remarks(measures)
        figures |= remarks
    unknown = asked.names(id_ for id_ in asked.ids if held[id_] is None)
    kind = "checks" if len(rows) > 1 else "check"
    return found(
        kind, {"subject": rows[0].subject, **figures}, columns=columns, rows=rows, unknown=unknown, notes=notes
    )


async def aggregate(asked: QueryContext, operation: Aggregate) -> Result:
    """The mean, median or sum of the first measure over all things that have a value."""
    measure = asked.main(needed=True)[0]
    matching, unknown = await asked.split()
    values = await asked.values(measure, matching)
    known = [value for value in values.values() if isinstance(value, int | float)]
    column = column_of(measure)
    if MEASURES[measure.name].states or not known:
        raise Refused("no-aggregate", label=column.label)
    return found(
        "aggregate",
        {
            "how": "total" if operation.how == "sum" else operation.how,
            "value": Figure(_HOW[operation.how](known), column.unit),
            "label": column.label,
            "of": len(known),
            "noun": asked.noun(len(known)),
            "when": asked.when,
            "verb": asked.verb,
        },
        total=len(asked.ids),
        unknown=asked.names([*unknown, *(id_ for id_ in matching if values[id_] is None)]),
    )


async def compare(asked: QueryContext, operation: Compare) -> Result:
    """The things named side by side, in the order of the first measure where one is asked for."""
    if len(asked.ids) == 1:
        raise Refused("no-pair")
    measures, how, direction = _expanded(asked), operation.how, operation.direction
    first = measures[0]
    values = await (_of_members(asked, how, first) if how else asked.values(first, asked.ids))
    order = asked.ids if direction is None else ordered(values, first, most=direction == "most")
    if all(value is None for value in values.values()):
        raise await asked.unknown(label_of(first))
    if how:
        column = column_of(first)
        columns = [Column(f"{'total' if how == 'sum' else how} {column.label} of its coins", column.unit)]
        rows = [Row(name, (values[name],)) for name in order]
    else:
        columns, rows = await asked.table(measures, order)
    # An overview compares nothing by one measure.
    difference = _difference(rows, columns[0].unit) if asked.query.measures else ""
    figures = asked.headline(columns, rows) | {"difference": difference}
    kind = "each" if len(columns) == 1 and len(rows) <= _PROSE else "table"
    if direction is not None:
        kind = "tied" if len(rows) > 1 and rows[0].values[0] == rows[1].values[0] else "winner"
        figures["order"] = first_of(first, direction, two=len(rows) == _PAIR)
    unknown = asked.names(id_ for id_ in asked.ids if values[id_] is None)
    return found(kind, figures, columns=columns, rows=rows, shown=0 if kind == "each" else 10, unknown=unknown)


async def _of_members(asked: QueryContext, how: str, measure: Measure) -> Values:
    """A figure of the coins of each category."""
    figures: Values = {}
    for name in asked.ids:
        members = await asked.reading.subjects(Subject(scope="category", categories=(name,)))
        known = [one for one in (await asked.values(measure, members)).values() if isinstance(one, int | float)]
        figures[name] = _HOW[how](known) if known else None
    return figures


def _difference(rows: Sequence[Row], unit: Unit) -> Figure | str:
    """How far apart two things are; empty where there are more, or no numbers."""
    numbers = [value for row in rows if isinstance(value := row.values[0], int | float)]
    if len(rows) != _PAIR or len(numbers) != _PAIR:
        return ""
    return Figure(abs(numbers[0] - numbers[1]), Unit.POINTS if unit in _PERCENTAGES else unit)
