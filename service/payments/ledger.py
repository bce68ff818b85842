"""The payment ledger: each step of a payment is durable before the next one begins.

A payment is stored once, when its settlement begins, by what EIP-3009 spends once: network, asset, payer and nonce.
"""

import logging
from typing import Any

from msgspec.structs import replace

from service.clock import Clock
from service.payments.records import (
    COLUMNS,
    OF_AUTHORIZATION,
    Payment,
    PaymentRecord,
    authorization,
    find_payment,
    record_of,
)
from service.payments.transactions import (
    MAX_PAUSE_MS,
    PaymentTransactions,
    RecordUsage,
    ReportedSettlement,
    Sale,
    deliver,
)
from service.storage import response_store
from service.storage.batcher import Batcher
from service.storage.database import Database
from service.storage.response_store import StoredResponse
from service.storage.runs import Runs
from service.wire.payment import SettlementKind

_log = logging.getLogger("verdict.payments")


class PaymentLedger:
    """Reads and writes payments for one process.

    Args:
        database: Where payments are stored.
        clock: Time.
        count: Records a paid call in the usage.
        kind: How this process settles.
        run_id: This process in the usage.
    """

    def __init__(
        self, database: Database, clock: Clock, count: RecordUsage, *, kind: SettlementKind, run_id: int
    ) -> None:
        self._database = database
        self._run_id = run_id
        self._runs = Runs(database)
        self._transactions = PaymentTransactions(clock, count, kind, run_id)
        self._batcher = Batcher(database)

    async def begin_settlement(self, claim: PaymentRecord, answer: StoredResponse) -> PaymentRecord:
        """Store a payment that is about to be submitted, with its response.

        Args:
            claim: The payment.
            answer: The response. One that is too large to store is sent once.

        Returns:
            The payment with the response: submit it. Or the payment that has spent the authorization already, which has
            another `receipt_id`, with its response if that is still stored: do not submit the claim. Or the claim as it
            is, if too little time is left: do not submit it either.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable. Do not submit.
        """
        packed = await response_store.pack(answer)
        return await self._batcher.run(self._transactions.begin, Sale(claim, answer, packed))

    async def find_begun(self, claim: PaymentRecord) -> PaymentRecord | None:
        """Find out on the writer whether a settlement was begun after all: the answer to its commit may have been lost.

        Returns:
            The payment without its response; None if it is certain that it was not stored.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        found = await self._database.write(lambda connection: find_payment(connection, claim.payment))
        return found if found is not None and found.receipt_id == claim.receipt_id else None

    async def record_settled(self, record: PaymentRecord, transaction: str, *, reported: bool = False) -> PaymentRecord:
        """Record that the money moved: state, receipt and usage in one transaction, once.

        Args:
            record: Settling; or failed, if it was settled after all.
            transaction: The transaction that moved it.
            reported: Whether a remote facilitator reports it and it must be checked on the chain.

        Returns:
            The payment as stored. A second call returns what the first recorded.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If the payment was never submitted.
        """
        return await self._batcher.run(self._transactions.settle, ReportedSettlement(record, transaction, reported))

    async def record_failed(
        self,
        record: PaymentRecord,
        reason: str,
        look_again_ms: int | None,
        *,
        first: bool = False,
        transaction: str | None = None,
    ) -> PaymentRecord:
        """Record that no money moved, unless the payment is known to be settled.

        Args:
            record: Settling or failed.
            reason: An x402 code.
            look_again_ms: When to check again, epoch milliseconds; None if nothing can follow. Then the response is
                deleted.
            first: Whether this holds only if the payment was submitted once. Then it is not recorded if `reason` is
                set.
            transaction: The transaction to name: the one that used the authorization and paid this payee.

        Returns:
            The payment as stored.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If the payment was never submitted.
        """
        return await self._database.write(
            lambda connection: self._transactions.fail(
                connection, record, reason, look_again_ms, first=first, transaction=transaction
            )
        )

    async def postpone(
        self, record: PaymentRecord, reason: str, transaction: str | None, next_ms: int
    ) -> PaymentRecord:
        """Record that the outcome is unknown, and when to ask again.

        Args:
            record: Settling, or failed and to be checked again.
            reason: For the operator.
            transaction: The transaction that may settle it; None keeps the known one.
            next_ms: When to ask again, epoch milliseconds.

        Returns:
            The payment as stored.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If the payment was never submitted.
        """
        return await self._database.write(
            lambda connection: self._transactions.postpone(connection, record, reason, transaction, next_ms)
        )

    def delivered(self, record: PaymentRecord) -> None:
        """Record that a paid response is about to be written. Nothing depends on it."""
        self._batcher.submit(deliver, record, _log_failure)

    async def get(self, payment_id: int) -> PaymentRecord | None:
        """Read a payment with its response, by row id."""
        return await self._read("id = ?", payment_id)

    async def find_by_authorization(self, payment: Payment) -> PaymentRecord | None:
        """Read a payment with its response, by what it spends."""
        return await self._read(OF_AUTHORIZATION, *authorization(payment))

    async def find_after_writes(self, payment: Payment) -> PaymentRecord | None:
        """Like `find_by_authorization`, after all writes that other processes have begun.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        await self._database.write(lambda connection: find_payment(connection, payment))
        return await self.find_by_authorization(payment)

    async def find(self, receipt_id: str) -> PaymentRecord | None:
        """Read a payment with its response, by receipt id."""
        return await self._read("receipt_id = ?", receipt_id)

    async def find_by_key_hash(self, user_id: int, key_hash: str, since_ms: int) -> PaymentRecord | None:
        """Read the payment, settled or settling, of a request with an Idempotency-Key, with its response.

        Args:
            user_id: The user.
            key_hash: As in `Purchase`.
            since_ms: Earliest claim that counts, epoch milliseconds.
        """
        condition = "user_id = ? AND key_hash = ? AND claimed_ms > ? AND state IN ('settling', 'settled', 'delivered')"
        return await self._read(f"{condition} ORDER BY id LIMIT 1", user_id, key_hash, since_ms)

    async def read_due(self, now_ms: int, limit: int) -> list[PaymentRecord]:
        """Read payments to be settled or checked again, the longest due first.

        Args:
            now_ms: Epoch milliseconds.
            limit: Most payments.

        Returns:
            Payments without responses: those that are due, those a dead process was settling, and those whose time is
            further
            ahead than any pause (the clock was set back).
        """
        last_ms = now_ms + MAX_PAUSE_MS
        rows = await self._database.read(
            f"SELECT due_ms, {COLUMNS} FROM payments WHERE due_ms IS NOT NULL AND state IN ('settling', 'failed') "  # noqa: S608 -- names of columns
            "AND (due_ms <= ? OR due_ms > ? OR state = 'settling' AND run_id <> ?) ORDER BY due_ms, id LIMIT ?",
            (now_ms, last_ms, self._run_id, limit),
        )
        if any(now_ms < row[0] <= last_ms for row in rows):
            alive = await self._runs.alive_now()
            rows = [row for row in rows if not now_ms < row[0] <= last_ms or row[-1] not in alive]
        return [record_of(row[1:]) for row in rows]

    async def prune(self) -> None:
        """Delete old responses."""
        while await self._database.write(self._transactions.drop_answers):
            pass

    async def _read(self, condition: str, *values: int | str) -> PaymentRecord | None:
        rows = await self._database.read(
            f"SELECT {COLUMNS}, body FROM payments LEFT JOIN payment_answers ON payment_id = id WHERE {condition}",  # noqa: S608 -- names and a constant
            values,
        )
        if not rows:
            return None
        *columns, packed = rows[0]
        answer = None if packed is None else response_store.unpack(packed)
        return replace(record_of(tuple(columns)), answer=answer)


def _log_failure(_: Any, error: BaseException | None) -> None:
    if error is not None:
        _log.warning("A payment could not be updated.", extra={"reason": str(error)})
