"""Applies one rule to inputs and writes its sentence. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from service.verdict.tables import (
    BandRow,
    RuleTables,
    VerdictRule,
    bound_of,
    category_row,
    matching_row,
    nearest_figure,
    nearest_name,
)
from service.wire.verdict import AppliedRule, VerdictInputs, VerdictRaw

_MINUS: Final = " - "
_DECIMALS: Final = 4


class RuleResult(NamedTuple):
    """An applied rule, its sentence, and the covered share of its weight: 0 unknown, partial if stale, else 1."""

    applied: AppliedRule
    sentence: str
    covered: float


def apply(tables: RuleTables, rule: VerdictRule, inputs: VerdictInputs, index: int) -> RuleResult:
    """Apply one rule.

    Args:
        tables: Tables of the rule set.
        rule: A rule of the tables.
        inputs: Inputs of the verdict.
        index: Place of its sentence in the evidence.

    Returns:
        The result. A rule with an unknown input contributes nothing and covers nothing.
    """
    value = _value(rule, inputs.raw)
    if value is None:
        missing = AppliedRule(rule.id, rule.input, None, None, 0.0, index, None)
        return RuleResult(missing, missing_sentence(tables, rule, inputs), 0.0)
    stale = _is_stale(rule, inputs)
    covered = tables.trust.stale_counts if stale else 1.0
    if isinstance(value, str):
        category = category_row(rule, value)
        named = AppliedRule(rule.id, rule.input, value, value, category.contribution, index, nearest_name(rule, value))
        return RuleResult(named, rule_sentence(tables, rule, category.sentence, inputs, None, stale=stale), covered)
    band, flips_at = matching_row(rule.bands, value), nearest_figure(rule, value, tables.step)
    bound = bound_of(band)
    # Between all bounds, the threshold is the nearest bound that was not reached.
    threshold = flips_at if bound is None else bound
    measured = AppliedRule(rule.id, rule.input, value, threshold, band.contribution, index, flips_at)
    return RuleResult(measured, rule_sentence(tables, rule, band.sentence, inputs, value, stale=stale), covered)


def weigh(tables: RuleTables, rule: VerdictRule, inputs: VerdictInputs) -> tuple[float, float]:
    """The contribution of a rule and the covered share of its weight, without the sentence."""
    value = _value(rule, inputs.raw)
    if value is None:
        return 0.0, 0.0
    row = category_row(rule, value) if isinstance(value, str) else matching_row(rule.bands, value)
    return row.contribution, tables.trust.stale_counts if _is_stale(rule, inputs) else 1.0


def _value(rule: VerdictRule, raw: VerdictRaw) -> str | float | None:
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


def _is_stale(rule: VerdictRule, inputs: VerdictInputs) -> bool:
    """Whether an input is stale: the risk context names its stale fields, other sources are stale as a whole."""
    source, _, field = rule.input.partition(".")
    if inputs.raw.risk is not None and source == "risk":
        return field in inputs.raw.risk.stale_fields
    state: str = getattr(inputs.sources, source)
    return state == "stale"


_FEWEST, _MOST = 2, 4
_PERCENT: Final = 100


def rule_sentence(
    tables: RuleTables, rule: VerdictRule, template: str, inputs: VerdictInputs, figure: float | None, *, stale: bool
) -> str:
    """Fill in the sentence of a rule.

    Args:
        tables: Tables of the rule set.
        rule: The rule.
        template: The sentence of the matching row.
        inputs: Inputs of the verdict.
        figure: The number that chose the row; None if a name did.
        stale: Whether the input could not be refreshed; adds a sentence.
    """
    sentences = [template.format_map(_words(inputs) if figure is None else _figures(rule, inputs, figure))]
    sentiment = inputs.raw.sentiment
    if rule.input.startswith("sentiment") and sentiment is not None and sentiment.summary is not None:
        sentences.append(sentiment.summary)
    if stale:
        sentences.append(tables.stale)
    return " ".join(sentences)


def missing_sentence(tables: RuleTables, rule: VerdictRule, inputs: VerdictInputs) -> str:
    """The sentence of a rule whose input is not known."""
    return tables.missing.format(subject=rule.subject.format(symbol=inputs.symbol))


def format_figure(figure: float, bands: Sequence[BandRow] = ()) -> str:
    """Write a number with two decimals, or more if rounding would move it over a bound.

    Without trailing zeros and negative zero: 52.30 is `52.3`, 21.8999 is `21.8999` and never `21.9`.
    """
    for decimals in range(_FEWEST, _MOST + 1):
        shown = round(figure, decimals) + 0.0
        if not bands or matching_row(bands, shown) is matching_row(bands, figure):
            return f"{shown:,.{decimals}f}".rstrip("0").rstrip(".")
    return repr(figure)


def _words(inputs: VerdictInputs) -> dict[str, str]:
    regime = inputs.raw.regime
    sure = None if regime is None else regime.coin_confidence
    return {
        "symbol": inputs.symbol,
        "conviction": "" if sure is None else f" with {format_figure(sure * _PERCENT)} % conviction",
    }


def _figures(rule: VerdictRule, inputs: VerdictInputs, figure: float) -> dict[str, str]:
    size = format_figure(figure, rule.bands).removeprefix("-")
    bound = bound_of(matching_row(rule.bands, figure))
    funding = inputs.raw.funding
    return {
        "symbol": inputs.symbol,
        "figure": format_figure(figure, rule.bands),
        "limit": "" if bound is None else format_figure(bound),
        "paid": _paid(figure, size),
        "change": size,
        "bound": "" if bound is None else format_figure(abs(bound)),
        "day": "" if funding is None else format_figure(funding.apr_24h),
        "week": "" if funding is None or funding.apr_7d is None else format_figure(funding.apr_7d),
    }


def _paid(apr: float, size: str) -> str:
    if apr == 0:
        return "Nobody pays"
    return f"{'Longs' if apr > 0 else 'Shorts'} pay {size} % a year"
