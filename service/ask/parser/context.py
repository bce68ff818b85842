"""A clause after a query, and what both of them say. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, structs

from service.ask import query as q
from service.ask.parser.chunks import Chunk, names_measure
from service.ask.parser.slots import PRESENT

MONEY: Final = q.ValueOf | q.Profit | q.Portfolio | q.Convert
VALUE: Final = frozenset({"price", "change"})
"""Measures that are other words for what an amount is worth or has made."""


class Edited(Struct, frozen=True):
    """The queries of a follow-up, the pieces of its clause that were used, and whether it narrows the query before."""

    queries: list[q.Query]
    used: set[int]
    narrows: bool = False


class Clause(Struct, frozen=True):
    """A clause after a query: its pieces, their words, and whether it leads on from or refers to what was before.

    `within`: the query before is of the same message.
    """

    part: Sequence[Chunk]
    words: Sequence[str]
    last: q.Query
    leads: bool
    refers: bool
    within: bool = False

    def asks(self, *values: str) -> bool:
        """Whether it asks for an operation, one of some where they are given."""
        asked = (word.value for chunk in self.part for word in chunk.words if word.kind == "ask")
        return any(not values or value in values for value in asked)

    def is_of(self, *kinds: str) -> bool:
        """Whether all of its pieces are of some kinds."""
        return all(chunk.kind in kinds for chunk in self.part)

    def has(self, *kinds: str) -> bool:
        """Whether one of its pieces is of some kinds."""
        return any(chunk.has(kind) for chunk in self.part for kind in kinds)

    @property
    def names_set(self) -> bool:
        """Whether it says which set it is about."""
        return any(chunk.kind == "set" for chunk in self.part)

    @property
    def says_now(self) -> bool:
        """Whether it says that it is about the present."""
        return not PRESENT.isdisjoint(self.words)

    @property
    def names_market(self) -> bool:
        """Whether it says that it is about the market."""
        return any("market" in words.split() for words in self.words)

    @property
    def names_measure(self) -> bool:
        """Whether it says what is measured."""
        return names_measure(self.part)


def more_measures(last: q.Query, query: q.Query) -> tuple[q.Measure, ...]:
    """The measures of a query, and those that another one adds."""
    return tuple(dict.fromkeys((*last.measures, *with_spans(query.measures, last.measures))))


def at_time(last: q.Query, query: q.Query) -> q.Query:
    """What an amount was worth at the time of a follow-up."""
    worth = isinstance(last.operation, q.ValueOf | q.Convert) and not isinstance(query.time, q.Now)
    return structs.replace(last, time=query.time) if worth else last


def with_spans(measures: tuple[q.Measure, ...], before: tuple[q.Measure, ...]) -> tuple[q.Measure, ...]:
    """Measures with the window that the same measure had before."""
    spans = {measure.name: measure.over for measure in before}
    return tuple(structs.replace(one, over=spans.get(one.name)) if one.over is None else one for one in measures)


def both_conditions(one: q.Condition | None, other: q.Condition | None) -> q.Condition | None:
    """Both conditions; the one where there is only one."""
    if one is None or other is None:
        return other if one is None else one
    return q.All((one, other))
