"""Rule set version 2, as data: every bound, point and sentence of a verdict.

A table is read from its top: the first row that holds is the one. Every change here is a new version, or verdicts that
were given by this one could not be recomputed any more.
"""

from typing import Final

from service.verdict.tables import (
    BandRow,
    ConfidenceLevel,
    ConfidenceRules,
    GradeRow,
    NameRow,
    RuleGroup,
    RuleTablesV2,
    VerdictRule,
)

_FOR: Final = " This counts for {symbol}."
_NEITHER: Final = " This counts neither way."
_AGAINST: Final = " This counts against {symbol}."


def _trend(id_: str, input_: str, bars: str, weight: float) -> VerdictRule:
    subject = "The " + bars + " trend of {symbol}"
    line = " its SuperTrend line in every comparison."
    return VerdictRule(
        id_,
        input_,
        weight,
        subject,
        names=(
            NameRow("UP", weight, subject + " is UP: {symbol} is above" + line + _FOR),
            NameRow("HODL", 0.0, subject + " is HODL: its SuperTrend lines disagree." + _NEITHER),
            NameRow("DOWN", -weight, subject + " is DOWN: {symbol} is below" + line + _AGAINST),
        ),
    )


def _regime(id_: str, input_: str, subject: str, conviction: str) -> VerdictRule:
    return VerdictRule(
        id_,
        input_,
        0.5,
        subject,
        names=(
            NameRow("risk-on", 0.5, subject + " is risk-on" + conviction + "." + _FOR),
            NameRow("neutral", 0.0, subject + " is neutral" + conviction + "." + _NEITHER),
            NameRow("risk-off", -0.5, subject + " is risk-off" + conviction + "." + _AGAINST),
        ),
    )


_PAID: Final = "Funding of {symbol} averaged {figure} % a year over the last 24 hours"

_FUNDING: Final = VerdictRule(
    "funding-level",
    "funding.apr_24h",
    0.75,
    "The 24-hour mean of funding of {symbol}",
    bands=(
        BandRow(43.8, None, -0.75, _PAID + ", at or above {limit} %: the long side is crowded." + _AGAINST),
        BandRow(21.9, None, -0.5, _PAID + ", at or above {limit} %: the long side is becoming crowded." + _AGAINST),
        BandRow(None, -21.9, 0.75, _PAID + ", at or below {limit} %: the short side is crowded." + _FOR),
        BandRow(None, -10.95, 0.5, _PAID + ", at or below {limit} %: the short side is becoming crowded." + _FOR),
        BandRow(None, None, 0.0, _PAID + ": neither side is crowded." + _NEITHER),
    ),
)

_MEANS: Final = "Funding of {symbol} averaged {day} % a year over the last 24 hours and {week} % over 7 days: "

_MOMENTUM: Final = VerdictRule(
    "funding-momentum",
    "funding.apr_24h - funding.apr_7d",
    0.25,
    "The change of funding of {symbol}",
    bands=(
        BandRow(10.0, None, 0.25, _MEANS + "{change} points higher, so demand to be long grows." + _FOR),
        BandRow(None, -10.0, -0.25, _MEANS + "{change} points lower, so demand to be long falls." + _AGAINST),
        BandRow(None, None, 0.0, _MEANS + "{change} points apart, less than 10." + _NEITHER),
    ),
)

_STANCE: Final = "Sentiment on {symbol} is "

_SENTIMENT: Final = VerdictRule(
    "sentiment",
    "sentiment.stance",
    0.5,
    "Sentiment on {symbol}",
    names=(
        NameRow("accumulation", 0.5, _STANCE + "accumulation." + _FOR),
        NameRow("capitulation", 0.5, _STANCE + "capitulation." + _FOR),
        NameRow("exhaustion", 0.0, _STANCE + "exhaustion." + _NEITHER),
        NameRow("neutral", 0.0, _STANCE + "neutral." + _NEITHER),
        NameRow("distribution", -0.5, _STANCE + "distribution." + _AGAINST),
        NameRow("euphoria", -0.5, _STANCE + "euphoria." + _AGAINST),
    ),
)

TABLES_V2: Final = RuleTablesV2(
    name="verdict-rules",
    version=2,
    rules=(
        _trend("trend-daily", "risk.trend_daily", "daily", 0.5),
        _trend("trend-weekly", "risk.trend_weekly", "weekly", 1.0),
        _regime("regime-market", "regime.market", "The regime of the market", ""),
        _regime("regime-coin", "regime.coin", "The regime of {symbol}", "{conviction}"),
        _FUNDING,
        _MOMENTUM,
        _SENTIMENT,
    ),
    groups=(
        RuleGroup("trend", 2.5, ("trend-daily", "trend-weekly", "regime-market", "regime-coin")),
        RuleGroup("positioning", 1.0, ("funding-level", "funding-momentum")),
        RuleGroup("mood", 0.5, ("sentiment",)),
    ),
    grades=(
        GradeRow("strong-bull", 2.5, None),
        GradeRow("bull", 1.0, None),
        GradeRow("strong-bear", None, -2.5),
        GradeRow("bear", None, -1.0),
        GradeRow("neutral", None, None),
    ),
    trust=ConfidenceRules(
        levels=(ConfidenceLevel("high", 0.75), ConfidenceLevel("medium", 0.5), ConfidenceLevel("low", 0.0)),
        full=0.9,
        half=0.6,
        least=0.5,
        stale_counts=0.5,
    ),
    step=0.0001,
    missing="{subject} is not known and does not count.",
    stale="This input could not be refreshed, which lowers confidence.",
)
"""Contributions are multiples of a quarter and weights sum to 4: every sum of them is exact."""
