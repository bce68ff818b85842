"""CoinGecko's contracts and totals: requested by the leading process, stored, read by every process."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, Clock
from service.lookup.chains import CHAINS, normalized
from service.market.freshness import AgeLimits
from service.market.sources.coingecko import CoinGecko, GeckoOverview, GeckoToken
from service.storage.documents import Document, DocumentStore, FetchFailure
from service.upstream.failures import UpstreamError

EVERY_S: Final = 60.0
"""Seconds between two checks of what is due."""

TOKENS_EVERY_MS: Final = DAY_MS

RETRY_S: Final = 3_600.0
"""Seconds before contracts are requested again after a failure: the answer has some megabytes."""

TOKEN_LIMITS: Final = AgeLimits(stale=2 * DAY_MS, gone=30 * DAY_MS)
"""Contracts do not change, but new ones come: stale once a daily read has failed, not used after a month."""

OVERVIEW_LIMITS: Final = AgeLimits(stale=HOUR_MS, gone=48 * HOUR_MS)
"""As CoinGecko's figures of coins."""


class Tokens(Struct, frozen=True):
    """Every coin with contracts."""

    tokens: tuple[GeckoToken, ...]


class TokenDocuments(NamedTuple):
    """Contracts and totals as last read."""

    tokens: Document[Tokens]
    overview: Document[GeckoOverview]

    @classmethod
    def on(cls, document_store: DocumentStore) -> "TokenDocuments":
        """Open them in a document store, whose `refresh` reads them."""
        return cls(
            document_store.document("lookup.tokens", Tokens), document_store.document("lookup.overview", GeckoOverview)
        )


def contracts_of(tokens: Tokens) -> dict[str, list[tuple[str, GeckoToken]]]:
    """Address as it is compared → the chains on which a coin has it, by their names here."""
    names = {ids[0]: chain for chain, ids in CHAINS.items()}
    found: dict[str, list[tuple[str, GeckoToken]]] = {}
    for token in tokens.tokens:
        for platform, address in token.contracts.items():
            if platform in names:
                found.setdefault(normalized(address), []).append((names[platform], token))
    return found


class TokenRefresh:
    """Requests contracts once a day and totals as often as CoinGecko's limits allow.

    Args:
        clock: Decides what is due.
        documents: Contracts and totals.
        source: CoinGecko.
        origin: The current dataset.
    """

    def __init__(self, clock: Clock, documents: TokenDocuments, source: CoinGecko, origin: Callable[[], str]) -> None:
        self._clock = clock
        self._documents = documents
        self._source = source
        self._origin = origin
        self._asked: dict[str, tuple[str, float]] = {}

    async def round(self) -> None:
        """Request what is due.

        Raises:
            UpstreamError: If a call failed; the other was made all the same.
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        origin = self._origin()
        failures = []
        if self._is_due("overview", origin, self._source.refresh_s()):
            failures.append(await self._try(self._documents.overview, self._read_overview, origin))
        current = self._documents.tokens.current
        read_ms = current.observed_ms if current.origin == origin else None
        is_old = read_ms is None or self._clock.now_ms() - read_ms >= TOKENS_EVERY_MS
        if is_old and self._is_due("tokens", origin, RETRY_S):
            failures.append(await self._try(self._documents.tokens, self._read_tokens, origin))
        for failure in failures:
            if failure is not None:
                raise failure

    def _is_due(self, name: str, origin: str, every_s: float) -> bool:
        """Whether something was last requested that long ago, or of another dataset; it counts as requested now."""
        asked_of, asked_s = self._asked.get(name, ("", 0.0))
        now_s = self._clock.monotonic()
        if asked_of == origin and now_s < asked_s + every_s:
            return False
        self._asked[name] = origin, now_s
        return True

    async def _try(
        self, document: Document[Tokens] | Document[GeckoOverview], read: Callable[[str], Awaitable[None]], origin: str
    ) -> UpstreamError | None:
        try:
            await read(origin)
        except UpstreamError as error:
            await document.fail(FetchFailure(self._clock.now_ms(), error.upstream_status, error.body))
            return error
        return None

    async def _read_overview(self, origin: str) -> None:
        found = await self._source.overview()
        if found is not None and self._origin() == origin:
            await self._documents.overview.put(origin, found, found.seen_ms)

    async def _read_tokens(self, origin: str) -> None:
        found = await self._source.tokens()
        if found and self._origin() == origin:
            await self._documents.tokens.put(origin, Tokens(tuple(found)), self._clock.now_ms())
