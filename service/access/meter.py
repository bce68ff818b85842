"""The meter: counts questions exactly and durably before they are answered.

Calls that arrive in one turn of the event loop, or while the writer is busy, share one transaction. Use `charge` for an
answer that exists; use `reserve`, then `commit` or `release`, for one that must still be computed. A call that is
cancelled while it waits is not charged.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Literal, Protocol

from service.access.anonymous import AnonymousQuota
from service.access.audit import audit_counters, audit_devices
from service.access.caller import Caller, Plan
from service.access.idempotency import IdempotencyStore
from service.access.quota import (
    ChargeDecision,
    QuotaStatus,
    Usage,
    quota_status,
    quota_status_with_reservations,
)
from service.access.stream_limit import StreamLimit
from service.access.usage_ledger import COMMITTED, RESERVED, ChargeRequest, UsageLedger
from service.clock import Clock, day_of
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection, StorageError
from service.storage.full_disk import start_refusal
from service.storage.journal import Journal, boot_id, dead_journals, path_of
from service.storage.runs import Runs

_SWEEP_S: Final = 60.0
_SWEEPS_A_VERIFICATION: Final = 60
_MAX_EXHAUSTED: Final = 100_000
_USAGE: Final = """
    SELECT starter_used, starter_day, quota.day, day_used, counted,
        count(*) FILTER (WHERE bucket = 0), count(*) FILTER (WHERE bucket = 1 AND events.day = quota.day),
        count(bucket)
    FROM quota LEFT JOIN usage_events AS events ON events.user_id = quota.user_id AND events.state = 0 AND bucket < 2
    WHERE quota.user_id = ?
    GROUP BY quota.user_id
"""
"""A user's counters, and how many of the questions are only reserved: of the starter, of the day, in all."""

_log = logging.getLogger("verdict.access")


class DecisionWaiter(Protocol):
    """Receives a decision: a future, or a callback object."""

    def done(self) -> bool:
        """Whether it stopped waiting. Its call is then not charged."""

    def set_result(self, decision: ChargeDecision, /) -> None:
        """Receive the decision, which is durable. Must not raise."""

    def set_exception(self, error: BaseException, /) -> None:
        """Receive the reason why there is no decision. Must not raise."""


WaitingCall = tuple[DecisionWaiter, ChargeRequest]


