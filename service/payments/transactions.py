"""The database transactions of a payment. They run on the writer thread."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from service.clock import HOUR_MS, SECOND_MS, Clock
from service.payments import responses
from service.payments.records import PaymentRecord, find_payment, has_time_left, insert_payments
from service.payments.settlement_checks import record_report
from service.storage.engine import Connection
from service.storage.response_store import StoredResponse
from service.wire.payment import SettlementKind

RecordUsage = Callable[[Connection, Sequence[tuple[int, str]]], list[int]]
"""Records paid calls in the usage, inside the given transaction: takes user and offer, returns the event id of each."""

ATTEMPT_MS: Final = 45 * SECOND_MS
"""How long a settlement is left to the process that began it."""

MAX_PAUSE_MS: Final = HOUR_MS
"""Longest pause between two checks of an open payment."""

CHECK_BYTES: Final = 16 * 2**20
"""How many bytes are stored between two checks of the total."""

_SUBMITTED: Final = frozenset({"settling", "failed"})

_SELECT_CURRENT: Final = """
SELECT receipt_id, state, settled_ms, tx, reason FROM payments
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))
"""
_SETTLE: Final = """
UPDATE payments SET state = 'settled', due_ms = NULL, reason = NULL, tx = ?, settlement = ?, settled_ms = ?,
    event_id = ?, run_id = ?
