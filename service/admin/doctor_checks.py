"""Checks of the store for `verdict admin doctor`, and `verdict admin quarantine`. Each reads one snapshot."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import click
import msgspec
from msgspec import Struct

from service.access.audit import audit_counters, audit_devices, find_future_days
from service.access.secrets import FILE_NAME, KEY_SECRET_REMEDY, Secrets, count_unverifiable_keys
from service.admin.folder import address_of, json_option, refusing, show
from service.cli.doctor_command import DoctorCheck
from service.cli.environment import Environment, VerdictCommand
from service.cli.formatting import span
from service.clock import DAY_MS, MINUTE_MS, SECOND_MS, day_of, iso, parse_iso
from service.formats import count, sentence
from service.market.plausibility.quarantine import QUARANTINE, WHOLE, QuarantinedValue, QuarantineReport
from service.payments.audit import audit_payments, read_unsettled
from service.payments.settlement_checks import count_late, read_stops
from service.settings import Settings
from service.storage.backup import check_integrity
from service.storage.database import DATABASE
from service.storage.engine import Connection, DatabaseError, error_name
from service.storage.port import LEADER
from service.storage.store import open_snapshot
from service.verdict.audit import audit_ledger
from service.wiring.clocks import choose_clock

DOCUMENTS: Final = (QUARANTINE, "rwa.quarantine")
_READ_REPORT: Final = "SELECT body FROM documents WHERE name = ? AND body IS NOT NULL"
_LONGEST_OPEN_MS: Final = 5 * MINUTE_MS
"""A signature is valid for two minutes at most; a minute later its outcome can be known, unless nodes fail."""

_RESTORE: Final = (
    f"Stop the service, move all files whose names begin with {DATABASE} aside, and put the newest copy made with "
    "`verdict admin backup` in its place."
)
_RESTORE_SERVER: Final = "Stop every service on this database and replace it with the newest copy made with pg_dump."
_KEEP: Final = (
    "Keep a copy of this database, because it is the record of payments. Compare it with the newest one made with "
    "`verdict admin backup`: `verdict admin payments export` prints the receipts of both."
)
_KEEP_SERVER: Final = (
    "Keep a copy of this database made with pg_dump, because it is the record of payments. Compare it with the newest "
    "earlier one: `verdict admin payments export` prints the receipts of both."
)
_REPAIR: Final = "Stop the service and run `verdict admin doctor --repair`."


def judge(check: str, good: str, bad: str, findings: Iterable[str], remedy: str) -> DoctorCheck:
    """Make a check: says `good` without findings, else `bad`, with the number of findings for `{}`, and the remedy."""
    found = list(map(sentence, findings))
    return DoctorCheck(check, bad.format(len(found)), found, remedy) if found else DoctorCheck(check, good)


class StoreSnapshot(Struct, frozen=True):
    """The input of the store's checks. `restore` is the remedy for damage, `keep` for payments that do not add up."""

    connection: Connection
    now_ms: int
    secrets: Secrets | None
    restore: str
    keep: str


def check_store(settings: Settings, address: str, now_ms: int, secrets: Secrets | None) -> list[DoctorCheck]:
    """Check one snapshot of the store. A store that cannot be read is a finding."""
    restore, keep = (_RESTORE, _KEEP) if settings.store is None else (_RESTORE_SERVER, _KEEP_SERVER)
    try:
        with open_snapshot(address) as connection:
            if settings.store is None:
                good = "every page and every reference is sound"
                first = [judge("database", good, "damaged", check_integrity(connection), restore)]
            else:
                first = _server(connection)
                if first[1].findings:
                    return first
            snapshot = StoreSnapshot(connection, now_ms, secrets, restore, keep)
            return [*first, *(found for check in _CHECKS for found in check(snapshot))]
    except DatabaseError as error:
        if settings.store is None:
            return [DoctorCheck("database", "cannot be read", [sentence(str(error))], restore)]
        from service.storage.postgres.errors import refusal  # noqa: PLC0415 - asyncpg, where it is used

        said = str(refusal(settings.store, error, error_name(error)))  # without its password
        return [DoctorCheck("database", "cannot be read", [said], "Correct VERDICT_STORE, or start the server.")]


