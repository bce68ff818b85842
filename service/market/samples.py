"""Hourly samples of values that no source keeps: open interest, volumes and market caps."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, Clock
from service.market.models import VENUE, CoinView
from service.market.service import MarketService
from service.market.sources.coingecko import GeckoCoin
from service.market.tables import claim_watch, holds_dataset
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.wire.envelope import encode

NAME: Final = "samples"
HOURS_KEPT_MS: Final = 1_001 * HOUR_MS
DAYS_KEPT_MS: Final = 1_001 * DAY_MS
"""As far back as a question may reach. 230 coins make 460,000 rows, some 30 MB."""

LATE_MS: Final = 10 * MINUTE_MS
"""An observation later in the hour than this is not a sample of the hour's beginning."""

_NEAR_MS: Final = HOUR_MS

_COLUMNS: Final = "venue_symbol, open_interest_usd, futures_volume_usd, market_cap, volume_usd"
_INSERT: Final = f"INSERT INTO market_samples (hour_ms, {_COLUMNS})"
_AT: Final = f"SELECT {_COLUMNS} FROM market_samples WHERE hour_ms = ? AND venue_symbol = ?"  # noqa: S608 - constants
_INTERESTS: Final = """
    SELECT s.hour_ms, s.open_interest_usd FROM json_each(?1) h CROSS JOIN market_samples s
    WHERE s.hour_ms = CAST(h.value AS INTEGER) AND s.venue_symbol = ?2 AND s.open_interest_usd IS NOT NULL
"""
_THIN: Final = "DELETE FROM market_samples WHERE hour_ms >= ?1 - ?2 AND hour_ms < ?1 AND hour_ms % ?3 <> 0"
_FORGET: Final = "DELETE FROM market_samples WHERE hour_ms < ?"
_LOOKED: Final = "UPDATE market_watches SET through_ms = ? WHERE name = ?"


class Sample(Struct, frozen=True):
    """A coin in the first minutes of an hour, USD. Volumes cover the 24 hours before. Null is unknown."""

    venue_symbol: str
    open_interest_usd: float | None = None
    futures_volume_usd: float | None = None
    market_cap: float | None = None
    volume_usd: float | None = None


class SampleStore:
    """The table of samples.

    Args:
        database: Holds it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def at(self, coin: str, hour_ms: int) -> Sample:
        """The sample of a coin (venue symbol) at an hour; all null if there is none.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_AT, (hour_ms, coin))
        return Sample(*rows[0]) if rows else Sample(coin)

    async def interests(self, coin: str, hours_ms: Sequence[int]) -> dict[int, float]:
        """Open interest (USD) of a coin (venue symbol) at those of some hours that have a sample of it.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_INTERESTS, (encode(hours_ms).decode(), coin))
        return {row[0]: row[1] for row in rows}

    async def put(self, origin: str, hour_ms: int, samples: Sequence[Sample]) -> None:
        """Insert samples of an hour and delete those past their reach. Existing samples stay unchanged.

        Nothing is written if the market's store holds another dataset.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        rows = [tuple(getattr(sample, field) for field in Sample.__struct_fields__) for sample in samples]

        def work(connection: Connection) -> None:
            if not holds_dataset(connection, origin):
                return
            claim_watch(connection, NAME, origin, ("market_samples",))
            insert_rows(connection, _INSERT, rows, "ON CONFLICT DO NOTHING", shared=(hour_ms,))
            # Thin out one span only, so that the remaining days are not scanned each time.
            connection.execute(_THIN, (hour_ms - HOURS_KEPT_MS, HOURS_KEPT_MS, DAY_MS))
            connection.execute(_FORGET, (hour_ms - DAYS_KEPT_MS,))
            connection.execute(_LOOKED, (hour_ms, NAME))

        await self._database.write(work)


class SampleRefresh:
    """Samples the market once an hour.

    Args:
        clock: Current hour.
        samples: The table.
        market: Current values of coins.
        gecko_coins: Ticker → coin as CoinGecko last showed it.
        origin: The current dataset of the venue; a replay's changes at midnight.
    """

    def __init__(
        self,
        clock: Clock,
        samples: SampleStore,
        market: MarketService,
        gecko_coins: Callable[[], Mapping[str, GeckoCoin]],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._samples = samples
        self._market = market
        self._market_cap = gecko_coins
        self._origin = origin
        self._bound_origin: tuple[str, int] = ("", 0)
        self._written: set[str] = set()

    async def round(self) -> None:
        """Sample the coins that were observed in the first minutes of this hour and have no sample yet.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        origin, hour_ms = self._origin(), self._clock.now_ms() // HOUR_MS * HOUR_MS
        if self._market.state.origin != origin:
            return
        if self._bound_origin != (origin, hour_ms):
            self._bound_origin, self._written = (origin, hour_ms), set()
        gecko_coins = self._market_cap()
        samples = [
            _sample(view, gecko_coins.get(view.symbol), hour_ms)
            for view in self._market.view().values()
            if view.venue_symbol not in self._written and _is_of(view, hour_ms)
        ]
        if samples:
            await self._samples.put(origin, hour_ms, samples)
            self._written |= {sample.venue_symbol for sample in samples}


def _is_of(view: CoinView, hour_ms: int) -> bool:
    """Whether a coin was observed as the hour began, on the venue of its open interest and volume."""
    return view.venue == VENUE and view.price_ms is not None and 0 <= view.price_ms - hour_ms <= LATE_MS


def _sample(view: CoinView, gecko_coins: GeckoCoin | None, hour_ms: int) -> Sample:
    cap = volume = None
    if gecko_coins is not None and -_NEAR_MS <= gecko_coins.seen_ms - hour_ms <= LATE_MS:
        cap, volume = gecko_coins.market_cap, gecko_coins.volume_usd
    return Sample(view.venue_symbol, view.open_interest_usd, view.volume_usd, cap, volume)
