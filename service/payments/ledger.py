"""The ledger of payments: each step of a payment is durable before the next is taken.

A payment is claimed once, by the key EIP-3009 spends once: network, asset, payer, nonce. Whoever holds the claim holds
its `receipt_id`, which is made anew when a released row is claimed again: a claim that was lost cannot be acted on.
"""

import asyncio
import logging
from collections import deque
from typing import Any, Final

from msgspec.structs import replace

from service.clock import Clock
from service.errors import ServiceError
from service.payments import answers
from service.payments.payment import Entry, Order, PaidAnswer, Payment
from service.payments.rows import COLUMNS, entry_of
from service.payments.steps import FARTHEST_MS, Claim, Count, Steps, deliver, release
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.gathering import Gathering
from service.storage.runs import Runs
from service.wire.payment import SettlementKind

_SMALL: Final = 64 * 2**10

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
        self._run_id = run_id
        self._runs = Runs(database)
        self._steps = Steps(clock, count, kind, run_id, self._runs)
        self._gathering = Gathering(database)
        self._left: deque[Entry] = deque()
        self._noting = False

    async def claim(self, order: Order, payment: Payment) -> tuple[Claim, Entry]:
        """Claim a payment for a request.

        A row that is new, was released, or was left claimed by a process that died is ours.

        Returns:
            Whose it is, and the payment as it stands, with its answer where the request is the same.

        Raises:
            ServiceError: `UNAVAILABLE` if the claim could not be made durable; then there is none.
        """
        ours: list[Entry] = []

        def work(connection: Connection) -> tuple[Claim, Entry]:
            claim, entry = self._steps.claim(connection, order, payment)
            if claim == "fresh":
                ours.append(entry)
            return claim, entry

        try:
            return await self._gathering.take(work)
        except (asyncio.CancelledError, ServiceError):
            # Steps are taken in order: by then it is known whether there is anything to be given back.
            # There may be, too, where the answer to a commit was lost.
            self._gathering.submit(lambda connection: release(connection, *ours), _told)
            raise

    async def release(self, entry: Entry) -> bool:
        """Give a claim back: nothing was asked of anybody. Does nothing to a payment that is not claimed any more.

        Never raises: what cannot be written now is released when the lease runs out.

        Returns:
            Whether the store has taken it.
        """
        try:
            await self._gathering.take(lambda connection: release(connection, entry))
        except ServiceError as error:
            _log.warning("a claim waits for its lease to run out", extra={"payment": entry.id, "reason": error.message})
            return False
        return True

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
        return await self._gathering.take(lambda connection: self._steps.begin(connection, entry, answer, packed))

    async def settled(self, entry: Entry, transaction: str, *, reported: bool = False) -> Entry:
        """Enter that the money has moved: state, receipt and usage in one transaction, once.

        Args:
            entry: Settling; or failed, if it turns out that it was settled all the same.
            transaction: In which it moved.
            reported: Whether a remote facilitator says so, and it is to be checked on the chain.

        Returns:
            The payment as it stands now. Whoever comes second finds what the first has entered.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If nobody was asked to settle this payment.
        """
        return await self._gathering.take(
            lambda connection: self._steps.settle(connection, entry, transaction, reported=reported)
        )

    async def failed(
        self,
        entry: Entry,
        reason: str,
        look_again_ms: int | None,
        *,
        first: bool = False,
        transaction: str | None = None,
    ) -> Entry:
        """Enter that the money has not moved, unless it is known that it has.

        Args:
            entry: Settling or failed.
            reason: An x402 code.
            look_again_ms: When to make sure, epoch milliseconds; null where nothing can come any more, and then what
                was bought is not kept either.
            first: Whether this is true only if nobody else has asked: then it is not entered where anything was noted
                since, by whoever asked again.
            transaction: The one to be named: where the authorization was used before, the one that paid this payee.

        Returns:
            The payment as it stands now: settled, if somebody has entered that.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
            RuntimeError: If nobody was asked to settle this payment.
        """
        return await self._database.write(
            lambda connection: self._steps.fail(
                connection, entry, reason, look_again_ms, first=first, transaction=transaction
            )
        )

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
        return await self._database.write(
            lambda connection: self._steps.postpone(connection, entry, reason, transaction, next_ms)
        )

    def delivered(self, entry: Entry) -> None:
        """Note that a paid answer has left. Nothing waits for it; without it the payment just stays settled."""
        self._left.append(entry)
        if not self._noting:
            self._submit_note()

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

    async def of_key(self, user_id: int, key_hash: str, since_ms: int) -> Entry | None:
        """Read what was paid, or may have been, for a request with a key, with its answer.

        Args:
            user_id: Whose request it is.
            key_hash: As its `Order` has it.
            since_ms: The earliest claim that counts, epoch milliseconds.
        """
        condition = "user_id = ? AND key_hash = ? AND claimed_ms > ? AND state IN ('settling', 'settled', 'delivered')"
        return await self._read(f"{condition} ORDER BY id LIMIT 1", user_id, key_hash, since_ms)

    async def due(self, now_ms: int, limit: int) -> list[Entry]:
        """Read what has to be settled or looked at again, the longest due first.

        Args:
            now_ms: Epoch milliseconds.
            limit: How many at most.

        Returns:
            Payments without their answers: those whose time has come, and those that a dead process was settling. Also
            those whose time is further off than anybody puts it: it was put there by a clock that has been set back.
        """
        last_ms = now_ms + FARTHEST_MS
        rows = await self._database.read(
            f"SELECT due_ms, {COLUMNS} FROM payments WHERE due_ms IS NOT NULL AND state IN ('settling', 'failed') "  # noqa: S608 -- names of columns
            "AND (due_ms <= ? OR due_ms > ? OR state = 'settling' AND run_id <> ?) ORDER BY due_ms, id LIMIT ?",
            (now_ms, last_ms, self._run_id, limit),
        )
        if any(now_ms < row[0] <= last_ms for row in rows):
            alive = await self._runs.alive_now()
            rows = [row for row in rows if not now_ms < row[0] <= last_ms or row[-1] not in alive]
        return [entry_of(row[1:]) for row in rows]

    async def recover(self) -> int:
        """Release what processes that died had claimed, and claims whose lease has run out.

        Returns:
            How many claims.
        """
        return await self._database.write(self._steps.release_orphans)

    async def prune(self) -> None:
        """Release orphans, drop answers that are too old or too many, forget what was released and can come no more."""
        await self.recover()
        for sweep in (self._steps.forget_released, self._steps.drop_answers):
            while await self._database.write(sweep):
                pass

    def _note(self, connection: Connection) -> None:
        self._noting = False
        deliver(connection, *(self._left.popleft() for _ in range(len(self._left))))

    def _noted(self, _: Any, error: BaseException | None) -> None:
        if error is not None:
            self._noting = False  # the closure may never have run
        _told(_, error)

    def _submit_note(self) -> None:
        self._noting = True  # before the writer may run the closure, which sets it back
        try:
            self._database.submit(self._note, self._noted)
        except ServiceError as error:
            self._noted(None, error)

    async def _read(self, condition: str, *values: int | str) -> Entry | None:
        rows = await self._database.read(
            f"SELECT {COLUMNS}, body FROM payments LEFT JOIN payment_answers ON payment_id = id WHERE {condition}",  # noqa: S608 -- names and a constant
            values,
        )
        return replace(entry_of(rows[0][:-1]), answer=answers.unpack(rows[0][-1])) if rows else None


def _told(_: Any, error: BaseException | None) -> None:
    if error is not None:
        _log.warning("a note on a payment could not be made", extra={"reason": str(error)})
