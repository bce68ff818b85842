"""Stands in until the ledger and the cashier are here: keeps payments in memory alone."""

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from service.clock import Clock
from service.payments.facilitators.port import Facilitator, Refused, Settled
from service.payments.payment import Entry, Order, PaidAnswer, Payment


class PaymentLedger:
    """In memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: dict[tuple[str, ...], Entry] = {}

    async def claim(self, order: Order, payment: Payment) -> tuple[Literal["fresh", "same", "other"], Entry]:
        """Claim."""
        key = (payment.network, payment.asset, payment.payer, payment.nonce)
        old = self._rows.get(key)
        if old is not None and old.state != "released":
            same = (old.order.user_id, old.order.request_hash) == (order.user_id, order.request_hash)
            return ("same" if same else "other"), old
        row = Entry(
            id=len(self._rows),
            receipt_id=f"rcp_{len(self._rows):022d}",
            state="claimed",
            payment=payment,
            order=order,
            claimed_ms=self._clock.now_ms(),
        )
        return "fresh", self._put(row)

    def _put(self, entry: Entry) -> Entry:
        payment = entry.payment
        self._rows[payment.network, payment.asset, payment.payer, payment.nonce] = entry
        return entry

    async def release(self, entry: Entry) -> None:
        """Release."""
        self._put(replace(entry, state="released"))

    async def settling(self, entry: Entry, answer: PaidAnswer) -> Entry:
        """Keep the answer."""
        return self._put(replace(entry, state="settling", answer=answer))

    async def settled(self, entry: Entry, transaction: str) -> Entry:
        """Settled."""
        return self._put(replace(entry, state="settled", transaction=transaction, settled_ms=self._clock.now_ms()))

    async def failed(self, entry: Entry, reason: str) -> Entry:
        """Failed."""
        return self._put(replace(entry, state="failed", reason=reason))

    async def get(self, entry_id: int) -> Entry:
        """Look."""
        return next(entry for entry in self._rows.values() if entry.id == entry_id)

    def delivered(self, entry: Entry) -> None:
        """Delivered."""
        self._put(replace(entry, state="delivered"))


class Cashier:
    """Asks once."""

    def __init__(self, facilitator: Callable[[], Facilitator], ledger: PaymentLedger) -> None:
        self._facilitator = facilitator
        self._ledger = ledger

    async def settle(self, entry: Entry) -> Entry:
        """Settle."""
        outcome = await self._facilitator().settle(entry)
        if isinstance(outcome, Settled):
            return await self._ledger.settled(entry, outcome.transaction)
        if isinstance(outcome, Refused):
            return await self._ledger.failed(entry, outcome.reason)
        return entry
