"""Two processes on one file."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from service.clock import SystemClock
from service.payments.audit import audit_payments
from tests.fakes.clock import FakeClock
from tests.payments.shop import TRANSACTION, Shop

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60
RACES = 20


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.promise("pay.claimed")
async def test_two_processes_that_race_for_twenty_payments_get_each_once(tmp_path: Path) -> None:
    path = tmp_path / "verdict.db"
    shop = await Shop(path, SystemClock()).open()
    async with asyncio.timeout(PATIENCE_S):
        command = (sys.executable, "-m", "tests.payments.paying_process", str(path), str(RACES))
        processes = [
            await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE) for _ in range(2)
        ]
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        told = await asyncio.gather(
            *(process.communicate(b"%d\n" % user_id) for user_id, process in enumerate(processes, start=1))
        )
    first, second = (output.decode() for output, _ in told)
    pairs = ["".join(sorted(pair)) for pair in zip(first, second, strict=True)]
    assert pairs == ["fs"] * (RACES // 2) + ["fo"] * (RACES // 2)
    assert await shop.states() == ["delivered"] * RACES
    assert len(await shop.paid()) == RACES
    assert await shop.database.inspect(audit_payments) == []
    assert await shop.meter.verify() == []
    await shop.close()


async def test_what_both_processes_enter_as_settled_is_entered_once(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "verdict.db"
    shops = [await Shop(path, clock).open() for _ in range(2)]
    for _ in range(10):
        record = await shops[0].begun()
        told = await asyncio.gather(*(shop.ledger.record_settled(record, TRANSACTION) for shop in shops))
        assert told[0] == told[1]
    assert len(await shops[1].paid()) == 10
    assert await shops[1].database.inspect(audit_payments) == []
    for shop in shops:
        await shop.close()
