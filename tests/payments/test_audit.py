"""Money that moved, receipts and usage are the same, and where they are not it is said."""

import pytest

from service.payments.audit import audit_payments
from service.payments.records import PaymentRecord
from service.storage.engine import Connection
from tests.payments.shop import TRANSACTION, Shop, purchase


@pytest.fixture
async def receipts(shop: Shop) -> list[str]:
    """Two payments that are settled, of users 1 and 2, beside one of each other kind."""
    settled = [await shop.ledger.record_settled(await begun(shop, user_id), TRANSACTION) for user_id in (1, 2)]
    await begun(shop, 3)
    await shop.ledger.record_failed(await begun(shop, 3), "insufficient_funds", None)
    return [record.receipt_id for record in settled]


async def begun(shop: Shop, user_id: int) -> PaymentRecord:
    return await shop.begun(purchase(user_id))


async def spoilt(shop: Shop, *sql: str) -> list[str]:
    """What is found once something has been written past the ledger."""

    def work(connection: Connection) -> None:
        for statement in ("DROP TRIGGER payments_settled_once", *sql):
            connection.execute(statement)

    await shop.database.write(work)
    return await shop.database.inspect(audit_payments)


async def test_of_books_that_are_right_nothing_is_said(shop: Shop, receipts: list[str]) -> None:
    assert await shop.database.inspect(audit_payments) == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM usage_events WHERE id = 1",
        "UPDATE usage_events SET state = 2 WHERE id = 1",
        "UPDATE usage_events SET offer_id = 'regime' WHERE id = 1",
        "UPDATE usage_events SET user_id = 7 WHERE id = 1",
    ],
)
async def test_a_payment_whose_call_is_not_in_the_usage_is_found(shop: Shop, receipts: list[str], sql: str) -> None:
    assert await spoilt(shop, sql) == [f"User 1: payment {receipts[0]} is settled and not in the usage."]


async def test_two_payments_of_one_call_are_found(shop: Shop, receipts: list[str]) -> None:
    assert await spoilt(shop, "UPDATE payments SET event_id = 1, user_id = 1 WHERE event_id = 2") == [
        "Usage event 1 stands for 2 payments.",
        "User 2: usage event 2 is paid, and there is no payment.",
    ]


async def test_a_call_entered_as_paid_without_a_payment_is_found(shop: Shop, receipts: list[str]) -> None:
    await shop.database.write(lambda connection: shop.meter.record_paid(connection, [(9, "regime")]))
    assert await shop.database.inspect(audit_payments) == ["User 9: usage event 3 is paid, and there is no payment."]


async def test_a_payment_of_another_amount_is_found(shop: Shop, receipts: list[str]) -> None:
    assert await spoilt(
        shop, "PRAGMA ignore_check_constraints = ON", "UPDATE payments SET value = 4999 WHERE event_id = 2"
    ) == [f"Payment {receipts[1]} moved 4999 where the price was 5000."]
