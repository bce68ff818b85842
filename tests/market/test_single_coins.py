"""Coins that the venue trades by the thousand, stored before prices were those of one coin."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from service.storage.database import Database
from service.storage.engine import Connection
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import STORES
from tests.fakes.upgrade import Upgrade, upgrade_of

FIRST_NEW: Final = 30
BEFORE: Final = (
    "INSERT INTO market_state (id, origin, revision) VALUES (1, 'live', 7)",
    (
        "INSERT INTO market_coins (venue_symbol, symbol, listed) VALUES "
        "('kPEPE', 'KPEPE', 1), ('kBONK', 'KBONK', 1), ('kDUP', 'KDUP', 1), ('DUP', 'DUP', 1), ('KAS', 'KAS', 1), "
        "('kaito', 'KAITO', 0)"
    ),
    (
        "INSERT INTO market_quotes "
        "(venue_symbol, symbol, volume_usd, price, price_ms, prev_price, open_interest, funding, funding_ms) VALUES "
        "('kPEPE', 'KPEPE', 5, 0.0123, 1, 0.012, 10, 0.01, 1), ('KAS', 'KAS', 5, 0.1, 1, NULL, 10, NULL, NULL), "
        "('kBONK', 'KBONK', 5, NULL, NULL, NULL, NULL, NULL, NULL), ('kDUP', 'KDUP', 5, 2, 1, 2, 10, NULL, NULL), "
        "('DUP', 'DUP', 5, 0.002, 1, NULL, 10, NULL, NULL)"
    ),
    (
        "INSERT INTO candles (venue_symbol, interval, open_ms, open, high, low, close, volume, trades, final) VALUES "
        "('kPEPE', '1d', 0, 0.0123, 0.0129, 0.012, 0.012345, 7, 3, 1), ('KAS', '1d', 0, 0.1, 0.1, 0.1, 0.1, 7, 3, 1)"
    ),
    (
        "INSERT INTO funding_events (id, venue_symbol, zone, fired_ms, apr, percentile, interval_hours, price) VALUES "
        "(1, 'kPEPE', 'hot', 5, 30, 99, 1, 0.0123), (2, 'kPEPE', 'cold', 6, -30, 1, 1, NULL)"
    ),
    "INSERT INTO documents (name, origin, revision) VALUES ('market.conclusions', 'live', 3), ('other', 'live', 3)",
    "INSERT INTO walkforward_runs VALUES (4, 'live', 'a', 'e', '{}', 'h', 1, 1, CAST('{}' AS BLOB))",
    "INSERT INTO news_items VALUES ('a', 'live', 's', 't', 'u', 1, 0, '[\"BTC\",\"KPEPE\"]', '[]', 1)",
    "INSERT INTO stream_states (stream, seq, at_ms, as_of_ms) VALUES ('prices', 1, 1, 1)",
    "INSERT INTO stream_told VALUES ('alerts', 'KPEPE-hot-5', 5), ('alerts', 'KAS-hot-5', 5)",
)


@pytest.fixture(params=STORES)
def upgrade(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Upgrade]:
    with upgrade_of(request.param, tmp_path / "verdict.db", clock, monkeypatch, FIRST_NEW) as made:
        yield made


def fill(connection: Connection) -> None:
    for statement in BEFORE:
        connection.execute(statement)


async def column(database: Database, sql: str) -> list[object]:
    return [row[0] if len(row) == 1 else tuple(row) for row in await database.read(sql)]


async def test_stored_thousands_become_single_coins_and_nothing_else_changes(upgrade: Upgrade) -> None:
    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        assert await column(database, "SELECT symbol FROM market_coins ORDER BY symbol") == [
            "BONK", "DUP", "DUP", "KAITO", "KAS", "PEPE",
        ]  # fmt: skip
        assert await database.read(
            "SELECT venue_symbol, symbol, volume_usd, price, price_ms, prev_price, open_interest, funding "
            "FROM market_quotes ORDER BY symbol"
        ) == [
            ("kBONK", "BONK", 5.0, None, None, None, None, None),
            ("DUP", "DUP", 5.0, 0.002, 1, None, 10.0, None),
            ("KAS", "KAS", 5.0, 0.1, 1, None, 10.0, None),
            ("kPEPE", "PEPE", 5.0, 0.0000123, 1, 0.000012, 10_000.0, 0.01),
        ]
        assert await database.read("SELECT open, high, low, close, volume FROM candles ORDER BY venue_symbol") == [
            (0.1, 0.1, 0.1, 0.1, 7.0),
            (0.0000123, 0.0000129, 0.000012, 0.000012345, 7_000.0),
        ]
        assert await column(database, "SELECT price FROM funding_events ORDER BY id") == [0.0000123, None]
        assert await database.read("SELECT name, origin, revision FROM documents ORDER BY name") == [
            ("market.conclusions", "", 4),
            ("other", "live", 3),
        ]
        assert await column(database, "SELECT origin FROM walkforward_runs") == [""]
        assert await column(database, "SELECT coins FROM news_items") == ['["BTC","PEPE"]']
        assert await column(database, "SELECT count(*) FROM stream_states") == [0]
        assert await column(database, "SELECT id FROM stream_told ORDER BY id") == ["KAS-hot-5", "PEPE-hot-5"]


async def test_a_store_without_such_coins_keeps_what_was_concluded(upgrade: Upgrade) -> None:
    async with upgrade.before() as database:
        await database.write(lambda connection: connection.execute(BEFORE[5]).rowcount)
    async with upgrade.now() as database:
        assert await column(database, "SELECT DISTINCT origin FROM documents") == ["live"]
