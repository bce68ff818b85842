"""Counting questions: exactly, durably, and before anything is answered.

Calls that wait in one turn of the event loop are decided and written together, and so are those that arrive while the
writer is busy: a batch of 64 costs little more than a call. Nobody is told of a decision before it is durable.

An answer that has been computed is charged with `charge`; one that has to be worked for is reserved, then committed or
released. A caller that is cancelled while it waits is not charged: its answer will not leave.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Protocol

from service.access.audit import audit, audit_devices
from service.access.caller import Caller, Plan
from service.access.devices import Devices
from service.access.ledger import COMMITTED, RESERVED, Ledger, Take
from service.access.quota import Usage, standing_beside, standing_of, take
from service.access.repeats import Repeats
from service.access.standing import Decision, Standing
from service.access.stream_limit import StreamLimit
from service.clock import Clock, day_of
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection, StorageError
from service.storage.full_disk import start_refusal
from service.storage.journal import Journal, boot_id, dead_journals, path_of
from service.storage.runs import Runs

_SWEEP_S: Final = 60.0
_SWEEPS_A_VERIFICATION: Final = 60
_MOST_SUSPECTED: Final = 100_000
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


class Waiter(Protocol):
    """Who waits for a decision: a future, or what answers without one."""

    def done(self) -> bool:
        """Whether it does not wait any more; it is not charged then."""

    def set_result(self, decision: Decision, /) -> None:
        """Take the decision, once it is durable. Must not raise: others wait behind it."""

    def set_exception(self, error: BaseException, /) -> None:
        """Take the reason why there is none. Must not raise."""


Waiting = tuple[Waiter, Take]


class Meter:
    """The questions of every user, as seen by one process. Use `open_meter`.

    Args:
        database: Where they are counted.
        clock: Says which day it is.
        ledger: Decides, on the writer thread.
        journal: Notes which answers have left.

    Attributes:
        devices: Gives those who have no token their question; it ends here, like any other.
        repeats: Answers that are kept, and counted as they are.
        streams: Limits open streams.
    """

    def __init__(self, database: Database, clock: Clock, ledger: Ledger, journal: Journal) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._journal = journal
        self.devices = Devices(database, clock, ledger)
        self.repeats = Repeats(database, clock, ledger)
        self.streams = StreamLimit(database, clock, ledger)
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Waiting] = deque()
        self._writing = False
        self._owed: set[int] = set()
        self._giving_back = False
        self._suspected: set[int] = set()
        self._looked_up: dict[tuple[int, Plan], Standing] = {}

    def spent(self, caller: Caller) -> Standing | None:
        """Say at once how a caller stands who has no question left, without asking the writer.

        Who was refused before is looked up in the store as it is committed now, by this process or any other; the
        memory says only whom to look up. So it is what the writer would decide if it came to this call now: a refusal
        changes nothing, and needs nothing written. A look serves all who wait in one turn of the event loop: every one
        of them had come before it.

        Returns:
            Its standing, `busy` where its last questions are only reserved; None where it may have a question left:
            then `charge`, `ask` or `reserve` decides.
        """
        if caller.user_id not in self._suspected:
            return None
        standing = self._looked_up.get((caller.user_id, caller.plan))
        return self._look_up(caller) if standing is None else standing

    def _look_up(self, caller: Caller) -> Standing | None:
        try:
            row = self._database.glance(_USAGE, (caller.user_id,))
        except ServiceError:
            return None
        usage, answered = _counters(row)
        today = day_of(self._clock.now_ms())
        if take(usage, caller.plan, today)[0] is not None:
            self._suspected.discard(caller.user_id)
            return None
        if not self._looked_up:
            self._loop.call_soon(self._looked_up.clear)
        standing = standing_beside(usage, answered, caller.plan, today)
        self._looked_up[caller.user_id, caller.plan] = standing
        return standing

    def charge(self, caller: Caller, offer_id: str) -> Coroutine[None, None, Decision]:
        """Count a call whose answer exists.

        Args:
            caller: Whose question it is.
            offer_id: What for.

        Returns:
            The decision, once it is durable.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable: do not answer.
        """
        return self._decide(caller, offer_id, COMMITTED)

    def ask(self, caller: Caller, offer_id: str, waiter: Waiter) -> None:
        """As `charge`, for whoever does not await."""
        self._queue(waiter, (caller.user_id, caller.plan, offer_id, COMMITTED))

    def reserve(self, caller: Caller, offer_id: str) -> Coroutine[None, None, Decision]:
        """Set a question aside for a call that is yet to be worked on; it must be committed or released.

        Args:
            caller: Whose question it is.
            offer_id: What for.

        Returns:
            The decision, once it is durable.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable.
        """
        return self._decide(caller, offer_id, RESERVED)

    @property
    def run_id(self) -> int:
        """This process, as `usage_runs` has it."""
        return self._ledger.run_id

    def enter_paid(self, connection: Connection, user_id: int, offer_id: str) -> int:
        """As `Ledger.enter_paid`: for the transaction that makes a payment settled."""
        return self._ledger.enter_paid(connection, user_id, offer_id)

    async def commit(self, event_id: int) -> None:
        """Count a reserved call; to be awaited before the first byte of its answer.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable, or its lease has run out: do not answer.
        """
        try:
            await self._database.write(lambda connection: self._ledger.commit(connection, event_id))
        except (asyncio.CancelledError, ServiceError):  # a commit whose answer was lost may have been kept
            self._give_back([event_id])
            raise

    async def release(self, event_id: int) -> None:
        """Give the question of a reserved call back. Does nothing to one that is committed or released already.

        Never raises: what cannot be written now is released when its lease runs out.
        """
        try:
            await self._database.write(lambda connection: self._ledger.release(connection, event_id))
        except ServiceError as error:
            _log.warning(
                "a question waits for its lease to run out", extra={"event": event_id, "reason": error.message}
            )

    def delivered(self, event_id: int) -> None:
        """Note that a counted call's answer leaves now.

        To be called right before its first bytes are handed to the kernel. A process that is killed before this line
        has not answered, and its next start gives the question back; one that is killed right after it may have
        answered, and an answer that was given must stay counted.
        """
        self._journal.mark(event_id)

    async def standing(self, caller: Caller) -> Standing:
        """Say what a caller has left, without using any of it."""
        usage, answered = await self._read(caller)
        return standing_beside(usage, answered, caller.plan, day_of(self._clock.now_ms()))

    async def answered(self, caller: Caller) -> Standing:
        """Say what a caller has left by what has been answered: reservations, this call's among them, not regarded."""
        _, answered = await self._read(caller)
        return standing_of(answered, caller.plan, day_of(self._clock.now_ms()))

    async def _read(self, caller: Caller) -> tuple[Usage, Usage]:
        rows = await self._database.read(_USAGE, (caller.user_id,))
        return _counters(rows[0] if rows else None)

    async def verify(self) -> list[str]:
        """Compare every counter with the events it counts, and devices with their questions.

        Returns:
            One sentence for each that is wrong; empty where all is well.
        """
        findings = await self._database.inspect(lambda connection: audit(connection) + audit_devices(connection))
        for finding in findings:
            _log.error("a counter is wrong: %s", finding)
        return findings

    async def watch(self) -> None:
        """Verify at once and then every hour, drop what outlived its lease or its day every minute; until cancelled.

        With ten million events a verification takes eight seconds, on a thread of its own; a start need not wait.
        """
        sweep = 0
        while True:
            try:
                if sweep % _SWEEPS_A_VERIFICATION == 0:
                    await self.verify()
                await self._database.write(self._ledger.expire)
                await self.repeats.prune()
            except ServiceError as error:
                _log.warning("questions could not be looked over", extra={"reason": error.message})
            self._give_back([])
            await self._clock.sleep(_SWEEP_S)
            sweep += 1

    async def end(self) -> None:
        """Give back what is reserved or owed, and sign this process out.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable: the next start has to.
        """
        owed = sorted(self._owed)
        await self._database.write(lambda connection: self._ledger.end_run(connection, owed))

    async def _decide(self, caller: Caller, offer_id: str, state: int) -> Decision:
        future: asyncio.Future[Decision] = self._loop.create_future()
        self._queue(future, (caller.user_id, caller.plan, offer_id, state))
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled() and not future.exception():  # decided just before
                self._give_back([future.result().event_id])
            raise

    def _queue(self, waiter: Waiter, wanted: Take) -> None:
        self._waiting.append((waiter, wanted))
        if not self._writing:
            self._call_soon()

    def _call_soon(self) -> None:
        """Call the writer in the next turn of the loop: whoever has arrived in this one shares the commit."""
        self._writing = True
        self._loop.call_soon(self._call_writer)

    def _call_writer(self) -> None:
        batch: list[Waiting] = []
        decisions: list[Decision] = []
        answer = partial(self._answer, batch, decisions)
        try:
            self._database.submit(partial(self._settle, batch, decisions), answer)
        except ServiceError as error:
            answer(None, error)

    def _settle(self, batch: list[Waiting], decisions: list[Decision], connection: Connection) -> None:
        self._gather(batch)
        decisions += self._ledger.settle(connection, [wanted for _, wanted in batch])

    def _gather(self, batch: list[Waiting]) -> None:
        while self._waiting:
            batch.append(self._waiting.popleft())

    def _answer(self, batch: list[Waiting], decisions: list[Decision], _: None, error: BaseException | None) -> None:
        self._writing = False
        if error is not None:
            self._fail(batch, error)
            # Where the store was lost in the middle of its commit they may be kept, and nobody is answered for them.
            self._give_back([decision.event_id for decision in decisions])
            return
        if self._waiting:
            self._call_soon()
        abandoned = []
        for (waiter, wanted), decision in zip(batch, decisions, strict=True):
            if decision.event_id is None:
                self._suspect(wanted[0])
            if not waiter.done():
                waiter.set_result(decision)
            else:
                abandoned.append(decision.event_id)
        self._give_back(abandoned)

    def _suspect(self, user_id: int) -> None:
        if len(self._suspected) >= _MOST_SUSPECTED:
            self._suspected.clear()
        self._suspected.add(user_id)

    def _fail(self, batch: list[Waiting], error: BaseException) -> None:
        self._gather(batch)  # the writer may not have looked who waits; who came since would fare no better
        for waiter, _ in batch:
            if not waiter.done():
                waiter.set_exception(error)

    def _give_back(self, event_ids: Sequence[int | None]) -> None:
        """Give questions back that nobody is answered for; what the store cannot take now it is asked again later."""
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
        else:
            _log.error("questions wait to be given back", extra={"events": len(owed), "reason": str(error)})


def _counters(row: tuple[int, ...] | None) -> tuple[Usage, Usage]:
    """A user's counters as `_USAGE` gives them: with reservations, and without."""
    if row is None:
        return Usage(), Usage()
    *counters, of_starter, of_day, reserved = row
    usage = Usage(*counters)
    return usage, Usage(
        usage.starter_used - of_starter, usage.starter_day, usage.day, usage.day_used - of_day, usage.counted - reserved
    )


@asynccontextmanager
async def open_meter(database: Database, clock: Clock) -> AsyncIterator[Meter]:
    """Start metering in this process, and settle what processes that died left open.

    Reservations of dead processes are released. Calls they counted whose answer had not left are released too, where
    this is known: the machine has not been started anew and the dead process's journal is there.

    Args:
        database: Where questions are counted.
        clock: Says which day it is.

    Yields:
        The meter. On leaving, what is still reserved is released.

    Raises:
        StorageError: If the store cannot be written.
    """
    runs = Runs(database)
    folder, ledger = runs.folder, Ledger(database, clock, runs)
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
            _log.error("the next start has to settle what is reserved", extra={"reason": error.message})
        finally:
            journal.close(settled=settled)
