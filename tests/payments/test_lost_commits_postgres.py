"""A COMMIT whose answer is lost: whoever sends the payment again has the answer, and nobody pays twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.payments.cashier import Cashier
from service.payments.challenge import Challenger
from service.payments.till import Tender, Till
from service.settings import Secret
from service.storage.postgres.database import open_postgres
from tests.fakes.clock import FakeClock
from tests.fakes.lost_commits import TAKEN, cut_at_commit
from tests.fakes.postgres import postgres_dsn
from tests.payments.scripted import Scripted
from tests.payments.signing import PAYEE, SEPOLIA
from tests.payments.test_till import OURS, Shop
from tests.payments.tills import ANSWER, Books


@pytest.fixture
async def it(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    with postgres_dsn() as address:
        async with shop(Secret(address), tmp_path_factory.mktemp("node")) as opened:
            yield opened


@asynccontextmanager
async def shop(address: Secret, folder: Path) -> AsyncIterator[Shop]:
    clock, facilitator = FakeClock(), Scripted()
    async with open_postgres(address, folder / "verdict.db", clock) as database:
        books = Books(database, clock)
        cashier = Cashier(books.ledger, facilitator, None, clock)
        till = Till(SEPOLIA, Challenger(SEPOLIA, PAYEE), books.ledger, cashier, clock)
        yield Shop(till, books, facilitator, clock, database)
        await till.close()
        await cashier.close()


async def code_of(it: Shop, tender: Tender) -> str:
    with pytest.raises(ServiceError) as told:
        await it.sold(tender)
    return told.value.code


async def states(it: Shop) -> list[str]:
    return [state for (state,) in await it.database.read("SELECT state FROM payments")]


async def bought_once(it: Shop, tender: Tender) -> None:
    """Send the payment again: it is paid for once, counted once, and its answer is given."""
    async with asyncio.timeout(10):
        entry = await it.till.take(OURS, tender)
    if entry.state == "claimed":
        entry = await it.till.settle(entry, ANSWER)
    assert (entry.state, entry.answer) == ("settled", ANSWER)
    assert await states(it) == ["settled"]
    ((events,),) = await it.database.read("SELECT count(*) FROM payments WHERE event_id IS NOT NULL")
    assert (events, len({asked.receipt_id for asked in it.facilitator.asked})) == (1, 1)


@TAKEN
async def test_a_claim_that_nobody_knows_of_is_given_back(
    it: Shop, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    tender = it.tender()
    cut = cut_at_commit(monkeypatch, taken=taken)
    assert await code_of(it, tender) == "UNAVAILABLE"
    await asyncio.sleep(0)  # steps are handed in a turn of the loop later
    await it.database.write(lambda _: None)
    assert cut == ["COMMIT"]
    assert await states(it) == (["released"] if taken else [])
    await bought_once(it, tender)


async def test_a_settlement_that_was_noted_after_all_goes_on(it: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    tender = it.tender()
    cut = cut_at_commit(monkeypatch, taken=True, of=2)
    assert (await it.sold(tender)).state == "settled"
    assert cut == ["COMMIT"]
    await bought_once(it, tender)


async def test_a_settlement_that_was_not_noted_asks_nobody_for_money(it: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    tender = it.tender()
    cut_at_commit(monkeypatch, taken=False, of=2)
    assert await code_of(it, tender) == "UNAVAILABLE"
    assert await states(it) == ["released"]
    assert it.facilitator.asked == []
    await bought_once(it, tender)


async def test_a_settlement_of_which_nobody_can_say_whether_it_was_noted_is_pending(
    it: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    tender = it.tender()
    cut = cut_at_commit(monkeypatch, taken=True, of=2, again=1)
    assert await code_of(it, tender) == "PAYMENT_PENDING"
    assert cut == ["COMMIT", "BEGIN"]
    assert it.facilitator.asked == []
    await bought_once(it, tender)


@TAKEN
async def test_money_that_has_moved_is_entered_once(it: Shop, monkeypatch: pytest.MonkeyPatch, *, taken: bool) -> None:
    tender = it.tender()
    cut_at_commit(monkeypatch, taken=taken, of=3)
    assert await code_of(it, tender) == "PAYMENT_PENDING"
    assert await states(it) == ["settled" if taken else "settling"]
    await bought_once(it, tender)