WHERE id = ?
"""
_DELIVER: Final = """
UPDATE payments SET state = 'delivered' FROM json_each(?) AS gone
WHERE payments.id = CAST(gone.value AS INTEGER) AND receipt_id = gone.key AND state = 'settled'
"""


class Sale(Struct, frozen=True):
    """A claimed payment, its response, and that as it is stored (None: it is too large)."""

    claim: PaymentRecord
    answer: StoredResponse
    packed: bytes | None


class ReportedSettlement(Struct, frozen=True):
    """A payment and the transaction that settled it. `reported`: a facilitator says so, it must be checked."""

    record: PaymentRecord
    transaction: str
    reported: bool


class PaymentTransactions:
    """The transactions of one process.

    Args:
        clock: Time.
        count: Records a paid call in the usage.
        kind: How this process settles.
        run_id: This process.
    """

    def __init__(self, clock: Clock, count: RecordUsage, kind: SettlementKind, run_id: int) -> None:
        self._clock = clock
        self._count = count
        self._kind = kind
        self._run_id = run_id
        self._unchecked_bytes = 0

    def begin(self, connection: Connection, sales: Sequence[Sale]) -> list[PaymentRecord]:
        """Store payments that are about to be submitted, with their responses.

        Returns:
            The payments; in place of one whose authorization is stored already, the stored payment with its response.
            One with too little time left stays `claimed`: it is not stored, now or later.
        """
        now_ms = self._clock.now_ms()
        in_time = [sale for sale in sales if has_time_left(sale.claim.payment, now_ms)]
        claims = [(sale.claim, sha256(sale.answer.body).hexdigest()) for sale in in_time]
        ids = insert_payments(connection, claims, now_ms + ATTEMPT_MS, self._run_id)
        new = [(sale, ids[sale.claim.receipt_id]) for sale in in_time if sale.claim.receipt_id in ids]
        packed = {row_id: sale.packed for sale, row_id in new if sale.packed is not None}
        responses.store(connection, packed, now_ms)
        self._check(connection, sum(map(len, packed.values())), now_ms)
        return [_begun(connection, sale, ids.get(sale.claim.receipt_id), now_ms) for sale in sales]

    def settle(self, connection: Connection, settlements: Sequence[ReportedSettlement]) -> list[PaymentRecord]:
        """Record settlements with receipt and usage. Does nothing to those that are recorded."""
        now_ms = self._clock.now_ms()
        found = _current(connection, [settlement.record for settlement in settlements])
        new = [(now, said) for now, said in zip(found, settlements, strict=True) if now.state in _SUBMITTED]
        event_ids = self._count(connection, [(now.purchase.user_id, now.purchase.offer_id) for now, _ in new])
        for now, said in new:
            if now.reason is not None:
                # The outcome was unknown, perhaps for days: keep the response for a day from now.
                responses.renew(connection, now.id, now_ms)
            if said.reported:
                record_report(connection, now.id, now_ms)
        connection.executemany(
            _SETTLE,
            [
                (said.transaction, self._kind, now_ms, event_id, self._run_id, now.id)
                for (now, said), event_id in zip(new, event_ids, strict=True)
            ],
        )
        return [
            replace(now, state="settled", transaction=said.transaction, settled_ms=now_ms, reason=None)
            if now.state in _SUBMITTED
            else now
            for now, said in zip(found, settlements, strict=True)
        ]

    def fail(
        self,
        connection: Connection,
        record: PaymentRecord,
        reason: str,
        look_again_ms: int | None,
        *,
        first: bool,
        transaction: str | None,
    ) -> PaymentRecord:
        """Record a failure. Does nothing if the payment is settled."""
        (now,) = _current(connection, [record])
        if now.state not in _SUBMITTED or (first and now.reason is not None):
            return now
        connection.execute(
            "UPDATE payments SET state = 'failed', reason = ?, tx = ?, due_ms = ?, run_id = ? WHERE id = ?",
            (reason, transaction, look_again_ms, self._run_id, record.id),
        )
        if look_again_ms is None:
            responses.delete(connection, record.id)
        return replace(now, state="failed", reason=reason, transaction=transaction)

    def postpone(
        self, connection: Connection, record: PaymentRecord, reason: str, transaction: str | None, next_ms: int
    ) -> PaymentRecord:
        """Record an unknown outcome. Does nothing if it is known or no check is due."""
        (now,) = _current(connection, [record])
        if now.state not in _SUBMITTED:
            return now
        said = reason if now.state == "settling" else now.reason
        known = transaction or now.transaction
        connection.execute(
            "UPDATE payments SET reason = ?, tx = ?, due_ms = ?, run_id = ? WHERE id = ? AND due_ms IS NOT NULL",
            (said, known, next_ms, self._run_id, record.id),
        )
        return replace(now, reason=said, transaction=known)

    def drop_answers(self, connection: Connection) -> int:
        """Delete some responses that are too old or exceed the limit. Returns how many."""
        return responses.prune(connection, self._clock.now_ms())

    def _check(self, connection: Connection, size: int, now_ms: int) -> None:
        self._unchecked_bytes += size
        if self._unchecked_bytes > CHECK_BYTES:
            self._unchecked_bytes = 0
            while responses.prune(connection, now_ms):
                pass


def deliver(connection: Connection, records: Sequence[PaymentRecord]) -> Sequence[PaymentRecord]:
    """Record that responses were written."""
    connection.execute(_DELIVER, (msgspec.json.encode({record.receipt_id: record.id for record in records}).decode(),))
    return records


def _begun(connection: Connection, sale: Sale, row_id: int | None, now_ms: int) -> PaymentRecord:
    if row_id is not None:
        return replace(sale.claim, id=row_id, state="settling", answer=sale.answer)
    found = find_payment(connection, sale.claim.payment)
    if found is None:
        if not has_time_left(sale.claim.payment, now_ms):
            return sale.claim
        raise RuntimeError("A payment was not stored, and no other has its authorization.")
    return replace(found, answer=responses.read(connection, found.id))


def _current(connection: Connection, records: Sequence[PaymentRecord]) -> list[PaymentRecord]:
    """Read the current state of submitted payments, and their responses if the caller does not have them.

    What was signed and bought never changes while the receipt id is the same.
    """
    ids = msgspec.json.encode([record.id for record in records]).decode()
    rows = {row[0]: row[1:] for row in connection.execute(_SELECT_CURRENT, (ids,))}
    found = []
    for record in records:
        if record.receipt_id not in rows:
            raise RuntimeError(f"Payment {record.id} was not submitted for settlement.")
        state, settled_ms, transaction, reason = rows[record.receipt_id]
        answer = record.answer or responses.read(connection, record.id)
        changes = {"settled_ms": settled_ms, "transaction": transaction, "reason": reason, "answer": answer}
        found.append(replace(record, state=state, **changes))
    return found
