"""What a rule set is made of, and how its tables are read: from the top, and the first row that holds is the one."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from service.wire.verdict import Confidence, Label

_DECIMALS: Final = 4


class Category(Struct, frozen=True):
    """A name, what it contributes to the score, and the sentence for it."""

    name: str
    contribution: float
    sentence: str


class Band(Struct, frozen=True):
    """A range of figures, the bound included: at least or at most it, everything where there is none."""

    at_least: float | None
    at_most: float | None
    contribution: float
    sentence: str


class Rule(Struct, frozen=True):
    """One rule: what it looks at, and what follows; either names or bands.

    `input` is a path in `raw`, or two with a minus between, whose difference is taken to 4 decimals. `weight` is the
    most it can contribute, `subject` what it speaks of where that is not known.
    """

    id: str
    input: str
    weight: float
    subject: str
    names: tuple[Category, ...] = ()
    bands: tuple[Band, ...] = ()


class Grade(Struct, frozen=True):
    """A verdict and the scores it is given for, the bound included."""

    verdict: Label
    at_least: float | None
    at_most: float | None


class Level(Struct, frozen=True):
    """A confidence and the agreement it takes."""

    confidence: Confidence
    agreement: float


class Trust(Struct, frozen=True):
    """How confidence follows.

    Agreement gives a level; what is not known counts against it. It is one lower below a coverage of `full`, or where a
    source is not fulfilled; two lower below `half`; never lower than the last. Below `least` there is no verdict.
    """

    levels: tuple[Level, ...]
    full: float
    half: float
    least: float
    stale_counts: float


class Group(Struct, frozen=True):
    """Rules that read the same kind of evidence. Confidence counts a group once: by the sum of its contributions.

    `rules` are ids of rules, `weight` is the sum of their weights.
    """

    name: str
    weight: float
    rules: tuple[str, ...]


class Tables(Struct, frozen=True):
    """What the tables of every version have.

    `step` is the smallest difference between two figures: what lies just short of a bound lies that far from it.
    """

    name: str
    version: int
    rules: tuple[Rule, ...]
    grades: tuple[Grade, ...]
    trust: Trust
    step: float
    missing: str
    stale: str

    def evidence(self) -> tuple[Group, ...]:
        """The groups that confidence counts. Without groups in the tables, each rule is one of its own."""
        return tuple(Group(rule.id, rule.weight, (rule.id,)) for rule in self.rules)

    def claimed(self, score: float) -> float | None:  # noqa: ARG002 - read by version 1
        """The probability that the price rises, by the score alone; null in every version but the first."""
        return None


class TablesV1(Tables, frozen=True):
    """Tables of version 1.

    `claim` is added to 0.5 for each point of the score and published as the probability that the price rises.
    """

    claim: float

    def claimed(self, score: float) -> float:
        """The probability that the price rises: 0.3 to 0.7, 4 decimals. It was never fitted to outcomes."""
        return round(0.5 + self.claim * score, _DECIMALS)


class TablesV2(Tables, frozen=True):
    """Tables of version 2: evidence in groups. Each rule is in one group."""

    groups: tuple[Group, ...]

    def evidence(self) -> tuple[Group, ...]:
        """The groups of the tables."""
        return self.groups


Bounded = TypeVar("Bounded", Band, Grade)


def row_of(rows: Sequence[Bounded], figure: float) -> Bounded:
    """The first row that holds; the last of every table has no bound and always does."""
    return next(row for row in rows if _holds(row, figure))


def category_of(rule: Rule, name: str) -> Category:
    """The row of a name."""
    return next(category for category in rule.names if category.name == name)


def nearest_name(rule: Rule, name: str) -> str:
    """The name that stands nearest in the table and contributes something else; of two as near, the upper one."""
    here = category_of(rule, name)
    at = rule.names.index(here)
    others = [(abs(row - at), row) for row, other in enumerate(rule.names) if other.contribution != here.contribution]
    return rule.names[min(others)[1]].name


def nearest_figure(rule: Rule, figure: float, step: float) -> float:
    """The nearest figure that contributes something else: a bound, or what lies just short of one.

    Of two as near, it is the one of the upper row.

    Args:
        rule: One with bands.
        figure: Where it is.
        step: How far just short of a bound lies from it.
    """
    here = row_of(rule.bands, figure).contribution
    edges = [edge for edge in _edges(rule.bands, step) if row_of(rule.bands, edge).contribution != here]
    return min(edges, key=lambda edge: abs(edge - figure))


def bound_of(band: Band) -> float | None:
    """The bound of a band; None for the rest between all bounds."""
    return band.at_most if band.at_least is None else band.at_least


def _holds(row: Band | Grade, figure: float) -> bool:
    return (row.at_least is None or figure >= row.at_least) and (row.at_most is None or figure <= row.at_most)


def _edges(bands: Sequence[Band], step: float) -> Iterator[float]:
    for band in bands:
        if band.at_least is not None:
            yield from (band.at_least, round(band.at_least - step, _DECIMALS))
        if band.at_most is not None:
            yield from (band.at_most, round(band.at_most + step, _DECIMALS))
