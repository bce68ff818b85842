"""The room, opened: a till that sells, and those who have payments settled."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.payments.challenge import Challenger
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.interim import Cashier
from service.payments.ledger import Count, PaymentLedger
from service.payments.till import Till
from service.settings import Settings
from service.storage.database import Database


class Payments(Struct, frozen=True):
    """Everything that gates and routes need to be paid."""

    till: Till
    challenger: Challenger


@asynccontextmanager
async def open_payments(
    settings: Settings, database: Database, clock: Clock, count: Count, run_id: int
) -> AsyncIterator[Payments]:
    """Open the room.

    Args:
        settings: Chain, payee, and who settles.
        database: Where payments are kept.
        clock: Time.
        count: Enters a paid call into the usage.
        run_id: This process, as the usage knows it.
    """
    challenger = Challenger(settings.network, settings.pay_to)
    ledger = PaymentLedger(database, clock, count, kind=settings.settlement, run_id=run_id)
    await ledger.recover()
    till = Till(settings.network, challenger, ledger, Cashier(LedgerFacilitator(), ledger, clock), clock)
    try:
        yield Payments(till, challenger)
    finally:
        await till.close()
