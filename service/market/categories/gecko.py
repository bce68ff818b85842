"""What is kept of CoinGecko as documents: who our coins are there, its categories, and who belongs to them."""

from typing import Any, Final, NamedTuple

from msgspec import Struct

from service.market.observed import Failure
from service.market.shelf import Drawer, Kept, Shelf
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.upstream.failure import UpstreamError

UPSTREAM: Final = "coingecko"
"""Its name in errors."""


class GeckoCoins(Struct, frozen=True):
    """Ticker of the venue → the coin it is at CoinGecko, as last seen there; by `identity`'s rule."""

    coins: dict[str, GeckoCoin]


class GeckoCategories(Struct, frozen=True):
    """All categories, the largest first."""

    categories: tuple[GeckoCategory, ...]


class Membership(Struct, frozen=True):
    """Ids of a category's coins that have tickers of the venue's, and when that was read."""

    ids: frozenset[str]
    read_ms: int


class GeckoMembers(Struct, frozen=True):
    """Id of a category → its coins; a category that is missing has not been read yet."""

    members: dict[str, Membership]


class GeckoDrawers(NamedTuple):
    """The three documents."""

    coins: Drawer[GeckoCoins]
    categories: Drawer[GeckoCategories]
    members: Drawer[GeckoMembers]

    @classmethod
    def on(cls, shelf: Shelf) -> "GeckoDrawers":
        """Open them on a shelf; `shelf.follow` reads them."""
        return cls(
            shelf.drawer("market.gecko.coins", GeckoCoins),
            shelf.drawer("market.gecko.categories", GeckoCategories),
            shelf.drawer("market.gecko.members", GeckoMembers),
        )


def known_coins(kept: Kept[GeckoCoins]) -> dict[str, GeckoCoin]:
    """Ticker of the venue → the coin it is, whatever the age."""
    return {} if kept.value is None else kept.value.coins


def known_members(kept: Kept[GeckoMembers]) -> dict[str, Membership]:
    """Id of a category → its coins, whatever the age."""
    return {} if kept.value is None else kept.value.members


async def note_failure(drawer: Drawer[Any], now_ms: int, error: UpstreamError) -> None:
    """Write into a document how asking for it failed.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be written.
    """
    await drawer.fail(Failure(now_ms, error.upstream_status, error.body))
