"""A ledger with money in it: payments that were claimed for a call and have run it, and who watches what is counted."""

from hashlib import sha256

from service.clock import Clock
from service.payments.ledger import PaymentLedger
from service.payments.payment import Entry, Order, PaidAnswer, Payment
from service.storage.database import Database
from service.storage.engine import Connection
from tests.payments.signing import PRICE, payment

ANSWER = PaidAnswer(200, ((b"content-type", b"application/json"),), b'{"schemaVersion":1}')


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

    async def settling(self, paid: Payment | None = None) -> Entry:
        """Claim a payment, run what it is for, and begin to settle."""
        paid = paid or payment(now_ms=self._clock.now_ms())
        claim, entry = await self.ledger.claim(order(), paid)
        assert claim == "fresh"
        return await self.ledger.settling(entry, ANSWER)

    async def stands(self, entry: Entry) -> Entry:
        """A payment as the ledger has it now."""
        found = await self.ledger.get(entry.id)
        assert found is not None
        return found

    def _count(self, _: Connection, user_id: int, offer_id: str) -> int:
        self.counted.append((user_id, offer_id))
        return len(self.counted)


def order() -> Order:
    return Order(
        user_id=1,
        offer_id="risk",
        method="GET",
        resource="https://api.example.org/api/cli/coin/risk/BTC",
        request_hash=sha256(b"GET /api/cli/coin/risk/BTC\n").hexdigest(),
        price=PRICE,
    )
