"""Funding momentum: what each coin's perpetual paid over a day and a week, and how rare the newest payment is.

The database adds up on its own thread, only for coins with new payments: the market has half a million payments, one
coin's month some seven hundred.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from service.analytics.funding import FUNDED_HOURS, LEAST_ROWS, least_hours, mid_rank
from service.clock import DAY_MS, HOUR_MS
from service.market.freshness import AgeLimits
from service.storage.database import Database
from service.storage.documents import Document
from service.storage.engine import Connection
from service.units import apr_pct
from service.wire.envelope import encode

MOMENTUM: Final = "market.momentum"
"""Name of the document."""

PAID: Final = AgeLimits(stale=2 * HOUR_MS, gone=3 * HOUR_MS)
"""Age limits of momentum, from the newest payment: they arrive within half an hour, so after two hours one is missing.
After three, the 24 hours before the newest payment are no longer within the last 26.
"""

WINDOW_MS: Final = 30 * DAY_MS
"""Window in which the newest payment is ranked."""

_WEEK_MS: Final = 7 * DAY_MS
_LEAST_OF_WEEK: Final = least_hours(_WEEK_MS / HOUR_MS)

_NEWEST: Final = """
    SELECT symbol, venue_symbol, newest_ms FROM (
        SELECT k.symbol, k.venue_symbol, (
            SELECT paid_ms FROM funding_rates WHERE venue_symbol = k.venue_symbol ORDER BY paid_ms DESC LIMIT 1
        ) AS newest_ms
        FROM market_coins k WHERE k.listed = 1 AND (SELECT origin FROM market_state) = ?
    ) AS paid WHERE newest_ms IS NOT NULL ORDER BY venue_symbol
"""

_SUMS: Final = """
    WITH wanted (symbol, venue_symbol) AS MATERIALIZED (SELECT key, value FROM json_each(?1)),
    newest (symbol, venue_symbol, at_ms, rate) AS MATERIALIZED (
        SELECT w.symbol, f.venue_symbol, f.paid_ms, f.rate FROM wanted w CROSS JOIN funding_rates f
        WHERE f.venue_symbol = w.venue_symbol
            AND f.paid_ms = (SELECT max(paid_ms) FROM funding_rates WHERE venue_symbol = w.venue_symbol)
    )
    SELECT n.symbol, n.at_ms,
        total(f.rate * f.interval_hours) FILTER (WHERE f.paid_ms > n.at_ms - ?2),
        total(f.interval_hours) FILTER (WHERE f.paid_ms > n.at_ms - ?2),
        total(f.rate * f.interval_hours) FILTER (WHERE f.paid_ms > n.at_ms - ?3),
        total(f.interval_hours) FILTER (WHERE f.paid_ms > n.at_ms - ?3),
        count(*), count(*) FILTER (WHERE f.rate < n.rate), count(*) FILTER (WHERE f.rate = n.rate)
    FROM newest n CROSS JOIN funding_rates f
    WHERE f.venue_symbol = n.venue_symbol AND f.paid_ms > n.at_ms - ?4
    GROUP BY n.venue_symbol, n.symbol, n.at_ms ORDER BY n.venue_symbol
"""


class Momentum(Struct, frozen=True, array_like=True):
    """What a coin's perpetual paid recently; positive means longs pay.

    Attributes:
        newest_ms: Time of the newest payment, from which all windows count back.
        apr_24h: Mean over the 24 hours up to that time, of which 23 are paid at least; percent per year.
        apr_7d: The same over a week; null if less than 23 in 24 of its hours are paid.
        percentile_30d: Rank of the newest payment among those of the 30 days before, 0 to 100, equal ones counting
            half; null with less than a week of them.
        payments: Number of payments in those 30 days.
    """

    newest_ms: int
    apr_24h: float
    apr_7d: float | None
    percentile_30d: float | None
    payments: int


class MomentumTable(Struct, frozen=True):
    """Momentum by ticker, of every listed coin whose last day is paid."""

    coins: dict[str, Momentum]


class MomentumService:
    """Reads a coin's momentum, in any process.

    Args:
        document: Written by the leader.
    """

    def __init__(self, document: Document[MomentumTable]) -> None:
        self._document = document

    def of(self, symbol: str) -> Momentum | None:
        """Momentum of a canonical ticker, whatever its age; the same object while it does not change."""
        value = self._document.current.value
        return None if value is None else value.coins.get(symbol)

    @property
    def revision(self) -> int:
        """Changes whenever any momentum changes."""
        return self._document.current.revision

    def known(self) -> int:
        """Number of coins with momentum."""
        value = self._document.current.value
        return 0 if value is None else len(value.coins)


class MomentumRefresh:
    """Adds up new payments, in the process that leads.

    Args:
        database: Holds payments.
        document: Result.
        origin: The dataset that the store should hold now; a replay's changes at midnight.
    """

    def __init__(self, database: Database, document: Document[MomentumTable], origin: Callable[[], str]) -> None:
        self._database = database
        self._document = document
        self._origin = origin
        self._bound_origin = ""
        self._seen: dict[str, int] = {}

    async def round(self) -> None:
        """Add up new payments; without any it is one small read.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used; the next round reads the same payments again.
        """
        origin = self._origin()
        seen = self._seen if self._bound_origin == origin else {}
        newest, found = await self._database.inspect(lambda connection: _look(connection, origin, seen))
        if not newest:
            return
        current = self._document.current
        known = current.value.coins if current.value is not None and current.origin == origin else {}
        stay = {symbol: known[symbol] for symbol in known.keys() & newest.keys() if seen.get(symbol) == newest[symbol]}
        coins = stay | found
        if coins != known:
            await self._document.put(origin, MomentumTable(coins), max(newest.values()))
        self._bound_origin, self._seen = origin, newest


def _look(connection: Connection, origin: str, seen: dict[str, int]) -> tuple[dict[str, int], dict[str, Momentum]]:
    """Newest payment of each listed coin, and momentum of the coins that have new ones."""
    rows = connection.execute(_NEWEST, (origin,)).fetchall()
    moved = {symbol: coin for symbol, coin, newest_ms in rows if seen.get(symbol) != newest_ms}
    found = _add_up(connection, moved) if moved else {}
    return {symbol: newest_ms for symbol, _, newest_ms in rows}, found


def _add_up(connection: Connection, coins: dict[str, str]) -> dict[str, Momentum]:
    sums = connection.execute(_SUMS, (encode(coins).decode(), DAY_MS, _WEEK_MS, WINDOW_MS)).fetchall()
    return {
        symbol: Momentum(
            newest_ms,
            _apr(day, day_h),
            _apr(week, week_h) if week_h >= _LEAST_OF_WEEK else None,
            _rank(below, equal, payments),
            payments,
        )
        for symbol, newest_ms, day, day_h, week, week_h, payments, below, equal in sums
        if day_h >= FUNDED_HOURS
    }


def _apr(paid: float, hours: float) -> float:
    return apr_pct(paid / hours) + 0.0  # JSON would show a negative zero


def _rank(below: int, equal: int, payments: int) -> float | None:
    """Mid-rank of the newest payment among the others."""
    others = payments - 1
    return mid_rank(below, below + equal - 1, others) if others >= LEAST_ROWS else None
