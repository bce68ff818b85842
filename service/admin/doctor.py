"""`verdict admin doctor`: check the data folder and say what to do about findings."""

import asyncio
import shutil
import stat
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from service.access.audit import audit_counters, audit_devices, find_future_days, repair_counters, repair_days
from service.access.secrets import (
    FILE_NAME,
    KEY_SECRET_REMEDY,
    Secrets,
    SecretsError,
    count_unverifiable_keys,
    open_secrets,
)
from service.admin.doctor_checks import (
    DoctorCheck,
    check_model,
    check_proxies,
    check_quarantine,
    check_refreshes,
    check_server,
    judge,
    unreachable,
)
from service.admin.folder import address_of, json_option, refusing
from service.admin.health_check import check_health
from service.admin.nodes import check_wallets
from service.admin.settlement import check_settlement
from service.admin.upstreams import check_upstreams
from service.cli.environment import Environment, VerdictCommand, exclude
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import tell
from service.client.errors import DONE, FAILED
from service.clock import DAY_MS, MINUTE_MS, Clock, day_of, iso
from service.payments.audit import audit_payments, read_unsettled
from service.payments.settlement_checks import count_late, read_stops
from service.settings import Settings
from service.storage.backup import check_integrity
from service.storage.database import DATABASE
from service.storage.engine import VERSION, Connection, DatabaseError, StorageError, check_version
from service.storage.store import open_snapshot, open_store
from service.verdict.audit import audit_ledger
from service.wiring.clocks import choose_clock

LEAST_FREE_BYTES: Final = 200 * 2**20
LARGEST_WAL_BYTES: Final = 256 * 2**20
_SHOWN: Final = 3
_INDENT: Final = " " * 9
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_RESTORE: Final = (
    f"stop the service, move {DATABASE} and the files beginning with its name aside, and put the newest copy made with "
    "`verdict admin backup` in its place"
)
_LONGEST_OPEN_MS: Final = 5 * MINUTE_MS
"""A signature is valid for two minutes at most; a minute later its outcome can be known, unless nodes fail."""

_KEEP: Final = (
    "keep a copy of this database, for it says what was paid, and compare it with the newest one made with "
    "`verdict admin backup`; `verdict admin payments export` prints the receipts of both"
)
_RESTORE_SERVER: Final = (
    "stop every service on this database and restore the newest copy made with pg_dump in its place"
)
_KEEP_SERVER: Final = (
    "keep a copy of this database made with pg_dump, for it says what was paid, and compare it with the newest one "
    "from before; `verdict admin payments export` prints the receipts of both"
)
_RECONCILE: Final = "run `verdict admin payments reconcile`; it says what stands in the way of each"
_RESUME: Final = "ask the facilitator's operator, or use another facilitator; then run `verdict admin payments resume`"
_CHECK_NODE: Final = "let VERDICT_RPC_URL name a node that answers; the service goes on checking"
_REPAIR: Final = "stop the service and run `verdict admin doctor --repair`"


@click.command(
    "doctor",
    cls=VerdictCommand,
    example="verdict admin doctor",
    epilog="The way from a caller to a service: `verdict doctor`.",
)
@click.option("--repair", is_flag=True, help="Repair counters and days; stop the service first.")
@click.option("--upstreams", is_flag=True, help="Ask every upstream once instead; exit code 1 if a route lacks one.")
@click.option(
    "--health",
    is_flag=True,
    help="Ask the service that runs here for /healthz instead; exit code 1 if it does not answer.",
)
@json_option
@click.pass_context
def doctor(context: click.Context, *, repair: bool, upstreams: bool, health: bool, json: bool) -> int:
    """Check the data folder; exit code 1 on a finding. Nothing is changed without `--repair`."""
    exclude(context, ["repair", "upstreams", "health"])
    environment: Environment = context.obj
    if health:
        return check_health(environment, as_json=json)
    if upstreams:
        return check_upstreams(environment, as_json=json)
    checks = _check_folder(environment, repair=repair)
    is_sound = not any(found.findings for found in checks)
    if json:
        put_document({"ok": is_sound, "checks": msgspec.to_builtins(checks)})
    else:
        put_lines(line for found in checks for line in _lines(found))
    return DONE if is_sound else FAILED


