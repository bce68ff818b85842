"""The price of a coin at an instant of the past, and changes over spans: one definition for every answer.

The price at an instant is the last one that was known by then: the newest of the accepted prices of the last 48 hours,
of which one a minute is stored, and of the closes of final bars that had ended. It is unknown if that one is older than
the instant by more than an hour; for spans of a week and longer, more than a day.

A change over a span compares the price now with the price at the last whole minute less the span. The venue's own
24-hour figure is not used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, Clock, iso
from service.market.models import Quote
from service.market.tables import holds_dataset
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.units import INTERVAL_MS, change_pct
from service.wire.envelope import encode

SNAPSHOT_EVERY_S: Final = 5.0
"""Seconds between two checks whether the present minute has its snapshot."""

REFRESH_S: Final = 5.0
REACH_MS: Final = 48 * HOUR_MS
WEEK_MS: Final = 7 * DAY_MS

SPANS: Final[Mapping[str, int]] = MappingProxyType(
    {"1h": HOUR_MS, "4h": 4 * HOUR_MS, "24h": DAY_MS, "7d": WEEK_MS, "30d": 30 * DAY_MS}
)
"""Spans whose past prices every process has in memory, in milliseconds."""

_MINUTES_AHEAD: Final = 3

_INSERT: Final = "INSERT INTO price_snapshots (minute_ms, venue_symbol, price, price_ms)"
_FORGET: Final = "DELETE FROM price_snapshots WHERE minute_ms < ?1 OR minute_ms > ?2"

_SNAPSHOTS: Final = """
    SELECT s.venue_symbol, w.at_ms, s.price, s.price_ms
    FROM (SELECT CAST(value AS INTEGER) AS at_ms FROM json_each(?1)) w
    JOIN price_snapshots s ON s.minute_ms = (SELECT max(minute_ms) FROM price_snapshots WHERE minute_ms <= w.at_ms)
    WHERE s.price_ms >= w.at_ms - ?2 AND s.venue_symbol IN (SELECT value FROM json_each(?3))
"""
_CLOSES: Final = """
    WITH wanted (at_ms) AS MATERIALIZED (SELECT CAST(value AS INTEGER) FROM json_each(?1)),
    coins (venue_symbol) AS MATERIALIZED (SELECT value FROM json_each(?4)),
    ended (venue_symbol, at_ms, open_ms) AS MATERIALIZED (
        SELECT k.venue_symbol, w.at_ms, (
            SELECT open_ms FROM candles
            WHERE venue_symbol = k.venue_symbol AND interval = ?2 AND final = 1
                AND open_ms <= w.at_ms - ?3 AND open_ms >= w.at_ms - ?3 - ?5
            ORDER BY open_ms DESC LIMIT 1
        )
        FROM coins k CROSS JOIN wanted w
    )
    SELECT e.venue_symbol, e.at_ms, c.close, c.open_ms + ?3 FROM ended e
    JOIN candles c ON c.venue_symbol = e.venue_symbol AND c.interval = ?2 AND c.open_ms = e.open_ms
