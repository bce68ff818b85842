"""A query under way: what it is about, what it reads, and the phrases that its answer needs."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from service.ask.describe import is_date, label_of, name_of, time_words
from service.ask.measure_table import MEASURES
from service.ask.planner.conditions import truths
from service.ask.planner.reading import MARKET, Reading
from service.ask.planner.result import Column, Figure, Refused, Row, Values, text
from service.ask.planner.spans import instant_of
from service.ask.planner.values import unit_of, values_of
from service.ask.query import At, Between, Compare, Direction, List, Measure, Query, Rank, Window
from service.clock import iso

_SPANNED: Final = frozenset({"funding", "carry", "volume"})
"""Measures without a usual window that may be taken over one."""


_ORDERS: Final = {"most": ("highest", "higher"), "least": ("lowest", "lower")}
_DEPTHS: Final = {"most": ("smallest", "smaller"), "least": ("deepest", "deeper")}


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
