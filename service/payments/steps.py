"""The steps of a payment, as they are taken on the writer thread, inside a transaction."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.payments import answers
from service.payments.payment import Entry, Order, PaidAnswer, Payment
from service.payments.rows import find_payment, write_claim
from service.payments.settlement_checks import report
from service.storage.engine import Connection
from service.storage.runs import Runs
from service.wire.payment import SettlementKind

Claim = Literal["fresh", "same", "other"]
"""Ours now; held already for the very same request of the same user; or held for something else."""

Count = Callable[[Connection, int, str], int]
"""Enters a paid call into the usage of a user: user and offer to event id, inside the transaction that is given."""

LEASE_MS: Final = 15 * MINUTE_MS
"""How long a claim may take to be settled or released. Far longer than its signature is valid."""

FLIGHT_MS: Final = 45 * SECOND_MS
"""How long a settlement is left to whoever began it."""

FARTHEST_MS: Final = HOUR_MS
"""The longest that an open payment is left alone."""

FORGOTTEN_MS: Final = DAY_MS
"""How long after its window a released payment is forgotten."""

CHECK_BYTES: Final = 16 * 2**20
"""How much is kept before it is looked whether that is too much."""

_ASKED: Final = frozenset({"settling", "failed"})
_NEVER_ASKED: Final = frozenset({"claimed", "released"})
_PIECE: Final = 500

_STANDS: Final = "SELECT state, settled_ms, tx, reason FROM payments WHERE id = ? AND receipt_id = ?"
_DELIVER: Final = """
UPDATE payments SET state = 'delivered' FROM json_each(?) AS gone
WHERE payments.id = CAST(gone.value AS INTEGER) AND receipt_id = gone.key AND state = 'settled'
"""


class Steps:
    """The steps that one process takes.

    Args:
        clock: Stamps what happens.
        count: Enters a paid call into the usage.
        kind: How this process settles.
        run_id: This process.
        runs: Which processes may live.
    """

    def __init__(self, clock: Clock, count: Count, kind: SettlementKind, run_id: int, runs: Runs) -> None:
        self._clock = clock
        self._count = count
        self._kind = kind
        self._run_id = run_id
        self._runs = runs
        self._unchecked_bytes = 0

    def claim(self, connection: Connection, order: Order, payment: Payment) -> tuple[Claim, Entry]:
        """Claim a payment: one that is new, was released, or was left behind by a process that died."""
        now_ms = self._clock.now_ms()
        found = find_payment(connection, payment)
        if found is not None and not self._is_free(connection, *found):
            return self._held(connection, found[0], order)
        row_id = found[0].id if found else None
        return "fresh", write_claim(connection, row_id, order, payment, now_ms, now_ms + LEASE_MS, self._run_id)

    def begin(self, connection: Connection, entry: Entry, answer: PaidAnswer, packed: bytes | None) -> Entry:
        """Keep what was bought, and note that somebody is about to be asked for the money.

        Raises:
            ServiceError: `UNAVAILABLE` if the claim was lost.
        """
        now_ms = self._clock.now_ms()
        done = connection.execute(
            "UPDATE payments SET state = 'settling', due_ms = ?, response_hash = ?, run_id = ? "
            "WHERE id = ? AND receipt_id = ? AND state = 'claimed'",
            (now_ms + FLIGHT_MS, sha256(answer.body).hexdigest(), self._run_id, entry.id, entry.receipt_id),
        )
        if not done.rowcount:
            raise ServiceError(
                "UNAVAILABLE",
                "The answer took too long; nothing was charged. Send the request again.",
                headers={"Retry-After": "1"},
            )
        if packed is not None:
            answers.keep(connection, entry.id, packed, now_ms)
            self._check(connection, len(packed), now_ms)
        return replace(entry, state="settling", answer=answer)

    def settle(self, connection: Connection, entry: Entry, transaction: str, *, reported: bool) -> Entry:
        """Enter that the money has moved, with receipt and usage; nothing where that is entered."""
        now, order = _stands(connection, entry), entry.order
        if now.state not in _ASKED:
            return now
        event_id = self._count(connection, order.user_id, order.offer_id)
        now_ms = self._clock.now_ms()
        if now.reason is not None:
            # It was in doubt, for days perhaps: its payer has its day from now on.
            answers.renew(connection, entry.id, now_ms)
        connection.execute(
            "UPDATE payments SET state = 'settled', due_ms = NULL, reason = NULL, tx = ?, settlement = ?, "
            "settled_ms = ?, event_id = ?, run_id = ? WHERE id = ?",
            (transaction, self._kind, now_ms, event_id, self._run_id, entry.id),
        )
        if reported:
            report(connection, entry.id, now_ms)
        return replace(now, state="settled", transaction=transaction, settled_ms=now_ms, reason=None)

    def fail(
        self,
        connection: Connection,
        entry: Entry,
        reason: str,
        look_again_ms: int | None,
        *,
        first: bool,
        transaction: str | None,
    ) -> Entry:
        """Enter that the money has not moved; nothing where it has."""
        now = _stands(connection, entry)
        if now.state not in _ASKED or (first and now.reason is not None):
            return now
        connection.execute(
            "UPDATE payments SET state = 'failed', reason = ?, tx = ?, due_ms = ?, run_id = ? WHERE id = ?",
            (reason, transaction, look_again_ms, self._run_id, entry.id),
        )
        if look_again_ms is None:
            answers.forget(connection, entry.id)
        return replace(now, state="failed", reason=reason, transaction=transaction)

    def postpone(
        self, connection: Connection, entry: Entry, reason: str, transaction: str | None, next_ms: int
    ) -> Entry:
        """Enter that nothing is known yet; nothing where it is, or where nobody is to look again."""
        now = _stands(connection, entry)
        if now.state not in _ASKED:
            return now
        said = reason if now.state == "settling" else now.reason
        known = transaction or now.transaction
        connection.execute(
            "UPDATE payments SET reason = ?, tx = ?, due_ms = ?, run_id = ? WHERE id = ? AND due_ms IS NOT NULL",
            (said, known, next_ms, self._run_id, entry.id),
        )
        return replace(now, reason=said, transaction=known)

    def release_orphans(self, connection: Connection) -> int:
        """Release what processes that died had claimed, and claims whose lease has run out."""
        alive, now_ms = self._runs.alive(connection), self._clock.now_ms()
        claims = connection.execute(
            "SELECT id, run_id, due_ms FROM payments WHERE due_ms IS NOT NULL AND state = 'claimed'"
        ).fetchall()
        orphans = [(row_id,) for row_id, run_id, due_ms in claims if run_id not in alive or due_ms < now_ms]
        connection.executemany("UPDATE payments SET state = 'released', due_ms = NULL WHERE id = ?", orphans)
        return len(orphans)

    def forget_released(self, connection: Connection) -> int:
        """Forget some payments that were released and are long past their window."""
        before_s = (self._clock.now_ms() - FORGOTTEN_MS) // SECOND_MS
        return connection.execute(
            "DELETE FROM payments WHERE id IN "
            "(SELECT id FROM payments WHERE state = 'released' AND valid_before_s < ? LIMIT ?)",
            (before_s, _PIECE),
        ).rowcount

    def drop_answers(self, connection: Connection) -> int:
        """Drop some answers that are too old or too many."""
        return answers.drop(connection, self._clock.now_ms())

    def _is_free(self, connection: Connection, entry: Entry, run_id: int) -> bool:
        if entry.state != "claimed":
            return entry.state == "released"
        return run_id != self._run_id and run_id not in self._runs.alive(connection)

    def _held(self, connection: Connection, entry: Entry, order: Order) -> tuple[Claim, Entry]:
        held = entry.order
        if (order.user_id, order.request_hash) != (held.user_id, held.request_hash):
            return "other", entry
        return "same", replace(entry, answer=answers.read(connection, entry.id))

    def _check(self, connection: Connection, size: int, now_ms: int) -> None:
        self._unchecked_bytes += size
        if self._unchecked_bytes > CHECK_BYTES:
            self._unchecked_bytes = 0
            while answers.drop(connection, now_ms):
                pass


def release(connection: Connection, *entries: Entry) -> None:
    """Give claims back; nothing where they are not claimed any more, or anew."""
    connection.executemany(
        "UPDATE payments SET state = 'released', due_ms = NULL WHERE id = ? AND receipt_id = ? AND state = 'claimed'",
        [(entry.id, entry.receipt_id) for entry in entries],
    )


def deliver(connection: Connection, *entries: Entry) -> None:
    """Note that answers have left."""
    connection.execute(_DELIVER, (msgspec.json.encode({entry.receipt_id: entry.id for entry in entries}).decode(),))


def _stands(connection: Connection, entry: Entry) -> Entry:
    """Read where a payment stands that somebody was asked to settle; its answer, unless the caller has it.

    What was signed and what for never change while a receipt's id is the same: of those the caller knows all there is.
    """
    row = connection.execute(_STANDS, (entry.id, entry.receipt_id)).fetchone()
    if row is None or row[0] in _NEVER_ASKED:
        raise RuntimeError(f"nobody was asked to settle payment {entry.id}")
    state, settled_ms, transaction, reason = row
    answer = entry.answer or answers.read(connection, entry.id)
    return replace(entry, state=state, settled_ms=settled_ms, transaction=transaction, reason=reason, answer=answer)
