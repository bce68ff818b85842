"""A COMMIT whose answer is lost: whoever sends the payment again has the answer, and nobody pays twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.payments.challenge import ChallengeBuilder
from service.payments.checkout import CheckedPayment, Checkout
from service.payments.settlement import Settlement
from service.settings import Secret
from service.storage.postgres.database import open_postgres
from tests.fakes.clock import FakeClock
from tests.fakes.lost_commits import TAKEN, cut_at_commit
from tests.fakes.postgres import postgres_dsn
from tests.payments.checkouts import ANSWER, Books
from tests.payments.scripted import Scripted
from tests.payments.signing import PAYEE, SEPOLIA
from tests.payments.test_checkout import OURS, Shop

pytestmark = pytest.mark.process


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
        settlement = Settlement(books.ledger, facilitator, None, clock)
        checkout = Checkout(SEPOLIA, ChallengeBuilder(SEPOLIA, PAYEE), books.ledger, settlement, clock)
        yield Shop(checkout, books, facilitator, clock, database)
        await settlement.close()


async def code_of(it: Shop, checked: CheckedPayment) -> str:
    with pytest.raises(ServiceError) as told:
        await it.sold(checked)
    return told.value.code


async def states(it: Shop) -> list[str]:
    return [state for (state,) in await it.database.read("SELECT state FROM payments")]


async def bought_once(it: Shop, checked: CheckedPayment) -> None:
    """Send the payment again: it is paid for once, counted once, and its answer is given."""
    async with asyncio.timeout(10):
        record = await it.checkout.claim(OURS, checked)
    if record.state == "claimed":
        record = await it.checkout.settle(record, ANSWER)
    assert (record.state, record.answer) == ("settled", ANSWER)
    assert await states(it) == ["settled"]
    ((events,),) = await it.database.read("SELECT count(*) FROM payments WHERE event_id IS NOT NULL")
    assert (events, len({asked.receipt_id for asked in it.facilitator.asked})) == (1, 1)


async def test_a_settlement_that_was_noted_after_all_goes_on(it: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = it.checked()
    cut = cut_at_commit(monkeypatch, taken=True)
    assert (await it.sold(checked)).state == "settled"
    assert cut == ["COMMIT"]
    await bought_once(it, checked)


async def test_a_settlement_that_was_not_noted_asks_nobody_for_money(it: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = it.checked()
    cut_at_commit(monkeypatch, taken=False)
    assert await code_of(it, checked) == "UNAVAILABLE"
    assert await states(it) == []
    assert it.facilitator.asked == []
    await bought_once(it, checked)


async def test_a_settlement_of_which_nobody_can_say_whether_it_was_noted_is_pending(
    it: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = it.checked()
    cut = cut_at_commit(monkeypatch, taken=True, again=1)
    assert await code_of(it, checked) == "PAYMENT_PENDING"
    assert cut == ["COMMIT", "BEGIN"]
    assert it.facilitator.asked == []
    await bought_once(it, checked)


@TAKEN
async def test_money_that_has_moved_is_entered_once(it: Shop, monkeypatch: pytest.MonkeyPatch, *, taken: bool) -> None:
    checked = it.checked()
    cut_at_commit(monkeypatch, taken=taken, of=2)
    assert await code_of(it, checked) == "PAYMENT_PENDING"
    assert await states(it) == ["settled" if taken else "settling"]
    await bought_once(it, checked)
