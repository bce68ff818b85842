"""Answers the watchlist and pages of token movements."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from service.clock import DAY_MS, HOUR_MS, Clock, iso
from service.ethereum.addresses import checksum_address
from service.market.loading import raise_unavailable
from service.storage.documents import Document
from service.wallets.store import Moved, Scanned, TokenContract, TokenMoved, WalletStore
from service.wallets.tokens import whole
from service.wallets.watchlist import Watched, WatchedWallets, find, place
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.tools import RecentMovements, RecentQuery
from service.wire.wallets import (
    MovedToken,
    Movement,
    Movements,
    MovementsMeta,
    WalletsQuery,
    WatchedWallet,
    Watchlist,
    WatchlistMeta,
)

ROUTE: Final = "wallets"
UPSTREAM: Final = "ethereum"
GONE_MS: Final = 48 * HOUR_MS
"""So old, what was seen of the chain says nothing of now."""

_spell: Final = lru_cache(4096)(checksum_address)
"""Writing one takes ten microseconds, and a page has hundreds of few."""


class WalletService:
    """Answers from what the chain's followers have kept.

    Args:
        clock: Ages are judged by it.
        watchlist: Who is watched.
        store: What moved.
        document: Holds how far the chain was read.
        cursors: Writes and reads where pages begin.
        readiness: Which node serves, in the process that asks them.

    Attributes:
        readiness: As above.
        tried: Set once the chain has been asked for the first time by this process, whatever came of it.
    """

    def __init__(
        self,
        clock: Clock,
        watchlist: WatchedWallets,
        store: WalletStore,
        document: Document[Scanned],
        cursors: Cursors,
        readiness: Callable[[], Mapping[str, object]] = dict,
    ) -> None:
        self.readiness = readiness
        self.tried = asyncio.Event()
        self._clock = clock
        self._watchlist = watchlist
        self._store = store
        self._document = document
        self._cursors = cursors

    async def wallets(self, query: WalletsQuery) -> Answer:
        """Tell who is watched, or what moved of a token in and out of them, newest first.

        What is new comes before a page, so a list that is read page by page neither repeats nor leaves out what was
        there when it was begun. Without watched wallets the answer is empty and costs nothing.

        Returns:
            The payload; `as_of` is when the newest block was read.

        Raises:
            ServiceError: `BAD_REQUEST` naming `cursor`; `NOT_FOUND` for an address that is not watched; `UPSTREAM_4XX`,
                `UPSTREAM_5XX` or `UNAVAILABLE` where the chain has not been read within 48 hours.
        """
        watched = {wallet.address: wallet for wallet in await self._watchlist.wallets()}
        if query.address is not None:
            wallet = find(watched, query.address.lower())
            watched = {wallet.address: wallet}
        if not watched:
            return Answer(_no_wallets(query), self._clock.now_ms(), counted=False)
        scanned, read_ms = self._scanned()
        if query.contract is None:
            return Answer(await self._wallets(query, list(watched.values()), scanned), read_ms)
        return Answer(await self._movements(query, query.contract.lower(), watched, scanned), read_ms)

    async def recent(self, query: RecentQuery) -> Answer:
        """The most valuable movements of the last days, of all tokens.

        Returns:
            The payload; `as_of` is when the newest block was read. Without watched wallets it is empty and
            costs nothing.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` as `wallets`.
        """
        now_ms = self._clock.now_ms()
        since_ms = now_ms - query.days * DAY_MS
        watched = {wallet.address: wallet for wallet in await self.watched()}
        if not watched:
            return Answer(RecentMovements(iso(since_ms), query.days, 0, None, 0, []), now_ms, counted=False)
        scanned, read_ms = self._scanned()
        found, total = await self._store.largest(scanned.chain_id, list(watched), since_ms, query.limit)
        items = [_tell_movement(moved, token, watched[moved.address].label) for moved, token in found]
        of = (iso(since_ms), query.days, len(watched), scanned.chain_id)
        return Answer(RecentMovements(*of, total, items), read_ms)

    async def watched(self) -> list[Watched]:
        """Who is watched."""
        return await self._watchlist.wallets()

    @property
    def chain_id(self) -> int | None:
        """The chain that is followed; null before it has been read."""
        kept = self._document.current.value
        return None if kept is None else kept.chain_id

    def _scanned(self) -> tuple[Scanned, int]:
        kept = self._document.current
        if kept.value is None or kept.observed_ms is None or self._clock.now_ms() - kept.observed_ms > GONE_MS:
            raise_unavailable(UPSTREAM, kept.failure, "blocks of the chain")
        return kept.value, kept.observed_ms

    async def _wallets(self, query: WalletsQuery, watched: Sequence[Watched], scanned: Scanned) -> Watchlist:
        filters = _filters(query)
        after = None if query.cursor is None else self._cursors.read(query.cursor, ROUTE, filters)
        coming = [wallet for wallet in watched if after is None or place(wallet) > after]
        page = coming[: query.limit]
        cursor = self._cursors.write(ROUTE, filters, place(page[-1])) if len(coming) > len(page) else None
        tokens = await self._store.tokens(scanned.chain_id, [wallet.address for wallet in page])
        items = [_tell_wallet(wallet, scanned.chain_id, tokens.get(wallet.address, [])) for wallet in page]
        return Watchlist(items, WatchlistMeta(len(watched), scanned.chain_id, scanned.through, cursor))

    async def _movements(
        self, query: WalletsQuery, contract: str, watched: dict[str, Watched], scanned: Scanned
    ) -> Movements:
        filters, chain = _filters(query), scanned.chain_id
        before = None if query.cursor is None else self._cursors.read(query.cursor, ROUTE, filters)
        found = await self._store.movements(chain, contract, list(watched), query.limit + 1, before)
        page, more = found[: query.limit], found[query.limit :]
        cursor = self._cursors.write(ROUTE, filters, page[-1].position) if more else None
        total = await self._store.count(chain, contract, list(watched))
        token = await self._store.token(chain, contract)
        items = [_tell_movement(moved, token, watched[moved.address].label) for moved in page]
        return Movements(items, MovementsMeta(total, _spell(contract), chain, cursor))


def _filters(query: WalletsQuery) -> dict[str, str | None]:
    """What narrows a list down, in one spelling; only movements have a contract."""
    return {name: text and text.lower() for name, text in (("contract", query.contract), ("address", query.address))}


def _no_wallets(query: WalletsQuery) -> Watchlist | Movements:
    if query.contract is None:
        return Watchlist([], WatchlistMeta(0, None, None, None))
    return Movements([], MovementsMeta(0, _spell(query.contract.lower()), None, None))


def _tell_wallet(wallet: Watched, chain_id: int, tokens: Sequence[TokenMoved]) -> WatchedWallet:
    items = [
        MovedToken(_spell(token.contract), token.symbol, token.decimals, token.movements, iso(token.last_ms))
        for token in tokens
    ]
    return WatchedWallet(_spell(wallet.address), chain_id, wallet.label, wallet.kind, items)


def _tell_movement(moved: Moved, token: TokenContract, label: str | None) -> Movement:
    direction: Literal["in", "out"] = "in" if moved.incoming else "out"
    return Movement(
        id=f"{moved.tx}-{moved.log_index}-{direction}",
        contract=_spell(moved.contract),
        token=token.symbol,
        address=_spell(moved.address),
        counterparty=_spell(moved.counterparty),
        direction=direction,
        amount=whole(moved.amount, token.decimals),
        amount_usd=moved.amount_usd,
        tx=moved.tx,
        block=moved.block,
        ts=iso(moved.at_ms),
        label=label,
    )
