"""Checks quota counters against usage events, repairs them, and sums usage by user and day.

For `Database.inspect` and `Database.write`. Events are summed in pieces: ten million need no sort of their size and no
extra index.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from service.access.quota import ANONYMOUS, FROM_DAY, FROM_STARTER, PAID, Usage
from service.access.usage_ledger import INSERT_QUOTA, UPDATE_QUOTA
from service.storage.engine import Connection
from service.storage.rows import insert_rows

_PIECE: Final = 250_000

_USAGE_SUMS: Final = """
SELECT user_id, bucket, day, count(*) FROM usage_events
WHERE id > ? AND id <= ? AND state <> 2 GROUP BY user_id, bucket, day
"""
_COUNTERS: Final = "SELECT user_id, starter_used, starter_day, day, day_used, counted FROM quota"
_WITHOUT_QUESTION: Final = """
SELECT event_id FROM devices LEFT JOIN usage_events AS event ON event.id = event_id AND bucket = ? AND state <> 2
WHERE event.id IS NULL ORDER BY event_id
"""
_WITHOUT_DEVICE: Final = """
SELECT id FROM usage_events WHERE bucket = ? AND state <> 2 AND id NOT IN (SELECT event_id FROM devices) ORDER BY id
"""


class DayUsage(Struct, frozen=True):
    """Questions of a user on a UTC day (since 1970-01-01) without releases, and paid calls.

    User 0 stands for calls without a token: free questions of devices, and payments without an account.
    """

    user_id: int
    day: int
    questions: int
    paid: int = 0


class CounterMismatch(Struct, frozen=True):
    """A user whose counters differ from the events."""

    user_id: int
    stored: Usage
    summed: Usage


def audit_counters(connection: Connection) -> list[str]:
    """Compare every user's counters with the events that are not released.

    Returns:
        One sentence for each mismatch.
    """
    return [
        f"User {wrong.user_id}: the counters say {_describe(wrong.stored)}, the events {_describe(wrong.summed)}."
        for wrong in find_mismatches(connection)
    ]


def find_mismatches(connection: Connection) -> list[CounterMismatch]:
    """As `audit_counters`, as data."""
    stored = {user_id: Usage(*counters) for user_id, *counters in connection.execute(_COUNTERS)}
    summed = _sum_up(connection, stored)
    return [
        CounterMismatch(user_id, stored.get(user_id, Usage()), summed[user_id])
        for user_id in sorted(summed)
        if _compared(stored.get(user_id, Usage())) != _compared(summed[user_id])
    ]


def audit_devices(connection: Connection) -> list[str]:
    """Compare recorded devices with usage events of devices.

    Returns:
        One sentence for each mismatch.
    """
    return [
        *(
            f"A device is recorded for usage event {event_id}, which is not a question of a device."
            for (event_id,) in connection.execute(_WITHOUT_QUESTION, (ANONYMOUS,))
        ),
        *(
            f"Usage event {event_id} is a question of a device, and no device is recorded."
            for (event_id,) in connection.execute(_WITHOUT_DEVICE, (ANONYMOUS,))
        ),
    ]


def repair_counters(connection: Connection) -> list[int]:
    """Set wrong counters to the sum of the events. The meter of this process must be reopened afterwards.

    Returns:
        The users whose counters were wrong.
    """
    wrong = find_mismatches(connection)
    _replace_counters(connection, {found.user_id: found.summed for found in wrong})
    return [found.user_id for found in wrong]


def find_future_days(connection: Connection, today: int) -> list[tuple[int, int]]:
    """Find users whose last day lies in the future: the clock was ahead. They get no daily question until then.

    Returns:
        User and day, days since 1970-01-01.
    """
    return connection.execute("SELECT user_id, day FROM quota WHERE day > ? ORDER BY user_id", (today,)).fetchall()


def repair_days(connection: Connection, today: int) -> list[int]:
    """Set future days to today. Usage on them counts as today's.

    Returns:
        The users concerned.
    """
    users = [user_id for user_id, _ in find_future_days(connection, today)]
    connection.execute("UPDATE usage_events SET day = ? WHERE day > ?", (today, today))
    connection.execute(
        "UPDATE quota SET day = ?, starter_day = min(starter_day, ?) WHERE day > ?", (today, today, today)
    )
    repair_counters(connection)
    return users


def usage_by_day(connection: Connection, since_day: int = 0) -> list[DayUsage]:
    """Sum up who used how much.

    Args:
        connection: From `Database.inspect`.
        since_day: The first UTC day wanted, days since 1970-01-01.

    Returns:
        By user, then day.
    """
    totals: Counter[tuple[int, int, bool]] = Counter()
    for user_id, bucket, day, calls in _usage_sums(connection):
        if day >= since_day:
            totals[user_id, day, bucket == PAID] += calls
    days = sorted({(user_id, day) for user_id, day, _ in totals})
    return [DayUsage(user_id, day, totals[user_id, day, False], totals[user_id, day, True]) for user_id, day in days]


def _sum_up(connection: Connection, stored: dict[int, Usage]) -> dict[int, Usage]:
    by_bucket: dict[int, Counter[tuple[int, int]]] = {user_id: Counter() for user_id in stored}
    for user_id, bucket, day, questions in _usage_sums(connection):
        if bucket not in {PAID, ANONYMOUS}:
            by_bucket.setdefault(user_id, Counter())[bucket, day] += questions
    return {user_id: _usage_of(counts, stored.get(user_id)) for user_id, counts in by_bucket.items()}


def _usage_of(counts: Counter[tuple[int, int]], stored: Usage | None) -> Usage:
    last_day = max([day for _, day in counts], default=0)
    day = max(last_day, stored.day) if stored else last_day
    starter_days = [day for bucket, day in counts if bucket == FROM_STARTER]
    return Usage(
        starter_used=sum(counts[FROM_STARTER, day] for day in starter_days),
        starter_day=max(starter_days, default=0),
        day=day,
        day_used=counts[FROM_DAY, day],
        counted=counts.total(),
    )


def _usage_sums(connection: Connection) -> Iterator[tuple[int, int, int, int]]:
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM usage_events").fetchone()
    for start in range(0, last, _PIECE):
        yield from connection.execute(_USAGE_SUMS, (start, start + _PIECE)).fetchall()


def _compared(usage: Usage) -> tuple[int, int, int, int]:
    return usage.starter_used, usage.day, usage.day_used, usage.counted


def _replace_counters(connection: Connection, usages: dict[int, Usage]) -> None:
    insert_rows(
        connection,
        INSERT_QUOTA,
        [(user_id, *astuple(usage)) for user_id, usage in usages.items()],
        UPDATE_QUOTA,
    )


def _describe(usage: Usage) -> str:
    return f"{usage.counted} in all, {usage.starter_used} of the starter, {usage.day_used} on day {usage.day}"
