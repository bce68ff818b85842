"""The closures of the meter: what is decided about questions on the writer thread, inside a transaction.

Counters are remembered from one transaction to the next, and written through. Whatever makes them doubtful (another
process committed, something was rolled back) is told by `Database.foreign_commits`, and then they are read again: with
one process the store is not read at all, with several the answer is exact all the same.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from service.access.caller import Plan
from service.access.quota import NOBODY, PAID, VISIT, Usage, give_back, standing_beside, standing_of, take
from service.access.standing import Decision
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
"""In place of a process: what is counted is kept in the store, and outlives whoever answered it."""

_MOST_REMEMBERED: Final = 100_000

_INSERT_EVENTS: Final = (
    "INSERT INTO usage_events (at_ms, run_id, state, lease_until_ms, id, user_id, offer_id, day, bucket)"
)
INSERT_QUOTA: Final = "INSERT INTO quota (user_id, starter_used, starter_day, day, day_used, counted)"
UPDATE_QUOTA: Final = """
ON CONFLICT (user_id) DO UPDATE SET starter_used = excluded.starter_used, starter_day = excluded.starter_day,
    day = excluded.day, day_used = excluded.day_used, counted = excluded.counted
"""
_LISTED: Final = "(SELECT CAST(value AS INTEGER) FROM json_each(?))"
_SELECT_QUOTA: Final = f"""
SELECT user_id, starter_used, starter_day, day, day_used, counted FROM quota
WHERE user_id IN {_LISTED}
"""  # noqa: S608 - a constant

_RESERVED_OF: Final = f"""
SELECT user_id, bucket, day FROM usage_events WHERE state = 0 AND bucket < 2 AND user_id IN {_LISTED}
"""  # noqa: S608 - a constant

Take = tuple[int, Plan, str, int]
"""A question asked for: the user, the plan, the offer, and the state its event starts in."""


class Ledger:
    """What one process knows of the counters. All methods run on the writer thread.

    Args:
        database: Tells when what is known is doubtful.
        clock: Fixes the day of a call when it is decided.
        runs: Which processes may live.

    Attributes:
        run_id: This process; zero before its run has started.
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
        """Settle what dead processes left open and enter this one.

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

    def settle(self, connection: Connection, takes: Sequence[Take]) -> list[Decision]:
        """Decide about questions, in order, and write down those that are granted.

        Args:
            connection: Inside a transaction.
            takes: What is asked for.

        Returns:
            One decision each.
        """
        self._refresh(connection)
        self._load(connection, {user_id for user_id, _, _, _ in takes})
        now_ms = self._clock.now_ms()
        today = now_ms // DAY_MS
        usages, event_id = self._usages, self._last_event_id
        decisions: list[Decision] = []
        events: dict[int, list[tuple[object, ...]]] = {RESERVED: [], COMMITTED: []}
        touched: set[int] = set()
        refused: dict[int, tuple[int, Plan]] = {}
        for user_id, tier, offer_id, state in takes:
            bucket, usage = take(usages[user_id], tier, today)
            if bucket is None:
                refused[len(decisions)] = user_id, tier
                decisions.append(Decision(None, standing_of(usage, tier, today)))
                continue
            event_id += 1
            usages[user_id] = usage
            touched.add(user_id)
            events[state].append((event_id, user_id, offer_id, usage.day, bucket))
            decisions.append(Decision(event_id, standing_of(usage, tier, today)))
        self._last_event_id = event_id
        for state, rows in events.items():
            lease_until_ms = now_ms + LEASE_MS if state == RESERVED else None
            insert_rows(connection, _INSERT_EVENTS, rows, shared=(now_ms, self.run_id, state, lease_until_ms))
        self._store(connection, touched)
        if refused:
            self._mark_busy(connection, refused, decisions, today)
        return decisions

    def enter_paid(self, connection: Connection, user_id: int, offer_id: str) -> int:
        """Enter a call that was paid for. It is no question: no counter knows of it, and it is never given back.

        Args:
            connection: Inside the transaction that makes the payment settled.
            user_id: Whose call.
            offer_id: What for.

        Returns:
            The event's id.
        """
        return self._enter(connection, user_id, offer_id, PAID, COMMITTED)

    def enter_visit(self, connection: Connection, offer_id: str) -> int:
        """Reserve a device's question; it is to be committed or released like any other.

        Args:
            connection: Inside the transaction that enters the device.
            offer_id: What for.

        Returns:
            The event's id.
        """
        return self._enter(connection, NOBODY, offer_id, VISIT, RESERVED)

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
                "UNAVAILABLE", "The answer took too long and was not counted; ask again.", headers={"Retry-After": "1"}
            )

    def commit_kept(self, connection: Connection, event_id: int) -> None:
        """Make a reservation final in the transaction that keeps its answer.

        It can be given from now on, by any process: so no start concludes from this one's end that it was not.

        Raises:
            ServiceError: As `commit`.
        """
        self.commit(connection, event_id)
        connection.execute("UPDATE usage_events SET run_id = ? WHERE id = ?", (_NO_RUN, event_id))

    def release(self, connection: Connection, event_id: int) -> None:
        """Give a reservation's question back; nothing where it is not reserved any more."""
        reserved = connection.execute(
            "SELECT 1 FROM usage_events WHERE id = ? AND run_id = ? AND state = 0", (event_id, self.run_id)
        ).fetchone()
        if reserved:
            self.refund(connection, [event_id])

    def reclaim(self, connection: Connection, event_ids: Sequence[int]) -> None:
        """Give back what this process has entered and nobody was answered for, as far as it was kept.

        Args:
            connection: Inside a transaction.
            event_ids: As this process gave them out; where they were not kept, another may have given out the same.
        """
        kept = connection.execute(
            f"SELECT id FROM usage_events WHERE id IN {_LISTED} AND run_id = ? AND state <> 2",  # noqa: S608 - a constant
            (msgspec.json.encode(event_ids).decode(), self.run_id),
        ).fetchall()
        self.refund(connection, [event_id for (event_id,) in kept])

    def expire(self, connection: Connection) -> int:
        """Release reservations whose lease has run out.

        Returns:
            How many.
        """
        late = connection.execute(
            "SELECT id FROM usage_events WHERE state = 0 AND lease_until_ms < ?", (self._clock.now_ms(),)
        ).fetchall()
        self.refund(connection, [event_id for (event_id,) in late])
        return len(late)

    def refund(self, connection: Connection, event_ids: Sequence[int]) -> None:
        """Release events, reserved or committed, and give their questions back."""
        if not event_ids:
            return
        chosen = msgspec.json.encode(event_ids).decode()
        rows = connection.execute(
            f"SELECT user_id, bucket, day FROM usage_events WHERE id IN {_LISTED} AND state <> 2",  # noqa: S608 - a constant
            (chosen,),
        ).fetchall()
        connection.execute(
            f"UPDATE usage_events SET state = 2, lease_until_ms = NULL WHERE id IN {_LISTED}",  # noqa: S608 - a constant
            (chosen,),
        )
        if any(bucket == VISIT for _, bucket, _ in rows):
            connection.execute(f"DELETE FROM devices WHERE event_id IN {_LISTED}", (chosen,))  # noqa: S608 - a constant
        self._give_back(connection, [row for row in rows if row[0] != NOBODY])

    def _mark_busy(
        self, connection: Connection, refused: dict[int, tuple[int, Plan]], decisions: list[Decision], today: int
    ) -> None:
        """Tell a quota that is spent from one whose last questions are only reserved.

        Args:
            connection: Inside the transaction that has decided.
            refused: User and tier of each refusal, by its place in `decisions`.
            decisions: Refusals are replaced where the user is only busy.
            today: The UTC day.
        """
        users = {user_id for user_id, _ in refused.values()}
        answered = {user_id: self._usages[user_id] for user_id in users}
        listed = msgspec.json.encode(list(users)).decode()
        for user_id, bucket, day in connection.execute(_RESERVED_OF, (listed,)):
            answered[user_id] = give_back(answered[user_id], bucket, day)
        for place, (user_id, tier) in refused.items():
            standing = standing_beside(self._usages[user_id], answered[user_id], tier, today)
            decisions[place] = Decision(None, standing)

    def _give_back(self, connection: Connection, taken: Sequence[tuple[int, int, int]]) -> None:
        self._refresh(connection)
        users = {user_id for user_id, _, _ in taken}
        self._load(connection, users)
        for user_id, bucket, day in taken:
            self._usages[user_id] = give_back(self._usages[user_id], bucket, day)
        self._store(connection, users)

    def _enter(self, connection: Connection, user_id: int, offer_id: str, bucket: int, state: int) -> int:
        self._refresh(connection)
        self._last_event_id += 1
        now_ms = self._clock.now_ms()
        lease_until_ms = now_ms + LEASE_MS if state == RESERVED else None
        row = (self._last_event_id, user_id, offer_id, now_ms // DAY_MS, bucket)
        insert_rows(connection, _INSERT_EVENTS, [row], shared=(now_ms, self.run_id, state, lease_until_ms))
        return self._last_event_id

    def _refresh(self, connection: Connection) -> None:
        if self._known_at == self._database.foreign_commits and len(self._usages) < _MOST_REMEMBERED:
            return
        self._known_at = self._database.foreign_commits
        self._usages = {}
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM usage_events").fetchone()
        # A number that was given out is never given out again by this process, though its event was not kept: whoever
        # was told that it may not have been can then ask for it back at any time, and takes nobody else's.
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
    """Take back a call that was entered as paid, because the money did not move.

    Args:
        connection: Inside the transaction that makes the payment failed.
        event_id: As `Ledger.enter_paid` gave it.
    """
    connection.execute("UPDATE usage_events SET state = 2 WHERE id = ? AND bucket = ?", (event_id, PAID))
