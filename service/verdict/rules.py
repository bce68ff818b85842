"""One rule, applied to what was given. Pure: it reads the rule's table and knows no rule by name."""

from typing import Final, NamedTuple

from service.verdict.tables import Rule, Tables, bound_of, category_of, nearest_figure, nearest_name, row_of
from service.verdict.wording import tell, tell_missing
from service.wire.verdict import AppliedRule, VerdictInputs, VerdictRaw

_MINUS: Final = " - "
_DECIMALS: Final = 4


class Finding(NamedTuple):
    """A rule as applied, its sentence, and how much of its weight is covered: 0 unknown, in part where stale, 1."""

    applied: AppliedRule
    sentence: str
    covered: float


def apply(tables: Tables, rule: Rule, inputs: VerdictInputs, index: int) -> Finding:
    """Apply one rule.

    Args:
        tables: Those of the rule.
        rule: From the tables.
        inputs: What is known.
        index: Which sentence of evidence its sentence will be.

    Returns:
        What follows; where its input is not known, it contributes nothing and covers nothing.
    """
    value = _value(rule, inputs.raw)
    if value is None:
        missing = AppliedRule(rule.id, rule.input, None, None, 0.0, index, None)
        return Finding(missing, tell_missing(tables, rule, inputs), 0.0)
    stale = _is_stale(rule, inputs)
    covered = tables.trust.stale_counts if stale else 1.0
    if isinstance(value, str):
        category = category_of(rule, value)
        named = AppliedRule(rule.id, rule.input, value, value, category.contribution, index, nearest_name(rule, value))
        return Finding(named, tell(tables, rule, category.sentence, inputs, None, stale=stale), covered)
    band, flips_at = row_of(rule.bands, value), nearest_figure(rule, value, tables.step)
    bound = bound_of(band)
    # Between all bounds it is because the nearest one is not reached.
    threshold = flips_at if bound is None else bound
    measured = AppliedRule(rule.id, rule.input, value, threshold, band.contribution, index, flips_at)
    return Finding(measured, tell(tables, rule, band.sentence, inputs, value, stale=stale), covered)


def weigh(tables: Tables, rule: Rule, inputs: VerdictInputs) -> tuple[float, float]:
    """What `apply` finds without the sentence: the contribution of a rule, and how much of its weight is covered."""
    value = _value(rule, inputs.raw)
    if value is None:
        return 0.0, 0.0
    row = category_of(rule, value) if isinstance(value, str) else row_of(rule.bands, value)
    return row.contribution, tables.trust.stale_counts if _is_stale(rule, inputs) else 1.0


def _value(rule: Rule, raw: VerdictRaw) -> str | float | None:
    path, minus, other = rule.input.partition(_MINUS)
    value = _at(raw, path)
    if not minus:
        return value + 0.0 if isinstance(value, float) else value
    less = _at(raw, other)
    if isinstance(value, float) and isinstance(less, float):
        return round(value - less, _DECIMALS) + 0.0
    return None


def _at(raw: VerdictRaw, path: str) -> str | float | None:
    source, _, field = path.partition(".")
    facts = getattr(raw, source)
    value: str | float | None = None if facts is None else getattr(facts, field)
    return value


def _is_stale(rule: Rule, inputs: VerdictInputs) -> bool:
    """Whether the input could not be refreshed: the risk context names its fields, the others are stale as a whole."""
    source, _, field = rule.input.partition(".")
    if inputs.raw.risk is not None and source == "risk":
        return field in inputs.raw.risk.stale_fields
    state: str = getattr(inputs.sources, source)
    return state == "stale"
