"""Payments that were stored at the minute of their stamps, or with hours guessed from gaps, are put on the schedule."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.store import MarketStore
from service.storage.engine import Connection
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.postgres import STORES
from tests.fakes.upgrade import Upgrade, upgrade_of

FIRST_NEW: Final = 33
DAY: Final = START_MS // DAY_MS
MIDNIGHT: Final = DAY * DAY_MS
RATE: Final = 0.0000125

Stored = list[tuple[int, float, float]]


@pytest.fixture(params=STORES)
def upgrade(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Upgrade]:
    with upgrade_of(request.param, tmp_path / "verdict.db", clock, monkeypatch, FIRST_NEW) as made:
        yield made


def at(minutes: int) -> int:
    return MIDNIGHT + minutes * MINUTE_MS


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ([(at(0), RATE, 1.0), (at(61), RATE, 1.0)], [(0, RATE), (60, RATE)]),
        ([(at(15), RATE, 1.0), (at(40), 0.5, 1.0)], [(0, RATE), (60, 0.5)]),
        ([(at(30), 0.5, 1.0), (at(21), 0.5, 1.0), (at(60), RATE, 1.0)], [(60, RATE)]),
        ([(at(0), RATE / 2, 2.0), (at(120), RATE / 2, 2.0)], [(0, RATE), (120, RATE)]),
        ([(at(-5), RATE, 1.0), (at(0), 0.5, 1.0), (at(14), 0.6, 1.0)], [(0, RATE)]),
        ([(at(0), RATE, 1.0), (at(14), 0.5, 1.0)], [(0, RATE)]),
    ],
)
async def test_stored_payments_are_put_on_the_schedule(
    upgrade: Upgrade, stored: Stored, expected: list[tuple[int, float]]
) -> None:
    def fill(connection: Connection) -> None:
        for coin in ("BTC", "ETH"):
            for row in stored:
                connection.execute("INSERT INTO funding_rates VALUES (?, ?, ?, ?, 'hyperliquid')", (coin, *row))

    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        for coin in ("BTC", "ETH"):
            found = await database.read(
                "SELECT paid_ms, rate, interval_hours FROM funding_rates WHERE venue_symbol = ? ORDER BY 1", (coin,)
            )
            assert found == [(at(minutes), rate, 1.0) for minutes, rate in expected]


async def test_days_are_summed_again_where_payments_moved_and_stay_where_none_did(upgrade: Upgrade) -> None:
    def fill(connection: Connection) -> None:
        connection.execute("INSERT INTO market_state (id, origin, revision) VALUES (1, 'live', 7)")
        connection.execute(
            "INSERT INTO documents (name, origin, revision) VALUES ('market.momentum', 'live', 3), ('other', 'live', 3)"
        )
        for coin, late in (("BTC", 15), ("ETH", 0)):
            connection.execute("INSERT INTO market_coins (venue_symbol, symbol, listed) VALUES (?, ?, 1)", (coin, coin))
            for day in (DAY - 2, DAY - 1, DAY):
                connection.execute("INSERT INTO funding_days VALUES (?, ?, 0.5)", (coin, day))
            for hour in range(-6, 25):
                stamp_ms = MIDNIGHT + hour * HOUR_MS + (late * MINUTE_MS if hour == 24 else 0)
                row = (coin, stamp_ms, RATE, 1.0)
                connection.execute("INSERT INTO funding_rates VALUES (?, ?, ?, ?, 'hyperliquid')", row)

    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        await MarketStore(database).sum_funding("live")
        found = await database.read("SELECT venue_symbol, day, paid, hours FROM funding_days ORDER BY 1, 2")
        assert found[:2] == [("BTC", DAY - 2, 0.5, 24.0), ("BTC", DAY - 1, 0.5, 24.0)]
        assert found[2][:2] == ("BTC", DAY)
        assert found[2][2:] == pytest.approx((24 * RATE, 24.0), abs=1e-12)
        assert found[3:] == [("ETH", day, 0.5, 24.0) for day in (DAY - 2, DAY - 1, DAY)]
        assert await database.read("SELECT name, origin FROM documents WHERE name IN ('market.momentum', 'other')") == [
            ("market.momentum", ""),
            ("other", "live"),
        ]
