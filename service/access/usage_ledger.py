"""Usage events and quota counters: what the meter writes, on the writer thread, inside a transaction.

Counters are cached between transactions and written through. `Database.foreign_commits` shows when another process
committed or a transaction was rolled back; then they are read again. So results are exact with any number of processes.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from service.access.caller import Plan
from service.access.quota import (
    ANONYMOUS,
    NO_USER,
    PAID,
    ChargeDecision,
    Usage,
    quota_status,
    quota_status_with_reservations,
    return_question,
    take_question,
)
from service.clock import DAY_MS, MINUTE_MS, Clock
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.journal import DeadJournal
from service.storage.rows import insert_rows
from service.storage.runs import Runs

RESERVED: Final = 0
COMMITTED: Final = 1
RELEASED: Final = 2

LEASE_MS: Final = 15 * MINUTE_MS
"""How long a reservation may take to be committed. Longer than any answer may."""

_NO_RUN: Final = 0
"""In place of a process: the response is stored, so the event outlives the process that answered."""

_MAX_CACHED: Final = 100_000

_INSERT_EVENTS: Final = (
    "INSERT INTO usage_events (at_ms, run_id, state, lease_until_ms, id, user_id, offer_id, day, bucket)"
)
INSERT_QUOTA: Final = "INSERT INTO quota (user_id, starter_used, starter_day, day, day_used, counted)"
UPDATE_QUOTA: Final = """
ON CONFLICT (user_id) DO UPDATE SET starter_used = excluded.starter_used, starter_day = excluded.starter_day,
    day = excluded.day, day_used = excluded.day_used, counted = excluded.counted
