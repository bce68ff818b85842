"""The closes of past bars that changes are measured from, in memory of every process."""

from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS
from service.storage.database import Database
from service.units import change_pct

REFRESH_S: Final = 5.0
"""Seconds between two reads: a new bar enters the table this much later at most."""

WEEK, MONTH = 7, 30
"""Days of the longer changes, counted as `coin/historical` counts: the last closed day is the first of them."""

_READ: Final = """
    WITH newest (venue_symbol, hour_ms, day_ms) AS MATERIALIZED (
        SELECT k.venue_symbol, (
            SELECT open_ms FROM candles WHERE venue_symbol = k.venue_symbol AND interval = '1h' AND final = 1
            ORDER BY open_ms DESC LIMIT 1
        ), (
            SELECT open_ms FROM candles WHERE venue_symbol = k.venue_symbol AND interval = '1d' AND final = 1
            ORDER BY open_ms DESC LIMIT 1
        )
        FROM market_coins k WHERE k.listed = 1
    )
    SELECT n.venue_symbol, n.hour_ms + ?1, h.close, n.day_ms + ?2, w.close, m.close
    FROM newest n
    LEFT JOIN candles h ON h.venue_symbol = n.venue_symbol AND h.interval = '1h' AND h.final = 1
        AND h.open_ms = n.hour_ms
    LEFT JOIN candles w ON w.venue_symbol = n.venue_symbol AND w.interval = '1d' AND w.final = 1
        AND w.open_ms = n.day_ms - ?3
    LEFT JOIN candles m ON m.venue_symbol = n.venue_symbol AND m.interval = '1d' AND m.final = 1
        AND m.open_ms = n.day_ms - ?4
    ORDER BY n.venue_symbol
"""


class CoinCloses(NamedTuple):
    """Closes of a coin's past bars, USD, and the closes of its newest hour and day (epoch ms UTC); null if not known.

    `hour` is the close of the newest closed hour, `week` and `month` those of the day that is the 7th and the 30th,
    counted back from the newest closed day.
    """

    hour_ms: int | None = None
    hour: float | None = None
    day_ms: int | None = None
    week: float | None = None
    month: float | None = None

    def changes(self, price: float | None) -> tuple[float | None, float | None, float | None]:
        """Percent from each close to a price."""
        return change_pct(price, self.hour), change_pct(price, self.week), change_pct(price, self.month)


NO_CLOSES: Final = CoinCloses()


class ReferenceCloses:
    """Keeps the closes of all listed coins.

    Args:
        database: Where bars are stored.

    Attributes:
        now: By venue symbol; another object whenever a close is another.
    """

    def __init__(self, database: Database) -> None:
        self.now: dict[str, CoinCloses] = {}
        self._database = database

    async def refresh(self) -> None:
        """Read the closes.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read; the closes stay as they are.
        """
        spans = (HOUR_MS, DAY_MS, (WEEK - 1) * DAY_MS, (MONTH - 1) * DAY_MS)
        rows = await self._database.read(_READ, spans)
        found = {row[0]: CoinCloses(*row[1:]) for row in rows}
        if found != self.now:
            self.now = found
