"""The closes of hourly bars 4 hours, 24 hours and 7 days ago, in memory of every process."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS, Clock
from service.storage.database import Database
from service.wire.envelope import encode

REFRESH_S: Final = 5.0

HORIZONS: Final[Mapping[str, int]] = MappingProxyType({"b4h": 4 * HOUR_MS, "b24h": 24 * HOUR_MS, "b7d": 7 * DAY_MS})
"""Field → milliseconds back."""

_READ: Final = """
    SELECT k.venue_symbol, (
        SELECT open_ms FROM candles WHERE venue_symbol = k.venue_symbol AND interval = '1h' AND final = 1
        ORDER BY open_ms DESC LIMIT 1
    ), t.value, (
        SELECT close FROM candles
        WHERE venue_symbol = k.venue_symbol AND interval = '1h' AND final = 1
            AND open_ms <= t.value AND open_ms > t.value - ?2
        ORDER BY open_ms DESC LIMIT 1
    )
    FROM market_coins k CROSS JOIN (SELECT CAST(value AS INTEGER) AS value FROM json_each(?1)) t WHERE k.listed = 1
"""


class PastCloses(NamedTuple):
    """Closes of one coin, USD.

    `through_ms` is the close of its newest hourly bar, null without bars. `closes` has the open time of an hourly bar
    as key, and the close of that bar, or of the last one before it.
    """

    through_ms: int | None
    closes: Mapping[int, float]

    def before(self, now_ms: int, back_ms: int) -> float | None:
        """The close of the last bar that had ended at or before an instant; null where none ended within a day."""
        return self.closes.get(_bar_open_ms(now_ms, back_ms))

    def reaches(self, now_ms: int, back_ms: int) -> bool:
        """Whether the bars go on to that instant: otherwise `before` gives an older close."""
        return self.through_ms is not None and self.through_ms >= _bar_open_ms(now_ms, back_ms) + HOUR_MS


NO_PAST: Final = PastCloses(None, MappingProxyType({}))


class PastCloseTable:
    """Keeps the closes of all listed coins for the present hour and the next, so that no answer waits for a read.

    Args:
        clock: The present hour.
        database: Where bars are stored.
        origin: The current dataset.

    Attributes:
        now: By venue symbol; another object whenever a close is another.
    """

    def __init__(self, clock: Clock, database: Database, origin: Callable[[], str]) -> None:
        self.now: dict[str, PastCloses] = {}
        self._clock = clock
        self._database = database
        self._origin = origin
        self._read: tuple[str, int] | None = None

    async def refresh(self) -> None:
        """Read the closes, unless the last read of this hour found every bar.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read; the closes stay as they are.
        """
        now_ms = self._clock.now_ms()
        key = self._origin(), now_ms // HOUR_MS
        if self._read == key:
            return
        opens = {_bar_open_ms(at_ms, back) for back in HORIZONS.values() for at_ms in (now_ms, now_ms + HOUR_MS)}
        rows = await self._database.read(_READ, (encode(sorted(opens)).decode(), DAY_MS))
        found: dict[str, tuple[int | None, dict[int, float]]] = {}
        for coin, newest_ms, open_ms, close in rows:
            _, closes = found.setdefault(coin, (None if newest_ms is None else newest_ms + HOUR_MS, {}))
            if close is not None:
                closes[open_ms] = close
        current = {coin: PastCloses(*row) for coin, row in found.items()}
        if current != self.now:
            self.now = current
        newest_ms = (key[1] - 1) * HOUR_MS
        is_whole = bool(rows) and all(
            past.through_ms == newest_ms + HOUR_MS and len(past.closes) == len(opens) for past in current.values()
        )
        self._read = key if is_whole else None


def _bar_open_ms(now_ms: int, back_ms: int) -> int:
    """Open time of the last hourly bar that had ended at or before an instant."""
    return (now_ms - back_ms) // HOUR_MS * HOUR_MS - HOUR_MS
