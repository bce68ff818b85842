"""Finds coins and real-world assets: the indices over everything that is known, and `resolve`."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET

from service.clock import Clock
from service.lookup.identities import Identities, index_coins
from service.lookup.resolver import Match, Resolver
from service.lookup.tokens import TokenDocuments, Tokens, contracts_of
from service.market.factory import MarketData
from service.market.loading import raise_unavailable
from service.market.models import VENUE
from service.market.sources.coingecko import GeckoToken
from service.market.symbols import CoinDirectory
from service.rwa.documents import ListedAsset
from service.rwa.service import RwaService
from service.table.coins import CoinTable
from service.wire.coins import Resolved, ResolveMatch, ResolveQuery
from service.wire.envelope import Answer

_MOST_CACHED: Final = 1_000


class Finder:
    """The indices are made again when what they are made of has changed.

    Args:
        clock: The present.
        market: Coins.
        table: Their ranks.
        rwa: Real-world assets.
        documents: Contracts.

    Attributes:
        documents: As above.
        contracts: Address → chains and tokens.
    """

    def __init__(
        self, clock: Clock, market: MarketData, table: CoinTable, rwa: RwaService, documents: TokenDocuments
    ) -> None:
        self.documents = documents
        self.contracts: Mapping[str, Sequence[tuple[str, GeckoToken]]] = {}
        self._clock = clock
        self._market = market
        self._table = table
        self._rwa = rwa
        self._made_of: tuple[CoinDirectory, tuple[int, ...]] | None = None
        self._identities = Identities((), {}, {}, {})
        self._resolver_of: tuple[Identities, Sequence[ListedAsset], Mapping[str, object]] | None = None
        self._resolver = Resolver(market.coins.directory, self._identities, (), {})
        self._found: dict[str, tuple[list[Match], list[str]]] = {}
        documents.tokens.on_change(lambda current: self._index_contracts(current.value))

    @property
    def identities(self) -> Identities:
        """All known coins; the same object while nothing changes."""
        directory, revisions = self._market.coins.directory, self._market.categories.revisions
        if self._made_of is None or self._made_of[0] is not directory or self._made_of[1] != revisions:
            self._made_of = directory, revisions
            self._identities = index_coins(self._market)
        return self._identities

    @property
    def resolver(self) -> Resolver:
        """The resolver; the same object while nothing changes."""
        coins, assets, contracts = self.identities, self._rwa.listed, self.contracts
        made = self._resolver_of
        if made is None or made[0] is not coins or made[1] is not assets or made[2] is not contracts:
            self._resolver_of = coins, assets, contracts
            self._resolver = Resolver(self._market.coins.directory, coins, assets, contracts)
            self._found.clear()
        return self._resolver

    def asset(self, text: str) -> ListedAsset | None:
        """The real-world asset with a ticker or id, in any case; null if there is none."""
        ticker = text.strip().upper().rpartition(":")[2]
        return next((asset for asset in self._rwa.listed if asset.symbol == ticker), None)

    def resolve(self, query: ResolveQuery) -> Answer:
        """What a text may mean.

        Returns:
            The matches, maybe none; as of the prices of the coins, by which they are ranked.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` while no coin is known.
        """
        resolver, rows = self.resolver, self._table.rows()
        if len(self._found) >= _MOST_CACHED:
            self._found.clear()
        if query.q not in self._found:
            self._found[query.q] = resolver.resolve(query.q)
        found, tried = self._found[query.q]
        matches = [
            ResolveMatch(
                symbol=one.symbol,
                name=one.name,
                assetType=one.type,
                rank=rows[one.symbol].rank if one.type == "crypto" and one.tracked and one.symbol in rows else None,
                via=via,
                score=score,
                id=one.id,
            )
            for one, via, score in found[: query.limit]
        ]
        as_of_ms = self._table.as_of_ms(())
        if as_of_ms is None:
            raise_unavailable(VENUE, self._market.coins.state.failure, "prices")
        return Answer(Resolved(query.q, tried, matches, len(matches), _note(found) or UNSET), as_of_ms)

    def _index_contracts(self, tokens: Tokens | None) -> None:
        self.contracts = {} if tokens is None else contracts_of(tokens)


def _note(found: Sequence[Match]) -> str:
    """A sentence where a coin and a real-world asset have the ticker of the first match."""
    if not found:
        return ""
    ticker = found[0].candidate.symbol
    types = [match.candidate.type for match in found if match.candidate.symbol == ticker]
    assets = [kind for kind in types if kind != "crypto"]
    if not assets or len(assets) == len(types):
        return ""
    return f"{ticker} is a coin and a real-world asset ({assets[0]}). For the asset write xyz:{ticker}."
