"""Estimates for tests that are not about them: nothing is known of how long something takes to load."""

from service.market.loading import LoadProgress


async def series_loading(*_: object) -> LoadProgress:
    """Of the series of a coin."""
    return LoadProgress(0, 0)


def category_loading(_: str) -> LoadProgress:
    """Of a category."""
    return LoadProgress(0, 0, "categories")


def calls_wait_s(calls: int) -> float:
    """Of calls to CoinGecko: 15 s each."""
    return 15.0 * calls
