"""Rule set version 1, kept so that verdicts and ledger entries of that version stay verifiable. It is never changed.

Its digest is part of every verdict it gave. A change to any name, number or sentence here breaks all of them.
"""

from typing import Final

from service.verdict.tables import (
    BandRow,
    ConfidenceLevel,
    ConfidenceRules,
    GradeRow,
    NameRow,
    RuleTablesV1,
    VerdictRule,
)


def _trend(id_: str, input_: str, bars: str) -> VerdictRule:
    said = "{symbol}'s " + bars + " trend is "
    return VerdictRule(
        id_,
        input_,
        1.0,
        "{symbol}'s " + bars + " trend",
        names=(
            NameRow("UP", 1.0, said + "UP, above its SuperTrend line in every comparison, which counts for it."),
            NameRow("HODL", 0.0, said + "HODL, with its SuperTrend lines at odds, which counts neither way."),
            NameRow("DOWN", -1.0, said + "DOWN, below its SuperTrend line in every comparison: it counts against it."),
        ),
    )


def _regime(id_: str, input_: str, whose: str, conviction: str) -> VerdictRule:
    said = whose + " regime is "
    return VerdictRule(
        id_,
        input_,
        0.5,
        whose + " regime",
        names=(
            NameRow("risk-on", 0.5, said + "risk-on" + conviction + ", which counts for {symbol}."),
            NameRow("neutral", 0.0, said + "neutral" + conviction + ", which counts neither way."),
            NameRow("risk-off", -0.5, said + "risk-off" + conviction + ", which counts against {symbol}."),
        ),
    )


_FUNDING: Final = VerdictRule(
    "funding-level",
    "risk.funding_apr",
    0.5,
    "Funding on {symbol}",
    bands=(
        BandRow(
            43.8,
            None,
            -0.5,
            "{paid} on {symbol}, at or above {bound} %: the long side is crowded, which counts against it.",
        ),
        BandRow(
            21.9,
            None,
            -0.25,
            "{paid} on {symbol}, at or above {bound} %: the long side is filling up, which counts against it.",
        ),
        BandRow(
            None,
            -21.9,
            0.5,
            "{paid} on {symbol}, at or above {bound} %: the short side is crowded, which counts for it.",
        ),
        BandRow(
            None,
            -10.95,
            0.25,
            "{paid} on {symbol}, at or above {bound} %: the short side is filling up, which counts for it.",
        ),
        BandRow(None, None, 0.0, "{paid} on {symbol}: neither side is crowded, which counts neither way."),
    ),
)

_MEANS: Final = "Funding on {symbol} averaged {day} % a year over 24 hours and {week} % over 7 days, "

_MOMENTUM: Final = VerdictRule(
    "funding-momentum",
    "funding.apr_24h - funding.apr_7d",
    0.25,
    "Funding momentum of {symbol}",
    bands=(
        BandRow(10.0, None, 0.25, _MEANS + "{change} points up: demand to be long is growing, which counts for it."),
        BandRow(
            None, -10.0, -0.25, _MEANS + "{change} points down: demand to be long is fading, which counts against it."
        ),
        BandRow(None, None, 0.0, _MEANS + "{change} points apart: under 10, which counts neither way."),
    ),
)

_SAID: Final = "Sentiment on {symbol} is "
_FOR_IT: Final = ", which counts for it."
_AGAINST_IT: Final = ", which counts against it."
_NEITHER_WAY: Final = ", which counts neither way."

_SENTIMENT: Final = VerdictRule(
    "sentiment",
    "sentiment.stance",
    0.25,
    "Sentiment on {symbol}",
    names=(
        NameRow("accumulation", 0.25, _SAID + "accumulation" + _FOR_IT),
        NameRow("capitulation", 0.25, _SAID + "capitulation" + _FOR_IT),
        NameRow("exhaustion", 0.0, _SAID + "exhaustion" + _NEITHER_WAY),
        NameRow("neutral", 0.0, _SAID + "neutral" + _NEITHER_WAY),
        NameRow("distribution", -0.25, _SAID + "distribution" + _AGAINST_IT),
        NameRow("euphoria", -0.25, _SAID + "euphoria" + _AGAINST_IT),
    ),
)

TABLES_V1: Final = RuleTablesV1(
    name="verdict-rules",
    version=1,
    rules=(
        _trend("trend-daily", "risk.trend_daily", "daily"),
        _trend("trend-weekly", "risk.trend_weekly", "weekly"),
        _regime("regime-market", "regime.market", "The market's", ""),
        _regime("regime-coin", "regime.coin", "{symbol}'s own", "{conviction}"),
        _FUNDING,
        _MOMENTUM,
        _SENTIMENT,
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
    claim=0.05,
    missing="{subject} is not known and does not count.",
    stale="This could not be refreshed, which lowers confidence.",
)
