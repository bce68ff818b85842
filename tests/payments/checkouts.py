"""A ledger with money in it: payments that were claimed for a call and have run it, and who watches what is counted."""

from collections.abc import Sequence
from hashlib import sha256

from service.clock import Clock
from service.payments.ledger import PaymentLedger
from service.payments.records import Payment, PaymentRecord, Purchase, new_claim
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.response_store import StoredResponse
from tests.payments.signing import PRICE, payment

ANSWER = StoredResponse(200, ((b"content-type", b"application/json"),), b'{"schemaVersion":1}')


class Books:
    """The ledger as one process has it.

    Attributes:
        ledger: The ledger.
        counted: User and route of every paid call that was entered into the usage.
    """

    def __init__(self, database: Database, clock: Clock, run_id: int = 1) -> None:
        self.counted: list[tuple[int, str]] = []
        self.ledger = PaymentLedger(database, clock, self._count, kind="remote", run_id=run_id)
        self._clock = clock

    async def settling(self, paid: Payment | None = None) -> PaymentRecord:
        """Claim a payment, run what it is for, and begin to settle."""
        paid = paid or payment(now_ms=self._clock.now_ms())
        return await self.ledger.begin_settlement(new_claim(purchase(), paid, self._clock.now_ms()), ANSWER)

    async def stands(self, record: PaymentRecord) -> PaymentRecord:
        """A payment as the ledger has it now."""
        found = await self.ledger.get(record.id)
        assert found is not None
        return found

    def _count(self, _: Connection, calls: Sequence[tuple[int, str]]) -> list[int]:
        self.counted += calls
        return [len(self.counted) - place for place in reversed(range(len(calls)))]


def purchase() -> Purchase:
    return Purchase(
        user_id=1,
        offer_id="risk",
        method="GET",
        resource="https://api.example.org/api/cli/coin/risk/BTC",
        request_hash=sha256(b"GET /api/cli/coin/risk/BTC\n").hexdigest(),
        price=PRICE,
    )