"""


class PastPrice(NamedTuple):
    """A price, USD, and when it was accepted or, of a bar, when the bar ended (epoch ms UTC)."""

    usd: float
    at_ms: int


class PastPrices(Struct, frozen=True):
    """Past prices of all coins, by venue symbol and instant."""

    prices: Mapping[str, Mapping[int, PastPrice]] = MappingProxyType({})

    def before(self, coin: str, now_ms: int, span_ms: int) -> PastPrice | None:
        """The price of a coin a span ago; null where it is not known."""
        return self.prices.get(coin, {}).get(instant_before(now_ms, span_ms))


NO_PAST_PRICES: Final = PastPrices()


def instant_before(now_ms: int, span_ms: int) -> int:
    """The last whole minute less a span, epoch milliseconds."""
    return now_ms // MINUTE_MS * MINUTE_MS - span_ms


class SpanChange(NamedTuple):
    """A change of the price in percent, and when the price that it is measured from was accepted; null if unknown."""

    pct: float | None = None
    from_ms: int | None = None


def change_since(price: float | None, past: PastPrice | None) -> SpanChange:
    """The change from a past price to a price."""
    pct = None if past is None else change_pct(price, past.usd)
    return SpanChange() if past is None or pct is None else SpanChange(pct, past.at_ms)


def instants_of(accepted: Mapping[str, int | None]) -> dict[str, str]:
    """When past prices were accepted, by span: epoch milliseconds as ISO 8601 UTC. Unknown ones are left out."""
    return {span: iso(at_ms) for span, at_ms in accepted.items() if at_ms is not None}


class PastPriceReader:
    """Reads past prices, and has those of the usual spans in memory.

    Args:
        clock: The present minute.
        database: Where snapshots and bars are stored.
        coins: Venue symbols of the coins and assets whose past prices are in memory.
        show: Takes the past prices whenever they have changed.

    Attributes:
        now: Past prices at the usual spans before this minute and the next ones.
    """

    def __init__(
        self,
        clock: Clock,
        database: Database,
        coins: Callable[[], Sequence[str]],
        show: Callable[[PastPrices], None],
    ) -> None:
        self.now = NO_PAST_PRICES
        self._clock = clock
        self._database = database
        self._coins = coins
        self._show = show

    async def refresh(self) -> None:
        """Read the past prices at the usual spans.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read; the prices stay as they are.
        """
        minutes = [self._clock.now_ms() + ahead * MINUTE_MS for ahead in range(_MINUTES_AHEAD)]
        short = [instant_before(at_ms, span) for span in SPANS.values() if span < WEEK_MS for at_ms in minutes]
        long = [instant_before(at_ms, span) for span in SPANS.values() if span >= WEEK_MS for at_ms in minutes]
        found = PastPrices(await self.read(self._coins(), short, long))
        if found != self.now:
            self.now = found
            self._show(found)

    async def at(self, coins: Sequence[str], at_ms: int, *, is_distant: bool) -> dict[str, PastPrice]:
        """The past prices of coins (venue symbols) at one instant, as far as they are known.

        Args:
            coins: Venue symbols.
            at_ms: Epoch milliseconds.
            is_distant: Whether a price may be a day older than the instant; else an hour.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        instants = ([], [at_ms]) if is_distant else ([at_ms], [])
        found = await self.read(coins, *instants)
        return {coin: prices[at_ms] for coin, prices in found.items()}

    async def read(
        self, coins: Sequence[str], instants: Sequence[int], distant: Sequence[int]
    ) -> dict[str, dict[int, PastPrice]]:
        """Past prices by venue symbol and instant, as far as they are known.

        Args:
            coins: Venue symbols.
            instants: Epoch milliseconds; a price may be an hour older.
            distant: The same, a week before now and earlier; a price may be a day older.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        names, every = encode(list(coins)).decode(), encode([*instants, *distant]).decode()
        rows = await self._database.read(_SNAPSHOTS, (every, DAY_MS, names))
        for interval, length_ms in INTERVAL_MS.items():
            rows += await self._database.read(_CLOSES, (every, interval, length_ms, names, DAY_MS))
        oldest_ms = {at_ms: at_ms - HOUR_MS for at_ms in instants} | {at_ms: at_ms - DAY_MS for at_ms in distant}
        found: dict[str, dict[int, PastPrice]] = {}
        for coin, at_ms, usd, price_ms in rows:
            known = found.get(coin, {}).get(at_ms)
            if price_ms >= oldest_ms[at_ms] and (known is None or known.at_ms < price_ms):
                found.setdefault(coin, {})[at_ms] = PastPrice(usd, price_ms)
        return found


class PriceRecorder:
    """Stores the accepted prices once a minute.

    Args:
        clock: The present minute.
        database: Where they are stored.
        origin: The current dataset.

    Attributes:
        sources: Each gives the last accepted quotes of a dataset.
    """

    def __init__(self, clock: Clock, database: Database, origin: Callable[[], str]) -> None:
        self.sources: list[Callable[[str], Iterable[Quote]]] = []
        self._clock = clock
        self._database = database
        self._origin = origin
        self._stored: tuple[str, int] | None = None

    def coins(self) -> list[str]:
        """Venue symbols of everything that has quotes."""
        return [quote.venue_symbol for quotes in self.sources for quote in quotes(self._origin())]

    async def round(self) -> None:
        """Store the prices unless this minute has them, and delete those past their reach.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        origin, now_ms = self._origin(), self._clock.now_ms()
        minute_ms = now_ms // MINUTE_MS * MINUTE_MS + MINUTE_MS
        rows = [
            (minute_ms, quote.venue_symbol, quote.price, quote.price_ms)
            for quotes in self.sources
            for quote in quotes(origin)
            if quote.price is not None and quote.price_ms is not None and quote.price_ms <= now_ms
        ]
        if not rows or self._stored == (origin, minute_ms):
            return

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                insert_rows(connection, _INSERT, rows, "ON CONFLICT DO NOTHING")
                connection.execute(_FORGET, (now_ms - REACH_MS - HOUR_MS, minute_ms))

        await self._database.write(work)
        self._stored = origin, minute_ms
