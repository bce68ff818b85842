"""The room, opened: a desk that answers, and the loop that follows the chain."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.market.room import Market
from service.market.schedule import Lead, Loop, noting, running
from service.market.shelf import Shelf
from service.storage.database import Database
from service.wallets.desk import WalletDesk
from service.wallets.ledger import WalletLedger
from service.wallets.nodes import open_nodes
from service.wallets.prices import Prices
from service.wallets.refresh import EVERY_S, WalletRefresh
from service.wallets.store import Scanned, WalletStore
from service.wallets.watchlist import Watched, Watchlist
from service.wire.cursor import Cursors


class Followed(Struct, frozen=True):
    """What is followed: the wallets of the operator's file, by JSON-RPC of whom, and which history they tell."""

    listed: Sequence[Watched]
    nodes: Sequence[str]
    origin: Callable[[], str]


@asynccontextmanager
async def open_wallets(
    database: Database,
    shelf: Shelf,
    cursors: Cursors,
    market: Market,
    clock: Clock,
    followed: Followed,
    lead: Lead,
) -> AsyncIterator[WalletDesk]:
    """Open the room; it answers at once from what the store holds.

    Args:
        database: Where the room keeps what it knows.
        shelf: Where it keeps how far it has read; its owner goes on following it.
        cursors: Writes and reads where pages begin.
        market: What coins are worth.
        clock: All of its time.
        followed: What is followed.
        lead: Whether this process is the one that asks nodes.

    Yields:
        The desk.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    watchlist = Watchlist(database, followed.listed, clock)
    drawer = shelf.drawer("wallets.scanned", Scanned)

    def price_of(symbol: str) -> float | None:
        coin = market.coins.view().get(symbol)
        return None if coin is None else coin.price

    async with open_nodes(followed.nodes, clock) as nodes:
        refresh = WalletRefresh(
            clock, WalletLedger(database), nodes, Prices(price_of), drawer, watchlist.addresses, followed.origin
        )
        desk = WalletDesk(clock, watchlist, WalletStore(database), drawer, cursors, nodes.readiness)
        await shelf.follow()
        loop = Loop("wallets", noting(refresh.round, desk.tried), EVERY_S, after=market.paid)
        async with running([loop], lead, clock):
            yield desk