"""
_ID_LIST: Final = "(SELECT CAST(value AS INTEGER) FROM json_each(?))"
_SELECT_QUOTA: Final = f"""
SELECT user_id, starter_used, starter_day, day, day_used, counted FROM quota
WHERE user_id IN {_ID_LIST}
"""  # noqa: S608 - a constant

_RESERVED_OF: Final = f"""
SELECT user_id, bucket, day FROM usage_events WHERE state = 0 AND bucket < 2 AND user_id IN {_ID_LIST}
"""  # noqa: S608 - a constant

ChargeRequest = tuple[int, Plan, str, int]
"""A question asked for: the user, the plan, the offer, and the state its event starts in."""


class UsageLedger:
    """The counters as one process knows them. All methods run on the writer thread.

    Args:
        database: Shows when the cache is stale.
        clock: Determines the day of a call.
        runs: Which processes may be alive.

    Attributes:
        run_id: This process; zero before `start_run`.
    """

    def __init__(self, database: Database, clock: Clock, runs: Runs) -> None:
        self._database = database
        self._clock = clock
        self._runs = runs
        self.run_id = 0
        self._usages: dict[int, Usage] = {}
        self._last_event_id = 0
        self._known_at = -1

    def start_run(self, connection: Connection, dead: Sequence[DeadJournal]) -> tuple[int, int]:
        """Refund what dead processes left open and enter this one.

        Args:
            connection: Inside a transaction.
            dead: Their journals.

        Returns:
            This process's run, and the highest event id so far.
        """
        self._refresh(connection)
        alive = self._runs.alive(connection) - {journal.run_id for journal in dead}
        orphans = connection.execute("SELECT id, run_id FROM usage_events WHERE state = 0").fetchall()
        self.refund(connection, [event_id for event_id, run_id in orphans if run_id not in alive])
        settled = self._runs.settled(connection)
        for journal in (journal for journal in dead if journal.telling and journal.run_id not in settled):
            committed = connection.execute(
                "SELECT id FROM usage_events WHERE id > ? AND run_id = ? AND state = 1 AND bucket <> ?",
                (journal.floor(), journal.run_id, PAID),
            )
            self.refund(connection, [event_id for (event_id,) in committed if not journal.answered(event_id)])
        (recorded,) = connection.execute("SELECT coalesce(max(id), 0) FROM usage_runs").fetchone()
        self.run_id = 1 + max(recorded, *alive, *(journal.run_id for journal in dead), 0)
        self._runs.enter(connection, self.run_id, self._clock.now_ms(), alive)
        return self.run_id, self._last_event_id

    def end_run(self, connection: Connection, owed: Sequence[int] = ()) -> None:
        """Release what this process still holds and sign it out.

        Args:
            connection: Inside a transaction.
            owed: Events to be given back, as `reclaim` has it.
        """
        self.reclaim(connection, owed)
        held = connection.execute("SELECT id FROM usage_events WHERE state = 0 AND run_id = ?", (self.run_id,))
        self.refund(connection, [event_id for (event_id,) in held])
        connection.execute("UPDATE usage_runs SET ended_ms = ? WHERE id = ?", (self._clock.now_ms(), self.run_id))

    def charge(self, connection: Connection, takes: Sequence[ChargeRequest]) -> list[ChargeDecision]:
        """Decide requests in order and record those that are granted.

        Returns:
            One decision each.
        """
        self._refresh(connection)
        self._load(connection, {user_id for user_id, _, _, _ in takes})
        now_ms = self._clock.now_ms()
        today = now_ms // DAY_MS
        usages, event_id = self._usages, self._last_event_id
        decisions: list[ChargeDecision] = []
        events: dict[int, list[tuple[object, ...]]] = {RESERVED: [], COMMITTED: []}
        touched: set[int] = set()
        refused: dict[int, tuple[int, Plan]] = {}
        for user_id, tier, offer_id, state in takes:
            bucket, usage = take_question(usages[user_id], tier, today)
            if bucket is None:
                refused[len(decisions)] = user_id, tier
                decisions.append(ChargeDecision(None, quota_status(usage, tier, today)))
                continue
            event_id += 1
            usages[user_id] = usage
            touched.add(user_id)
            events[state].append((event_id, user_id, offer_id, usage.day, bucket))
            decisions.append(ChargeDecision(event_id, quota_status(usage, tier, today)))
        self._last_event_id = event_id
        for state, rows in events.items():
            lease_until_ms = now_ms + LEASE_MS if state == RESERVED else None
            insert_rows(connection, _INSERT_EVENTS, rows, shared=(now_ms, self.run_id, state, lease_until_ms))
        self._store(connection, touched)
        if refused:
            self._mark_busy(connection, refused, decisions, today)
        return decisions

    def record_paid(self, connection: Connection, calls: Sequence[tuple[int, str]]) -> list[int]:
        """Record paid calls. No counter includes them and they are never refunded.

        Args:
            connection: Inside the transaction that settles the payments.
            calls: User (0 without an account) and route of each.

        Returns:
            The id of each event.
        """
        return self._enter(connection, calls, PAID, COMMITTED)

    def reserve_anonymous(self, connection: Connection, offer_id: str) -> int:
        """Reserve a device's question.

        Args:
            connection: Inside the transaction that records the device.
            offer_id: The route.

        Returns:
            The event's id.
        """
        (event_id,) = self._enter(connection, [(NO_USER, offer_id)], ANONYMOUS, RESERVED)
        return event_id

    def commit(self, connection: Connection, event_id: int) -> None:
        """Make a reservation final; nothing where it is already.

        Raises:
            ServiceError: `UNAVAILABLE` if its lease has run out: the call is not counted and must not be answered.
        """
        done = connection.execute(
            "UPDATE usage_events SET state = 1, lease_until_ms = NULL WHERE id = ? AND state <> 2", (event_id,)
        )
        if not done.rowcount:
            raise ServiceError(
                "UNAVAILABLE", "The answer took too long and was not counted. Ask again.", headers={"Retry-After": "1"}
            )

    def commit_stored(self, connection: Connection, event_id: int) -> None:
        """Commit a reservation in the transaction that stores its response.

        Any process can send a stored response, so a start does not refund it when this process dies.

        Raises:
            ServiceError: As `commit`.
        """
        self.commit(connection, event_id)
        connection.execute("UPDATE usage_events SET run_id = ? WHERE id = ?", (_NO_RUN, event_id))

    def release(self, connection: Connection, event_id: int) -> None:
        """Release a reservation. Does nothing if it is not reserved."""
        reserved = connection.execute(
            "SELECT 1 FROM usage_events WHERE id = ? AND run_id = ? AND state = 0", (event_id, self.run_id)
        ).fetchone()
        if reserved:
            self.refund(connection, [event_id])

    def reclaim(self, connection: Connection, event_ids: Sequence[int]) -> None:
        """Refund events of this process whose calls were not answered.

        Args:
            connection: Inside a transaction.
            event_ids: Ids given out by this process. If one was rolled back, another process may have used it.
        """
        kept = connection.execute(
            f"SELECT id FROM usage_events WHERE id IN {_ID_LIST} AND run_id = ? AND state <> 2",  # noqa: S608 - a constant
            (msgspec.json.encode(event_ids).decode(), self.run_id),
        ).fetchall()
        self.refund(connection, [event_id for (event_id,) in kept])

    def expire(self, connection: Connection) -> int:
        """Release reservations whose lease expired. Returns how many."""
        late = connection.execute(
            "SELECT id FROM usage_events WHERE state = 0 AND lease_until_ms < ?", (self._clock.now_ms(),)
        ).fetchall()
        self.refund(connection, [event_id for (event_id,) in late])
        return len(late)

    def refund(self, connection: Connection, event_ids: Sequence[int]) -> None:
        """Release events, reserved or committed, and return their questions."""
        if not event_ids:
            return
        chosen = msgspec.json.encode(event_ids).decode()
        rows = connection.execute(
            f"SELECT user_id, bucket, day FROM usage_events WHERE id IN {_ID_LIST} AND state <> 2",  # noqa: S608 - a constant
            (chosen,),
        ).fetchall()
        connection.execute(
            f"UPDATE usage_events SET state = 2, lease_until_ms = NULL WHERE id IN {_ID_LIST}",  # noqa: S608 - a constant
            (chosen,),
        )
        if any(bucket == ANONYMOUS for _, bucket, _ in rows):
            connection.execute(f"DELETE FROM devices WHERE event_id IN {_ID_LIST}", (chosen,))  # noqa: S608 - a constant
        self._give_back(connection, [row for row in rows if row[0] != NO_USER])

    def _mark_busy(
        self, connection: Connection, refused: dict[int, tuple[int, Plan]], decisions: list[ChargeDecision], today: int
    ) -> None:
        """Mark refusals as `busy` where the quota is used up only by reservations."""
        users = {user_id for user_id, _ in refused.values()}
        answered = {user_id: self._usages[user_id] for user_id in users}
        listed = msgspec.json.encode(list(users)).decode()
        for user_id, bucket, day in connection.execute(_RESERVED_OF, (listed,)):
            answered[user_id] = return_question(answered[user_id], bucket, day)
        for place, (user_id, tier) in refused.items():
            status = quota_status_with_reservations(self._usages[user_id], answered[user_id], tier, today)
            decisions[place] = ChargeDecision(None, status)

    def _give_back(self, connection: Connection, taken: Sequence[tuple[int, int, int]]) -> None:
        self._refresh(connection)
        users = {user_id for user_id, _, _ in taken}
        self._load(connection, users)
        for user_id, bucket, day in taken:
            self._usages[user_id] = return_question(self._usages[user_id], bucket, day)
        self._store(connection, users)

    def _enter(self, connection: Connection, calls: Sequence[tuple[int, str]], bucket: int, state: int) -> list[int]:
        self._refresh(connection)
        now_ms = self._clock.now_ms()
        lease_until_ms = now_ms + LEASE_MS if state == RESERVED else None
        rows = [
            (event_id, user_id, offer_id, now_ms // DAY_MS, bucket)
            for event_id, (user_id, offer_id) in enumerate(calls, self._last_event_id + 1)
        ]
        self._last_event_id += len(rows)
        insert_rows(connection, _INSERT_EVENTS, rows, shared=(now_ms, self.run_id, state, lease_until_ms))
        return [row[0] for row in rows]

    def _refresh(self, connection: Connection) -> None:
        if self._known_at == self._database.foreign_commits and len(self._usages) < _MAX_CACHED:
            return
        self._known_at = self._database.foreign_commits
        self._usages = {}
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM usage_events").fetchone()
        # This process never reuses an event id, even if the event was rolled back: a caller that does not know whether
        # its event was stored can always refund it without refunding another one.
        self._last_event_id = max(last, self._last_event_id)

    def _load(self, connection: Connection, users: set[int]) -> None:
        missing = users - self._usages.keys()
        if not missing:
            return
        for user_id, *counters in connection.execute(_SELECT_QUOTA, (msgspec.json.encode(list(missing)).decode(),)):
            self._usages[user_id] = Usage(*counters)
        for user_id in missing:
            self._usages.setdefault(user_id, Usage())

    def _store(self, connection: Connection, users: Iterable[int]) -> None:
        rows = [(user_id, *msgspec.structs.astuple(self._usages[user_id])) for user_id in sorted(users)]
        insert_rows(connection, INSERT_QUOTA, rows, UPDATE_QUOTA)


def void_paid(connection: Connection, event_id: int) -> None:
    """Remove a paid call from the usage because no money moved. Runs in the transaction that fails the payment."""
    connection.execute("UPDATE usage_events SET state = 2 WHERE id = ? AND bucket = ?", (event_id, PAID))
