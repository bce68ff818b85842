"""From the same rows, PostgreSQL and SQLite lead to the same answers, byte for byte."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any, Final

import pytest

from service.access.audit import audit_counters, audit_devices, usage_by_day
from service.clock import iso
from service.market.momentum import _look
from service.market.series import read_days
from service.market.store import MarketStore
from service.payments.audit import audit_payments
from service.settings import Secret
from service.storage.database import DATABASE, Database, open_database
from service.storage.postgres.database import open_postgres
from service.storage.transfer import transfer
from service.verdict.audit import audit_ledger
from service.verdict.ledger_statistics import count_ledger
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import postgres_dsn
from tests.service.indoors import EVERYTHING, PATIENCE_S, Doors, Indoors, Kept
from tests.upstream.faults import answer

pytestmark = pytest.mark.process

_ASKED: Final = (
    *EVERYTHING,
    "/api/cli/coin/risk/ETH",
    "/api/cli/coin/risk/NOSUCH",
    "/api/cli/coin/historical/ETH?count=7&unit=d",
    "/api/cli/signal/ETH",
    "/api/cli/funding/alerts?limit=3",
    "/api/cli/funding/alerts?symbol=BTC&since=2025-07-01T00:00:00Z",
    "/api/cli/transcripts",
    "/api/cli/transcripts?limit=2&coin=BTC",
    "/api/cli/transcripts?action=sources",
    "/api/cli/wallets",
    "/api/cli/wallets?limit=2",
    "/api/cli/walkforward",
    "/api/cli/walkforward?action=positions",
    "/api/cli/walkforward?action=outcomes",
    "/api/cli/billing/tier",
    "/api/keys",
    "/api/receipts",
)
_OWN: Final = re.compile(rb'"(request_?[iI]d|uptime\w*|run_?[iI]d)":("[^"]*"|[\d.]+)')
"""What no two processes have in common."""


async def take(source: Path, target: Secret, at_ms: int, *, back: bool = False) -> None:
    """Copy a folder's store to a server, as `verdict admin migrate` does; or the other way."""
    clock = FakeClock(at_ms)
    async with (
        open_database(source / DATABASE, clock, new=back) as file,
        open_postgres(target, source / DATABASE, clock) as server,
    ):
        await (transfer(server, file) if back else transfer(file, server))


@pytest.fixture
async def address(kept: Kept, tmp_path: Path) -> AsyncIterator[Secret]:
    """A server with all that is kept, as `verdict admin migrate` takes it there."""
    copytree(kept.data_dir, tmp_path / "taken")
    with postgres_dsn() as found:
        await take(tmp_path / "taken", Secret(found), kept.at_ms)
        yield Secret(found)


async def answers(kept: Kept, folder: Path, **settings: Any) -> dict[str, tuple[int, bytes]]:
    """What a service says that begins where another ended, and learns nothing new."""
    faults = Doors()
    faults.next = answer(500)
    async with kept.reopened(folder, faults=faults, **settings) as house:
        await have_looked(house, kept.at_ms)
        await house.be_ready()
        await house.pass_time((kept.at_ms + 60_000 - house.clock.at_ms) / 1_000, 10)
        replies = {target: await house.ask(target, key=kept.key) for target in _ASKED}
        return {target: (reply.status, _OWN.sub(b"", reply.body)) for target, reply in replies.items()}


async def have_looked(house: Indoors, at_ms: int) -> None:
    """Wait for the first look at the present rates: a server takes its time, and they are not fresh for long."""
    key = await house.make_key("pro")
    async with asyncio.timeout(PATIENCE_S):
        while (await house.ask("/api/cli/funding/alerts", key=key)).json["meta"]["as_of"] != iso(at_ms):
            await house.settle()


async def test_every_route_answers_the_same(kept: Kept, address: Secret, tmp_path: Path) -> None:
    file = await answers(kept, tmp_path / "file")
    server = await answers(kept, tmp_path / "server", store=address)
    assert {target for target, (code, _) in file.items() if code == 200} >= {*EVERYTHING}
    assert [target for target in _ASKED if file[target] != server[target]] == []


@pytest.mark.soak
async def test_a_service_that_begins_on_a_server_learns_everything_and_can_be_taken_home(
    kept: Kept, tmp_path: Path
) -> None:
    with postgres_dsn() as found:
        async with kept.anew(tmp_path / "server", store=Secret(found)) as house:
            key = await house.make_key("pro")
            await house.be_complete()
            async with asyncio.timeout(PATIENCE_S):  # a first price waits for the bars that confirm it
                while [target for target in EVERYTHING if (await house.ask(target, key=key)).status != 200]:
                    await house.pass_time(5, 5)
        clock = FakeClock(kept.at_ms)
        async with open_postgres(Secret(found), tmp_path / "server" / DATABASE, clock) as server:
            for look in (audit_counters, audit_devices, audit_payments):
                assert await server.inspect(look) == []
            assert (await server.inspect(audit_ledger)).findings == []
        await take(tmp_path / "server", Secret(found), kept.at_ms, back=True)


async def test_what_is_summed_up_is_the_same_to_the_last_bit(kept: Kept, address: Secret, tmp_path: Path) -> None:
    clock = FakeClock(kept.at_ms)
    copytree(kept.data_dir, tmp_path / "file")
    async with (
        open_database(tmp_path / "file" / DATABASE, clock) as file,
        open_postgres(address, tmp_path / "server" / DATABASE, clock) as server,
    ):
        origin = str(await MarketStore(file).held())
        for look in looks(origin, kept.at_ms):
            told = await look(file)
            assert told == await look(server)


def looks(origin: str, now_ms: int) -> list[Callable[[Database], Awaitable[Any]]]:
    """Sums, lists and audits of every room that has them."""
    inspected = (
        partial(_look, origin=origin, seen={}),
        partial(read_days, until_ms=now_ms),
        partial(count_ledger, origin=origin),
        audit_counters,
        audit_devices,
        audit_payments,
        audit_ledger,
        usage_by_day,
    )
    return [
        *(partial(Database.inspect, look=look) for look in inspected),
        lambda database: MarketStore(database).usual_volumes(0),
        lambda database: MarketStore(database).newest_closed("1h"),
        lambda database: MarketStore(database).progress(origin),
        lambda database: MarketStore(database).funding_progress(origin),
        lambda database: MarketStore(database).funding_since(None, 0),
        lambda database: MarketStore(database).closed_bars(None, "1h"),
        lambda database: MarketStore(database).snapshot(),
    ]
