"""Payments that were stored by the code before claims were held in memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.payments.audit import audit_payments
from service.storage.engine import Connection, DatabaseError
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import STORES
from tests.fakes.upgrade import Upgrade, upgrade_of
from tests.payments.receipts import put, receipt_id

FIRST_NEW = 31


@pytest.fixture(params=STORES)
def upgrade(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Upgrade]:
    with upgrade_of(request.param, tmp_path / "verdict.db", clock, monkeypatch, FIRST_NEW) as made:
        yield made


def fill(connection: Connection) -> None:
    put(connection, 1, state="failed")
    put(connection, 2, state="settling")
    put(connection, 3, state="claimed")
    put(connection, 4, state="released")


async def test_only_claims_that_nobody_was_asked_to_settle_are_removed(upgrade: Upgrade) -> None:
    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        rows = await database.read("SELECT receipt_id, state FROM payments ORDER BY id")
        assert rows == [(receipt_id(1), "failed"), (receipt_id(2), "settling")]
        assert await database.inspect(audit_payments) == []
        with pytest.raises(DatabaseError, match="never deleted"):
            await database.write(lambda connection: connection.execute("DELETE FROM payments").rowcount)
