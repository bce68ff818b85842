"""`verdict admin doctor`: check the data folder, the upstreams or the running service, and say what to do."""

import asyncio
import http.client
import shutil
import ssl
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from service.access.audit import repair_counters, repair_days
from service.access.secrets import FILE_NAME, Secrets, SecretsError, open_secrets
from service.admin.doctor_checks import check_store, judge
from service.admin.doctor_network import check_model, check_proxies, check_settlement, check_wallets
from service.admin.folder import ORIGIN, address_of, adopt_source, json_option, refusing
from service.admin.listener import bracketed, local, resolve
from service.admin.upstreams import EndpointResult, ask_upstreams
from service.cli.doctor_command import DoctorCheck, is_exposed
from service.cli.environment import Environment, VerdictCommand, exclude
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import tell
from service.client.errors import DONE, FAILED, MISUSED, RefusalError
from service.clock import Clock, day_of
from service.formats import count
from service.settings import Settings
from service.storage.engine import VERSION, DatabaseError, StorageError, check_version
from service.storage.store import open_snapshot, open_store
from service.wiring.clocks import choose_clock

LEAST_FREE_BYTES: Final = 200 * 2**20
LARGEST_WAL_BYTES: Final = 256 * 2**20
_RESTORE_SECRETS: Final = f"Restore {FILE_NAME} from the backup. A new one ends every key and session."
_CORRECT_SECRETS: Final = f"Correct that, or restore {FILE_NAME} from the backup. A new one ends every key and session."
_LIVE: Final = "/healthz"
_TIMEOUT_S: Final = 4
"""For the connection to the running service, and for each read."""


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
    found: Sequence[DoctorCheck | EndpointResult]
    with refusing():
        settings = Settings.from_environ(environment.variables)
        if health:
            url = check_health(settings)
            put_document({"ok": True, "url": url}) if json else put_lines([f"{url} answers."])
            return DONE
        settings = _with_source(settings, environment.variables)
        clock = choose_clock(settings)
        found = ask_upstreams(settings, clock) if upstreams else _check_folder(settings, clock, repair=repair)
    is_sound = not any(row.is_finding for row in found)
    if json:
        put_document({"ok": is_sound, "upstreams" if upstreams else "checks": [row._asdict() for row in found]})
    else:
        put_lines(line for row in found for line in row.lines(environment.screen))
        if upstreams:
            states = [row._asdict()["state"] for row in found]
            ok, warned, failed = map(states.count, ("ok", "warn", "fail"))
            put_lines([f"{len(found)} endpoints: {ok} ok, {warned} warnings, {failed} failed."])
    return DONE if is_sound else FAILED


def _with_source(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """Settings with the source of the data in the store, if none is set. The checks report an unreadable store."""
    try:
        with open_snapshot(address_of(settings)) as connection:
            adopted = adopt_source(settings, environment, connection.execute(ORIGIN).fetchall())
    except (RefusalError, StorageError, DatabaseError):
        return settings
    if adopted is not settings:
        tell(
            "This data folder holds recorded data, so VERDICT_SOURCE=fixtures is assumed. Set VERDICT_SOURCE=live to "
            "check live upstreams."
        )
    return adopted


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
    return checks if settings.store else [_engine(), *checks, *_files(Path(address))]


async def _ask_others(settings: Settings, address: str, clock: Clock) -> Sequence[DoctorCheck]:
    return await asyncio.gather(
        check_settlement(settings, clock), check_model(settings, clock), check_wallets(settings, address, clock)
    )


async def _repair(settings: Settings, clock: Clock) -> None:
    async with open_store(settings, clock) as database:
        today = day_of(clock.now_ms())
        counters = await database.write(repair_counters)
        days = await database.write(lambda connection: repair_days(connection, today))
    tell(f"Repaired the counters of {count(len(counters), 'user')} and the days of {count(len(days), 'user')}.")


def _engine() -> DoctorCheck:
    version, found = ".".join(map(str, VERSION)), []
    try:
        check_version()
    except StorageError as error:
        found.append(str(error))
    return judge("SQLite", version, version, found, "Install the package pysqlite3.")


def _secrets(folder: Path) -> tuple[DoctorCheck, Secrets | None]:
    path = folder / FILE_NAME
    if not path.exists():
        return DoctorCheck("secrets", "missing", [f"{path} does not exist."], _RESTORE_SECRETS), None
    if is_exposed(path):
        return _exposed("secrets", path), None
    try:
        return DoctorCheck("secrets", "readable by their owner alone"), open_secrets(folder)
    except SecretsError as error:
        return DoctorCheck("secrets", "cannot be used", [str(error)], _CORRECT_SECRETS), None


def _exposed(check: str, path: Path) -> DoctorCheck:
    return DoctorCheck(check, "open to others", [f"Other users can read {path}."], f"Run `chmod 600 {path}`.")


def _disk(folder: Path) -> DoctorCheck:
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    found = [f"Less than {LEAST_FREE_BYTES // 2**20} MiB are free."] if free < LEAST_FREE_BYTES else []
    said = f"{free / 2**30:.1f} GiB free"
    return judge("disk", said, said, found, "Free disk space.")


def _files(path: Path) -> list[DoctorCheck]:
    """Checks of the database's file and of its write-ahead log."""
    wal = path.with_name(path.name + "-wal")
    size = wal.stat().st_size if wal.exists() else 0
    said = f"{size / 2**20:.1f} MiB"
    private = DoctorCheck("privacy", "the database is readable by its owner alone")
    large = ["The write-ahead log is not merged into the database."] if size > LARGEST_WAL_BYTES else []
    remedy = "Stop programs that keep the database open (`fuser` names them), or restart the service."
    return [_exposed("privacy", path) if is_exposed(path) else private, judge("log", said, said, large, remedy)]


def check_health(settings: Settings) -> str:
    """Ask the address that the settings name for `/healthz`, once.

    Returns:
        The URL that answered.

    Raises:
        RefusalError: If the settings name no port, or the service does not answer 200.
    """
    if settings.port == 0:
        raise RefusalError(
            "VERDICT_PORT=0 takes any free port, so the service's port is not known. Set VERDICT_PORT to it.", MISUSED
        )
    try:
        host = local(resolve(settings.host, settings.port)[1][0])
    except (OSError, UnicodeError) as error:
        raise RefusalError(f"VERDICT_HOST={settings.host} is not a known host ({error}). Correct it.") from error
    connection = http.client.HTTPConnection(host, settings.port, timeout=_TIMEOUT_S)
    url = f"http://{bracketed(host)}:{settings.port}{_LIVE}"
    if settings.tls_cert is not None:
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - it names the public host, not this address
        connection = http.client.HTTPSConnection(host, settings.port, timeout=_TIMEOUT_S, context=context)
        url = url.replace("http", "https", 1)
    try:
        with closing(connection):
            connection.request("GET", _LIVE)
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise RefusalError(
            f"{url} does not answer ({reason}). Start the service, set VERDICT_PORT to its port, or read its log."
        ) from error
    if status != http.client.OK:
        raise RefusalError(f"{url} answers {status}, not 200. Check which program listens there.")
    return url
