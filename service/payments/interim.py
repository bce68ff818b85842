"""Stands in until the cashier is here: asks once."""

from service.clock import SECOND_MS, Clock
from service.payments.facilitators.port import Facilitator, Refused, Settled
from service.payments.ledger import PaymentLedger
from service.payments.payment import Entry


class Cashier:
    """Asks once."""

    def __init__(self, facilitator: Facilitator, ledger: PaymentLedger, clock: Clock) -> None:
        self._facilitator = facilitator
        self._ledger = ledger
        self._clock = clock

    async def settle(self, entry: Entry) -> Entry:
        """Settle."""
        outcome = await self._facilitator.settle(entry)
        if isinstance(outcome, Settled):
            return await self._ledger.settled(entry, outcome.transaction)
        if isinstance(outcome, Refused):
            return await self._ledger.failed(entry, outcome.reason, None)
        next_ms = self._clock.now_ms() + 2 * SECOND_MS
        return await self._ledger.postpone(entry, outcome.reason, outcome.transaction, next_ms)
