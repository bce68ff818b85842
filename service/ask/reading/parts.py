"""Which part of a table a text asks about: a strategy, a side of funding, a route as one asks what it costs. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

_PARTS: Final[Mapping[tuple[str, ...], str]] = {
    tuple(phrase.split()): part
    for part, phrases in {
        "trend-following": "trend following, trend strategy, trend strategies, trend follower, trend followers",
        "cross-sectional-momentum": "cross sectional, momentum",
        "funding-reversion": "reversion, funding strategy, funding strategies",
        "hot": "hot, overheated",
        "cold": "cold",
        "coin.risk": "risk call, risk route, risk endpoint, risk context, coin risk",
        "coin.historical": "historical call, historical route, historical endpoint, coin historical, history call",
        "signal": "signal, signals, verdict, verdicts",
        "regime": "regime, regimes",
        "market.health": "market health, health call, health route, health endpoint",
        "market.crossing": "market crossing, crossing call, crossing route, crossings",
        "funding.alerts": "alert, alerts, funding alerts",
        "category.info": "category info, category call, category route",
        "category.sentiment": "category sentiment",
        "rwa.symbol": "rwa symbol, rwa call",
        "rwa.assets": "rwa assets, rwa list",
        "walkforward": "walkforward, walk forward, backtest, backtests",
    }.items()
    for phrase in phrases.split(", ")
}
_LONGEST: Final = max(map(len, _PARTS))


def find_part(words: Sequence[str]) -> str | None:
    """The part that is named by the most words, the first of equals; null where none is.

    Args:
        words: Of a masked text.
    """
    for size in range(_LONGEST, 0, -1):
        for at in range(len(words) - size + 1):
            part = _PARTS.get(tuple(words[at : at + size]))
            if part is not None:
                return part
    return None
