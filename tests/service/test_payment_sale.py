"""Calls that are paid for, over the whole service: every priced route, its receipts, and what the books say of them."""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service.payments.audit import audit_payments
from service.payments.facilitators.port import Unknown
from service.storage.database import open_database
from tests.fakes.asgi import Reply, ask
from tests.http.stage import facilitated
from tests.payments.scripted import Scripted
from tests.payments.signing import ANOTHER_VERSION, answer, wallet
from tests.service.indoors import EVERYTHING, PATIENCE_S, RISK, SIGNAL, Doors, Indoors, Kept, until
from tests.upstream.faults import answer as fault

UNKNOWN = RISK.replace("BTC", "NOWHERE")


async def spent(house: Indoors) -> str:
    """A key whose questions are spent."""
    key = await house.make_key()
    for _ in range(10):
        assert (await house.ask(key=key)).status == 200
    return key


async def payment_for(house: Indoors, key: str, target: str, payer: int = 1) -> dict[str, str]:
    """Answer a route's challenge, as a client does."""
    due = await house.ask(target, key=key)
    assert due.status == 402, (target, due.body)
    return answer(wallet(payer), due.headers["payment-required"], now_ms=house.clock.now_ms())


async def buy(house: Indoors, key: str, payment: dict[str, str], target: str = RISK) -> Reply:
    return await ask(house.service.app, target, key=key, headers=payment)


async def books(house: Indoors) -> tuple[list[str], list[tuple[str, int]]]:
    """What the audit finds wrong; states of payments, and how many are in each."""
    async with open_database(house.data_dir / "verdict.db", house.clock) as database:
        found = await database.inspect(audit_payments)
        rows = await database.read("SELECT state, count(*) FROM payments GROUP BY state ORDER BY state")
    return found, [(str(state), int(count)) for state, count in rows]


async def receipt_of(house: Indoors, key: str, reply: Reply) -> Any:
    told = await house.ask(f"/api/receipts/{reply.headers['x-receipt-id']}", key=key)
    assert told.status == 200, told.body
    return told.json["receipt"]


@pytest.mark.slow
@pytest.mark.promise("pay.settled-after-run", "pay.receipts")
async def test_every_data_route_sells_its_answer_with_a_receipt_for_exactly_that(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        key, stranger = await spent(house), await house.make_key()
        for target in EVERYTHING:
            reply = await buy(house, key, await payment_for(house, key, target), target)
            assert reply.status == 200, (target, reply.body)
            receipt = await receipt_of(house, key, reply)
            assert receipt["resource"].endswith(target)
            assert receipt["request_hash"] == sha256(f"GET {target}\n".encode()).hexdigest()
            assert receipt["response_hash"] == sha256(reply.body).hexdigest()
            assert receipt["payer"].lower() == wallet().address.lower()
            assert (await house.ask(f"/api/receipts/{receipt['id']}", key=stranger)).status == 404
        async with asyncio.timeout(PATIENCE_S):  # that an answer has left is written down after it
            while await books(house) != ([], [("delivered", len(EVERYTHING))]):  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.002)
        assert (await house.ask(key=key)).status == 402


@pytest.mark.slow
@pytest.mark.promise("pay.failed-run-free")
async def test_a_call_that_fails_upstream_is_not_paid_for_and_its_payment_buys_the_next(
    kept: Kept, tmp_path: Path
) -> None:
    doors = Doors()
    doors.next = fault(503)
    async with kept.anew(tmp_path / "data", faults=doors) as house:
        await house.settle()
        key = await house.make_key()
        due = await ask(house.service.app, RISK, key=key, x_payment=ANOTHER_VERSION)
        payment = answer(wallet(), due.headers["payment-required"], now_ms=house.clock.now_ms())
        nothing_yet = await buy(house, key, payment)
        assert (nothing_yet.status, nothing_yet.code) == (502, "UPSTREAM_5XX")
        assert await books(house) == ([], [])
        doors.open()
        await house.be_ready()
        unknown = await buy(house, key, payment, UNKNOWN)
        assert (unknown.status, unknown.code) == (404, "UNKNOWN_SYMBOL")
        assert await books(house) == ([], [])
        assert (await buy(house, key, payment)).status == 200
        assert await books(house) == ([], [("delivered", 1)])


@pytest.mark.slow
@pytest.mark.gate
@pytest.mark.promise("pay.replay", "pay.claimed")
async def test_one_payment_at_two_processes_at_once_is_settled_once(kept: Kept, tmp_path: Path) -> None:
    facilitator = Scripted()
    async with facilitated(facilitator), kept.reopened(tmp_path / "data") as house, kept.beside(house) as other:
        key = await spent(house)
        payment = await payment_for(house, key, SIGNAL)
        asking = [asyncio.ensure_future(buy(at, key, payment, SIGNAL)) for at in (house, other) * 10]
        await house.pass_until(lambda: all(asked.done() for asked in asking), step_s=0.05)
        replies = [asked.result() for asked in asking]
        assert [reply.status for reply in replies] == [200] * 20
        assert len({(reply.body, reply.headers["payment-response"]) for reply in replies}) == 1
        assert await books(house) == ([], [("delivered", 1)])
    assert len({entry.id for entry in facilitator.asked}) == 1


@pytest.mark.slow
@pytest.mark.promise("pay.reconciled", "pay.unknown-503")
async def test_an_outcome_nobody_could_say_is_resolved_without_the_payer_and_kept_for_it(
    kept: Kept, tmp_path: Path
) -> None:
    facilitator = Scripted()
    async with facilitated(facilitator), kept.reopened(tmp_path / "data") as house:
        key = await spent(house)
        payment = await payment_for(house, key, RISK)
        facilitator.outcomes.append(Unknown("it hung up"))
        reply = await buy(house, key, payment)
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "PAYMENT_PENDING", "2")
        name = reply.json["error"]["details"]["payment"]
        assert (await house.ask(f"/api/receipts/{name}", key=key)).code == "PAYMENT_PENDING"
        while (await books(house))[1] != [("settled", 1)]:
            await house.pass_time(1, 1)
        again = await buy(house, key, payment)
        assert (again.status, again.headers["x-receipt-id"]) == (200, name)
        assert await books(house) == ([], [("delivered", 1)])
    assert len(facilitator.asked) == 2


@pytest.mark.slow
@pytest.mark.promise("pay.reconciled", "pay.replay")
async def test_a_service_that_ends_while_it_settles_leaves_the_payment_to_the_next(kept: Kept, tmp_path: Path) -> None:
    facilitator = Scripted()
    async with facilitated(facilitator):
        async with kept.reopened(tmp_path / "data") as house:
            key = await spent(house)
            payment = await payment_for(house, key, RISK)
            facilitator.gate.clear()
            running = asyncio.ensure_future(buy(house, key, payment))
            await until(lambda: bool(facilitator.asked))
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        facilitator.gate.set()
        later = kept._replace(data_dir=house.data_dir, at_ms=house.clock.at_ms + 3_600_000)
        async with later.reopened(tmp_path / "later") as house:
            assert (await buy(house, key, payment)).status == 200
            assert await books(house) == ([], [("delivered", 1)])
