"""A query under way: what it is about, the phrases of its answer, and what is said beside the value of one thing."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from service.ask.describe import having_words, is_date, label_of, number, rate_words, time_words
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.bars import bar_with, bars_of, days_of, instant_of, span_at
from service.ask.planner.conditions import truths
from service.ask.planner.data_reader import MARKET, DataReader
from service.ask.planner.result import Column, Figure, Figures, Refused, Row, Scalar, Values, date, percent
from service.ask.planner.units import column_of, values_of
from service.ask.planner.values import BENCHMARK, bounds_of, since_of
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
from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso

_SPANNED: Final = frozenset({"funding", "carry", "volume"})
"""Measures without a usual window that may be taken over one."""

_ORDERS: Final = {"most": ("highest", "higher"), "least": ("lowest", "lower")}
_DEPTHS: Final = {"most": ("smallest", "smaller"), "least": ("deepest", "deeper")}

_BOUNDS: Final = frozenset({"high", "low"})
_FROM: Final = frozenset({"drawdown", "from_high", "from_low"})
_LASTING: Final = frozenset({"trend", "regime", "market_regime"})
DETAILS: Final = frozenset({"on", "since", "from"})
"""Labels of cells that belong to the cell before."""

Cells = list[tuple[Column, Scalar]]


def first_of(measure: Measure, direction: Direction, *, two: bool = False) -> str:
    """What the first of a ranking is called, or the first of two."""
    return (_DEPTHS if measure.name == "drawdown" else _ORDERS)[direction][two]


def carry_figures(measure: Measure, value: Scalar) -> Figures:
    """Whether a side pays or receives funding, how much, on which size, and over which time."""
    is_rate, received = measure.notional is None, value if isinstance(value, int | float) else 0.0
    pays = "pay" if received < 0 else "receive"
    return {
        "side": measure.side or "long",
        "size": "" if measure.notional is None else f" of {number(measure.notional)} USD",
        "over": rate_words(measure) if is_rate else f" over {measure.over.words if measure.over else 'a day'}",
        "pays": f"{pays}s" if is_rate else f"would {pays}",
        "amount": Figure(abs(received), (Unit.RATE if measure.per_hours else Unit.SPREAD) if is_rate else Unit.USD),
    }


def has_span(measure: Measure) -> bool:
    """Whether a measure can be taken over a span of time."""
    return MEASURES[measure.name].windowed or measure.name in _SPANNED or measure.mean


class QueryContext(NamedTuple):
    """A query, the ids of its subjects, and the data it is answered from."""

    reading: DataReader
    query: Query
    ids: list[str]

    def name(self, id_: str) -> str:
        """What a thing is called."""
        return "the market" if id_ == MARKET else id_.partition(":")[2] or id_

    def names(self, ids: Iterable[str]) -> list[str]:
        """What things are called."""
        return [*map(self.name, ids)]

    @property
    def when(self) -> str:
        """The time of the query as a phrase with a space before it; empty for the present.

        Of prices at an instant it is the time of the closes that were read before, if they are older than it.
        """
        time = self.query.time
        if isinstance(time, At) and not (time.whole_day and time.instant_ms is None) and (closed := self._closed(time)):
            return closed
        measured = {measure.over for measure in self.query.measures}
        words = "" if measured == {time} else time_words(time)
        if isinstance(time, At) and not is_date(time.words):
            at = iso(time.at_ms)
            words += "" if at[:10] in words else f" ({at[:10]})" if time.whole_day else f" ({at[:10]} {at[11:16]} UTC)"
        return f" {words}" if words else ""

    def _closed(self, time: At) -> str:
        """When the closes are of that were read for an instant: ` at 02:00 UTC on … (the last full hour before …)`."""
        read = self.reading.closed_ms
        at_ms = time.at_ms if time.instant_ms is None else time.instant_ms
        closed = read.get(at_ms) or read.get(at_ms // DAY_MS * DAY_MS) or {at_ms}
        if closed == {at_ms} or (at_ms - min(closed) < 2 * MINUTE_MS and min(closed) % HOUR_MS):
            return ""  # an accepted price of that minute
        day, first_ms = iso(at_ms)[:10], min(closed)
        said = " or ".join(f"{iso(close_ms)[11:16]} UTC on {iso(close_ms)[:10]}" for close_ms in sorted(closed))
        asked = f"{iso(at_ms)[11:19].removesuffix(':00')} UTC" + (f" on {day}" if day not in said else "")
        zone = time.words.partition(" (")[2].removesuffix(")")
        is_hour = at_ms - first_ms < HOUR_MS and first_ms % HOUR_MS == 0
        what = "full hour" if is_hour else "known close" if first_ms % HOUR_MS == 0 else "known price"
        return f" at {said} (the last {what} before {asked}{f', {zone}' if zone else ''})"

    @property
    def verb(self) -> str:
        """`is` of the present, `was` of the past."""
        now_ms = self.reading.now_ms
        ends = [self.query.time, *(measure.over for measure in self.query.measures[:1] if measure.over is not None)]
        return "was" if any(instant_of(time, now_ms) < now_ms for time in ends) else "is"

    def noun(self, count: int) -> str:
        """What the things asked about are, in the singular for one."""
        subject = self.query.subject
        if subject.scope == "assets":
            return "asset" if count == 1 else "assets"
        if subject.scope == "category" and not subject.categories:
            return "category" if count == 1 else "categories"
        return "coin" if count == 1 else "coins"

    def headline(self, columns: Sequence[Column], rows: Sequence[Row]) -> Figures:
        """What most first sentences name: the time, and the first measure of the first thing."""
        figures: Figures = {"when": self.when, "verb": self.verb, "difference": ""}
        if rows:
            figures |= {"subject": rows[0].subject, "label": columns[0].label}
            figures["value"] = Figure(rows[0].values[0], columns[0].unit)
        return figures

    def matched(self, count: int) -> Figures:
        """How many things match, and what they have by the conditions: `have a daily trend of UP`."""
        where = self.query.where
        have = "had" if self.verb == "was" else "has" if count == 1 else "have"
        what = {"have": have if where else "", "what": having_words(where) if where else ""}
        return {"count": count, "noun": self.noun(count), "when": self.when, **what}

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
        columns = []
        for measure in measures:
            of_market = MEASURES[measure.name].market and list(ids) != [MARKET]
            found = await self.values(measure, [MARKET] if of_market else ids)
            columns.append([found[MARKET if of_market else id_] for id_ in ids])
        rows = [Row(self.name(id_), tuple(column[at] for column in columns)) for at, id_ in enumerate(ids)]
        return [*map(column_of, measures)], rows

    async def unknown(self, label: str) -> Refused:
        """Why nothing is known of the things named: the time is before the first known day, or there is no value."""
        names, time = ", ".join(self.names(self.ids)), self.query.time
        start_ms = time.at_ms if isinstance(time, At) else time.start_ms if isinstance(time, Between) else None
        if len(self.ids) == 1 and start_ms is not None and self.ids[0] != MARKET:
            first_ms = (await self.reading.daily()).first_day_ms(self.ids[0])
            if first_ms is not None and start_ms < first_ms:
                return Refused("before-history", subject=names, first=date(first_ms))
        return Refused("unknown-value", subject=names, label=label)

    def coin(self) -> str:
        """The one coin that is asked about.

        Raises:
            Refused: If there are others.
        """
        if len(self.ids) != 1 or self.ids[0] not in self.reading.coins():
            raise Refused("one-coin")
        return self.ids[0]

    def main(self, *, needed: bool = False) -> list[Measure]:
        """The measures asked for.

        Raises:
            Refused: If one is needed and none is named, or one is asked for over a span that it does not have.
        """
        measures = list(self.query.measures)
        if needed and not measures:
            raise Refused("no-measure")
        for measure in measures:
            if MEASURES[measure.name].market and self.ids != [MARKET]:
                raise Refused("wrong-subject", label=label_of(measure))
        # In a rank or list the span is that of the first measure; others are told as of its end.
        ordering = isinstance(self.query.operation, Rank | List | Compare)
        if isinstance(self.query.time, Window | Between):
            for measure in measures[:1] if ordering else measures:
                if not has_span(measure):
                    raise Refused("not-over", label=label_of(measure))
        return measures

    async def detailed(self, measures: Sequence[Measure | None], cells: Cells) -> Cells:
        """The cells of one thing; after a high or low its day, after a trend or regime since when it holds."""
        found = []
        for measure, (column, cell) in zip(measures, cells, strict=True):
            found.append((column, cell))
            detail = None if measure is None or cell is None else await self._detail(measure, cell)
            if detail is not None and detail[1] is not None:
                found.append(detail)
        return found

    async def _detail(self, measure: Measure, cell: Scalar) -> tuple[Column, Scalar] | None:
        reading, id_, time = self.reading, self.ids[0], self.query.time
        if id_ in reading.others:
            return None
        if measure.name in _BOUNDS:
            bar = bar_with(measure.name, await bars_of(reading, id_, span_at(reading, measure, time, days_of)))
            return None if bar is None else (Column("on", Unit.DATE), bar.open_ms)
        if measure.name in _FROM and isinstance(time, Now):
            bound = (await bounds_of(reading, measure, time, [id_]))[id_]
            return Column("from", Unit.USD), bound
        if measure.name in _LASTING:
            return Column("since", Unit.DATE), await since_of(reading, measure, time, id_, cell)
        return None

    async def benchmarks(self, condition: Condition | None) -> Cells:
        """The values of the coins that a condition compares with: "did ETH beat BTC?"."""
        items = condition.items if isinstance(condition, All | Any_) else (condition,)
        tests = [item for item in items if isinstance(item, Test) and item.coin is not None]
        one = len({test.measure for test in tests}) == 1
        found = []
        for test in tests:
            coin, column = str(test.coin), column_of(test.measure)
            values = await values_of(self.reading, test.measure, test.at or self.query.time, [coin])
            label = f"{self.name(coin)}'s{'' if one else f' {column.label}'}"
            found.append((Column(label, column.unit), values[coin]))
        return found

    async def remarks(self, measures: Sequence[Measure]) -> tuple[Figures, list[str]]:
        """Figures and notes on what the measures of one thing are made of."""
        id_, named = self.ids[0], {measure.name: measure for measure in measures}
        if "breadth" in named:
            health = await self.reading.tool("market.health", context=1)
            counts = {name.lower(): int(health["trends"][name]) for name in ("UP", "HODL", "DOWN")}
            return {**counts, "universe": int(health["universe"])}, ["breadth"]
        if "strength" in named:
            other, change = named["strength"].other or BENCHMARK, Measure("change", named["strength"].over)
            moves = await self.values(change, [id_, other])
            return {"own": percent(moves[id_]), "base": percent(moves[other]), "other": other}, ["strength"]
        if [*named] == ["funding"] and id_ != MARKET:
            paid = (await self.values(named["funding"], [id_]))[id_]
            if isinstance(paid, int | float) and paid:
                sides = ("longs", "shorts") if paid > 0 else ("shorts", "longs")
                return {"payer": sides[0], "payee": sides[1]}, ["payer"]
        return {}, []
