"""The ledger of payments: each step of a payment is durable before the next is taken.

A payment is claimed once, by the key EIP-3009 spends once: network, asset, payer, nonce. Whoever holds the claim holds
its `receipt_id`, which is made anew when a released row is claimed again: a claim that was lost cannot be acted on.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, Literal

from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.payments import answers
from service.payments.payment import Entry, Order, PaidAnswer, Payment
from service.payments.rows import COLUMNS, entry_of, find_payment, write_claim
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.journal import folder_beside, runs_alive
from service.wire.payment import SettlementKind

Claim = Literal["fresh", "same", "other"]
"""Ours now; held already for the very same request of the same user; or held for something else."""

Count = Callable[[Connection, int, str], int]
"""Enters a paid call into the usage of a user: user and offer to event id, inside the transaction that is given."""

LEASE_MS: Final = 15 * MINUTE_MS
"""How long a claim may take to be settled or released. Far longer than its signature is valid."""

FLIGHT_MS: Final = 45 * SECOND_MS
"""How long a settlement is left to whoever began it."""

FORGOTTEN_MS: Final = DAY_MS
"""How long after its window a released payment is forgotten."""

_CHECK_BYTES: Final = 16 * 2**20
_SMALL: Final = 64 * 2**10
_PIECE: Final = 500

_log = logging.getLogger("verdict.payments")


class PaymentLedger:
    """The payments of every user, as one process writes and reads them.

    Args:
        database: Where they are kept.
        clock: Stamps what happens.
        count: Enters a paid call into the usage.
        kind: How this process settles, for the receipts.
        run_id: This process, as the usage knows it.
    """

    def __init__(self, database: Database, clock: Clock, count: Count, *, kind: SettlementKind, run_id: int) -> None:
        self._database = database
        self._clock = clock
        self._count = count
        self._kind = kind
        self._run_id = run_id
        self._folder = folder_beside(database.path)
        self._left: deque[Entry] = deque()
        self._noting = False
        self._unchecked_bytes = 0

    async def claim(self, order: Order, payment: Payment) -> tuple[Claim, Entry]:
        """Claim a payment for a request.

        A row that is new, was released, or was left claimed by a process that died is ours.

        Returns:
            Whose it is, and the payment as it stands, with its answer.

        Raises:
            ServiceError: `UNAVAILABLE` if the claim could not be made durable; then there is none.
        """
        ours: list[Entry] = []

        def work(connection: Connection) -> tuple[Claim, Entry]:
            claim, entry = self._claim(connection, order, payment)
            if claim == "fresh":
                ours.append(entry)
            return claim, entry

        try:
            return await self._database.write(work)
        except asyncio.CancelledError:
            # Closures run in order: by then it is known whether there is anything to be given back.
            self._submit(lambda connection: _release(connection, *ours))
            raise

    async def release(self, entry: Entry) -> None:
        """Give a claim back: nothing was asked of anybody. Does nothing to a payment that is not claimed any more.

        Never raises: what cannot be written now is released when the lease runs out.
        """
        try:
            await self._database.write(lambda connection: _release(connection, entry))
        except ServiceError as error:
            _log.warning("a claim waits for its lease to run out", extra={"payment": entry.id, "reason": error.message})

    async def settling(self, entry: Entry, answer: PaidAnswer) -> Entry:
        """Keep what was bought, and note that somebody is about to be asked for the money.

        Args:
            entry: Claimed, and ours.
            answer: As it will go out. One that is too large to be kept goes out once.

        Returns:
            The payment, with the answer.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable, or if the claim was lost: do not ask for money.
        """
        if len(answer.body) <= _SMALL:
            packed = answers.pack(answer)
        else:
            packed = await asyncio.to_thread(answers.pack, answer)

        def work(connection: Connection) -> Entry:
            now_ms = self._clock.now_ms()
            _begin(connection, entry, (now_ms + FLIGHT_MS, sha256(answer.body).hexdigest(), self._run_id))
            if packed is not None:
                answers.keep(connection, entry.id, packed, now_ms)
                self._check(connection, len(packed), now_ms)
            return replace(entry, state="settling", answer=answer)

        return await self._database.write(work)

    async def settled(self, entry: Entry, transaction: str) -> Entry:
        """Enter that the money has moved: state, receipt and usage in one transaction, once.

        Args:
            entry: Settling; or failed, if it turns out that it was settled all the same.
            transaction: In which it moved.

        Returns:
            The payment as it stands now. Whoever comes second finds what the first has entered.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If nobody was asked to settle this payment.
        """

        def work(connection: Connection) -> Entry:
            now, order = _stands(connection, entry), entry.order
            if now.state not in {"settling", "failed"}:
                return now
            event_id = self._count(connection, order.user_id, order.offer_id)
            now_ms = self._clock.now_ms()
            connection.execute(
                "UPDATE payments SET state = 'settled', due_ms = NULL, reason = NULL, tx = ?, settlement = ?, "
                "settled_ms = ?, event_id = ?, run_id = ? WHERE id = ?",
                (transaction, self._kind, now_ms, event_id, self._run_id, entry.id),
            )
            return replace(now, state="settled", transaction=transaction, settled_ms=now_ms, reason=None)

        return await self._database.write(work)

    async def failed(self, entry: Entry, reason: str, look_again_ms: int | None, *, first: bool = False) -> Entry:
        """Enter that the money has not moved, unless it is known that it has.

        Args:
            entry: Settling or failed.
            reason: An x402 code.
            look_again_ms: When to make sure, epoch milliseconds; null where nothing can come any more, and then what
                was bought is not kept either.
            first: Whether this is true only if nobody else has asked: then it is not entered where anything was noted
                since, by whoever asked again.

        Returns:
            The payment as it stands now: settled, if somebody has entered that.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If nobody was asked to settle this payment.
        """

        def work(connection: Connection) -> Entry:
            now = _stands(connection, entry)
            if now.state not in {"settling", "failed"} or (first and now.reason is not None):
                return now
            connection.execute(
                "UPDATE payments SET state = 'failed', reason = ?, due_ms = ?, run_id = ? WHERE id = ?",
                (reason, look_again_ms, self._run_id, entry.id),
            )
            if look_again_ms is None:
                answers.forget(connection, entry.id)
            return replace(now, state="failed", reason=reason)

        return await self._database.write(work)

    async def postpone(self, entry: Entry, reason: str, transaction: str | None, next_ms: int) -> Entry:
        """Enter that nothing is known yet, and when to ask again.

        Args:
            entry: Settling, or failed and to be looked at again (a failure stays one until it is known better).
            reason: Why, for the operator.
            transaction: The one that may do it; null leaves the one that is known.
            next_ms: When, epoch milliseconds.

        Returns:
            The payment as it stands now: settled, if somebody has entered that.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If nobody was asked to settle this payment.
        """

        def work(connection: Connection) -> Entry:
            now = _stands(connection, entry)
            if now.state not in {"settling", "failed"}:
                return now
            known = transaction or now.transaction
            said = reason if now.state == "settling" else now.reason
            connection.execute(
                "UPDATE payments SET reason = ?, tx = ?, due_ms = ?, run_id = ? WHERE id = ? AND due_ms IS NOT NULL",
                (said, known, next_ms, self._run_id, entry.id),
            )
            return replace(now, reason=said, transaction=known)

        return await self._database.write(work)

    def delivered(self, entry: Entry) -> None:
        """Note that a paid answer has left. Nothing waits for it; without it the payment just stays settled."""
        self._left.append(entry)
        if not self._noting:
            self._noting = self._submit(self._note)

    async def get(self, payment_id: int) -> Entry | None:
        """Read a payment with its answer."""
        return await self._read("id = ?", payment_id)

    async def held(self, payment: Payment) -> Entry | None:
        """Read a payment by what it spends, with its answer."""
        key = (payment.network, payment.asset, payment.payer, payment.nonce)
        return await self._read("network = ? AND asset = ? AND payer = ? AND nonce = ?", *key)

    async def find(self, receipt_id: str) -> Entry | None:
        """Read a payment by its public name, with its answer."""
        return await self._read("receipt_id = ?", receipt_id)

    async def due(self, now_ms: int, limit: int) -> list[Entry]:
        """Read what has to be settled or looked at again, the longest due first.

        Args:
            now_ms: Epoch milliseconds.
            limit: How many at most.

        Returns:
            Payments without their answers: those whose time has come, and those that a dead process was settling.
        """
        rows = await self._database.read(
            f"SELECT due_ms, {COLUMNS} FROM payments WHERE due_ms IS NOT NULL AND state IN ('settling', 'failed') "  # noqa: S608 -- names of columns
            "AND (due_ms <= ? OR state = 'settling' AND run_id <> ?) ORDER BY due_ms LIMIT ?",
            (now_ms, self._run_id, limit),
        )
        if any(row[0] > now_ms for row in rows):
            alive = runs_alive(self._folder)
            rows = [row for row in rows if row[0] <= now_ms or row[-1] not in alive]
        return [entry_of(row[1:]) for row in rows]

    async def recover(self) -> int:
        """Release what processes that died had claimed, and claims whose lease has run out.

        Returns:
            How many claims.
        """
        return await self._database.write(self._release_orphans)

    async def prune(self) -> None:
        """Release orphans, drop answers that are too old or too many, forget what was released and can come no more."""
        await self.recover()
        now_ms = self._clock.now_ms()
        while await self._database.write(lambda connection: _forget_released(connection, now_ms)):
            pass
        while await self._database.write(lambda connection: answers.drop(connection, now_ms)):
            pass

    def _claim(self, connection: Connection, order: Order, payment: Payment) -> tuple[Claim, Entry]:
        now_ms = self._clock.now_ms()
        found = find_payment(connection, payment)
        if found is not None:
            entry, run_id = found
            orphan = entry.state == "claimed" and run_id != self._run_id and run_id not in runs_alive(self._folder)
            if entry.state != "released" and not orphan:
                asked, held = (order.user_id, order.request_hash), (entry.order.user_id, entry.order.request_hash)
                if asked != held:
                    return "other", entry
                return "same", replace(entry, answer=answers.read(connection, entry.id))
        row_id = found[0].id if found else None
        return "fresh", write_claim(connection, row_id, order, payment, now_ms, now_ms + LEASE_MS, self._run_id)

    def _release_orphans(self, connection: Connection) -> int:
        alive, now_ms = runs_alive(self._folder), self._clock.now_ms()
        claims = connection.execute(
            "SELECT id, run_id, due_ms FROM payments WHERE due_ms IS NOT NULL AND state = 'claimed'"
        ).fetchall()
        orphans = [(row_id,) for row_id, run_id, due_ms in claims if run_id not in alive or due_ms < now_ms]
        connection.executemany("UPDATE payments SET state = 'released', due_ms = NULL WHERE id = ?", orphans)
        return len(orphans)

    def _check(self, connection: Connection, size: int, now_ms: int) -> None:
        self._unchecked_bytes += size
        if self._unchecked_bytes > _CHECK_BYTES:
            self._unchecked_bytes = 0
            while answers.drop(connection, now_ms):
                pass

    def _note(self, connection: Connection) -> None:
        self._noting = False
        while self._left:
            entry = self._left.popleft()
            connection.execute(
                "UPDATE payments SET state = 'delivered' WHERE id = ? AND receipt_id = ? AND state = 'settled'",
                (entry.id, entry.receipt_id),
            )

    def _submit(self, work: Callable[[Connection], object]) -> bool:
        try:
            self._database.submit(work, _told)
        except ServiceError as error:
            _told(None, error)
            return False
        return True

    async def _read(self, condition: str, *values: int | str) -> Entry | None:
        rows = await self._database.read(
            f"SELECT {COLUMNS}, body FROM payments LEFT JOIN payment_answers ON payment_id = id WHERE {condition}",  # noqa: S608 -- names and a constant
            values,
        )
        return replace(entry_of(rows[0][:-1]), answer=answers.unpack(rows[0][-1])) if rows else None


def _begin(connection: Connection, entry: Entry, values: tuple[int, str, int]) -> None:
    done = connection.execute(
        "UPDATE payments SET state = 'settling', due_ms = ?, response_hash = ?, run_id = ? "
        "WHERE id = ? AND receipt_id = ? AND state = 'claimed'",
        (*values, entry.id, entry.receipt_id),
    )
    if not done.rowcount:
        raise ServiceError(
            "UNAVAILABLE",
            "The answer took too long; nothing was charged. Send the request again.",
            headers={"Retry-After": "1"},
        )


def _stands(connection: Connection, entry: Entry) -> Entry:
    """Read where a payment stands that somebody was asked to settle; its answer, unless the caller has it."""
    sql = f"SELECT {COLUMNS} FROM payments WHERE id = ? AND receipt_id = ?"  # noqa: S608 -- names of columns
    row = connection.execute(sql, (entry.id, entry.receipt_id)).fetchone()
    now = entry_of(row) if row else None
    if now is None or now.state in {"claimed", "released"}:
        raise RuntimeError(f"nobody was asked to settle payment {entry.id}")
    return replace(now, answer=entry.answer or answers.read(connection, entry.id))


def _release(connection: Connection, *entries: Entry) -> None:
    connection.executemany(
        "UPDATE payments SET state = 'released', due_ms = NULL WHERE id = ? AND receipt_id = ? AND state = 'claimed'",
        [(entry.id, entry.receipt_id) for entry in entries],
    )


def _forget_released(connection: Connection, now_ms: int) -> int:
    return connection.execute(
        "DELETE FROM payments WHERE id IN "
        "(SELECT id FROM payments WHERE state = 'released' AND valid_before_s < ? LIMIT ?)",
        ((now_ms - FORGOTTEN_MS) // SECOND_MS, _PIECE),
    ).rowcount


def _told(_: Any, error: BaseException | None) -> None:
    if error is not None:
        _log.warning("what became of a payment's answer could not be noted", extra={"reason": str(error)})