def _server(connection: Connection) -> list[DoctorCheck]:
    """Check a PostgreSQL server: version, durable commits, connected processes."""
    from service.storage.postgres.status import read_server_status  # noqa: PLC0415 - asyncpg, where it is used

    found = read_server_status(connection, LEADER)
    risks = [
        f"The server's setting {name} is {value}, so acknowledged writes may be lost."
        for name, value in found.keeps.items()
        if value not in {"on", "remote_apply"}
    ]
    if found.standby:
        risks.append("The server is a read-only standby.")
    good, bad = (f"{found.version}, {said}" for said in ("commits are durable", "not usable for the service"))
    size = f"reachable, {found.size / 2**20:.1f} MiB (pg_amcheck checks its pages)"
    empty = [] if found.begun else ["No service has used this database yet."]
    start = "Start the service once, or name the database that it uses in VERDICT_STORE."
    places = ", ".join(dict.fromkeys(found.nodes))
    processes = "1 process is" if len(found.nodes) == 1 else f"{len(found.nodes)} processes are"
    nodes = f"{processes} connected, from {places}" if found.nodes else "no process of the service is connected"
    leader = f"the leader is connected from {found.leader}" if found.leader else "no process is the leader"
    return [
        judge("PostgreSQL", good, bad, risks, "Set all three to on, on the server that writes."),
        judge("database", size, size, empty, start),
        DoctorCheck("nodes", f"{nodes}, and {leader}"),
    ]


def _usage(snapshot: StoreSnapshot) -> Iterable[DoctorCheck]:
    """Counters, devices and days."""
    connection = snapshot.connection
    good = "every counter is the sum of its events"
    yield judge("counters", good, "{} users differ", audit_counters(connection), _REPAIR)
    good = "every free question of a device belongs to one device"
    yield judge("devices", good, "{} differ", audit_devices(connection), snapshot.restore)
    ahead = find_future_days(connection, day_of(snapshot.now_ms))
    found = [f"User {user} was last seen on {iso(day * DAY_MS)[:10]}." for user, day in ahead]
    remedy = f"Correct the machine's clock. {_REPAIR} Until then these users get no daily question."
    yield judge("days", "no day is in the future", "{} users are in the future", found, remedy)


def _ledger(snapshot: StoreSnapshot) -> Iterable[DoctorCheck]:
    found = audit_ledger(snapshot.connection)
    chained = f"{found.head.entries} verdicts, each chained to the one before; head {found.head.hash}"
    good = chained if found.head.entries else "no verdict was issued yet"
    yield judge("ledger", good, "was changed after it was written", found.findings, snapshot.restore)


def _payments(snapshot: StoreSnapshot) -> Iterable[DoctorCheck]:
    if found := audit_payments(snapshot.connection):
        yield DoctorCheck("payments", "money, receipts and usage differ", found, snapshot.keep)
        return
    late = [
        f"Payment {receipt_id} has been open since {iso(claimed_ms)}."
        for receipt_id, claimed_ms in read_unsettled(snapshot.connection)
        if snapshot.now_ms - claimed_ms > _LONGEST_OPEN_MS
    ]
    remedy = "Run `verdict admin payments reconcile`. It prints why each is still open."
    yield judge("payments", "money, receipts and usage agree", "{} open for too long", late, remedy)


_FAILED: Final = """
    SELECT 'prices and funding (Hyperliquid)', failed_ms, failed_status, failed_body
    FROM market_state WHERE failed_ms IS NOT NULL
    UNION ALL
    SELECT name, failed_ms, failed_status, failed_body FROM documents WHERE failed_ms IS NOT NULL
    UNION ALL
    SELECT 'feed ' || source, asked_ms, failed_status, failed_body FROM transcript_sources WHERE status = 'failing'
    ORDER BY 1
"""


def _refreshes(snapshot: StoreSnapshot) -> Iterable[DoctorCheck]:
    found = [
        f"{what} failed at {iso(failed_ms)}{'' if status is None else f' with status {status}'}: "
        f"{sentence(body or 'no answer')}"
        for what, failed_ms, status, body in snapshot.connection.execute(_FAILED).fetchall()
    ]
    remedy = "Run `verdict admin doctor --upstreams`. It asks every upstream and prints what to do about each."
    yield judge("refreshes", "none has failed", "{} failed", found, remedy)


