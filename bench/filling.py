"""A store with so many users and counted calls as if they had come, written while its service rests."""

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from service import base62
from service.access.api_keys import CHECKSUM_LENGTH, SECRET_LENGTH, SHOWN_LENGTH, ApiKeyFormat
from service.access.audit import audit_counters
from service.access.quota import FROM_DAY
from service.access.secrets import open_secrets
from service.clock import DAY_MS, SystemClock, day_of
from service.storage.database import DATABASE
from service.storage.engine import Connection, connect

_PREFIX: Final = "verdict_sk_"
_QUICK: Final = ("journal_mode=MEMORY", "synchronous=OFF", "cache_size=-400000", "foreign_keys=OFF")
"""Nobody else uses the file, and what a cut would lose is made anew."""

_USERS: Final = "INSERT INTO users (id, created_ms) VALUES (?, ?)"
_GRANTS: Final = "INSERT INTO grants (user_id, tier, created_ms) VALUES (?, 'pro', ?)"
_QUOTAS: Final = """
INSERT INTO quota (user_id, starter_used, starter_day, day, day_used, counted) VALUES (?, 0, 0, ?, 0, 0)
"""
_KEYS: Final = """
INSERT INTO credentials (kind, user_id, fingerprint, prefix, name, created_ms) VALUES ('api_key', ?, ?, ?, 'bench', ?)
"""
_EVENTS: Final = """
WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)
INSERT INTO usage_events (user_id, offer_id, at_ms, day, bucket, state, run_id)
SELECT 1 + n % ?2, 'coin.risk', ?3 + n / 200, ?4, ?5, 1, 0 FROM number
"""
_SHARES: Final = """
UPDATE quota SET counted = counted + ?1 + (user_id <= ?2), day_used = day_used + (?1 + (user_id <= ?2)) * (day = ?3)
WHERE user_id <= ?4
"""


def key_of(user_id: int) -> str:
    """The key of a user that was filled in: well formed, and no secret."""
    body = _PREFIX + base62.encode(user_id, SHOWN_LENGTH) + "0" * (SECRET_LENGTH - SHOWN_LENGTH)
    return body + base62.encode(zlib.crc32(body.encode()), CHECKSUM_LENGTH)


class Filling:
    """Writes into the store of a data folder whose service rests.

    Args:
        data_dir: The folder, in which a service has run.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path: Final = data_dir / DATABASE
        self._form = ApiKeyFormat(_PREFIX, open_secrets(data_dir).key_pepper)
        self._now_ms = SystemClock().now_ms()

    def users(self, first: int, last: int) -> None:
        """Add users with a key and a tier without limit each, numbered so."""
        now_ms, today = self._now_ms, day_of(self._now_ms)

        def keys() -> Iterator[tuple[int, bytes, str, int]]:
            for user_id in range(first, last + 1):
                key = key_of(user_id)
                yield user_id, self._form.fingerprint(key), self._form.display_prefix(key), now_ms

        def write(connection: Connection) -> None:
            numbers = range(first, last + 1)
            connection.executemany(_USERS, ((number, now_ms) for number in numbers))
            connection.executemany(_KEYS, keys())
            connection.executemany(_GRANTS, ((number, now_ms) for number in numbers))
            connection.executemany(_QUOTAS, ((number, today - 1) for number in numbers))

        self._write(write)

    def events(self, count: int, users: int) -> None:
        """Add counted calls of yesterday, spread over the first so many users."""
        yesterday = day_of(self._now_ms) - 1

        def write(connection: Connection) -> None:
            connection.execute(_EVENTS, (count, users, yesterday * DAY_MS, yesterday, FROM_DAY))
            each, rest = divmod(count, users)
            connection.execute(_SHARES, (each, rest, yesterday, users))

        self._write(write)

    def wrong(self) -> list[str]:
        """What `audit` finds: nothing, unless this file fills a store wrongly."""
        connection = connect(self.path, query_only=True)
        try:
            return audit_counters(connection)
        finally:
            connection.close()

    def counted(self) -> int:
        """Counted calls of users, by their counters."""
        connection = connect(self.path, query_only=True)
        try:
            return int(connection.execute("SELECT coalesce(sum(counted), 0) FROM quota").fetchone()[0])
        finally:
            connection.close()

    def size(self) -> int:
        """Bytes of the file and of its log."""
        return sum(path.stat().st_size for path in self.path.parent.glob(f"{DATABASE}*") if path.is_file())

    def _write(self, write: Callable[[Connection], None]) -> None:
        connection = connect(self.path)
        try:
            for pragma in _QUICK:
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN")
            write(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()
        descriptor = os.open(self.path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
