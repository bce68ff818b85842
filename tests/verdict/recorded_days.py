"""The recorded market, as the protocol and its tests read it: bars and payments of 116 coins."""

from collections import defaultdict
from functools import cache

from service.analytics.market import MarketAnalytics
from service.analytics.recomputed import DayInputs, FundingDays, recompute
from service.clock import DAY_MS
from service.market.symbols import canonical
from tests.market.recordings import coins, funding, history


@cache
def market() -> MarketAnalytics:
    """All recorded coins, by ticker."""
    return MarketAnalytics({canonical(coin): rows for coin, rows in history().items()})


@cache
def inputs() -> DayInputs:
    """What rules would have read of them on every day."""
    return recompute(market(), {canonical(coin): paid_by_day(coin) for coin in coins() if funding(coin)})


def paid_by_day(coin: str) -> FundingDays:
    """Hourly payments by the day that they end in."""
    rates: dict[int, list[float]] = defaultdict(list)
    for row in funding(coin):
        rates[(row["time"] - 1) // DAY_MS].append(float(row["fundingRate"]))
    return FundingDays(
        list(rates),
        [sum(of_day) for of_day in rates.values()],
        [float(len(of_day)) for of_day in rates.values()],
        [of_day[-1] for of_day in rates.values()],
    )
