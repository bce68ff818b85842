"""Tables of a rule set. Rows are read from the top; the first matching row counts."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from service.wire.verdict import Confidence, Label

_DECIMALS: Final = 4


class NameRow(Struct, frozen=True):
    """A name, its contribution to the score, and its sentence."""

    name: str
    contribution: float
    sentence: str


class BandRow(Struct, frozen=True):
    """A range of numbers, bounds included; without bounds it matches every number."""

    at_least: float | None
    at_most: float | None
    contribution: float
    sentence: str


class VerdictRule(Struct, frozen=True):
    """One rule, with either names or bands.

    `input` is a path in `raw`, or two paths with a minus between (their difference, 4 decimals). `weight` is its
    largest contribution, `subject` names the input in sentences about missing inputs.
    """

    id: str
    input: str
    weight: float
    subject: str
    names: tuple[NameRow, ...] = ()
    bands: tuple[BandRow, ...] = ()


class GradeRow(Struct, frozen=True):
    """A verdict and its range of scores, bounds included."""

    verdict: Label
    at_least: float | None
    at_most: float | None


class ConfidenceLevel(Struct, frozen=True):
    """A confidence and the least agreement for it."""

    confidence: Confidence
    agreement: float


class ConfidenceRules(Struct, frozen=True):
    """Rules of confidence.

    Agreement gives a level. Confidence is one level lower if coverage is under `full` or a source is not fulfilled, two
    levels lower if coverage is under `half`. Under `least` there is no verdict.
    """

    levels: tuple[ConfidenceLevel, ...]
    full: float
    half: float
    least: float
    stale_counts: float


class RuleGroup(Struct, frozen=True):
    """Rules that read the same kind of evidence. Confidence counts a group once: by the sum of its contributions.

    `rules` are ids of rules, `weight` is the sum of their weights.
    """

    name: str
    weight: float
    rules: tuple[str, ...]


class RuleTables(Struct, frozen=True):
    """Tables of every version. `step` is the smallest difference between two numbers of an input."""

    name: str
    version: int
    rules: tuple[VerdictRule, ...]
    grades: tuple[GradeRow, ...]
    trust: ConfidenceRules
    step: float
    missing: str
    stale: str

    def evidence(self) -> tuple[RuleGroup, ...]:
        """The groups that confidence counts. Without groups in the tables, each rule is a group."""
        return tuple(RuleGroup(rule.id, rule.weight, (rule.id,)) for rule in self.rules)

    def claimed(self, score: float) -> float | None:  # noqa: ARG002 - read by version 1
        """The probability that the price rises, by the score; null except in version 1."""
        return None


class RuleTablesV1(RuleTables, frozen=True):
    """Tables of version 1.

    `claim` is added to 0.5 for each point of the score and published as the probability that the price rises.
    """

    claim: float

    def claimed(self, score: float) -> float:
        """The probability that the price rises: 0.3 to 0.7, 4 decimals. It was never fitted to outcomes."""
        return round(0.5 + self.claim * score, _DECIMALS)


class RuleTablesV2(RuleTables, frozen=True):
    """Tables of version 2: evidence in groups. Each rule is in one group."""

    groups: tuple[RuleGroup, ...]

    def evidence(self) -> tuple[RuleGroup, ...]:
        """The groups of the tables."""
        return self.groups


Bounded = TypeVar("Bounded", BandRow, GradeRow)


def matching_row(rows: Sequence[Bounded], figure: float) -> Bounded:
    """The first matching row; the last row of every table has no bound."""
    return next(row for row in rows if _holds(row, figure))


def category_row(rule: VerdictRule, name: str) -> NameRow:
    """The row of a name."""
    return next(category for category in rule.names if category.name == name)


def nearest_name(rule: VerdictRule, name: str) -> str:
    """The nearest name in the table with another contribution; of two as near, the upper one."""
    here = category_row(rule, name)
    at = rule.names.index(here)
    others = [(abs(row - at), row) for row, other in enumerate(rule.names) if other.contribution != here.contribution]
    return rule.names[min(others)[1]].name


def nearest_figure(rule: VerdictRule, figure: float, step: float) -> float:
    """The nearest number with another contribution: a bound, or one `step` beyond a bound.

    Of two as near, the one of the upper row.

    Args:
        rule: A rule with bands.
        figure: The number now.
        step: The smallest difference between two numbers.
    """
    here = matching_row(rule.bands, figure).contribution
    edges = [edge for edge in _edges(rule.bands, step) if matching_row(rule.bands, edge).contribution != here]
    return min(edges, key=lambda edge: abs(edge - figure))


def bound_of(band: BandRow) -> float | None:
    """The bound of a band; None for the last row, which has none."""
    return band.at_most if band.at_least is None else band.at_least


def _holds(row: BandRow | GradeRow, figure: float) -> bool:
    return (row.at_least is None or figure >= row.at_least) and (row.at_most is None or figure <= row.at_most)


def _edges(bands: Sequence[BandRow], step: float) -> Iterator[float]:
    for band in bands:
        if band.at_least is not None:
            yield from (band.at_least, round(band.at_least - step, _DECIMALS))
        if band.at_most is not None:
            yield from (band.at_most, round(band.at_most + step, _DECIMALS))
