"""Rule set version 1, kept so that verdicts and ledger entries of that version stay verifiable. It is never changed.

Its digest is part of every verdict it gave. A change to any name, number or sentence here breaks all of them.
"""

from typing import Final

from service.verdict.tables import Band, Category, Grade, Level, Rule, TablesV1, Trust


def _trend(id_: str, input_: str, bars: str) -> Rule:
    said = "{symbol}'s " + bars + " trend is "
    return Rule(
        id_,
        input_,
        1.0,
        "{symbol}'s " + bars + " trend",
        names=(
            Category("UP", 1.0, said + "UP, above its SuperTrend line in every comparison, which counts for it."),
            Category("HODL", 0.0, said + "HODL, with its SuperTrend lines at odds, which counts neither way."),
            Category("DOWN", -1.0, said + "DOWN, below its SuperTrend line in every comparison: it counts against it."),
        ),
    )


def _regime(id_: str, input_: str, whose: str, conviction: str) -> Rule:
    said = whose + " regime is "
    return Rule(
        id_,
        input_,
        0.5,
        whose + " regime",
        names=(
            Category("risk-on", 0.5, said + "risk-on" + conviction + ", which counts for {symbol}."),
            Category("neutral", 0.0, said + "neutral" + conviction + ", which counts neither way."),
            Category("risk-off", -0.5, said + "risk-off" + conviction + ", which counts against {symbol}."),
        ),
    )


_FUNDING: Final = Rule(
    "funding-level",
    "risk.funding_apr",
    0.5,
    "Funding on {symbol}",
    bands=(
        Band(
            43.8,
            None,
            -0.5,
            "{paid} on {symbol}, at or above {bound} %: the long side is crowded, which counts against it.",
        ),
        Band(
            21.9,
            None,
            -0.25,
            "{paid} on {symbol}, at or above {bound} %: the long side is filling up, which counts against it.",
        ),
        Band(
            None,
            -21.9,
            0.5,
            "{paid} on {symbol}, at or above {bound} %: the short side is crowded, which counts for it.",
        ),
        Band(
            None,
            -10.95,
            0.25,
            "{paid} on {symbol}, at or above {bound} %: the short side is filling up, which counts for it.",
        ),
        Band(None, None, 0.0, "{paid} on {symbol}: neither side is crowded, which counts neither way."),
    ),
)

_MEANS: Final = "Funding on {symbol} averaged {day} % a year over 24 hours and {week} % over 7 days, "

_MOMENTUM: Final = Rule(
    "funding-momentum",
    "funding.apr_24h - funding.apr_7d",
    0.25,
    "Funding momentum of {symbol}",
    bands=(
        Band(10.0, None, 0.25, _MEANS + "{change} points up: demand to be long is growing, which counts for it."),
        Band(
            None, -10.0, -0.25, _MEANS + "{change} points down: demand to be long is fading, which counts against it."
        ),
        Band(None, None, 0.0, _MEANS + "{change} points apart: under 10, which counts neither way."),
    ),
)

_SAID: Final = "Sentiment on {symbol} is "
_FOR_IT: Final = ", which counts for it."
_AGAINST_IT: Final = ", which counts against it."
_NEITHER_WAY: Final = ", which counts neither way."

_SENTIMENT: Final = Rule(
    "sentiment",
    "sentiment.stance",
    0.25,
    "Sentiment on {symbol}",
    names=(
        Category("accumulation", 0.25, _SAID + "accumulation" + _FOR_IT),
        Category("capitulation", 0.25, _SAID + "capitulation" + _FOR_IT),
        Category("exhaustion", 0.0, _SAID + "exhaustion" + _NEITHER_WAY),
        Category("neutral", 0.0, _SAID + "neutral" + _NEITHER_WAY),
        Category("distribution", -0.25, _SAID + "distribution" + _AGAINST_IT),
        Category("euphoria", -0.25, _SAID + "euphoria" + _AGAINST_IT),
    ),
)

TABLES_V1: Final = TablesV1(
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
        Grade("strong-bull", 2.5, None),
        Grade("bull", 1.0, None),
        Grade("strong-bear", None, -2.5),
        Grade("bear", None, -1.0),
        Grade("neutral", None, None),
    ),
    trust=Trust(
        levels=(Level("high", 0.75), Level("medium", 0.5), Level("low", 0.0)),
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