class Meter:
    """Counts the questions of all users in one process. Use `open_meter`.

    Args:
        database: Where they are counted.
        clock: Says which day it is.
        ledger: Decides, on the writer thread.
        journal: Records which answers were sent.

    Attributes:
        anonymous: Reserves the question of a device without a token; `commit` or `release` it here.
        idempotency: Responses that are stored, and counted in the same transaction.
        streams: Limits open streams.
        delivered: Takes the event of a counted call directly before its answer is written. If the process is killed
            before this call, the next start returns the question; after it, the call is counted.
    """

    def __init__(self, database: Database, clock: Clock, ledger: UsageLedger, journal: Journal) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self.delivered = journal.mark
        self.anonymous = AnonymousQuota(database, clock, ledger)
        self.idempotency = IdempotencyStore(database, clock, ledger)
        self.streams = StreamLimit(database, clock, ledger)
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[WaitingCall] = deque()
        self._writing = False
        self._owed: set[int] = set()
        self._giving_back = False
        self._maybe_exhausted: set[int] = set()
        self._statuses: dict[tuple[int, Plan], QuotaStatus] = {}

    def exhausted_status(self, caller: Caller) -> QuotaStatus | None:
        """Return the quota status of a caller without free questions, without using the writer.

        Callers that were refused before are looked up in the committed counters, so the result is what the writer would
        decide.

        Returns:
            The status, `busy` if the last questions are only reserved; None if the caller may have a question left.
        """
        if caller.user_id not in self._maybe_exhausted:
            return None
        status = self.quota_status_now(caller)
        if status is None or status.remaining == 0:
            return status
        self._maybe_exhausted.discard(caller.user_id)
        return None

    def quota_status_now(self, caller: Caller) -> QuotaStatus | None:
        """Return the quota status by a read on the event loop; one read serves all calls of a turn of the loop.

        Returns:
            The status; None if the store cannot be read at once. `quota_status` then waits for it.
        """
        key = caller.user_id, caller.plan
        status = self._statuses.get(key)
        if status is None:
            try:
                rows = self._database.read_now(_USAGE, (caller.user_id,))
            except ServiceError:
                return None
            if not self._statuses:
                self._loop.call_soon(self._statuses.clear)
            status = self._statuses[key] = self._status_of(rows, caller)
        return status

    def charge(self, caller: Caller, offer_id: str) -> Coroutine[None, None, ChargeDecision]:
        """Count a call whose answer exists.

        Returns:
            The decision, once it is durable.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable. Do not answer.
        """
        return self._decide(caller, offer_id, COMMITTED)

    def charge_nowait(
        self, caller: Caller, offer_id: str, waiter: DecisionWaiter, state: Literal[0, 1] = COMMITTED
    ) -> None:
        """Charge (or reserve) without awaiting: `waiter` receives the decision."""
        self._waiting.append((waiter, (caller.user_id, caller.plan, offer_id, state)))
        if not self._writing:
            self._call_writer_soon()

    def reserve(self, caller: Caller, offer_id: str) -> Coroutine[None, None, ChargeDecision]:
        """Reserve a question for a call that must still be computed. `commit` or `release` it afterwards.

        Returns:
            The decision, once it is durable.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
        """
        return self._decide(caller, offer_id, RESERVED)

    @property
    def run_id(self) -> int:
        """Id of this process in `usage_runs`."""
        return self._ledger.run_id

    def record_paid(self, connection: Connection, calls: Sequence[tuple[int, str]]) -> list[int]:
        """Record paid calls in the transaction that settles their payments."""
        return self._ledger.record_paid(connection, calls)

    async def commit(self, event_id: int) -> None:
        """Count a reserved call. Await it before the first byte of the answer.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable, or its lease has run out: do not answer.
        """
        try:
            await self._database.write(lambda connection: self._ledger.commit(connection, event_id))
        except (asyncio.CancelledError, ServiceError):  # a commit whose answer was lost may have been kept
            self._give_back([event_id])
            raise

    async def release(self, event_id: int) -> None:
        """Return the question of a reserved call. Does nothing if it is committed or released.

        Never raises: if the write fails, the question is returned when its lease expires.
        """
        try:
            await self._database.write(lambda connection: self._ledger.release(connection, event_id))
        except ServiceError as error:
            _log.warning(
                "A reserved question could not be released. It is released when its lease expires.",
                extra={"event": event_id, "reason": error.message},
            )

    async def quota_status(self, caller: Caller) -> QuotaStatus:
        """Return the quota status of a caller without using a question."""
        return self._status_of(await self._database.read(_USAGE, (caller.user_id,)), caller)

    async def committed_quota_status(self, caller: Caller) -> QuotaStatus:
        """Return the quota status without reservations, which include this call's."""
        _, answered = _counters(await self._database.read(_USAGE, (caller.user_id,)))
        return quota_status(answered, caller.plan, day_of(self._clock.now_ms()))

    def _status_of(self, rows: list[tuple[int, ...]], caller: Caller) -> QuotaStatus:
        usage, answered = _counters(rows)
        return quota_status_with_reservations(usage, answered, caller.plan, day_of(self._clock.now_ms()))

    async def verify(self) -> list[str]:
        """Compare every counter with the events it counts, and devices with their questions.

        Returns:
            One sentence for each mismatch.
        """
        findings = await self._database.inspect(
            lambda connection: audit_counters(connection) + audit_devices(connection)
        )
        for finding in findings:
            _log.error("Counter mismatch: %s.", finding)
        return findings

    async def watch(self) -> None:
        """Verify now and every hour; release expired reservations and keys every minute. Runs until cancelled.

        With ten million events a verification takes eight seconds on its own thread.
        """
        sweep = 0
        while True:
            try:
                if sweep % _SWEEPS_A_VERIFICATION == 0:
                    await self.verify()
                await self._database.write(self._ledger.expire)
                await self.idempotency.prune()
            except ServiceError as error:
                _log.warning(
                    "Reservations could not be checked. The next check follows in a minute.",
                    extra={"reason": error.message},
                )
            self._give_back([])
            await self._clock.sleep(_SWEEP_S)
            sweep += 1

    async def end(self) -> None:
        """Return reserved and owed questions and record that this process ended.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable; the next start does it.
        """
        owed = sorted(self._owed)
        await self._database.write(lambda connection: self._ledger.end_run(connection, owed))

    async def _decide(self, caller: Caller, offer_id: str, state: Literal[0, 1]) -> ChargeDecision:
        future: asyncio.Future[ChargeDecision] = self._loop.create_future()
        self.charge_nowait(caller, offer_id, future, state)
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled() and not future.exception():  # decided just before
                self._give_back([future.result().event_id])
            raise

    def _call_writer_soon(self) -> None:
        """Call the writer in the next turn of the loop, so that calls of this turn share the commit."""
        self._writing = True
        self._loop.call_soon(self._call_writer)

    def _call_writer(self) -> None:
        batch: list[WaitingCall] = []
        decisions: list[ChargeDecision] = []
        answer = partial(self._answer, batch, decisions)
        try:
            self._database.submit(partial(self._charge_batch, batch, decisions), answer)
        except ServiceError as error:
            answer(None, error)

    def _charge_batch(self, batch: list[WaitingCall], decisions: list[ChargeDecision], connection: Connection) -> None:
        self._gather(batch)
        decisions += self._ledger.charge(connection, [wanted for _, wanted in batch])

    def _gather(self, batch: list[WaitingCall]) -> None:
        while self._waiting:
            batch.append(self._waiting.popleft())

    def _answer(
        self, batch: list[WaitingCall], decisions: list[ChargeDecision], _: None, error: BaseException | None
    ) -> None:
        self._writing = False
        if error is not None:
            self._fail(batch, error)
            # If the store failed during its commit, the charges may exist although no call is answered.
            self._give_back([decision.event_id for decision in decisions])
            return
        if self._waiting:
            self._call_writer_soon()
        abandoned: list[int | None] = []
        for (waiter, wanted), decision in zip(batch, decisions, strict=True):
            if decision.event_id is None:
                self._note_exhausted(wanted[0])
            if not waiter.done():
                waiter.set_result(decision)
            else:
                abandoned.append(decision.event_id)
        if abandoned or self._owed:
            self._give_back(abandoned)

    def _note_exhausted(self, user_id: int) -> None:
        if len(self._maybe_exhausted) >= _MAX_EXHAUSTED:
            self._maybe_exhausted.clear()
        self._maybe_exhausted.add(user_id)

    def _fail(self, batch: list[WaitingCall], error: BaseException) -> None:
        self._gather(batch)  # the writer may not have collected the waiting calls; later ones fail as well
        for waiter, _ in batch:
            if not waiter.done():
                waiter.set_exception(error)

    def _give_back(self, event_ids: Sequence[int | None]) -> None:
        """Return questions of calls that were not answered. Failed writes are repeated by `watch`."""
        self._owed.update(event_id for event_id in event_ids if event_id is not None)
        if not self._owed or self._giving_back:
            return
        owed = sorted(self._owed)
        self._giving_back = True
        try:
            self._database.submit(lambda connection: self._ledger.reclaim(connection, owed), partial(self._note, owed))
        except ServiceError as error:
            self._note(owed, None, error)

    def _note(self, owed: list[int], _: None, error: BaseException | None) -> None:
        self._giving_back = False
        if error is None:
            self._owed.difference_update(owed)
            self._give_back([])  # those that came while these were written
        else:
            _log.error(
                "Questions could not be returned. The next attempt follows in a minute.",
                extra={"events": len(owed), "reason": str(error)},
            )


