"""The recorded market, as the protocol and its tests read it: bars and payments of 116 coins."""

from collections import defaultdict
from functools import cache

from service.analytics.market import Market
from service.analytics.recomputed import Funding, Inputs, recompute
from service.clock import DAY_MS
from tests.market.recordings import coins, funding, history


@cache
def market() -> Market:
    """All recorded coins, by ticker."""
    return Market({coin.upper(): rows for coin, rows in history().items()})


@cache
def inputs() -> Inputs:
    """What rules would have read of them on every day."""
    return recompute(market(), {coin.upper(): paid_by_day(coin) for coin in coins() if funding(coin)})


def paid_by_day(coin: str) -> Funding:
    """Hourly payments by the day that they end in."""
    rates: dict[int, list[float]] = defaultdict(list)
    for row in funding(coin):
        rates[(row["time"] - 1) // DAY_MS].append(float(row["fundingRate"]))
    return Funding(
        list(rates),
        [sum(of_day) for of_day in rates.values()],
        [float(len(of_day)) for of_day in rates.values()],
        [of_day[-1] for of_day in rates.values()],
    )
