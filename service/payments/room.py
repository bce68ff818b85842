"""The room, opened: a till that sells, and those who have payments settled."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.payments.cashier import Cashier
from service.payments.challenge import Challenger
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.facilitators.port import Facilitator, Witness
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
        SettingsError: If the operator's key cannot be had.
    """
    challenger = Challenger(settings.network, settings.pay_to)
    ledger = PaymentLedger(database, clock, count, kind=settings.settlement, run_id=run_id)
    await ledger.recover()
    async with _open_settlement(settings, database, clock) as (facilitator, witness):
        cashier = Cashier(ledger, facilitator, witness, clock)
        till = Till(settings.network, challenger, ledger, cashier, clock)
        try:
            yield Payments(till, challenger, ledger, cashier, Reconciler(ledger, cashier, clock, leads).watch)
        finally:
            await till.close()
            await cashier.close()


@asynccontextmanager
async def _open_settlement(
    settings: Settings, database: Database, clock: Clock
) -> AsyncIterator[tuple[Facilitator, Witness | None]]:
    """Open whoever moves the money, and whoever sees the chain; what is not chosen is not even imported."""
    if settings.settlement == "ledger":
        yield LedgerFacilitator(settings.network), None
    elif settings.settlement == "chain":
        from service.payments.facilitators.chain import open_chain  # noqa: PLC0415 - only where chosen

        async with open_chain(settings, database, clock) as opened:
            yield opened
    else:
        from service.payments.facilitators.remote import open_remote  # noqa: PLC0415 - only where chosen
        from service.payments.witness import open_witness  # noqa: PLC0415 - only where chosen

        async with open_remote(settings, clock) as facilitator, open_witness(settings) as witness:
            yield facilitator, witness
