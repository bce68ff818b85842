"""The process that prepares a recording's history: `python -m service.wiring.preload_worker`, started by `preload`.

Its arguments are the folder of the recording, the mode of its replay, the present instant
(epoch ms), and the data folder. On its standard output it
prints the name of the history after each file. It ends with its parent.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, cast

from service.clock import Clock, FrozenClock
from service.interpreter import watch_parent
from service.market.alerts.store import insert_updates
from service.market.alerts.watch import READ_MS, FundingScan, judge_past, oldest_present
from service.market.ingest.recording import closed_bars, first_hour, funding_payments, main_coins
from service.market.models import PaymentRow
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.store import PREPARED_TABLES
from service.market.tables import insert_closed_bars, insert_payments
from service.settings import Settings
from service.storage.engine import Connection, SqliteConnection, connect
from service.storage.migrate import migrate, read_migrations
from service.units import Interval
from service.upstream.replay.history import Mode, RecordedHistory
from service.upstream.replay.recording import load_recording
from service.wiring.preload import FILES, HOURS_FILES

_SCHEMA: Final = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
_FASTEST: Final = ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE")
"""An incomplete file is never read."""


def main() -> None:
    """Write the files."""
    watch_parent(lambda: os._exit(1))
    gc.disable()
    fixtures, replay, now_ms, folder = sys.argv[1:]
    settings = Settings(
        source="fixtures", fixtures_dir=Path(fixtures), replay=cast("Mode", replay), data_dir=Path(folder)
    )
    for origin in write(settings, FrozenClock(int(now_ms))):
        sys.stdout.write(f"{origin}\n")
        sys.stdout.flush()


def write(settings: Settings, clock: Clock) -> Iterable[str]:
    """Write the files, one a step.

    Args:
        settings: Which recording, and the data folder.
        clock: What now is.

    Yields:
        The name of the history, after each file.
    """
    recorded = RecordedHistory(load_recording(settings.fixtures_dir), clock, settings.replay)
    now_ms = clock.now_ms()
    since_ms = first_hour(now_ms)
    paid: dict[str, Sequence[PaymentRow]] = {}

    def insert_bars(connection: Connection, interval: Interval, coins: Sequence[str], since_ms: int) -> None:
        for coin in coins:
            insert_closed_bars(connection, interval, closed_bars(recorded, interval, [coin], since_ms))

    def insert_all_payments(connection: Connection) -> None:
        for coin in main_coins(recorded):
            payments = funding_payments(recorded, [coin], since_ms)
            insert_payments(connection, payments)
            paid.update({coin: [row for row in rows if row[0] >= now_ms - READ_MS] for coin, rows in payments.items()})

    def insert_past_alerts(connection: Connection) -> None:
        watched = {coin: rows for coin, rows in paid.items() if rows and rows[-1][0] >= oldest_present(now_ms)}
        findings = [judge_past(coin, rows, now_ms)[1] for coin, rows in watched.items()]
        looked = FundingScan(max(rows[-1][0] for rows in watched.values())) if watched else None
        insert_updates(connection, recorded.origin, findings, looked)

    steps: Sequence[Callable[[Connection], None]] = (
        partial(insert_bars, interval="1d", coins=recorded.coins(), since_ms=EARLIEST_MS),
        insert_all_payments,
        *(
            partial(insert_bars, interval="1h", coins=main_coins(recorded)[part::HOURS_FILES], since_ms=since_ms)
            for part in range(HOURS_FILES)
        ),
        insert_past_alerts,
    )
    with closing(connect(Path(":memory:"))) as memory:
        migrate(memory, read_migrations(), clock)
        statements = [sql for name in PREPARED_TABLES for (sql,) in memory.execute(_SCHEMA, (name,))]
    for name, insert in zip(FILES, steps, strict=True):
        with closing(_create(settings.data_dir / name, statements)) as connection:
            insert(connection)
            connection.execute("COMMIT")
        yield recorded.origin


def _create(path: Path, statements: Iterable[str]) -> SqliteConnection:
    """A new file with these tables, in a transaction."""
    connection = connect(path)
    for pragma in _FASTEST:
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    return connection


if __name__ == "__main__":
    main()
