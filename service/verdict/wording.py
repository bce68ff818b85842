"""Sentences of evidence: the tables' templates, with figures that say the same as what was decided on them."""

from collections.abc import Sequence
from typing import Final

from service.verdict.tables import Band, Rule, Tables, bound_of, row_of
from service.wire.verdict import VerdictInputs

_FEWEST, _MOST = 2, 4
_PERCENT: Final = 100


def tell(tables: Tables, rule: Rule, template: str, inputs: VerdictInputs, figure: float | None, *, stale: bool) -> str:
    """Fill in the sentence of a rule.

    Args:
        tables: Those of the rule.
        rule: The rule.
        template: The sentence of the row that holds.
        inputs: Whence the words are taken.
        figure: What the row was chosen by, None where that is a name.
        stale: Whether that could not be refreshed, which is said too.
    """
    sentences = [template.format_map(_words(inputs) if figure is None else _figures(rule, inputs, figure))]
    sentiment = inputs.raw.sentiment
    if rule.input.startswith("sentiment") and sentiment is not None and sentiment.summary is not None:
        sentences.append(sentiment.summary)
    if stale:
        sentences.append(tables.stale)
    return " ".join(sentences)


def tell_missing(tables: Tables, rule: Rule, inputs: VerdictInputs) -> str:
    """Say that what a rule looks at is not known, and that it does not count."""
    return tables.missing.format(subject=rule.subject.format(symbol=inputs.symbol))


def show(figure: float, bands: Sequence[Band] = ()) -> str:
    """Write a figure with two decimals, or as many more as it takes to stay on its side of every bound.

    Trailing zeros are left out, and so is the sign of zero: 52.30 → `52.3`, 21.8999 → `21.8999`, never `21.9`.
    """
    for decimals in range(_FEWEST, _MOST + 1):
        shown = round(figure, decimals) + 0.0
        if not bands or row_of(bands, shown) is row_of(bands, figure):
            return f"{shown:,.{decimals}f}".rstrip("0").rstrip(".")
    return repr(figure)


def _words(inputs: VerdictInputs) -> dict[str, str]:
    regime = inputs.raw.regime
    sure = None if regime is None else regime.coin_confidence
    return {
        "symbol": inputs.symbol,
        "conviction": "" if sure is None else f" with {show(sure * _PERCENT)} % conviction",
    }


def _figures(rule: Rule, inputs: VerdictInputs, figure: float) -> dict[str, str]:
    size = show(figure, rule.bands).removeprefix("-")
    bound = bound_of(row_of(rule.bands, figure))
    funding = inputs.raw.funding
    return {
        "symbol": inputs.symbol,
        "figure": show(figure, rule.bands),
        "limit": "" if bound is None else show(bound),
        "paid": _paid(figure, size),
        "change": size,
        "bound": "" if bound is None else show(abs(bound)),
        "day": "" if funding is None else show(funding.apr_24h),
        "week": "" if funding is None else show(funding.apr_7d),
    }


def _paid(apr: float, size: str) -> str:
    if apr == 0:
        return "Nobody pays"
    return f"{'Longs' if apr > 0 else 'Shorts'} pay {size} % a year"
