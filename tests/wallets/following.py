"""The chain side of the room over simulated nodes."""

import asyncio
from collections.abc import Collection, Sequence

from service.market.past_prices import PastPriceReader
from service.scheduler import already_set
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.wallets.chain import Node
from service.wallets.ledger import WalletLedger
from service.wallets.nodes import Nodes
from service.wallets.prices import TransferPrices
from service.wallets.refresh import WalletRefresh
from service.wallets.store import Moved, Scanned, WalletStore
from tests.fakes.clock import FakeClock
from tests.wallets.simulated import MAINNET, Seen, SimulatedNode

VENUE_SYMBOLS = {"ETH": "ETH", "BTC": "BTC", "UNI": "UNI"}


class Following:
    """One process that follows a chain; `watched`, `origin` and the clock may be changed between rounds."""

    def __init__(
        self,
        database: Database,
        nodes: Sequence[SimulatedNode],
        watched: Collection[str],
        chain_id: int = MAINNET,
        prices_loaded: asyncio.Event | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.watched = set(watched)
        self.origin = "live"
        self.chain_id = chain_id
        self.store = WalletStore(database)
        self.ledger = WalletLedger(database)
        self.drawer = DocumentStore(database).document("wallets.scanned", Scanned)
        self.nodes = Nodes([Node(node) for node in nodes], self.clock)
        self.prices = TransferPrices(PastPriceReader(self.clock, database, list, lambda _: None), VENUE_SYMBOLS.get)
        self.refresh = WalletRefresh(
            self.clock,
            self.ledger,
            self.nodes,
            self.prices,
            prices_loaded or already_set(),
            self.drawer,
            self._watched,
            lambda: self.origin,
        )
        self._database = database

    async def _watched(self) -> set[str]:
        return self.watched

    async def round(self) -> None:
        await self.refresh.round()

    async def seen(self) -> list[Seen]:
        """What is kept of the wallets that are watched, in the chain's order."""
        return [
            (each.block, each.log_index, each.incoming, each.address, each.contract, each.counterparty, each.amount)
            for each in await self.moved()
        ]

    async def moved(self) -> list[Moved]:
        contracts = await self._database.read(
            "SELECT DISTINCT contract FROM wallet_movements WHERE chain_id = ?", (self.chain_id,)
        )
        pages = [
            await self.store.movements(self.chain_id, contract, self.watched, 100_000) for (contract,) in contracts
        ]
        return sorted((each for page in pages for each in page), key=lambda each: each.position)

    async def firsts(self) -> dict[str, int]:
        """The first block looked through for each watched wallet."""
        return {s.address: s.first for s in await self.ledger.scans(self.chain_id) if s.address in self.watched}
