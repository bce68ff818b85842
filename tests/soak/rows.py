"""Every row of "Faults": how it is made, what must be so afterwards, and which tests show it."""

from functools import cache
from typing import Final, NamedTuple


class Row(NamedTuple):
    """A row.

    Attributes:
        id: Its name in figures.
        fault: What is done to the service.
        invariant: What must be so afterwards.
        tests: Whoever shows it: a file, or a file and a test (`file::test`), below `tests/`.
    """

    id: str
    fault: str
    invariant: str
    tests: tuple[str, ...]


ONCE: Final = "every answer is counted, nothing else is, and the doctor finds nothing"
MONEY: Final = "money moved = payments answered or still to be answered = receipts = usage; nobody pays twice"
FRESH: Final = "every route answers what it last knew with its age, names it stale, then anew; the call is free"

ROWS: Final[tuple[Row, ...]] = (
    Row(
        "kills",
        "`kill -9` at random moments under load",
        ONCE,
        (
            "service/test_kill.py",
            "access/test_killed_processes.py",
            "access/test_meter_processes.py::test_a_process_killed_at_any_moment",
        ),
    ),
    Row(
        "kills-in-payments",
        "`kill -9` before, during and after settlements, also with the facilitator's answer lost",
        MONEY,
        ("service/test_payment_kill.py",),
    ),
    Row(
        "kills-at-writes",
        "`kill -9` at the Nth `pwrite64` (strace)",
        "no acknowledged row is lost; every answer stays counted",
        ("storage/test_faults.py::test_a_kill_at_any_write", "soak/test_kills_at_writes.py"),
    ),
    Row(
        "power-cuts",
        "power cut: a file system on a loop device shut down without a flush of anything, mounted anew",
        "what was acknowledged before the cut is there after it; " + MONEY,
        ("soak/test_power_cuts.py",),
    ),
    Row(
        "sync-fails",
        "`fsync`/`fdatasync` fail with EIO, writes with ENOSPC (strace)",
        "503, nothing of it is counted, and well again by itself",
        (
            "storage/test_faults.py::test_a_sync_that_fails",
            "storage/test_faults.py::test_a_write_without_room",
            "soak/test_disks.py::test_syncs_and_writes_that_fail",
        ),
    ),
    Row(
        "full-disk",
        "a disk that is full: a small file system filled up, file size limits",
        "503, nothing is counted, and well again once there is room",
        (
            "soak/test_disks.py::test_a_file_system_that_fills_up",
            "service/test_exactness.py::test_a_full_disk",
            "storage/test_faults.py::test_a_disk_without_room",
            "storage/test_faults.py::test_a_full_database",
        ),
    ),
    Row(
        "read-only",
        "the file system goes read-only under the running service (ext4 `errors=remount-ro`)",
        "503, nothing is counted; a start on it is refused with its remedy; all is there once it is writable",
        ("soak/test_disks.py::test_a_file_system_that_goes_read_only", "storage/test_opening.py::test_a_read_only"),
    ),
    Row(
        "torn-log",
        "the end of the write-ahead log torn off, zeroed or overwritten with rubbish",
        "what stands before it is there, in order; the file is sound",
        ("storage/test_faults.py::test_a_torn_end", "soak/test_torn_logs.py"),
    ),
    Row(
        "corrupt-page",
        "a corrupt page, a file cut short, a file that is no database",
        "refused at the start with the remedy; met while running: 503",
        (
            "storage/test_opening.py::test_a_corrupt_page",
            "storage/test_opening.py::test_a_file_cut_short",
            "storage/test_opening.py::test_a_file_that_is_no_database",
            "storage/test_faults.py::test_a_corrupt_page",
            "wiring/test_processes.py::test_a_damaged_database",
        ),
    ),
    Row(
        "foreign-lock",
        "a stranger holds the write lock for 30 seconds",
        "503 within five seconds each, uncounted; reads go on; then over",
        (
            "storage/test_faults.py::test_a_foreign_lock",
            "service/test_faults_process.py::test_while_a_stranger",
            "soak/test_locked.py",
        ),
    ),
    Row(
        "server-lost",
        "a PostgreSQL server is stopped, frozen or locked, or loses the answer to `COMMIT`; a machine stands still",
        "503, given back or gone on with once it is known, and well again by itself",
        (
            "storage/test_postgres_faults.py",
            "storage/test_postgres_locked_out.py",
            "access/test_lost_commits_postgres.py",
            "payments/test_lost_commits_postgres.py",
        ),
    ),
    Row(
        "clocks",
        "the clock an hour back and ten years ahead (libfaketime on the whole process; our own clock)",
        "no question is given twice, none is lost but by the calendar, no negative age, it stays alive",
        ("service/test_faults_clock.py", "service/test_lifetimes.py::test_a_clock_set_back", "soak/test_set_clocks.py"),
    ),
    Row(
        "midnight",
        "23:59:59.9 → 00:00:00.1 with 200 calls in parallel",
        "exactly one answer for who has spent the day before; no two histories are mixed",
        (
            "service/test_faults_clock.py::test_across_midnight",
            "service/test_midnight.py",
            "access/test_meter.py::test_two_hundred_calls_while_midnight",
        ),
    ),
    Row(
        "last-question",
        "1,000 calls in parallel with one question left, over one process and several; with a few, over three machines",
        "as many are answered as are left",
        (
            "service/test_machines.py::test_of_a_thousand_calls",
            "service/test_exactness.py::test_of_a_thousand_calls",
            "access/test_meter.py::test_of_a_thousand_calls",
            "access/test_meter_processes.py::test_two_processes_share",
        ),
    ),
    Row(
        "cancelled",
        "cancel or kill between reserve and commit",
        "the question is given back",
        ("access/test_meter.py::test_a_call_cancelled", "access/test_meter_recovery.py::test_reservations_of_a_dead"),
    ),
    Row(
        "answer-lost",
        "a settlement succeeds and its answer is lost; a facilitator hangs, lies or breaks off",
        "503, resolved later, the retry gets the stored answer; nobody signs twice",
        ("service/test_facilitator_faults.py", "service/test_payment_kill.py"),
    ),
    Row(
        "upstreams",
        "an upstream resets, is a black hole, drips, sends a bomb, an endless body, NaN, HTML, a redirect, 429",
        FRESH,
        (
            "service/test_faults_each.py",
            "service/test_faults_upstream.py",
            "service/test_faults_standby.py",
            "service/test_faults_others.py",
        ),
    ),
    Row(
        "loss",
        "30 % of all packets on the way to the upstreams and to the callers dropped (nftables)",
        "callers are answered once each and counted once; prices stay fresh",
        ("soak/test_lost_packets.py", "service/test_faults_each.py::test_a_third_of_the_requests"),
    ),
    Row(
        "misses",
        "1,000 misses on one symbol",
        "at most one call upstream",
        ("service/test_faults_upstream.py::test_a_thousand", "upstream/test_session.py::test_a_thousand_calls"),
    ),
    Row(
        "streams",
        "1,000 streams opened and closed; 50 open when their keys are revoked; their process killed",
        "tasks and descriptors back to where they were; closed within five seconds; resumed without loss",
        ("service/test_watch_process.py",),
    ),
    Row(
        "stop",
        "SIGTERM under load",
        "ends within ten seconds, every stream with its close line, every answer counted",
        ("service/test_faults_process.py::test_told_to_stop", "service/test_watch_process.py::test_told_to_stop"),
    ),
    Row(
        "descriptors",
        "`ulimit -n 64`",
        "answers again as soon as there are some",
        (
            "service/test_faults_process.py::test_out_of_descriptors",
            "service/test_faults_process.py::test_it_starts_with_few",
        ),
    ),
    Row(
        "any-order",
        "whatever happens in whatever order: state machines over access, metering, payments and streams",
        "the service and a model of a few lines agree after every step",
        (
            "access/test_access_machine.py",
            "access/test_meter_machine.py",
            "payments/test_ledger_machine.py",
            "streams/test_broker_machine.py",
        ),
    ),
)


@cache
def rows_of(nodeid: str) -> tuple[str, ...]:
    """The rows that a test holds, by its id as pytest has it."""
    name = nodeid.removeprefix("tests/")
    return tuple(row.id for row in ROWS if any(name.startswith(test) for test in row.tests))
