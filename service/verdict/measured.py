"""What the protocol measured on recorded days, as it ships with the service.

`measured.json` is written by `python -m tests.verdict.evaluate --write`; what it means is in
`docs/decisions/0009-which-probabilities-are-published.md`, and as tables in `docs/decisions/0010-measured-skill.md`.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct, json

from service.wire.verdict import Label, Target


class IsotonicModel(Struct, frozen=True, tag="isotonic"):
    """From `starts[i]` of the score on the probability is `levels[i]`; below the first, `levels[0]`."""

    starts: list[float]
    levels: list[float]


class LogisticModel(Struct, frozen=True, tag="logistic"):
    """`1 / (1 + exp(-(intercept + contributions of the groups * coefficients)))`."""

    intercept: float
    coefficients: list[float]


class ReliabilityBin(Struct, frozen=True):
    """A range of predicted probability: its share of all, the mean prediction and what was observed, 0 to 1."""

    share: float
    predicted: float
    observed: float


class MeasuredClaim(Struct, frozen=True):
    """A target and horizon (`days`) on the last fifth of the days, which were used neither to fit nor to choose.

    `days_seen` are these days. Rates, Brier scores and skill are shares; `skill_low` and `skill_high` bound skill at a
    level corrected for all trials. `model` is there where the claim is earned, fitted on all recorded days.
    """

    ruleset: int
    target: Target
    days: int
    method: str
    days_seen: int
    base_rate: float
    brier: float
    brier_of_base_rate: float
    skill: float
    skill_low: float
    skill_high: float
    bins: list[ReliabilityBin]
    model: IsotonicModel | LogisticModel | None


class OutcomeRate(Struct, frozen=True):
    """On what share of coins the target came true so many days after a verdict, over all recorded days.

    `days_seen` are the days with such verdicts, `outcomes` the coins on them; `base_rate` is the share after any
    verdict.
    """

    ruleset: int
    verdict: Label
    target: Target
    days: int
    days_seen: int
    outcomes: int
    rate: float
    base_rate: float


class MeasuredSkill(Struct, frozen=True):
    """All of it: recorded from `first_day` to `last_day` (`2025-07-25`), of so many coins, in so many `trials`."""

    trials: int
    first_day: str
    last_day: str
    coins: int
    looks: list[MeasuredClaim]
    followed: list[OutcomeRate]


FILE: Final = Path(__file__).with_name("measured.json")
MEASURED: Final = json.decode(FILE.read_bytes(), type=MeasuredSkill)
