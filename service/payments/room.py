"""The room, opened: a till that sells, and those who have payments settled."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.payments.cashier import Cashier
from service.payments.challenge import Challenger
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.ledger import PaymentLedger
from service.payments.reconciler import Reconciler
from service.payments.steps import Count
from service.payments.till import Till
from service.settings import Settings
from service.storage.database import Database


class Payments(Struct, frozen=True):
    """Everything that gates need to be paid, and an operator to resolve what is in doubt by hand.

    `watch` is a loop, the caller's to run: it resolves what is in doubt.
    """

    till: Till
    challenger: Challenger
    ledger: PaymentLedger
    cashier: Cashier
    watch: Callable[[], Coroutine[object, object, None]]


@asynccontextmanager
async def open_payments(
    settings: Settings, database: Database, clock: Clock, count: Count, run_id: int, leads: Callable[[], bool]
) -> AsyncIterator[Payments]:
    """Open the room.

    Args:
        settings: Chain, payee, and who settles.
        database: Where payments are kept.
        clock: Time.
        count: Enters a paid call into the usage.
        run_id: This process, as the usage knows it.
        leads: Whether this process is the one that resolves what is in doubt.

    Raises:
        ServiceError: `UNAVAILABLE` if the store does not answer.
    """
    challenger = Challenger(settings.network, settings.pay_to)
    ledger = PaymentLedger(database, clock, count, kind=settings.settlement, run_id=run_id)
    await ledger.recover()
    cashier = Cashier(ledger, LedgerFacilitator(), None, clock)
    till = Till(settings.network, challenger, ledger, cashier, clock)
    try:
        yield Payments(till, challenger, ledger, cashier, Reconciler(ledger, cashier, clock, leads).watch)
    finally:
        await till.close()
        await cashier.close()
