"""Processes that take payments: a store, a meter and a ledger each, which may end in order or die."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from service.access.meter import Meter, open_meter
from service.clock import Clock
from service.payments.ledger import PaymentLedger
from service.payments.records import Payment, PaymentRecord, Purchase, new_claim
from service.storage.database import Database
from service.storage.response_store import StoredResponse
from tests.fakes.stores import open_database
from tests.payments.signing import PRICE, payment

TRANSACTION = "0x" + "ab" * 32
ANSWER = StoredResponse(200, ((b"content-type", b"application/json"),), b'{"schemaVersion":1,"data":{}}')


def purchase(user_id: int = 1, request: str = "GET /api/cli/coin/risk/BTC\n", offer_id: str = "coin.risk") -> Purchase:
    return Purchase(
        user_id=user_id,
        offer_id=offer_id,
        method="GET",
        resource="https://api.example.org/api/cli/coin/risk/BTC",
        request_hash=sha256(request.encode()).hexdigest(),
        price=PRICE,
    )


class Shop:
    """One process; use `open_shop`.

    Attributes:
        database: Its connection to the store.
        meter: Its meter.
        ledger: Its ledger.
    """

    database: Database
    meter: Meter
    ledger: PaymentLedger

    def __init__(self, path: Path, clock: Clock) -> None:
        self._opened: Any = open_database(path, clock)
        self._metering: Any = None
        self._clock = clock

    async def open(self) -> "Shop":
        self.database = await self._opened.__aenter__()
        self._metering = open_meter(self.database, self._clock)
        self.meter = await self._metering.__aenter__()
        self.ledger = PaymentLedger(
            self.database, self._clock, self.meter.record_paid, kind="remote", run_id=self.meter.run_id
        )
        return self

    async def begun(
        self, wanted: Purchase | None = None, paid: Payment | None = None, answer: StoredResponse = ANSWER
    ) -> PaymentRecord:
        """Claim a payment and begin to settle it; or the payment that has spent its authorization already."""
        now_ms = self._clock.now_ms()
        claim = new_claim(wanted or purchase(), paid or payment(now_ms=now_ms), now_ms)
        return await self.ledger.begin_settlement(claim, answer)

    async def close(self) -> None:
        """End in order."""
        await self._metering.__aexit__(None, None, None)
        await self._opened.__aexit__(None, None, None)

    async def die(self) -> None:
        """End without signing out: the store is gone before that can be written."""
        await self._opened.__aexit__(None, None, None)
        await self._metering.__aexit__(None, None, None)

    async def states(self) -> list[str]:
        """The states of all payments, in the order of their rows."""
        return [state for (state,) in await self.database.read("SELECT state FROM payments ORDER BY id")]

    async def paid(self) -> list[tuple[int, str]]:
        """User and route of what was entered as paid."""
        rows = await self.database.read(
            "SELECT user_id, offer_id FROM usage_events WHERE bucket = 2 AND state = 1 ORDER BY id"
        )
        return [(user_id, offer_id) for user_id, offer_id in rows]
