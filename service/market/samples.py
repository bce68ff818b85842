"""What is shown now and kept by nobody: open interest, volumes and market caps, written down once an hour."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, Clock
from service.market.desk import MarketDesk
from service.market.observed import VENUE, CoinView
from service.market.sources.coingecko import GeckoCoin
from service.market.watches import claim_watch, holds
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows

NAME: Final = "samples"
HOURS_KEPT_MS: Final = 1_001 * HOUR_MS
DAYS_KEPT_MS: Final = 1_001 * DAY_MS
"""As far back as can be asked for. 230 coins are 460,000 rows then, some 30 MB."""

LATE_MS: Final = 10 * MINUTE_MS
"""What was observed later in an hour than this is not what was so when the hour began."""

_NEAR_MS: Final = HOUR_MS

_COLUMNS: Final = "venue_symbol, open_interest_usd, futures_volume_usd, market_cap, volume_usd"
_INSERT: Final = f"INSERT INTO market_samples (hour_ms, {_COLUMNS})"
_AT: Final = f"SELECT {_COLUMNS} FROM market_samples WHERE hour_ms = ? AND venue_symbol = ?"  # noqa: S608 - constants
_THIN: Final = "DELETE FROM market_samples WHERE hour_ms >= ?1 - ?2 AND hour_ms < ?1 AND hour_ms % ?3 <> 0"
_FORGET: Final = "DELETE FROM market_samples WHERE hour_ms < ?"
_LOOKED: Final = "UPDATE market_watches SET through_ms = ? WHERE name = ?"


class Sample(Struct, frozen=True):
    """A coin in the first minutes of an hour, USD; volumes are those of the 24 hours before. Null is not known."""

    venue_symbol: str
    open_interest_usd: float | None = None
    futures_volume_usd: float | None = None
    market_cap: float | None = None
    volume_usd: float | None = None


class SampleStore:
    """The table of samples.

    Args:
        database: Where it is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def at(self, coin: str, hour_ms: int) -> Sample:
        """What was written down of a coin (venue symbol) at the beginning of an hour; all null where nothing was.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_AT, (hour_ms, coin))
        return Sample(*rows[0]) if rows else Sample(coin)

    async def put(self, origin: str, hour_ms: int, samples: Sequence[Sample]) -> None:
        """Write samples of an hour down, and forget what can no longer be asked for. What is there already stays.

        Nothing is written if the market's store holds another history by now.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        rows = [tuple(getattr(sample, field) for field in Sample.__struct_fields__) for sample in samples]

        def work(connection: Connection) -> None:
            if not holds(connection, origin):
                return
            claim_watch(connection, NAME, origin, ("market_samples",))
            insert_rows(connection, _INSERT, rows, "ON CONFLICT DO NOTHING", shared=(hour_ms,))
            # Thinned out over a span, so that the days that stay are not read through each time.
            connection.execute(_THIN, (hour_ms - HOURS_KEPT_MS, HOURS_KEPT_MS, DAY_MS))
            connection.execute(_FORGET, (hour_ms - DAYS_KEPT_MS,))
            connection.execute(_LOOKED, (hour_ms, NAME))

        await self._database.write(work)


class SampleRefresh:
    """Writes down what the market shows, once an hour.

    Args:
        clock: What hour it is.
        samples: Where it is written.
        market: The coins as they stand now.
        worth: Ticker → the coin as CoinGecko last showed it.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
    """

    def __init__(
        self,
        clock: Clock,
        samples: SampleStore,
        market: MarketDesk,
        worth: Callable[[], Mapping[str, GeckoCoin]],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._samples = samples
        self._market = market
        self._worth = worth
        self._origin = origin
        self._of: tuple[str, int] = ("", 0)
        self._written: set[str] = set()

    async def round(self) -> None:
        """Write down the coins that were observed in the first minutes of this hour and are not written down yet.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        origin, hour_ms = self._origin(), self._clock.now_ms() // HOUR_MS * HOUR_MS
        if self._market.state.origin != origin:
            return
        if self._of != (origin, hour_ms):
            self._of, self._written = (origin, hour_ms), set()
        worth = self._worth()
        samples = [
            _sample(view, worth.get(view.symbol), hour_ms)
            for view in self._market.view().values()
            if view.venue_symbol not in self._written and _is_of(view, hour_ms)
        ]
        if samples:
            await self._samples.put(origin, hour_ms, samples)
            self._written |= {sample.venue_symbol for sample in samples}


def _is_of(view: CoinView, hour_ms: int) -> bool:
    """Whether a coin was observed as the hour began, and on the venue whose positions and volumes these are."""
    return view.venue == VENUE and view.price_ms is not None and 0 <= view.price_ms - hour_ms <= LATE_MS


def _sample(view: CoinView, worth: GeckoCoin | None, hour_ms: int) -> Sample:
    cap = volume = None
    if worth is not None and abs(worth.seen_ms - hour_ms) <= _NEAR_MS:
        cap, volume = worth.market_cap, worth.volume_usd
    return Sample(view.venue_symbol, view.open_interest_usd, view.volume_usd, cap, volume)
