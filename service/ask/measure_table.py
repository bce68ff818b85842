"""Every measure a question can ask for: its unit, its label, and which times and operations it has.

To add a measure: a row here, its words in `parser/lexicon.toml`, and, where it is no column of the coins table, how it
is computed: in `planner/bars.py` if it is a price of bars, else in `planner/values.py`. The opening price touched three
files of `service/`: this one, the lexicon and `planner/bars.py`.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct


class Unit(Enum):
    """Unit of a measure's values."""

    USD = "US dollars"
    PERCENT = "percent"
    PERCENT_A_YEAR = "percent a year"
    RATE = "percent of a shorter time than a year"
    RATIO = "a number without a unit"
    DAYS = "days"
    STATE = "a word"
    TEXT = "a sentence"
    USD_CHANGE = "US dollars gained or lost"
    SHARE = "percent of a whole"
    SPREAD = "percent a year, never negative"
    POINTS = "percentage points"
    FRACTION = "a fraction of one"
    COUNT = "a count"
    AMOUNT = "coins"
    DATE = "a UTC day as epoch milliseconds"
    INSTANT = "epoch milliseconds"


class MeasureRow(Struct, frozen=True, kw_only=True):
    """One measure.

    Attributes:
        name: Its key.
        unit: Unit of its values.
        label: What it is called in an answer, lower case.
        column: The column of the coins table that holds its present value; null: computed.
        windowed: Whether it is measured over a window; the usual one is `usual_days`.
        usual_days: Days of its usual window; 0: none.
        past: Whether past values are stored or can be computed from bars.
        states: The values of a state, from best to worst.
        market: Whether it belongs to the market as a whole and to no coin.
    """

    name: str
    unit: Unit
    label: str
    column: str | None = None
    windowed: bool = False
    usual_days: int = 0
    past: bool = False
    states: tuple[str, ...] = ()
    market: bool = False


_TREND: Final = ("UP", "HODL", "DOWN")
_VERDICT: Final = ("strong-bull", "bull", "neutral", "bear", "strong-bear")
_REGIME: Final = ("risk-on", "neutral", "risk-off")
_STANCE: Final = ("euphoria", "accumulation", "neutral", "distribution", "exhaustion", "capitulation")

_ROWS: Final = (
    MeasureRow(name="price", unit=Unit.USD, label="price", column="price", past=True),
    MeasureRow(name="change", unit=Unit.PERCENT, label="change", windowed=True, usual_days=1, past=True),
    MeasureRow(name="high", unit=Unit.USD, label="high", windowed=True, usual_days=1, past=True),
    MeasureRow(name="low", unit=Unit.USD, label="low", windowed=True, usual_days=1, past=True),
    MeasureRow(name="open", unit=Unit.USD, label="open", windowed=True, usual_days=1, past=True),
    MeasureRow(name="close", unit=Unit.USD, label="close", windowed=True, usual_days=1, past=True),
    MeasureRow(name="drawdown", unit=Unit.PERCENT, label="drawdown", windowed=True, usual_days=365, past=True),
    MeasureRow(
        name="from_high", unit=Unit.PERCENT, label="distance from the high", windowed=True, usual_days=365, past=True
    ),
    MeasureRow(name="from_low", unit=Unit.PERCENT, label="rise from the low", windowed=True, usual_days=365, past=True),
    MeasureRow(name="volatility", unit=Unit.SPREAD, label="volatility", windowed=True, usual_days=30, past=True),
    MeasureRow(name="volume", unit=Unit.USD, label="24-hour volume", column="volume_24h_usd", past=True),
    MeasureRow(name="open_interest", unit=Unit.USD, label="open interest", column="open_interest_usd"),
    MeasureRow(name="market_cap", unit=Unit.USD, label="market cap", column="market_cap", past=True),
    MeasureRow(
        name="funding", unit=Unit.PERCENT_A_YEAR, label="funding", column="funding_apr", usual_days=1, past=True
    ),
    MeasureRow(name="carry", unit=Unit.PERCENT_A_YEAR, label="carry"),
    MeasureRow(name="trend", unit=Unit.STATE, label="trend", column="trend_daily", past=True, states=_TREND),
    MeasureRow(name="streak", unit=Unit.DAYS, label="days in the daily trend", column="streak_days"),
    MeasureRow(name="regime", unit=Unit.STATE, label="regime", column="regime", past=True, states=_REGIME),
    MeasureRow(name="verdict", unit=Unit.STATE, label="verdict", column="verdict", past=True, states=_VERDICT),
    MeasureRow(name="score", unit=Unit.RATIO, label="score", column="score", past=True),
    MeasureRow(
        name="confidence", unit=Unit.STATE, label="confidence", column="confidence", states=("high", "medium", "low")
    ),
    MeasureRow(name="sentiment", unit=Unit.STATE, label="sentiment", column="sentiment_stance", states=_STANCE),
    MeasureRow(name="rank", unit=Unit.COUNT, label="rank by market cap", column="rank"),
    MeasureRow(name="correlation", unit=Unit.RATIO, label="correlation", windowed=True, usual_days=90),
    MeasureRow(name="strength", unit=Unit.POINTS, label="return against", windowed=True, usual_days=7, past=True),
    MeasureRow(name="fear_greed", unit=Unit.RATIO, label="Fear & Greed index", market=True),
    MeasureRow(name="breadth", unit=Unit.SHARE, label="breadth", market=True),
    MeasureRow(name="conviction", unit=Unit.RATIO, label="conviction of the market regime", market=True),
    MeasureRow(name="market_regime", unit=Unit.STATE, label="market regime", market=True, past=True, states=_REGIME),
)

MEASURES: Final[Mapping[str, MeasureRow]] = {row.name: row for row in _ROWS}
"""By name."""
