"""The room, opened: a till that sells, and those who have payments settled."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from service.clock import Clock
from service.payments.cashier import Cashier
from service.payments.challenge import Challenger
from service.payments.facilitator_stop import FacilitatorStop
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.facilitators.port import Facilitator, Witness
from service.payments.ledger import PaymentLedger
from service.payments.reconciler import Reconciler
from service.payments.settlement_checks import SettlementChecker, Void
from service.payments.steps import Count
from service.payments.till import Till
from service.settings import Settings
from service.storage.database import Database

if TYPE_CHECKING:
    from service.payments.admission import Admission


class Payments(Struct, frozen=True):
    """Everything that gates need to be paid, and an operator to resolve what is in doubt by hand.

    `watch` is a loop, the caller's to run: it resolves what is in doubt. `readiness` is what `/readyz` shows.
    """

    till: Till
    challenger: Challenger
    ledger: PaymentLedger
    cashier: Cashier
    watch: Callable[[], Coroutine[object, object, None]]
    readiness: Callable[[], dict[str, object]]


class _Settlement(Struct, frozen=True):
    """Who moves the money, and who sees the chain; beside a remote facilitator, what keeps it honest."""

    facilitator: Facilitator
    witness: Witness | None = None
    stop: FacilitatorStop | None = None
    admission: "Admission | None" = None
    checker: SettlementChecker | None = None

    def loops(self) -> list[Callable[[], Coroutine[object, object, None]]]:
        return [part.watch for part in (self.stop, self.checker) if part is not None]

    def readiness(self) -> dict[str, object]:
        return {"ready": True} if self.stop is None else self.stop.readiness()


@asynccontextmanager
async def open_payments(
    settings: Settings,
    database: Database,
    clock: Clock,
    count: Count,
    run_id: int,
    leads: Callable[[], bool],
    *,
    void: Void,
) -> AsyncIterator[Payments]:
    """Open the room.

    Args:
        settings: Chain, payee, and who settles.
        database: Where payments are kept.
        clock: Time.
        count: Enters a paid call into the usage.
        run_id: This process, as the usage knows it.
        leads: Whether this process is the one that resolves what is in doubt.
        void: Takes a paid call out of the usage.

    Raises:
        ServiceError: `UNAVAILABLE` if the store does not answer.
        SettingsError: If the operator's key cannot be had.
    """
    challenger = Challenger(settings.network, settings.pay_to)
    ledger = PaymentLedger(database, clock, count, kind=settings.settlement, run_id=run_id)
    await ledger.recover()
    async with _open_settlement(settings, database, clock, leads, void) as chosen:
        cashier = Cashier(ledger, chosen.facilitator, chosen.witness, clock, chosen.stop)
        till = Till(settings.network, challenger, ledger, cashier, clock, chosen.admission)
        loops = [Reconciler(ledger, cashier, clock, leads).watch, *chosen.loops()]
        try:
            yield Payments(till, challenger, ledger, cashier, partial(_run_all, loops), chosen.readiness)
        finally:
            await till.close()
            await cashier.close()


async def _run_all(loops: Iterable[Callable[[], Coroutine[object, object, None]]]) -> None:
    async with asyncio.TaskGroup() as group:
        for loop in loops:
            group.create_task(loop())


@asynccontextmanager
async def _open_settlement(
    settings: Settings, database: Database, clock: Clock, leads: Callable[[], bool], void: Void
) -> AsyncIterator[_Settlement]:
    """Open whoever moves the money, and whoever sees the chain; what is not chosen is not even imported."""
    if settings.settlement == "ledger":
        yield _Settlement(LedgerFacilitator(settings.network))
    elif settings.settlement == "chain":
        from service.payments.facilitators.chain import open_chain  # noqa: PLC0415 - only where chosen

        async with open_chain(settings, database, clock) as (own, witness):
            yield _Settlement(own, witness)
    else:
        from service.payments.admission import Admission  # noqa: PLC0415 - only where chosen
        from service.payments.facilitators.remote import open_remote  # noqa: PLC0415 - only where chosen
        from service.payments.witness import open_witness  # noqa: PLC0415 - only where chosen

        async with open_remote(settings, clock) as facilitator, open_witness(settings) as seeing:
            stop = FacilitatorStop(database, facilitator.host, clock)
            await stop.read()
            admission = Admission(facilitator, seeing, stop)
            checker = SettlementChecker(database, seeing, stop, void, clock, leads)
            yield _Settlement(facilitator, seeing, stop, admission, checker)
