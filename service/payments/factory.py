"""Creates the objects of this package."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from service.clock import Clock
from service.payments.challenge import ChallengeBuilder
from service.payments.checkout import Checkout
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.facilitators.port import AuthorizationReader, Facilitator
from service.payments.ledger import PaymentLedger
from service.payments.settlement import Reconciler, Settlement
from service.payments.settlement_checks import FacilitatorStop, SettlementChecker, VoidUsage
from service.payments.transactions import RecordUsage
from service.settings import Settings
from service.storage.database import Database

if TYPE_CHECKING:
    from service.payments.checkout import PaymentVerifier


class Payments(Struct, frozen=True):
    """What gates need to accept payments, and the operator to resolve open ones.

    `watch` runs the background loops; the caller runs it. `readiness` is shown by `/readyz`.
    """

    checkout: Checkout
    challenges: ChallengeBuilder
    ledger: PaymentLedger
    settlement: Settlement
    watch: Callable[[], Coroutine[object, object, None]]
    readiness: Callable[[], dict[str, object]]


class _Backend(Struct, frozen=True):
    """The facilitator and the chain reader; with a remote facilitator, also what checks it."""

    facilitator: Facilitator
    chain_reader: AuthorizationReader | None = None
    stop: FacilitatorStop | None = None
    verifier: "PaymentVerifier | None" = None
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
    count: RecordUsage,
    run_id: int,
    leads: Callable[[], bool],
    *,
    void: VoidUsage,
) -> AsyncIterator[Payments]:
    """Create the objects of this package.

    Args:
        settings: Chain, payee and kind of settlement.
        database: Where payments are stored.
        clock: Time.
        count: Records a paid call in the usage.
        run_id: This process in the usage.
        leads: Whether this process resolves open payments.
        void: Removes a paid call from the usage.

    Raises:
        ServiceError: `UNAVAILABLE` if the store does not answer.
        SettingsError: If the operator's key is missing.
    """
    challenges = ChallengeBuilder(settings.network, settings.pay_to)
    ledger = PaymentLedger(database, clock, count, kind=settings.settlement, run_id=run_id)
    async with _open_backend(settings, database, clock, leads, void) as backend:
        settlement = Settlement(ledger, backend.facilitator, backend.chain_reader, clock, backend.stop)
        checkout = Checkout(settings.network, challenges, ledger, settlement, clock, backend.verifier)
        loops = [Reconciler(ledger, settlement, clock, leads).watch, *backend.loops()]
        try:
            yield Payments(checkout, challenges, ledger, settlement, partial(_run_all, loops), backend.readiness)
        finally:
            await settlement.close()


async def _run_all(loops: Iterable[Callable[[], Coroutine[object, object, None]]]) -> None:
    async with asyncio.TaskGroup() as group:
        for loop in loops:
            group.create_task(loop())


@asynccontextmanager
async def _open_backend(
    settings: Settings, database: Database, clock: Clock, leads: Callable[[], bool], void: VoidUsage
) -> AsyncIterator[_Backend]:
    """Create the configured facilitator and chain reader. Others are not imported."""
    if settings.settlement == "ledger":
        yield _Backend(LedgerFacilitator(settings.network))
    elif settings.settlement == "chain":
        from service.payments.facilitators.chain import open_chain  # noqa: PLC0415 - only where chosen

        async with open_chain(settings, database, clock) as (own, chain_reader):
            yield _Backend(own, chain_reader)
    else:
        from service.payments.checkout import PaymentVerifier  # noqa: PLC0415 - only where chosen
        from service.payments.facilitators.chain_reader import open_chain_reader  # noqa: PLC0415 - only where chosen
        from service.payments.facilitators.remote import open_remote  # noqa: PLC0415 - only where chosen

        async with open_remote(settings, clock) as facilitator, open_chain_reader(settings) as chain_reader:
            stop = FacilitatorStop(database, facilitator.host, clock)
            await stop.read()
            verifier = PaymentVerifier(facilitator, chain_reader, stop)
            checker = SettlementChecker(database, chain_reader, stop, void, clock, leads)
            yield _Backend(facilitator, chain_reader, stop, verifier, checker)
