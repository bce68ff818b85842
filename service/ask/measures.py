"""What the fields of results measure, by their names: so that a figure is shown, and read again, in its own unit."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple


class Measure(Enum):
    """The unit of a figure, and so the forms that it may be shown in."""

    USD = "US dollars with the payload's digits"
    CENTS = "US dollars that were computed: shown with cents"
    PERCENT = "percent"
    POINTS = "percentage points"
    SHARE = "0 to 1, shown as percent"
    NUMBER = "a number without a unit"
    COUNT = "a count"
    DAYS = "days"
    HOURS = "hours"
    QUANTITY = "so much of a coin"
    PLACE = "how far into a recording, in seconds: shown as on its player"


class Kind(NamedTuple):
    """What a field is: its unit, and the subjects it is about (keys of `SUBJECT_WORDS`); none: anything goes."""

    measure: Measure
    about: frozenset[str]


_TABLE: Final[Mapping[tuple[Measure, str], str]] = {
    (Measure.USD, "price"): "price priceUSD entryPrice exitPrice currentPrice stop price_usdc unit_price",
    (Measure.USD, "volume"): "volume volume_24h volume_24h_usd volume_usd futuresVolume24h",
    (Measure.USD, "interest"): "openInterest open_interest_usd",
    (Measure.USD, "cap"): "marketCap market_cap",
    (Measure.CENTS, "funding"): "long_usd short_usd",
    (Measure.CENTS, "price funding"): "usd notional_usd amount_usd amount",
    (Measure.PERCENT, "funding"): "funding_apr fundingRate apr carry_if_long carry_if_short apr_24h apr_7d "
    "fundingAtTrigger fundingPct",
    (Measure.PERCENT, "change"): "change_24h change_pct returnPct unrealizedPct meanReturnPct maxDrawdownPct "
    "mean_move_pct",
    (Measure.PERCENT, ""): "share_pct costPct",
    (Measure.POINTS, "change"): "velocity",
    (Measure.POINTS, ""): "relative_pct",
    (Measure.SHARE, "sure"): "conviction confidence coverage agreement probability coin_confidence",
    (Measure.SHARE, "right"): "winRate hit_rate hit_rate_low hit_rate_high base_rate",
    (Measure.SHARE, ""): "deflatedSharpe probabilisticSharpe exposure",
    (Measure.SHARE, "funding"): "fundingKnown",
    (Measure.NUMBER, "correlation"): "btc_correlation",
    (Measure.NUMBER, "score"): "score",
    (Measure.NUMBER, "contribution"): "contribution",
    (Measure.NUMBER, ""): "slope_24h sharpe turnover percentile percentile_30d",
    (Measure.DAYS, ""): "streak_days age_days regime_age_days holdDays days",
    (Measure.HOURS, ""): "interval_hours",
    (Measure.QUANTITY, ""): "quantity",
    (Measure.PLACE, ""): "start_seconds",
    (Measure.COUNT, "used"): "used",
    (Measure.COUNT, "left"): "remaining",
    (Measure.COUNT, "used left"): "limit",
    (Measure.COUNT, "UP"): "UP up",
    (Measure.COUNT, "HODL"): "HODL",
    (Measure.COUNT, "DOWN"): "DOWN down",
}
_KINDS: Final[Mapping[str, Kind]] = {
    key: Kind(measure, frozenset(about.split())) for (measure, about), keys in _TABLE.items() for key in keys.split()
}

SUBJECT_WORDS: Final[Mapping[str, re.Pattern[str]]] = {
    "price": re.compile(
        r"\b(?:price[sd]?|trad(?:es|ing)(?=\W*(?:at|for|near|around|above|below|between)\b)|worth|entry|exit)\b",
        re.IGNORECASE,
    ),
    "volume": re.compile(r"\bvolumes?\b", re.IGNORECASE),
    "interest": re.compile(r"\bopen interest\b", re.IGNORECASE),
    "cap": re.compile(r"\bmarket cap", re.IGNORECASE),
    "funding": re.compile(r"\b(?:funding|carry|pay|pays|paid|paying|receives?|received|apr|earns?)\b", re.IGNORECASE),
    "change": re.compile(
        r"\b(?:[Uu]p|[Dd]own|(?i:changed?|moved|gain(?:s|ed)?|lost|rose|fell|returns?|returned|loss|drawdown))\b"
    ),
    "sure": re.compile(r"\b(?:confidence|conviction|sure|coverage|agreement|probability|likely)\b", re.IGNORECASE),
    "right": re.compile(r"\b(?:hit rate|win rate|won|right)\b", re.IGNORECASE),
    "correlation": re.compile(r"\bcorrelat", re.IGNORECASE),
    "score": re.compile(r"(?<!to the )(?<!brier )\bscores?\b", re.IGNORECASE),
    "contribution": re.compile(r"\bcontribut", re.IGNORECASE),
    "used": re.compile(r"\b(?:asked|used)\b", re.IGNORECASE),
    "left": re.compile(r"\b(?:left|remain(?:s|ing)?)\b", re.IGNORECASE),
    "UP": re.compile(r"\bUP\b"),
    "HODL": re.compile(r"\bHODL\b"),
    "DOWN": re.compile(r"\bDOWN\b"),
}
"""What a clause that holds one of these words is about: its figures may be no others."""

STATES: Final = frozenset({"UP", "HODL", "DOWN"})
"""Of these, the states that coins are counted in: they say nothing of other figures beside the counts."""


def words_about(measure: Measure) -> frozenset[str]:
    """The subjects that figures of a unit can have: words of others say nothing of them."""
    return next((about for measures, about in _SHARED if measure in measures), frozenset())


CHANGES_SIGN: Final = frozenset({"change", "score", "contribution", "correlation"})
"""Where a word of direction ("down") says the sign of an unsigned figure."""

_SHARED: Final = (
    ({Measure.USD, Measure.CENTS}, frozenset({"price", "volume", "interest", "cap", "funding"})),
    ({Measure.PERCENT, Measure.SHARE}, frozenset({"funding", "change", "sure", "right", "correlation"})),
    ({Measure.POINTS}, frozenset({"funding", "change"})),
    ({Measure.NUMBER}, frozenset({"price", "correlation", "score", "contribution"})),
    ({Measure.COUNT}, frozenset({"correlation", "score", "contribution", "used", "left"})),
)
_MINUS: Final = " - "
_TIMES: Final = {"h": Measure.HOURS, "d": Measure.DAYS}
_OF_RULES: Final = frozenset({"value", "threshold", "flips_at"})


def kind_of(key: str, parent: Mapping[str, Any], above: str) -> Kind:
    """Say what a field is.

    Args:
        key: The field's name.
        parent: The object that holds it: some fields mean what a neighbour says (`count` and `unit`).
        above: The name of the field that holds the parent.

    Returns:
        Its kind; a field that nobody listed is a number, and about anything.
    """
    if key in _OF_RULES and isinstance(parent.get("input"), str):
        return _of_input(parent["input"])
    plain = _KINDS.get(key) or Kind(Measure.COUNT if isinstance(parent.get(key), int) else Measure.NUMBER, frozenset())
    state = parent.get("state")
    about = frozenset({state}) if isinstance(state, str) and state in STATES else plain.about
    return Kind(_by_neighbours(key, parent, above) or plain.measure, about)


def _by_neighbours(key: str, parent: Mapping[str, Any], above: str) -> Measure | None:
    """What a field measures where its neighbours say so."""
    unit = parent.get("unit")
    if above == "breadth_pct":
        return Measure.PERCENT
    if key == "price" and parent.get("assetType") == "fx":
        return Measure.NUMBER
    if key == "count" and unit in _TIMES:
        return _TIMES[str(unit)]
    if key == "amount" and "contract" in parent:
        return Measure.QUANTITY
    if key == "amount" and isinstance(unit, str):
        return Measure.CENTS if unit == "USD" else Measure.QUANTITY
    return None


def _of_input(path: str) -> Kind:
    """What a rule of a verdict looks at, by the path of its input: `funding.apr_24h - funding.apr_7d`."""
    first, minus, _ = path.partition(_MINUS)
    found = _KINDS.get(first.rpartition(".")[2], Kind(Measure.NUMBER, frozenset()))
    if minus and found.measure is Measure.PERCENT:
        return Kind(Measure.POINTS, found.about)
    return found
