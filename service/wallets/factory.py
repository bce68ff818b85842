"""Opens the package: the service, and the task that follows the chain."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.market.factory import MarketData
from service.scheduler import Leadership, PeriodicTask, running_tasks, setting_when_done
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.wallets.ledger import WalletLedger
from service.wallets.nodes import open_nodes
from service.wallets.prices import TransferPrices
from service.wallets.refresh import EVERY_S, WalletRefresh
from service.wallets.service import WalletService
from service.wallets.store import Scanned, WalletStore
from service.wallets.watchlist import Watched, WatchedWallets
from service.wire.cursor import Cursors


class WalletSources(Struct, frozen=True):
    """What is followed: the wallets of the operator's file, by JSON-RPC of whom, and which history they tell."""

    listed: Sequence[Watched]
    nodes: Sequence[str]
    origin: Callable[[], str]


@asynccontextmanager
async def open_wallets(
    database: Database,
    documents: DocumentStore,
    cursors: Cursors,
    market: MarketData,
    clock: Clock,
    followed: WalletSources,
    lead: Leadership,
) -> AsyncIterator[WalletService]:
    """Open the package; it answers at once from what the store holds.

    Args:
        database: Holds its tables.
        documents: Holds how far the chain was read; its owner refreshes it.
        cursors: Writes and reads where pages begin.
        market: What coins were worth.
        clock: All of its time.
        followed: What is followed.
        lead: Whether this process is the one that asks nodes.

    Yields:
        The service.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    watchlist = WatchedWallets(database, followed.listed, clock)
    document = documents.document("wallets.scanned", Scanned)

    def venue_symbol(symbol: str) -> str | None:
        coin = market.coins.view().get(symbol)
        return None if coin is None else coin.venue_symbol

    async with open_nodes(followed.nodes, clock) as nodes:
        refresh = WalletRefresh(
            clock,
            WalletLedger(database),
            nodes,
            TransferPrices(market.past_prices, venue_symbol),
            market.series_loaded,
            document,
            watchlist.addresses,
            followed.origin,
        )
        service = WalletService(clock, watchlist, WalletStore(database), document, cursors, nodes.readiness)
        await documents.refresh()
        loop = PeriodicTask(
            "wallets", setting_when_done(refresh.round, service.tried), EVERY_S, after=market.funding_loaded
        )
        async with running_tasks([loop], lead, clock):
            yield service
