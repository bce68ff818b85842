"""Operations over sets of things: values, lists, ranks, places, counts, shares, yes or no, and figures of all."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Final

from msgspec.structs import replace

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.asked import Asked, benchmarks, detailed, first_of, remarks
from service.ask.planner.conditions import measures_in, ordered, truths
from service.ask.planner.reading import MARKET
from service.ask.planner.result import Column, Figure, Found, Refused, Row, Values, count, text
from service.ask.planner.values import unit_of
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


async def value(asked: Asked, _: Value) -> Found:
    """The measures of each thing named."""
    if asked.query.where is not None or asked.query.subject.scope in {"all", "category"}:
        return await list_all(asked, List())
    measures = _expanded(asked)
    columns, rows = await asked.table(measures, asked.ids)
    if all(cell is None for row in rows for cell in row.values):
        raise await asked.unknown(columns[0].label)
    figures = {"when": asked.when, "verb": asked.verb, "difference": text("")}
    if len(rows) == 1:
        return await _one(asked, measures, columns, rows[0], figures)
    unknown = [row.subject for row in rows if all(cell is None for cell in row.values)]
    known_rows = [row for row in rows if row.subject not in unknown]
    in_prose = len(columns) == 1 and len(rows) <= _PROSE
    return Found(
        kind="each" if in_prose else "table",
        figures=figures | {"label": text(columns[0].label)},
        columns=columns,
        rows=known_rows,
        shown=0 if in_prose else 10,
        unknown=unknown,
    )


async def _one(
    asked: Asked, measures: Sequence[Measure], columns: Sequence[Column], row: Row, figures: dict[str, Figure]
) -> Found:
    """The measures of one thing, with what belongs beside them."""
    missing = [column.label for column, cell in zip(columns, row.values, strict=True) if cell is None]
    known = [at for at, cell in enumerate(row.values) if cell is not None]
    first = known[0]
    figures |= {"subject": text(row.subject), "label": text(columns[first].label)}
    figures["value"] = Figure(row.values[first], columns[first].unit)
    beside = asked.query.measures and len(measures) <= _PROSE
    cells = await detailed(asked, measures, columns, row.values) if beside else [*zip(columns, row.values, strict=True)]
    cells = [(column, cell) for column, cell in cells if cell is not None]
    said, notes = await remarks(asked, measures) if asked.query.measures else ({}, [])
    return Found(
        kind="value" if len(columns) == 1 else "values",
        figures=figures | said,
        columns=[column for column, _ in cells],
        rows=[Row(row.subject, tuple(cell for _, cell in cells))],
        shown=0,
        unknown=missing,
        notes=notes,
    )


def _expanded(asked: Asked) -> list[Measure]:
    """The measures asked for: both trends where neither is named, both sides of a carry."""
    measures = asked.main()
    if not measures:
        return list(_OF_MARKET if asked.ids == [MARKET] else _OF_ASSETS if asked.reading.others else OVERVIEW)
    measures = [
        framed
        for one in measures
        for framed in (
            [replace(one, frame="daily"), replace(one, frame="weekly")]
            if one.name == "trend" and one.frame is None
            else [one]
        )
    ]
    if len(measures) == 1 and measures[0].name == "carry" and measures[0].side is None:
        one = measures[0]
        return [Measure("carry", one.over, side=side, notional=one.notional) for side in ("long", "short")]
    return measures


async def list_all(asked: Asked, operation: List) -> Found:
    """Everything that fulfils the conditions: by the first measure if there is one, the highest first, else by name."""
    found, unknown = await asked.split()
    extra = measures_in(asked.query.where)
    measures = _once([*asked.main(), *extra]) or list(_OF_ASSETS[:2] if asked.reading.others else _IN_LISTS)
    measures = _scored(measures)
    order = found
    if asked.query.measures:
        order = ordered(await asked.values(measures[0], found), measures[0], most=True)
    columns, rows = await asked.table(measures, order)
    return Found(
        kind="list" if rows else "nothing",
        figures={
            "count": count(len(found)),
            "noun": asked.noun(len(found)),
            "when": asked.when,
            **_named([row.subject for row in rows], _ALL_LISTED),
        },
        columns=columns,
        rows=rows,
        shown=operation.limit or 20,
        total=len(asked.ids),
        unknown=[asked.name(id_) for id_ in [*unknown, *(id_ for id_ in found if id_ not in order)]],
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


def _named(names: Sequence[str], most: int) -> dict[str, Figure]:
    """All names, or the first three of many and how many more there are."""
    left = len(names) - _PROSE if len(names) > most else 0
    return {"names": text(", ".join(names[:_PROSE] if left else names)), "more": count(left) if left else text("")}


async def rank(asked: Asked, operation: Rank) -> Found:
    """The first so many by the first measure, those of equal values by ticker."""
    if asked.query.subject.scope == "coins" and len(asked.ids) == 1:
        raise Refused("no-pair")
    found, unknown = await asked.split()
    measure = asked.main(needed=True)[0]
    by = Measure("score") if measure.name == "verdict" else measure
    signed = replace(measure, absolute=False)
    values = await asked.values(by, found)
    most = operation.direction == "most"
    order = ordered(values, by, most=most)
    if order and operation.skip >= len(order):
        raise Refused("too-few", of=count(len(order)), noun=asked.noun(len(order)), label=text(label_of(measure)))
    shown = order[operation.skip : operation.skip + operation.limit]
    measures = _once([signed, by, *asked.query.measures[1:], *measures_in(asked.query.where)])
    columns, rows = await asked.table(measures, shown)
    label = f"{columns[0].label}{' up or down' if measure.absolute else ''}"
    figures = {"when": asked.when, "label": text(label), "order": first_of(measure, operation.direction)}
    figures["alone"] = text("yes" if len(rows) == 1 else "")
    if rows:
        figures |= {"winner": text(rows[0].subject), "value": Figure(rows[0].values[0], columns[0].unit)}
        figures |= {"of": count(len(order)), "subject": figures["winner"], "place": count(operation.skip + 1)}
    return Found(
        kind="nothing" if not rows else "position" if operation.skip else "rank",
        figures=figures,
        columns=columns,
        rows=rows,
        shown=0 if len(rows) == 1 else operation.limit,
        total=len(asked.ids),
        unknown=[asked.name(id_) for id_ in [*unknown, *(id_ for id_ in found if id_ not in order)]],
    )


async def position(asked: Asked, operation: Position) -> Found:
    """The places of the coins named among a category, or all coins."""
    measure, subject, reading = asked.main(needed=True)[0], asked.query.subject, asked.reading
    members = {symbol for name in subject.categories for symbol in reading.data.members(name)} & reading.coins()
    among = (members if subject.categories else reading.coins()).union(subject.coins)
    values = await asked.values(measure, sorted(among))
    order = ordered(values, measure, most=operation.direction == "most")
    known = [symbol for symbol in subject.coins if symbol in order]
    if not known:
        raise await asked.unknown(label_of(measure))
    columns = [Column("place", Unit.COUNT), Column(label_of(measure), unit_of(measure))]
    rows = [Row(asked.name(symbol), (order.index(symbol) + 1, values[symbol])) for symbol in known]
    figures = {
        "subject": text(rows[0].subject),
        "place": Figure(rows[0].values[0], Unit.COUNT),
        "value": Figure(rows[0].values[1], columns[1].unit),
        "of": count(len(order)),
        "label": text(columns[1].label),
        "order": text("highest" if operation.direction == "most" else "lowest"),
        "when": asked.when,
    }
    unknown = [asked.name(symbol) for symbol in sorted(among.difference(order))]
    shown = 0 if len(rows) == 1 else len(rows)
    return Found(kind="position", figures=figures, columns=columns, rows=rows, shown=shown, unknown=unknown)


async def counted(asked: Asked, operation: Count | Share | Exists) -> Found:
    """How many, which share, or whether any, all or none: of things of which it is known."""
    if isinstance(operation, Exists) and (asked.query.subject.coins or asked.query.subject.assets):
        return await check(asked, operation)
    of_set = asked.query.subject.scope in {"all", "category", "assets"} and isinstance(asked.query.time, Now)
    if asked.query.where is None and not of_set:
        raise Refused("no-condition")
    found, unknown = await asked.split()
    among = await asked.ranked()
    known, missing = len(set(among).difference(unknown)), [asked.name(id_) for id_ in unknown]
    figures = {"count": count(len(found)), "of": count(known), "noun": asked.noun(known), "when": asked.when}
    figures |= _named([asked.name(id_) for id_ in found], _MOST_NAMED)
    if not known:
        raise Refused("unknown-value", subject=text("these"), label=text("what was asked"))
    if isinstance(operation, Count):
        return Found(kind="count", figures=figures, total=len(among), unknown=missing)
    if isinstance(operation, Share):
        figures["share"] = Figure(len(found) / known * 100, Unit.SHARE)
        figures["of_all"] = Figure(len(found) / len(among) * 100, Unit.SHARE) if known < len(among) else text("")
        figures["all"] = count(len(among))
        return Found(kind="share", figures=figures, total=len(among), unknown=missing)
    figures["answer"] = text("Yes" if _QUANTIFIED[operation.quantifier](len(found), known) else "No")
    return Found(kind="exists", figures=figures, total=len(among), unknown=missing)


_QUANTIFIED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "any": lambda true, _: true > 0,
    "all": lambda true, known: true == known,
    "none": lambda true, _: true == 0,
    "most": lambda true, known: true * 2 > known,
}
"""Whether so many of the things of which it is known are any, all, none or most of them."""


async def check(asked: Asked, operation: Check | Exists) -> Found:
    """Whether the conditions hold for all, any or none of the things named, with the values that decide it."""
    if asked.query.where is None:
        raise Refused("no-measure")
    found = await truths(asked.reading, asked.query.where, asked.query.time, asked.ids)
    measures = _scored(_once([*measures_in(asked.query.where), *asked.main()]))
    if all(answer is None for answer in found.values()):
        raise await asked.unknown(label_of(measures[0]))
    columns, rows = await asked.table(measures, asked.ids)
    words = {True: "yes", False: "no", None: None}
    against = await benchmarks(asked, asked.query.where)
    rows = [
        Row(row.subject, (words[found[id_]], *row.values, *(value for _, value in against)))
        for id_, row in zip(asked.ids, rows, strict=True)
    ]
    unknown = [asked.name(id_) for id_ in asked.ids if found[id_] is None]
    quantifier = operation.quantifier if isinstance(operation, Exists) else "all"
    holds = _QUANTIFIED[quantifier]([*found.values()].count(True), len(found))
    figures = {"when": asked.when, "verb": asked.verb, "answer": text("Yes" if holds else "No")}
    figures["subject"] = text(rows[0].subject)
    columns = [Column("holds", Unit.STATE), *columns, *(column for column, _ in against)]
    if len(rows) > 1:
        return Found(kind="checks", figures=figures, columns=columns, rows=rows, unknown=unknown)
    cells = await detailed(asked, [None, *measures, *(None for _ in against)], columns, rows[0].values)
    said, notes = await remarks(asked, measures)
    return Found(
        kind="check",
        figures=figures | said,
        columns=[column for column, _ in cells],
        rows=[Row(rows[0].subject, tuple(cell for _, cell in cells))],
        shown=0,
        unknown=unknown,
        notes=notes,
    )


async def aggregate(asked: Asked, operation: Aggregate) -> Found:
    """The mean, median or sum of the first measure over all things that have a value."""
    measure = asked.main(needed=True)[0]
    found, unknown = await asked.split()
    values = await asked.values(measure, found)
    known = [value for value in values.values() if isinstance(value, int | float)]
    if MEASURES[measure.name].states or not known:
        raise Refused("no-aggregate", label=text(label_of(measure)))
    result = _HOW[operation.how](known)
    missing = [*unknown, *(id_ for id_ in found if values[id_] is None)]
    unit = unit_of(measure)
    figures = {
        "how": text("total" if operation.how == "sum" else operation.how),
        "value": Figure(result, unit),
        "label": text(label_of(measure)),
    }
    figures |= {"of": count(len(known)), "noun": asked.noun(len(known)), "when": asked.when, "verb": asked.verb}
    return Found(kind="aggregate", figures=figures, total=len(asked.ids), unknown=[asked.name(id_) for id_ in missing])


async def compare(asked: Asked, operation: Compare) -> Found:
    """The things named side by side, in the order of the first measure where one is asked for."""
    if len(asked.ids) == 1:
        raise Refused("no-pair")
    measures = _expanded(asked)
    order = asked.ids
    how, first = operation.how, measures[0]
    values = await (_of_members(asked, how, first) if how else asked.values(first, asked.ids))
    if operation.direction is not None:
        order = ordered(values, measures[0], most=operation.direction == "most")
    if all(value is None for value in values.values()):
        raise await asked.unknown(label_of(measures[0]))
    if how:
        columns = [Column(f"{'total' if how == 'sum' else how} {label_of(first)} of its coins", unit_of(first))]
        rows = [Row(name, (values[name],)) for name in order]
    else:
        columns, rows = await asked.table(measures, order)
    figures = {"label": text(columns[0].label), "when": asked.when, "verb": asked.verb}
    # An overview compares nothing by one measure.
    figures["difference"] = _difference(rows, columns[0].unit) if asked.query.measures else text("")
    kind = "table"
    if operation.direction is not None:
        tied = len(rows) > 1 and rows[0].values[0] == rows[1].values[0]
        kind = "tied" if tied else "winner"
        figures |= {
            "winner": text(rows[0].subject),
            "value": Figure(rows[0].values[0], columns[0].unit),
            "order": first_of(measures[0], operation.direction, two=len(rows) == _PAIR),
        }
    elif len(columns) == 1 and len(rows) <= _PROSE:
        kind = "each"
    unknown = [asked.name(id_) for id_ in asked.ids if values[id_] is None]
    return Found(
        kind=kind,
        figures=figures,
        columns=columns,
        rows=rows,
        shown=0 if kind == "each" else 10,
        unknown=unknown,
    )


async def _of_members(asked: Asked, how: str, measure: Measure) -> Values:
    """A figure of the coins of each category."""
    found: Values = {}
    for name in asked.ids:
        members = await asked.reading.subjects(Subject(scope="category", categories=(name,)))
        known = [one for one in (await asked.values(measure, members)).values() if isinstance(one, int | float)]
        found[name] = _HOW[how](known) if known else None
    return found


def _difference(rows: Sequence[Row], unit: Unit) -> Figure:
    """How far apart two things are; empty where there are more, or no numbers."""
    values = [row.values[0] for row in rows]
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(values) != _PAIR or len(numbers) != _PAIR:
        return text("")
    return Figure(abs(numbers[0] - numbers[1]), Unit.POINTS if unit in _PERCENTAGES else unit)
