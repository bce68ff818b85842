"""Keeping CoinGecko's coins and categories fresh, a few calls a minute."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from service.clock import Clock
from service.market.categories.backlog import Backlog
from service.market.categories.caps import CapStore
from service.market.categories.gecko import GeckoCategories, GeckoDrawers, note_failure
from service.market.categories.register import Register
from service.market.observed import CoinView
from service.market.quarantine import Quarantine
from service.market.sources.coingecko import PER_PAGE, CoinGecko, GeckoCoin
from service.upstream.failure import UpstreamError

CATEGORIES_EVERY_S: Final = 20.0
"""How often it is looked what is due."""

PAGES: Final = 2
"""Pages of the largest coins: 500 of them hold nearly all that a venue of perpetuals lists."""


class CategoryRefresh:
    """Asks CoinGecko for what is due.

    Args:
        clock: What is due, and how long what failed is left alone.
        drawers: Where coins, categories and members are kept.
        caps: Where past market caps are kept.
        source: CoinGecko.
        origin: Which history it tells at this moment; a replay's changes at midnight.
        view: The venue's coins as they stand now.
        quarantine: Where it is told what is held back.
        loaded: Whether the coins' own series are loaded, and coins' pasts may be read.
    """

    def __init__(
        self,
        clock: Clock,
        drawers: GeckoDrawers,
        caps: CapStore,
        source: CoinGecko,
        origin: Callable[[], str],
        view: Callable[[], Mapping[str, CoinView]],
        quarantine: Quarantine,
        loaded: Callable[[], bool] = lambda: True,
    ) -> None:
        self._clock = clock
        self._drawers = drawers
        self._source = source
        self._origin = origin
        self._view = view
        self._register = Register(clock, drawers.coins, view, quarantine)
        self._backlog = Backlog(clock, drawers, caps, source, origin, self._register, loaded)
        self._asked: dict[str, tuple[str, float]] = {}

    async def round(self) -> None:
        """Ask for coins and categories where that is due; then work off the backlog until either is due again.

        Before the venue's coins are known nothing is asked: none could be told from another.

        Raises:
            UpstreamError: If a call failed; the others were made all the same, unless CoinGecko wants to be left alone.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        if not self._view():
            return
        origin = self._origin()
        failures = [
            failure
            for name, step in (("coins", self._read_coins), ("categories", self._read_categories))
            if self._is_due(origin, name) and (failure := await self._try(origin, name, step))
        ]
        await self._backlog.work(origin, self._is_anything_due)
        if failures:
            raise failures[0]

    def _is_anything_due(self) -> bool:
        origin = self._origin()
        return self._is_due(origin, "coins") or self._is_due(origin, "categories")

    def _is_due(self, origin: str, name: str) -> bool:
        asked_of, asked_s = self._asked.get(name, ("", 0.0))
        every_s = self._source.refresh_s(filling=self._backlog.filling)
        return asked_of != origin or asked_s + every_s <= self._clock.monotonic()

    async def _try(self, origin: str, name: str, step: Callable[[str], Awaitable[None]]) -> UpstreamError | None:
        started_s = self._clock.monotonic()
        try:
            await step(origin)
        except UpstreamError as error:
            if error.retry_after_s:
                raise
            return error
        self._asked[name] = (origin, started_s)
        return None

    async def _read_coins(self, origin: str) -> None:
        """Read the largest coins, and those known to be ours that are not among them."""
        seen: list[GeckoCoin] = []
        failure: UpstreamError | None = None
        try:
            for number in range(1, PAGES + 1):
                seen += await self._source.page(number)
            missing = {row.id for row in self._register.known(origin).values()} - {row.id for row in seen}
            if missing:
                seen += await self._source.coins(sorted(missing)[:PER_PAGE])
        except UpstreamError as error:
            failure = error
        if seen and self._origin() == origin:
            await self._register.refresh(origin, seen)
        if failure is not None:
            await note_failure(self._drawers.coins, self._clock.now_ms(), failure)
            raise failure

    async def _read_categories(self, origin: str) -> None:
        """Read the list of all categories with their figures."""
        drawer = self._drawers.categories
        try:
            found = await self._source.categories()
        except UpstreamError as error:
            await note_failure(drawer, self._clock.now_ms(), error)
            raise
        if found and self._origin() == origin:
            await drawer.put(origin, GeckoCategories(tuple(found)), max(row.seen_ms for row in found))
