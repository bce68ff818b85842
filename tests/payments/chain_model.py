"""A chain and whoever submits to it, as little as they can be: a nonce is spent once, and only inside its window.

What a facilitator says of it is another matter: it may say nothing, or die, before the money moved or after.
"""

import asyncio
from typing import Final, Literal

from service.clock import SECOND_MS
from service.payments.facilitators.port import Cancelled, Outcome, Settled, SettlementRefused, Unknown, Unused
from service.payments.records import Payment, PaymentRecord
from service.wire.payment import SettlementKind
from tests.fakes.clock import FakeClock

Mode = Literal["honest", "poor", "silent", "lost", "late", "defective", "dies", "dies after"]
MODES: Final[tuple[Mode, ...]] = ("honest", "poor", "silent", "lost", "late", "defective", "dies", "dies after")


class Chain:
    """What has really happened.

    Attributes:
        moved: The transactions by nonce: money that moved.
        cancelled: Nonces that their payers cancelled.
        waiting: What was submitted and is not in a block yet.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.moved: dict[str, str] = {}
        self.cancelled: set[str] = set()
        self.waiting: dict[str, Payment] = {}

    def now_s(self) -> int:
        return self.clock.now_ms() // SECOND_MS

    def is_open(self, payment: Payment) -> bool:
        spent = payment.nonce in self.moved or payment.nonce in self.cancelled
        return not spent and self.now_s() < payment.valid_before_s

    def move(self, payment: Payment) -> None:
        if self.is_open(payment):
            self.moved[payment.nonce] = transaction_of(payment)

    def mine(self) -> None:
        """Take what waits into a block."""
        for payment in self.waiting.values():
            self.move(payment)
        self.waiting.clear()


class Teller:
    """One process's facilitator, and its witness.

    Attributes:
        mode: How it behaves when it is asked.
        blind: Whether it sees nothing of the chain.
    """

    kind: SettlementKind = "remote"

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.mode: Mode = "honest"
        self.blind = False

    async def settle(self, record: PaymentRecord) -> Outcome:
        await asyncio.sleep(0)
        payment = record.payment
        if self.mode in {"honest", "lost", "dies after"}:
            self.chain.move(payment)
        if self.mode == "late" and self.chain.is_open(payment):
            self.chain.waiting[payment.nonce] = payment
        match self.mode:
            case "honest":
                return self._truth(payment)
            case "poor":
                return SettlementRefused("insufficient_funds", lasting=False)
            case "defective":
                raise KeyError(payment.nonce)
            case "dies" | "dies after":
                raise asyncio.CancelledError
            case _:
                return Unknown("timeout", transaction_of(payment) if self.mode == "late" else None)

    async def look(self, record: PaymentRecord) -> Settled | Unused | Cancelled | Unknown:
        nonce = record.payment.nonce
        if self.blind:
            return Unknown("no answer")
        if nonce in self.chain.moved:
            return Settled(self.chain.moved[nonce])
        return Cancelled() if nonce in self.chain.cancelled else Unused(self.chain.now_s())

    def _truth(self, payment: Payment) -> Outcome:
        if payment.nonce in self.chain.moved:
            return Settled(self.chain.moved[payment.nonce])
        if payment.nonce in self.chain.cancelled:
            return SettlementRefused("invalid_exact_evm_nonce_already_used")
        return SettlementRefused("invalid_exact_evm_payload_authorization_valid_before", lasting=False)


def transaction_of(payment: Payment) -> str:
    return payment.nonce
