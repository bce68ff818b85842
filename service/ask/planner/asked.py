"""A query under way: what it is about, the phrases of its answer, and what is said beside the value of one thing."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from service.ask.describe import is_date, label_of, name_of, time_words
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.bars import BENCHMARK, bound_bar, bound_price
from service.ask.planner.conditions import truths
from service.ask.planner.reading import MARKET, Reading
from service.ask.planner.result import Column, Figure, Refused, Row, Scalar, Values, count, date, text
from service.ask.planner.spans import instant_of
from service.ask.planner.values import since_of, unit_of, values_of
from service.ask.query import (
    All,
    Any_,
    At,
    Between,
    Compare,
    Condition,
    Direction,
    List,
    Measure,
    Now,
    Query,
    Rank,
    Ranked,
    Test,
    Window,
)
from service.clock import iso

_SPANNED: Final = frozenset({"funding", "carry", "volume"})
"""Measures without a usual window that may be taken over one."""


_ORDERS: Final = {"most": ("highest", "higher"), "least": ("lowest", "lower")}
_DEPTHS: Final = {"most": ("smallest", "smaller"), "least": ("deepest", "deeper")}

_BOUNDS: Final = frozenset({"high", "low"})
_FROM: Final = frozenset({"drawdown", "from_high", "from_low"})
DETAILS: Final = frozenset({"on", "since", "from"})
"""Labels of cells that belong to the cell before."""

_LASTING: Final = frozenset({"trend", "regime", "market_regime"})


def first_of(measure: Measure, direction: Direction, *, two: bool = False) -> Figure:
    """What the first of a ranking is called, or the first of two."""
    return text((_DEPTHS if measure.name == "drawdown" else _ORDERS)[direction][two])


def has_span(measure: Measure) -> bool:
    """Whether a measure can be taken over a span of time."""
    return MEASURES[measure.name].windowed or measure.name in _SPANNED or measure.mean


class Asked(NamedTuple):
    """A query, the ids of its subjects, and the data it is answered from."""

    reading: Reading
    query: Query
    ids: list[str]

    def name(self, id_: str) -> str:
        """What a thing is called."""
        return "the market" if id_ == MARKET else name_of(id_.partition(":")[2] or id_, self.reading.per_coin)

    @property
    def when(self) -> Figure:
        """The time of the query as a phrase with a space before it; empty for the present."""
        time = self.query.time
        measured = {measure.over for measure in self.query.measures}
        words = "" if measured == {time} else time_words(time)
        if isinstance(time, At) and not is_date(time.words):
            at = iso(time.at_ms)
            words += "" if at[:10] in words else f" ({at[:10]})" if time.whole_day else f" ({at[:10]} {at[11:16]} UTC)"
        return text(f" {words}" if words else "")

    @property
    def verb(self) -> Figure:
        """`is` of the present, `was` of the past."""
        now_ms = self.reading.now_ms
        ends = [self.query.time, *(measure.over for measure in self.query.measures[:1] if measure.over is not None)]
        return text("was" if any(instant_of(time, now_ms) < now_ms for time in ends) else "is")

    def noun(self, number: int) -> Figure:
        """What the things asked about are, in the singular for one."""
        subject = self.query.subject
        if subject.scope == "assets":
            return text("asset" if number == 1 else "assets")
        if subject.scope == "category" and not subject.categories:
            return text("category" if number == 1 else "categories")
        return text("coin" if number == 1 else "coins")

    async def values(self, measure: Measure, ids: Sequence[str]) -> Values:
        """Values of a measure at the time of the query."""
        return await values_of(self.reading, measure, self.query.time, ids)

    async def split(self) -> tuple[list[str], list[str]]:
        """Things for which the conditions hold, and those of which that is not known."""
        if self.query.where is None:
            return self.ids, []
        found = await truths(self.reading, self.query.where, self.query.time, self.ids)
        return [id_ for id_ in self.ids if found[id_]], [id_ for id_ in self.ids if found[id_] is None]

    async def ranked(self) -> list[str]:
        """Things that a ranking among the conditions leaves: "what share of the 20 largest coins is up"."""
        where = self.query.where
        items = where.items if isinstance(where, All) else (where,)
        rankings = tuple(item for item in items if isinstance(item, Ranked))
        found = await truths(self.reading, All(rankings), self.query.time, self.ids)
        return [id_ for id_ in self.ids if found[id_]]

    async def table(self, measures: Sequence[Measure], ids: Sequence[str]) -> tuple[list[Column], list[Row]]:
        """Values of several measures, a row for each thing; those of the market are the same in every row."""
        columns, cells = [], []
        for measure in measures:
            of_market = MEASURES[measure.name].market and list(ids) != [MARKET]
            found = await self.values(measure, [MARKET] if of_market else ids)
            columns.append(Column(label_of(measure), unit_of(measure)))
            cells.append([found[MARKET if of_market else id_] for id_ in ids])
        rows = [Row(self.name(id_), tuple(column[at] for column in cells)) for at, id_ in enumerate(ids)]
        return columns, rows

    async def unknown(self, label: str) -> Refused:
        """Why nothing is known of the things named: the time is before the first known day, or there is no value."""
        names = text(", ".join(map(self.name, self.ids)))
        time = self.query.time
        start_ms = time.at_ms if isinstance(time, At) else time.start_ms if isinstance(time, Between) else None
        if len(self.ids) == 1 and start_ms is not None and self.ids[0] != MARKET:
            first_ms = (await self.reading.daily()).first_day_ms(self.ids[0])
            if first_ms is not None and start_ms < first_ms:
                return Refused("before-history", subject=names, first=date(first_ms))
        return Refused("unknown-value", subject=names, label=text(label))

    def main(self, *, needed: bool = False) -> list[Measure]:
        """The measures asked for.

        Raises:
            Refused: If one is needed and none is named, or one is asked for over a span that it does not have.
        """
        if needed and not self.query.measures:
            raise Refused("no-measure")
        measures = list(self.query.measures)
        for measure in measures:
            if MEASURES[measure.name].market and self.ids != [MARKET]:
                raise Refused("wrong-subject", label=text(label_of(measure)))
        # In a rank or list the span is that of the first measure; others are told as of its end.
        spanned = isinstance(self.query.time, Window | Between)
        ordering = isinstance(self.query.operation, Rank | List | Compare)
        for measure in (measures[:1] if ordering else measures) if spanned else []:
            if not has_span(measure):
                raise Refused("not-over", label=text(label_of(measure)))
        return list(self.query.measures)


async def detailed(
    asked: Asked, measures: Sequence[Measure | None], columns: Sequence[Column], cells: Sequence[Scalar]
) -> list[tuple[Column, Scalar]]:
    """The cells of one thing; after a high or low its day, after a trend or regime since when it holds."""
    found = []
    for measure, column, cell in zip(measures, columns, cells, strict=True):
        found.append((column, cell))
        detail = None if measure is None or cell is None else await _detail(asked, measure, cell)
        if detail is not None:
            found.append(detail)
    return found


async def _detail(asked: Asked, measure: Measure, cell: Scalar) -> tuple[Column, Scalar] | None:
    id_, time = asked.ids[0], asked.query.time
    if id_ in asked.reading.others:
        return None
    if measure.name in _BOUNDS:
        bar = await bound_bar(asked.reading, measure, time, id_)
        return None if bar is None else (Column("on", Unit.DATE), bar.open_ms)
    if measure.name in _FROM and isinstance(time, Now):
        bound = await bound_price(asked.reading, measure, time, id_)
        return None if bound is None else (Column("from", Unit.USD), bound / asked.reading.lot(id_))
    if measure.name in _LASTING:
        since_ms = await since_of(asked.reading, measure, time, id_, cell)
        return None if since_ms is None else (Column("since", Unit.DATE), since_ms)
    return None


async def benchmarks(asked: Asked, condition: Condition | None) -> list[tuple[Column, Scalar]]:
    """The values of the coins that a condition compares with: "did ETH beat BTC?"."""
    items = condition.items if isinstance(condition, All | Any_) else (condition,)
    tests = [item for item in items if isinstance(item, Test) and item.coin is not None]
    one = len({test.measure for test in tests}) == 1
    found = []
    for test in tests:
        coin = str(test.coin)
        values = await values_of(asked.reading, test.measure, test.at or asked.query.time, [coin])
        label = f"{asked.name(coin)}'s{'' if one else f' {label_of(test.measure)}'}"
        found.append((Column(label, unit_of(test.measure)), values[coin]))
    return found


async def remarks(asked: Asked, measures: Sequence[Measure]) -> tuple[dict[str, Figure], list[str]]:
    """Figures and notes on what the measures of one thing are made of."""
    reading, id_ = asked.reading, asked.ids[0]
    named = {measure.name: measure for measure in measures}
    figures: dict[str, Figure] = {}
    if "breadth" in named:
        health = await reading.tool("market.health", context=1)
        figures |= {name.lower(): count(health["trends"][name]) for name in ("UP", "HODL", "DOWN")}
        figures["universe"] = count(health["universe"])
        return figures, ["breadth"]
    if "strength" in named:
        one = named["strength"]
        other, change = one.other or BENCHMARK, Measure("change", one.over)
        moves = await values_of(reading, change, asked.query.time, [id_, other])
        figures |= {"own": Figure(moves[id_], Unit.PERCENT), "base": Figure(moves[other], Unit.PERCENT)}
        return figures | {"other": text(other)}, ["strength"]
    if [*named] == ["funding"] and id_ != MARKET:
        paid = (await asked.values(named["funding"], [id_]))[id_]
        if isinstance(paid, int | float) and paid:
            figures |= {
                "payer": text("longs" if paid > 0 else "shorts"),
                "payee": text("shorts" if paid > 0 else "longs"),
            }
            return figures, ["payer"]
    return figures, []