def _counters(rows: list[tuple[int, ...]]) -> tuple[Usage, Usage]:
    """Read the result of `_USAGE`: the counters with reservations, and without."""
    if not rows:
        return Usage(), Usage()
    *counters, of_starter, of_day, reserved = rows[0]
    usage = Usage(*counters)
    return usage, Usage(
        usage.starter_used - of_starter, usage.starter_day, usage.day, usage.day_used - of_day, usage.counted - reserved
    )


@asynccontextmanager
async def open_meter(database: Database, clock: Clock) -> AsyncIterator[Meter]:
    """Start metering in this process.

    Releases the reservations of dead processes, and calls they counted whose answer had not left, if their journal is
    available and the machine was not rebooted.

    Yields:
        The meter. On exit, remaining reservations are released.

    Raises:
        StorageError: If the store cannot be written.
    """
    runs = Runs(database)
    folder, ledger = runs.folder, UsageLedger(database, clock, runs)
    boot = boot_id()
    try:
        with dead_journals(folder, boot) as dead:
            run_id, since = await database.write(lambda connection: ledger.start_run(connection, dead))
        journal = Journal(path_of(folder, run_id), since, boot)
    except OSError as error:
        if full := start_refusal(folder.parent, error):
            raise StorageError(full) from error
        raise StorageError(
            f"The data folder {folder.parent} cannot be written ({error.strerror}). "
            "Make it writable, or name another one in VERDICT_DATA_DIR."
        ) from error
    except ServiceError as error:
        raise StorageError(f"Metering cannot start: {error.message}") from error
    meter = Meter(database, clock, ledger, journal)
    settled = False
    try:
        yield meter
    finally:
        try:
            await meter.end()
            settled = True
        except ServiceError as error:
            _log.error(
                "Reservations could not be released. The next start releases them.", extra={"reason": error.message}
            )
        finally:
            journal.close(settled=settled)
