"""Following the chain: one round at a time, whole or as far as nodes go."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final

from service.clock import DAY_MS, Clock
from service.storage.documents import Document, FetchFailure
from service.upstream.failures import UpstreamError
from service.wallets.ledger import OvertakenError, WalletLedger
from service.wallets.nodes import Nodes
from service.wallets.prices import TransferPrices, known_contracts
from service.wallets.scan import Scanner
from service.wallets.store import Scanned
from service.wallets.tokens import describe

EVERY_S: Final = 60.0

LAG: Final = 3
"""Blocks below the head that are left alone: most forks are shorter, and nodes differ in what is newest."""

KEPT_MS: Final = 30 * DAY_MS
"""How long movements are kept, by the chain's own time."""

_CONTRACTS: Final = 500
"""Contracts that were seen and are asked for of nodes that want contracts named."""

_TOKENS: Final = 50
"""Contracts asked in one round: anybody can send a wallet a thousand worthless tokens."""

_log: Final = logging.getLogger("verdict.wallets")


class WalletRefresh:
    """Looks the chain through, round by round.

    Args:
        clock: When things are observed.
        ledger: Where it is written down.
        nodes: Who is asked.
        prices: What transfers were worth.
        prices_loaded: Set once past prices are there; a round waits for it before it values transfers.
        document: Holds how far the chain was read.
        watched: Tells the wallets that are watched: addresses in lower case.
        origin: Which history the nodes tell at this moment.
    """

    def __init__(
        self,
        clock: Clock,
        ledger: WalletLedger,
        nodes: Nodes,
        prices: TransferPrices,
        prices_loaded: asyncio.Event,
        document: Document[Scanned],
        watched: Callable[[], Awaitable[Collection[str]]],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._nodes = nodes
        self._document = document
        self._watched = watched
        self._origin = origin
        self._scanner = Scanner(ledger, nodes)
        self._prices = prices
        self._prices_loaded = prices_loaded

    async def round(self) -> None:
        """Look through what is new, for every wallet; without watched wallets, no node is asked.

        Raises:
            UpstreamError: If no node could answer; the document then says so, and what was found before that is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        watched = set(await self._watched())
        if not watched:
            return
        origin = self._origin()
        try:
            chain_id, head = await self._nodes.head()
            await self._ledger.begin(origin)
            self._nodes.know(known_contracts(chain_id) | await self._ledger.contracts(chain_id, _CONTRACTS))
            through = await self._scanner.look(chain_id, max(0, head.number - LAG), watched)
        except UpstreamError as error:
            await self._document.fail(FetchFailure(self._clock.now_ms(), error.upstream_status, error.body))
            raise
        except OvertakenError:
            _log.warning("Another process follows the chain too.")
            return
        await self._prices_loaded.wait()
        await self._value(chain_id)
        if self._origin() != origin:
            return
        observed_ms = min(head.at_ms, self._clock.now_ms())
        await self._document.put(origin, Scanned(chain_id, head.number, through), observed_ms)
        await self._ledger.prune(chain_id, observed_ms - KEPT_MS)
        await self._describe_tokens(chain_id)

    async def _value(self, chain_id: int) -> None:
        """Value the transfers that have no value; one whose price is not known is tried again in the next round."""
        contracts, after = self._prices.contracts(chain_id), (-1, -1)
        while transfers := await self._ledger.unvalued(chain_id, contracts, after):
            values = await self._prices.value(chain_id, transfers)
            known = [(transfer, value) for transfer, value in zip(transfers, values, strict=True) if value is not None]
            if known:
                await self._ledger.put_values(chain_id, known)
            after = transfers[-1].block, transfers[-1].log_index

    async def _describe_tokens(self, chain_id: int) -> None:
        """Ask contracts what they are; one that no node has an answer of is asked again after an hour."""
        for contract in await self._ledger.unasked(chain_id, self._clock.now_ms(), _TOKENS):
            try:
                token = await self._nodes.ask(partial(describe, contract=contract))
            except UpstreamError:
                token = None
            await self._ledger.tell(chain_id, contract, token, self._clock.now_ms())