def _check_folder(environment: Environment, *, repair: bool) -> list[DoctorCheck]:
    with refusing():
        settings = Settings.from_environ(environment.variables)
        address = address_of(settings)
        clock = choose_clock(settings)
        if repair:
            asyncio.run(_repair(settings, clock))
    about_secrets, secrets = _secrets(settings.data_dir)
    contents = _contents(settings, address, clock, secrets)
    asked = [
        *check_proxies(settings),
        check_settlement(settings, clock),
        check_model(settings, clock),
        check_wallets(settings, address, clock),
    ]
    checks = [about_secrets, *contents, *asked, _disk(settings.data_dir)]
    return checks if settings.store else [_engine(), *checks, _privacy(Path(address)), _wal(Path(address))]


def _lines(found: DoctorCheck) -> Iterator[str]:
    yield from _wrap(f"{'FINDING' if found.findings else 'ok':<9}{found.check}: {found.said}")
    for finding in found.findings[:_SHOWN]:
        yield from _wrap(f"{_INDENT}- {finding}")
    if len(found.findings) > _SHOWN:
        yield f"{_INDENT}- and {len(found.findings) - _SHOWN} more (--json lists them)"
    if found.findings:
        yield from _wrap(f"{_INDENT}What to do: {found.remedy}.")


def _wrap(line: str) -> list[str]:
    return textwrap.wrap(line, 80, subsequent_indent=_INDENT + "  ", break_long_words=False, break_on_hyphens=False)


async def _repair(settings: Settings, clock: Clock) -> None:
    async with open_store(settings, clock) as database:
        today = day_of(clock.now_ms())
        counters = await database.write(repair_counters)
        days = await database.write(lambda connection: repair_days(connection, today))
    tell(f"repaired: the counters of {len(counters)} users, the days of {len(days)}")


def _engine() -> DoctorCheck:
    version = ".".join(map(str, VERSION))
    try:
        check_version()
    except StorageError as error:
        return DoctorCheck("SQLite", version, [str(error)], "install the package pysqlite3")
    return DoctorCheck("SQLite", version)


def _secrets(folder: Path) -> tuple[DoctorCheck, Secrets | None]:
    path = folder / FILE_NAME
    if not path.exists():
        remedy = f"restore {FILE_NAME} beside the database; a new one ends every key and session"
        return DoctorCheck("secrets", "missing", [f"{path} is not there"], remedy), None
    try:
        secrets = open_secrets(folder)
    except SecretsError as error:
        said, _, remedy = str(error).partition("; ")
        return DoctorCheck("secrets", "cannot be used", [said], remedy), None
    return DoctorCheck("secrets", "readable by their owner alone"), secrets


def _privacy(path: Path) -> DoctorCheck:
    if path.stat().st_mode & _FOR_OTHERS:
        return DoctorCheck("privacy", "open to others", [f"{path} can be read by others"], f"run: chmod 600 {path}")
    return DoctorCheck("privacy", "the database is readable by its owner alone")


def _contents(settings: Settings, address: str, clock: Clock, secrets: Secrets | None) -> list[DoctorCheck]:
    try:
        with open_snapshot(address) as connection:
            return _look(connection, clock, secrets, server=settings.store is not None)
    except DatabaseError as error:
        if settings.store is not None:
            return [unreachable(settings.store, error)]
        return [DoctorCheck("database", "cannot be read", [str(error)], _RESTORE)]


def _look(connection: Connection, clock: Clock, secrets: Secrets | None, *, server: bool) -> list[DoctorCheck]:
    now_ms = clock.now_ms()
    store = check_server(connection) if server else [_pages(connection)]
    if server and any(found.findings for found in store if found.check == "database"):
        return store
    restore, keep = (_RESTORE_SERVER, _KEEP_SERVER) if server else (_RESTORE, _KEEP)
    found = [
        *store,
        _counters(connection),
        _devices(connection, restore),
        _days(connection, day_of(now_ms)),
        _ledger(connection, restore),
        _payments(connection, now_ms, keep),
        check_refreshes(connection),
        _reports(connection, now_ms),
        check_quarantine(connection),
    ]
    return found if secrets is None else [*found, _keys(connection, secrets, now_ms)]


