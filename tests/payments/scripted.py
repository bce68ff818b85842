"""A facilitator that does as it is told: else it settles, the way the ledger one does."""

import asyncio
from collections import deque

from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.facilitators.port import Outcome
from service.payments.records import PaymentRecord
from service.wire.payment import SettlementKind


class Scripted:
    """Asked for a payment as often as anybody likes.

    Attributes:
        asked: The payments it was asked for, in order.
        outcomes: What it says next, before it settles honestly again.
        gate: Nobody is answered while it is shut.
    """

    kind: SettlementKind = "ledger"

    def __init__(self) -> None:
        self.asked: list[PaymentRecord] = []
        self.outcomes: deque[Outcome] = deque()
        self.gate = asyncio.Event()
        self.gate.set()

    async def settle(self, record: PaymentRecord) -> Outcome:
        self.asked.append(record)
        await self.gate.wait()
        honest = LedgerFacilitator(record.payment.network)
        return self.outcomes.popleft() if self.outcomes else await honest.settle(record)
