"""Momentum of funding: what each coin's perpetual paid in a day, in a week, and how rare the newest payment is.

Added up by the store itself, on a thread of its own, and only of coins that have paid since the last look: the payments
of a whole market are half a million rows, those of one coin's month some seven hundred.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from service.analytics.funding import LEAST_ROWS, mid_rank
from service.clock import DAY_MS, HOUR_MS
from service.market.freshness import Limits
from service.market.shelf import Drawer
from service.storage.database import Database
from service.storage.engine import Connection
from service.units import apr_pct
from service.wire.envelope import encode

MOMENTUM: Final = "market.momentum"
"""The document's name on the shelf."""

PAID: Final = Limits(stale=3 * HOUR_MS, gone=48 * HOUR_MS)
"""Payments, from the newest: an hour's is asked for within half an hour, so after three hours some have been missed."""

WINDOW_MS: Final = 30 * DAY_MS
"""What the newest payment is ranked within."""

LEAST_HOURS: Final = 24
"""Hours of payments under which a coin has no momentum: it would be compared with itself."""

_WEEK_MS: Final = 7 * DAY_MS

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
    """What a coin's perpetual paid lately, positive where longs paid.

    `newest_ms` is its newest payment, from which all windows count back. `apr_24h` and `apr_7d` are means over the
    hours of a day and of a week (fewer, where fewer are there), percent a year. `percentile_30d` ranks the newest
    payment among those of the 30 days before it, 0 to 100, equal ones counting half; null under a week of them.
    `payments` is how many there were in those 30 days.
    """

    newest_ms: int
    apr_24h: float
    apr_7d: float
    percentile_30d: float | None
    payments: int


class Momenta(Struct, frozen=True):
    """Momentum by ticker, of every listed coin that has at least a day of payments."""

    coins: dict[str, Momentum]


class MomentumDesk:
    """Tells a coin's momentum, in any process.

    Args:
        drawer: Where the leader puts them.
    """

    def __init__(self, drawer: Drawer[Momenta]) -> None:
        self._drawer = drawer

    def of(self, symbol: str) -> Momentum | None:
        """The momentum of a canonical ticker, whatever its age; the same object for as long as it stays the same."""
        value = self._drawer.now.value
        return None if value is None else value.coins.get(symbol)

    @property
    def revision(self) -> int:
        """Another number whenever a momentum is another."""
        return self._drawer.now.revision

    def known(self) -> int:
        """How many coins' momentum is known."""
        value = self._drawer.now.value
        return 0 if value is None else len(value.coins)


class MomentumRefresh:
    """Adds up what was paid since the last look, one round at a time, in the process that leads.

    Args:
        database: Where payments are.
        drawer: Where momenta are put.
        origin: Which history the store is meant to hold at this moment; a replay's changes at midnight.
    """

    def __init__(self, database: Database, drawer: Drawer[Momenta], origin: Callable[[], str]) -> None:
        self._database = database
        self._drawer = drawer
        self._origin = origin
        self._of = ""
        self._seen: dict[str, int] = {}

    async def round(self) -> None:
        """Look once; without new payments that is one small read.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round looks at the same payments again.
        """
        origin = self._origin()
        seen = self._seen if self._of == origin else {}
        newest, found = await self._database.inspect(lambda connection: _look(connection, origin, seen))
        if not newest:
            return
        kept = self._drawer.now
        known = kept.value.coins if kept.value is not None and kept.origin == origin else {}
        stay = {symbol: known[symbol] for symbol in known.keys() & newest.keys() if seen.get(symbol) == newest[symbol]}
        coins = stay | found
        if coins != known:
            await self._drawer.put(origin, Momenta(coins), max(newest.values()))
        self._of, self._seen = origin, newest


def _look(connection: Connection, origin: str, seen: dict[str, int]) -> tuple[dict[str, int], dict[str, Momentum]]:
    """When each listed coin last paid, and the momenta of those that have paid since they were seen."""
    rows = connection.execute(_NEWEST, (origin,)).fetchall()
    moved = {symbol: coin for symbol, coin, newest_ms in rows if seen.get(symbol) != newest_ms}
    found = _add_up(connection, moved) if moved else {}
    return {symbol: newest_ms for symbol, _, newest_ms in rows}, found


def _add_up(connection: Connection, coins: dict[str, str]) -> dict[str, Momentum]:
    sums = connection.execute(_SUMS, (encode(coins).decode(), DAY_MS, _WEEK_MS, WINDOW_MS)).fetchall()
    return {
        symbol: Momentum(newest_ms, _apr(day, day_h), _apr(week, week_h), _rank(below, equal, payments), payments)
        for symbol, newest_ms, day, day_h, week, week_h, payments, below, equal in sums
        if week_h >= LEAST_HOURS
    }


def _apr(paid: float, hours: float) -> float:
    return apr_pct(paid / hours) + 0.0  # a negative zero, which JSON would show, becomes zero


def _rank(below: int, equal: int, payments: int) -> float | None:
    """The mid-rank of the newest payment among the others."""
    others = payments - 1
    return mid_rank(below, below + equal - 1, others) if others >= LEAST_ROWS else None