def _facilitator(snapshot: StoreSnapshot) -> Iterable[DoctorCheck]:
    """False and unchecked reports of settlements."""
    stopped = [
        f"Payments through {stop.facilitator} have been stopped since {iso(stop.stopped_ms)}: it reported "
        f"{stop.receipt_id} as settled by {stop.transaction}, but the chain does not show that."
        for stop in read_stops(snapshot.connection)
    ]
    if stopped:
        resume = "Ask the facilitator's operator, or use another facilitator. Then run `verdict admin payments resume`."
        yield DoctorCheck("facilitator", "reported a settlement that is not on the chain", stopped, resume)
        return
    late = count_late(snapshot.connection, snapshot.now_ms)
    found = [f"{count(late, 'report')} of a settlement could not be checked on the chain within a minute."]
    good = "the chain shows every settlement that was reported"
    remedy = "Set VERDICT_RPC_URL to a node that answers. The service keeps checking."
    yield judge("facilitator", good, f"{count(late, 'report')} unchecked", found if late else [], remedy)


def check_quarantine(connection: Connection) -> DoctorCheck:
    """List quarantined values. Quarantined whole answers are findings; single values are not."""
    held = _read_quarantined(connection)
    if not held:
        return DoctorCheck("quarantine", "no value is quarantined")
    whole = [f"All answers of {value.source} are quarantined: {value.reason}." for value in held if value.coin == WHOLE]
    single = Counter(f"{value.coin} {value.field} ({value.reason})" for value in held if value.coin != WHOLE)
    said = f"{count(len(single), 'value')} quarantined{': ' if single else ''}{', '.join(sorted(single)[:3])}"
    remedy = (
        "Run `verdict admin doctor --upstreams`. The service accepts values again once the upstream's answers are "
        "plausible, or once a second source confirms them."
    )
    return judge("quarantine", said, said, whole, remedy)


def _read_quarantined(connection: Connection) -> list[QuarantinedValue]:
    found = [row for name in DOCUMENTS for row in connection.execute(_READ_REPORT, (name,)).fetchall()]
    return [value for row in found for value in msgspec.json.decode(row[0], type=QuarantineReport).now]


def _keys(snapshot: StoreSnapshot) -> Iterable[DoctorCheck]:
    if snapshot.secrets is not None:
        strange = count_unverifiable_keys(snapshot.connection, snapshot.secrets, snapshot.now_ms)
        found = [f"The service does not know {count(strange, 'working key')}: made with another {FILE_NAME}."]
        good = f"all working keys were made with this {FILE_NAME}"
        yield judge("keys", good, f"{strange} unknown", found if strange else [], KEY_SECRET_REMEDY)


_CHECKS: Final[tuple[Callable[[StoreSnapshot], Iterable[DoctorCheck]], ...]] = (
    _usage,
    _ledger,
    _payments,
    _refreshes,
    _facilitator,
    lambda snapshot: [check_quarantine(snapshot.connection)],
    _keys,
)


@click.command("quarantine", cls=VerdictCommand, example="verdict admin quarantine")
@json_option
@click.pass_obj
def quarantine(environment: Environment, *, json: bool) -> int:
    """List values that are held back, and why.

    Answers keep the last accepted value and mark it stale. A value is accepted again once the upstream's answers are
    plausible, or once a second source confirms it.
    """
    with refusing():
        settings = Settings.from_environ(environment.variables)
        with open_snapshot(address_of(settings)) as connection:
            held = sorted(_read_quarantined(connection), key=lambda value: (value.source, value.coin, value.field))
    now_ms = choose_clock(settings).now_ms()
    fields = ("source", "coin", "field", "reason")
    values = [{name: getattr(one, name) for name in fields} | {"since": iso(one.since_ms)} for one in held]
    return show(
        environment,
        {"quarantined": values},
        {
            "SOURCE": "source",
            "COIN": lambda value: "all" if value["coin"] == WHOLE else value["coin"],
            "FIELD": "field",
            "REASON": "reason",
            "FOR": lambda value: span((now_ms - parse_iso(value["since"])) / SECOND_MS),
        },
        json=json,
        nothing="No value is held back.",
        after=["", f"{len(values)} held back. `verdict admin doctor --upstreams` asks every upstream now."],
    )
