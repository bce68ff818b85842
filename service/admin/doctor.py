"""`verdict admin doctor`: check the data folder and say what to do about findings."""

import asyncio
import shutil
import stat
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from service.access.audit import repair_counters, repair_days
from service.access.secrets import FILE_NAME, Secrets, SecretsError, open_secrets
from service.admin.doctor_checks import DoctorCheck, check_store, judge
from service.admin.doctor_network import check_model, check_proxies, check_settlement, check_wallets
from service.admin.folder import address_of, json_option, refusing
from service.admin.health_check import check_health
from service.admin.upstreams import EndpointResult, ask_upstreams
from service.cli.environment import Environment, VerdictCommand, exclude
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import safe, tell
from service.client.errors import DONE, FAILED
from service.clock import SECOND_MS, Clock, day_of
from service.settings import Settings
from service.storage.engine import VERSION, StorageError, check_version
from service.storage.store import open_store
from service.wiring.clocks import choose_clock

LEAST_FREE_BYTES: Final = 200 * 2**20
LARGEST_WAL_BYTES: Final = 256 * 2**20
_SHOWN: Final = 3
_INDENT: Final = " " * 9
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


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
    found: Sequence[DoctorCheck | EndpointResult]
    with refusing():
        settings = Settings.from_environ(environment.variables)
        clock = choose_clock(settings)
        found = ask_upstreams(settings, clock) if upstreams else _check_folder(settings, clock, repair=repair)
    is_sound = not any(row.findings if isinstance(row, DoctorCheck) else row.state == "fail" for row in found)
    if json:
        put_document({"ok": is_sound, "upstreams" if upstreams else "checks": msgspec.to_builtins(found)})
    else:
        put_lines(line for row in found for line in _lines(row))
        put_lines(_counted(found) if upstreams else [])
    return DONE if is_sound else FAILED


def _check_folder(settings: Settings, clock: Clock, *, repair: bool) -> list[DoctorCheck]:
    address = address_of(settings)
    if repair:
        asyncio.run(_repair(settings, clock))
    about_secrets, secrets = _secrets(settings.data_dir)
    checks = [
        about_secrets,
        *check_store(settings, address, clock.now_ms(), secrets),
        *check_proxies(settings),
        *asyncio.run(_ask_others(settings, address, clock)),
        _disk(settings.data_dir),
    ]
    return checks if settings.store else [_engine(), *checks, _privacy(Path(address)), _wal(Path(address))]


async def _ask_others(settings: Settings, address: str, clock: Clock) -> Sequence[DoctorCheck]:
    return await asyncio.gather(
        check_settlement(settings, clock), check_model(settings, clock), check_wallets(settings, address, clock)
    )


def _lines(row: DoctorCheck | EndpointResult) -> Iterator[str]:
    """One check or endpoint, in 80 columns."""
    if isinstance(row, DoctorCheck):
        state, head, notes = "FINDING" if row.findings else "ok", f"{row.check}: {row.said}", row.findings
    else:
        notes = [f"{name}: {value}" for name, value in row.limits.items()]
        state = row.state if row.state == "ok" else row.state.upper()
        head = f"{row.endpoint}: {row.said}{_measured(row)}"
    lines = [f"{state:<9}{head}", *(f"{_INDENT}- {note}" for note in notes[:_SHOWN])]
    if len(notes) > _SHOWN:
        lines.append(f"{_INDENT}- and {len(notes) - _SHOWN} more (--json lists them)")
    if row.remedy:
        lines.append(f"{_INDENT}What to do: {row.remedy.removesuffix('.')}.")
    for line in lines:
        yield from map(safe, _wrap(line, break_long_words=isinstance(row, EndpointResult)))


def _measured(row: EndpointResult) -> str:
    """How long the answer took, and by how much the clocks differ."""
    took = [] if row.took_ms is None else [f"{row.took_ms / SECOND_MS:.2f} s"]
    off_s = round((row.clock_ms or 0) / SECOND_MS)
    clock = [f"clock {off_s:+d} s"] if off_s else []
    return f" ({', '.join([*took, *clock])})" if took or clock else ""


def _counted(rows: Sequence[DoctorCheck | EndpointResult]) -> list[str]:
    states: list[str] = [row.state for row in rows if isinstance(row, EndpointResult)]
    ok, warned, failed = map(states.count, ("ok", "warn", "fail"))
    return [f"{len(states)} endpoints: {ok} ok, {warned} warnings, {failed} failed."]


def _wrap(line: str, *, break_long_words: bool) -> list[str]:
    indent = _INDENT + "  "
    return textwrap.wrap(line, 80, subsequent_indent=indent, break_on_hyphens=False, break_long_words=break_long_words)


async def _repair(settings: Settings, clock: Clock) -> None:
    async with open_store(settings, clock) as database:
        today = day_of(clock.now_ms())
        counters = await database.write(repair_counters)
        days = await database.write(lambda connection: repair_days(connection, today))
    tell(f"repaired: the counters of {len(counters)} users, the days of {len(days)}")


def _engine() -> DoctorCheck:
    version, found = ".".join(map(str, VERSION)), []
    try:
        check_version()
    except StorageError as error:
        found.append(str(error))
    return judge("SQLite", version, version, found, "install the package pysqlite3")


def _secrets(folder: Path) -> tuple[DoctorCheck, Secrets | None]:
    path = folder / FILE_NAME
    if not path.exists():
        remedy = f"restore {FILE_NAME} beside the database; a new one ends every key and session"
        return DoctorCheck("secrets", "missing", [f"{path} is not there"], remedy), None
    try:
        return DoctorCheck("secrets", "readable by their owner alone"), open_secrets(folder)
    except SecretsError as error:
        said, _, remedy = str(error).partition("; ")
        return DoctorCheck("secrets", "cannot be used", [said], remedy), None


def _privacy(path: Path) -> DoctorCheck:
    found = [f"{path} can be read by others"] if path.stat().st_mode & _FOR_OTHERS else []
    good = "the database is readable by its owner alone"
    return judge("privacy", good, "open to others", found, f"run: chmod 600 {path}")


def _disk(folder: Path) -> DoctorCheck:
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    found = [f"less than {LEAST_FREE_BYTES // 2**20} MiB are left"] if free < LEAST_FREE_BYTES else []
    said = f"{free / 2**30:.1f} GiB free"
    return judge("disk", said, said, found, "free disk space")


def _wal(path: Path) -> DoctorCheck:
    wal = path.with_name(path.name + "-wal")
    size = wal.stat().st_size if wal.exists() else 0
    found = ["the write-ahead log is not folded into the database"] if size > LARGEST_WAL_BYTES else []
    remedy = "end programs that keep the database open (`fuser` names them), or restart the service"
    said = f"{size / 2**20:.1f} MiB"
    return judge("log", said, said, found, remedy)