def _pages(connection: Connection) -> DoctorCheck:
    found = check_integrity(connection)
    return judge("database", "damaged" if found else "every page and every reference is sound", found, _RESTORE)


def _counters(connection: Connection) -> DoctorCheck:
    found = audit_counters(connection)
    said = f"{len(found)} users differ" if found else "every counter is the sum of its events"
    return judge("counters", said, found, _REPAIR)


def _devices(connection: Connection, restore: str) -> DoctorCheck:
    found = audit_devices(connection)
    said = f"{len(found)} differ" if found else "every free question of a device is the question of one device"
    return judge("devices", said, found, restore)


def _days(connection: Connection, today: int) -> DoctorCheck:
    ahead = [
        f"user {user} was last seen on {iso(day * DAY_MS)[:10]}" for user, day in find_future_days(connection, today)
    ]
    remedy = f"set the machine's clock right, then {_REPAIR}; until then these users get no daily question"
    return judge("days", f"{len(ahead)} users are in the future" if ahead else "no day is in the future", ahead, remedy)


def _ledger(connection: Connection, restore: str) -> DoctorCheck:
    found = audit_ledger(connection)
    if found.findings:
        return DoctorCheck("ledger", "was changed after it was written", found.findings, restore)
    if not found.head.entries:
        return DoctorCheck("ledger", "no verdict was issued yet")
    return DoctorCheck(
        "ledger", f"{found.head.entries} verdicts, each chained to the one before; head {found.head.hash}"
    )


def _payments(connection: Connection, now_ms: int, keep: str) -> DoctorCheck:
    found = audit_payments(connection)
    if found:
        return DoctorCheck("payments", "money, receipts and usage differ", found, keep)
    late = [
        f"{receipt_id} is open since {iso(claimed_ms)}"
        for receipt_id, claimed_ms in read_unsettled(connection)
        if now_ms - claimed_ms > _LONGEST_OPEN_MS
    ]
    said = f"{len(late)} open for too long" if late else "money, receipts and usage agree"
    return judge("payments", said, late, _RECONCILE)


def _reports(connection: Connection, now_ms: int) -> DoctorCheck:
    stops = read_stops(connection)
    if stops:
        found = [
            f"payments through {stop.facilitator} are stopped since {iso(stop.stopped_ms)}: it reported "
            f"{stop.receipt_id} as settled by {stop.transaction}, and the chain does not show that"
            for stop in stops
        ]
        return DoctorCheck("facilitator", "reported a settlement that is not on the chain", found, _RESUME)
    late = count_late(connection, now_ms)
    found = [f"{late} reported settlements could not be checked on the chain within a minute"] if late else []
    said = f"{late} reports unchecked" if late else "no settlement was reported that the chain does not show"
    return judge("facilitator", said, found, _CHECK_NODE)


def _keys(connection: Connection, secrets: Secrets, now_ms: int) -> DoctorCheck:
    strange = count_unverifiable_keys(connection, secrets, now_ms)
    found = [f"{strange} working keys were made with another {FILE_NAME} and are unknown to the service"]
    said = f"{strange} unknown" if strange else f"all that work were made with this {FILE_NAME}"
    return judge("keys", said, found if strange else [], KEY_SECRET_REMEDY)


def _disk(folder: Path) -> DoctorCheck:
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    said = f"{free / 2**30:.1f} GiB free"
    if free < LEAST_FREE_BYTES:
        return DoctorCheck("disk", said, [f"less than {LEAST_FREE_BYTES // 2**20} MiB are left"], "free disk space")
    return DoctorCheck("disk", said)


def _wal(path: Path) -> DoctorCheck:
    wal = path.with_name(path.name + "-wal")
    size = wal.stat().st_size if wal.exists() else 0
    said = f"{size / 2**20:.1f} MiB"
    if size > LARGEST_WAL_BYTES:
        remedy = "end programs that keep the database open (`fuser` names them), or restart the service"
        return DoctorCheck("log", said, ["the write-ahead log is not folded into the database"], remedy)
    return DoctorCheck("log", said)
