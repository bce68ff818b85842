"""What the protocol of decision 9 finds on the recorded days: `python -m tests.verdict.evaluate` (`make eval`).

With `--write` it writes what the service ships and the tables of decision 10.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from service.analytics.calibration import protocol
from service.analytics.calibration.fits import Isotonic
from service.analytics.calibration.protocol import TARGETS, Measured, Trial
from service.analytics.calibration.skill import Decomposition, Skill, decompose
from service.analytics.recomputed import DayInputs, JudgedDays, judge_inputs
from service.clock import DAY_MS, iso
from service.verdict import measured
from service.verdict.recompute import plain_rules
from service.verdict.ruleset import VERSION_1, VERSION_2
from tests.market.recordings import DATA
from tests.verdict import recorded_days

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "decisions" / "0010-measured-skill.md"
LABELS = [grade.verdict for grade in VERSION_2.tables.grades]
RULE_SETS = (VERSION_1, VERSION_2)
_DECIMALS = 4
_TRIAL = (
    "| Target | Days later | Rules | Method | Days | Coin-days | Base rate | Brier | of base rate | Reliability "
    "| Resolution | Uncertainty | Skill | Interval | ICC | Effective |"
)


class Evaluation(msgspec.Struct):
    """Everything that is found."""

    inputs: DayInputs
    judged: list[JudgedDays]
    trials: list[Trial]


def evaluate() -> Evaluation:
    """Recompute every verdict and make every trial."""
    inputs = recorded_days.inputs()
    judged = [judge_inputs(inputs, plain_rules(rules)) for rules in RULE_SETS]
    return Evaluation(inputs, judged, protocol.run(inputs.closes, judged))


def shipped(found: Evaluation) -> measured.MeasuredSkill:
    """What the service ships of it."""
    first_ms = found.inputs.first_day * DAY_MS
    return measured.MeasuredSkill(
        trials=len(found.trials),
        first_day=iso(first_ms)[:10],
        last_day=iso(first_ms + (len(found.inputs.closes) - 1) * DAY_MS)[:10],
        coins=len(found.inputs.coins),
        looks=[_look(found, trial, trial.look) for trial in found.trials if trial.look is not None],
        followed=list(_followed(found)),
    )


def _look(found: Evaluation, trial: Trial, look: Measured) -> measured.MeasuredClaim:
    assert isinstance(look.skill, Skill), look.skill
    return measured.MeasuredClaim(
        ruleset=trial.ruleset,
        target=trial.target,
        days=trial.horizon,
        method=trial.method,
        days_seen=look.days,
        base_rate=_round(look.base_rate),
        brier=_round(look.brier),
        brier_of_base_rate=_round(look.brier_of_base_rate),
        skill=_round(look.skill.value),
        skill_low=_round(look.skill.low),
        skill_high=_round(look.skill.high),
        bins=[measured.ReliabilityBin(*map(_round, one)) for one in look.bins],
        model=_model(found, trial) if trial.is_earned else None,
    )


def _model(found: Evaluation, trial: Trial) -> measured.IsotonicModel | measured.LogisticModel:
    """The chosen method, fitted on all recorded days."""
    judged = next(judged for judged in found.judged if judged.version == trial.ruleset)
    outcome = protocol.outcomes(found.inputs.closes, trial.target, trial.horizon)
    model = protocol.fit_all(judged, outcome, trial.method)
    if isinstance(model, Isotonic):
        return measured.IsotonicModel(model.starts.tolist(), [_round(level) for level in model.levels.tolist()])
    return measured.LogisticModel(_round(model.intercept), [_round(one) for one in model.coefficients.tolist()])


def _followed(found: Evaluation) -> Iterator[measured.OutcomeRate]:
    for judged in found.judged:
        for target in TARGETS:
            for horizon in protocol.HORIZONS:
                outcome = protocol.outcomes(found.inputs.closes, target, horizon)
                known = ~np.isnan(outcome) & ~np.isnan(judged.score)
                for at, label in enumerate(LABELS):
                    own = known & (judged.verdict == at)
                    yield measured.OutcomeRate(
                        judged.version,
                        label,
                        target,
                        horizon,
                        days_seen=int(own.any(axis=1).sum()),
                        outcomes=int(own.sum()),
                        rate=_round(float(outcome[own].mean())),
                        base_rate=_round(float(outcome[known].mean())),
                    )


def document(found: Evaluation) -> str:
    """Decision 10: what was measured, and what follows."""
    told = shipped(found)
    earned = [trial for trial in found.trials if trial.is_earned]
    return "\n".join(
        [
            "# 10. Measured skill of the rule sets",
            "",
            "Status: accepted. Written by `python -m tests.verdict.evaluate --write` from the recorded days, by the",
            "protocol of decision 9; `make eval` prints it again. Do not edit it by hand.",
            "",
            "## Conclusion",
            "",
            *_conclusion(earned, len(found.trials)),
            "",
            "## Data",
            "",
            f"{told.coins} coins from {told.first_day} to {told.last_day}; funding of 40 of them from 2024-01-01.",
            "Sentiment was not recorded, so its rule is silent.",
            "",
            "## The one look at the last fifth of the days",
            "",
            *_table((trial, trial.look) for trial in found.trials if trial.look is not None),
            "",
            "The interval of skill is one-sided at 5 % over all trials on each side. ICC is the intraclass correlation",
            "of the target within a day; `Effective` is how many independent outcomes the coin-days are worth.",
            "",
            "## The fifth that the method was chosen on",
            "",
            *_table((trial, trial.choice) for trial in found.trials),
            "",
            "## What followed each verdict",
            "",
            "Over all recorded days, as shares of coin-days.",
            "",
            "| Rules | Verdict | Target | Days later | Days | Coin-days | Came true | Base rate |",
            "|---|---|---|---|---|---|---|---|",
            *(
                f"| {one.ruleset} | {one.verdict} | {one.target} | {one.days} | {one.days_seen} | {one.outcomes} "
                f"| {one.rate:.1%} | {one.base_rate:.1%} |"
                for one in told.followed
            ),
            "",
        ]
    )


def _conclusion(earned: Sequence[Trial], trials: int) -> Iterator[str]:
    if not earned:
        yield f"None of {trials} trials showed skill on days that were used neither to fit nor to choose. No"
        yield "probability is published; every claim says what was measured instead."
        return
    yield f"{len(earned)} of {trials} trials earned a claim:"
    yield ""
    yield from (
        f"- `{trial.target}` after {trial.horizon} days, rule set {trial.ruleset}, {trial.method}." for trial in earned
    )


def _table(rows: Iterator[tuple[Trial, Measured]]) -> Iterator[str]:
    yield _TRIAL
    yield "|---" * (_TRIAL.count("|") - 1) + "|"
    for trial, one in rows:
        parts, skill = decompose(one.bins), one.skill
        assert isinstance(parts, Decomposition), parts
        assert isinstance(skill, Skill), skill
        assert isinstance(one.intraclass, float), one.intraclass
        assert isinstance(one.effective, float), one.effective
        cells = (
            trial.target,
            trial.horizon,
            trial.ruleset,
            trial.method,
            one.days,
            one.rows,
            f"{one.base_rate:.3f}",
            f"{one.brier:.4f}",
            f"{one.brier_of_base_rate:.4f}",
            *(f"{part:.4f}" for part in parts),
            f"{skill.value:+.4f}",
            f"{skill.low:+.4f} to {skill.high:+.4f}",
            f"{one.intraclass:.2f}",
            f"{one.effective:.0f}",
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _round(value: float) -> float:
    return round(value, _DECIMALS) + 0.0


def main() -> None:
    if not DATA.is_dir():
        sys.stdout.write("the recorded days are not here; decision 10 has what was measured on them\n")
        return
    found = evaluate()
    sys.stdout.write(document(found))
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(document(found))
        measured.FILE.write_bytes(msgspec.json.format(msgspec.json.encode(shipped(found)), indent=1) + b"\n")


if __name__ == "__main__":
    main()
