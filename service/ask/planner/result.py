"""Results: what a query found, with units, dates and gaps; the only thing that answers are written from."""

from collections.abc import Sequence

from msgspec import Struct

from service.ask.measure_table import Unit
from service.ask.understanding import Reason, Refusal
from service.wire.ask import Source

Scalar = float | int | str | None
"""A value of a cell. Null: not known. Dates and instants are epoch milliseconds."""

Values = dict[str, Scalar]
"""One value per thing, by its id."""


class Figure(Struct, frozen=True):
    """One value and its unit."""

    value: Scalar
    unit: Unit


class Column(Struct, frozen=True):
    """One column of a table."""

    label: str
    unit: Unit


class Row(Struct, frozen=True, omit_defaults=True):
    """One row: what it is about, and a value for each column; `units` where they are not those of the columns."""

    subject: str
    values: tuple[Scalar, ...]
    units: tuple[Unit, ...] = ()


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a query found.

    Attributes:
        kind: Key of the template of its first sentence.
        title: What it is, in words.
        figures: Headline values by the name that templates use.
        columns: Columns of `rows`.
        rows: In the order asked for; all of them.
        shown: Rows that an answer shows at most; 0: none, the first sentence says it all.
        total: How many things were looked at; null where nothing was counted.
        unknown: Things that are left out because a value is not known.
        notes: Keys of templates of what qualifies the answer.
        as_of_ms: The oldest observation that was used, epoch milliseconds; null where there is none.
        stale: Fields that could not be refreshed.
        sources: Where the values come from.
        counted: Whether any of the routes that were asked counts what it found.
        refusal: Why there is no answer; null: there is one.
    """

    kind: str
    title: str = ""
    figures: dict[str, Figure] = {}
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    shown: int = 10
    total: int | None = None
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    as_of_ms: int | None = None
    stale: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    counted: bool = True
    refusal: Refusal | None = None


Given = Figure | str | int
"""A figure; a text and a count need no unit."""

Figures = dict[str, Given]


def found(
    kind: str,
    figures: Figures,
    *,
    columns: Sequence[Column] = (),
    rows: Sequence[Row] = (),
    shown: int | None = None,
    total: int | None = None,
    unknown: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Result:
    """What an operation found, before its sources are added. A single row is shown in the sentence alone."""
    return Result(
        kind=kind,
        figures=_figures(figures),
        columns=tuple(columns),
        rows=tuple(rows),
        shown=(0 if len(rows) == 1 else 10) if shown is None else shown,
        total=total,
        unknown=tuple(unknown),
        notes=tuple(notes),
    )


class Refused(Exception):  # noqa: N818 - an outcome, not an error
    """A query that cannot be answered.

    Args:
        kind: Key of the template that says why.
        instead: The nearest question that can be asked.
        reason: Which kind of reason.
        figures: Values that the template names.
    """

    def __init__(
        self, kind: str, instead: str | None = None, reason: Reason = "not-available", **figures: Given
    ) -> None:
        super().__init__(kind)
        self.result = Result(kind=kind, figures=_figures(figures), refusal=Refusal(reason, instead=instead))


def _figures(given: Figures) -> dict[str, Figure]:
    units = {str: Unit.TEXT, int: Unit.COUNT}
    return {
        name: value if isinstance(value, Figure) else Figure(value, units[type(value)]) for name, value in given.items()
    }


def text(value: str) -> Figure:
    """Words that are not a number."""
    return Figure(value, Unit.TEXT)


def usd(value: float) -> Figure:
    """An amount of US dollars."""
    return Figure(value, Unit.USD)


def date(at_ms: Scalar) -> Figure:
    """A UTC day."""
    return Figure(at_ms, Unit.DATE)


def percent(value: Scalar) -> Figure:
    """A change in percent."""
    return Figure(value, Unit.PERCENT)
