"""Estimates for tests that are not about them: nothing is known of how long something takes to load."""

from service.market.filling import Filling


async def series_loading(*_: object) -> Filling:
    """Of the series of a coin."""
    return Filling(0, 0)


def category_loading(_: str) -> Filling:
    """Of a category."""
    return Filling(0, 0, "categories")


def calls_wait_s(calls: int) -> float:
    """Of calls to CoinGecko: 15 s each."""
    return 15.0 * calls
