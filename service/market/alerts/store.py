"""Funding events in the database, and how far the watch has come."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

from msgspec import Struct

from service.analytics.funding import Zone, fires
from service.clock import DAY_MS, HOUR_MS
from service.market.alerts.watch import FundingScan, WatchUpdate, ZoneChange
from service.market.tables import claim_watch, holds_dataset
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.cursor import Position
from service.wire.envelope import encode

NAME: Final = "funding"
KEEP_MS: Final = 400 * DAY_MS
"""Retention of events: some ten megabytes, at one event per coin and day."""

_TABLES: Final = ("funding_events", "funding_watch")
ALERT_TABLES: Final = ("market_watches", *_TABLES)
_STANDS: Final[Mapping[Zone | None, tuple[Zone, ...]]] = {
    None: (),
    "hot": ("hot",),
    "very-hot": ("hot", "very-hot"),
    "cold": ("cold",),
    "very-cold": ("cold", "very-cold"),
}
"""Events that stay open in a zone: its own, and its milder form."""

_CLEAR: Final = """
    UPDATE funding_events SET cleared_ms = max(?, fired_ms)
    WHERE venue_symbol = ? AND cleared_ms IS NULL AND zone NOT IN (SELECT value FROM json_each(?))
"""
_FIRE: Final = """
    INSERT INTO funding_events (id, venue_symbol, zone, fired_ms, apr, percentile, interval_hours, price)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_WATCH: Final = """
    INSERT INTO funding_watch VALUES (?, ?) ON CONFLICT (venue_symbol) DO UPDATE SET zone = excluded.zone
"""
_PRICE: Final = """
    UPDATE funding_events SET price = c.close FROM candles c
    WHERE price IS NULL AND c.venue_symbol = funding_events.venue_symbol AND c.interval = '1h' AND c.final = 1
        AND c.open_ms = (fired_ms / ?1 - 1) * ?1
"""
"""A past event gets the close of the hour that ended with it, once that is known."""

_PAGE: Final = """
    SELECT w.through_ms,
        (SELECT count(*) FROM funding_events WHERE {filters}),
        e.id, e.venue_symbol, e.zone, e.fired_ms, e.cleared_ms, e.apr, e.percentile, e.interval_hours, e.price
    FROM market_watches w LEFT JOIN (
        SELECT * FROM funding_events WHERE {filters} AND (fired_ms, id) < (?4, ?5)
        ORDER BY fired_ms DESC, id DESC LIMIT ?6
    ) e ON true WHERE w.name = ?3 ORDER BY e.fired_ms DESC, e.id DESC
"""

_TURNED: Final = """
    SELECT e.id, e.venue_symbol, e.zone, e.fired_ms, e.cleared_ms, e.apr, e.percentile, e.interval_hours, e.price
    FROM market_watches w JOIN funding_events e ON true
    WHERE w.name = ?1 AND w.origin = ?2 AND (e.fired_ms > ?3 OR e.cleared_ms > ?3)
"""


class FundingEvent(Struct, frozen=True):
    """A row of `funding_events`; see the migration."""

    id: int
    venue_symbol: str
    zone: Zone
    fired_ms: int
    cleared_ms: int | None
    apr: float
    percentile: float
    interval_hours: float
    price: float | None


class EventPage(Struct, frozen=True):
    """Events, newest first; the number of all; time of the last scan (null: none yet)."""

    events: list[FundingEvent]
    total: int
    through_ms: int | None


class WatchState(Struct, frozen=True):
    """State of the watch at its last scan: its time, and the zone of every coin that it watched."""

    through_ms: int | None
    zones: dict[str, Zone | None]


class AlertStore:
    """The tables of funding alerts.

    Args:
        database: Holds them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def watch_state(self, origin: str) -> WatchState:
        """State of the watch of a dataset; empty if the tables hold another one."""
        rows = await self._database.read(
            "SELECT w.through_ms, f.venue_symbol, f.zone FROM market_watches w LEFT JOIN funding_watch f ON true "
            "WHERE w.name = ? AND w.origin = ?",
            (NAME, origin),
        )
        return WatchState(rows[0][0] if rows else None, {coin: zone for _, coin, zone in rows if coin is not None})

    async def record(self, origin: str, findings: Sequence[WatchUpdate], scan: FundingScan | None = None) -> None:
        """Store updates in one transaction; nothing if the market's store holds another dataset.

        Args:
            origin: Their dataset.
            findings: Coins whose zone changed, or whose watch begins.
            scan: The scan of current rates that ends with this, if any.
        """

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                insert_updates(connection, origin, findings, scan)

        await self._database.write(work)

    async def page(self, venue_symbol: str | None, since_ms: int | None, after: Position, limit: int) -> EventPage:
        """A page of events, newest first, from one read.

        Args:
            venue_symbol: Only this coin, if given.
            since_ms: Only events fired at or after this instant, if given.
            after: Position (time and id) after which the page begins.
            limit: Maximum number.
        """
        named = {"venue_symbol = ?1": venue_symbol, "fired_ms >= ?2": since_ms}
        filters = " AND ".join(["true", *(text for text, value in named.items() if value is not None)])
        rows = await self._database.read(_PAGE.format(filters=filters), (venue_symbol, since_ms, NAME, *after, limit))
        if not rows:
            return EventPage([], 0, None)
        return EventPage([FundingEvent(*row[2:]) for row in rows if row[2] is not None], rows[0][1], rows[0][0])

    async def changed_since(self, origin: str, since_ms: int) -> list[FundingEvent]:
        """Events of a dataset that fired or were cleared after an instant, unordered."""
        return [FundingEvent(*row) for row in await self._database.read(_TURNED, (NAME, origin, since_ms))]


def insert_updates(
    connection: Connection, origin: str, findings: Sequence[WatchUpdate], scan: FundingScan | None = None
) -> None:
    """Store updates, as `AlertStore.record`, inside a transaction."""
    claim_watch(connection, NAME, origin, _TABLES)
    for finding in findings:
        _keep(connection, finding)
    if scan is not None:
        _end(connection, scan)
    connection.execute(_PRICE, (HOUR_MS,))


def _keep(connection: Connection, finding: WatchUpdate) -> None:
    coin = finding.venue_symbol
    for change in finding.changes:
        open_zones = encode(_STANDS[change.after]).decode()
        connection.execute(_CLEAR, (change.at_ms, coin, open_zones))
        if fires(change.before, change.after):
            row = (change.after, change.at_ms, change.apr, change.percentile, change.interval_hours, change.price)
            connection.execute(_FIRE, (_identify(coin, change), coin, *row))
    if finding.since_ms is not None:
        connection.execute(
            "DELETE FROM funding_events WHERE venue_symbol = ? AND cleared_ms < ?", (coin, finding.since_ms)
        )
    connection.execute(_WATCH, (coin, finding.zone))


def _end(connection: Connection, scan: FundingScan) -> None:
    for coin in scan.gone:
        connection.execute(_CLEAR, (scan.through_ms, coin, "[]"))
        connection.execute("DELETE FROM funding_watch WHERE venue_symbol = ?", (coin,))
    connection.execute("UPDATE market_watches SET through_ms = ? WHERE name = ?", (scan.through_ms, NAME))
    connection.execute("DELETE FROM funding_events WHERE fired_ms < ?", (scan.through_ms - KEEP_MS,))


def _identify(coin: str, change: ZoneChange) -> int:
    """63 bits of a digest, so that an event has the same id in every process."""
    named = f"{coin} {change.after} {change.at_ms}".encode()
    return int.from_bytes(sha256(named).digest()[:8], "big") >> 1
