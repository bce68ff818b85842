"""The room, opened: a till that sells, and those who have payments settled."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.payments.challenge import Challenger
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.interim import Cashier, PaymentLedger
from service.payments.till import Till
from service.settings import Settings


class Payments(Struct, frozen=True):
    """Everything that gates and routes need to be paid."""

    till: Till
    challenger: Challenger


@asynccontextmanager
async def open_payments(settings: Settings, clock: Clock) -> AsyncIterator[Payments]:
    """Open the room."""
    challenger = Challenger(settings.network, settings.pay_to)
    ledger = PaymentLedger(clock)
    till = Till(settings.network, challenger, ledger, Cashier(LedgerFacilitator, ledger), clock)
    try:
        yield Payments(till, challenger)
    finally:
        await till.close()
