"""`verdict admin backup`, `migrate`, `init` and `record`: copy the store, replace a lost one, record upstreams."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from service.access.secrets import FILE_NAME, copy_secrets, open_secrets
from service.admin.folder import database_of, place_of, refusing, say
from service.cli.environment import Environment, Utf8Text, VerdictCommand
from service.cli.layout import table
from service.cli.terminal import tell
from service.client.errors import DONE, FAILED, MISUSED, RefusalError
from service.clock import Clock, SystemClock, iso
from service.settings import Secret, Settings, SettingsError
from service.storage.backup import back_up, sync
from service.storage.database import DATABASE, Database
from service.storage.engine import StorageError
from service.storage.journal import folder_beside
from service.storage.lost_store import holds_store, marks_of
from service.storage.store import open_store
from service.storage.transfer import TableDigest, transfer
from service.upstream.fixture_set import Metadata
from service.upstream.recorder import record as record_upstreams
from service.upstream.session import open_session
from service.wiring.upstreams import HYPERLIQUID, PUBLISHED

_PATH: Final = click.Path(path_type=Path)
_SERVERS: Final = ("postgres://", "postgresql://")
_UNFINISHED: Final = ".migrate"
_SETTINGS: Final = ("VERDICT_STORE", "VERDICT_DATA_DIR")
_STORES: Final = "Name the data folder of a service, or a server as postgres://user:password@host/database."
_TARGET_EXISTS: Final = "{path} exists already. Name a folder without a database."


@click.command("backup", cls=VerdictCommand, example="verdict admin backup verdict-copy.db")
@click.argument("out", type=_PATH, help="File to write; must not exist yet.")
@click.pass_obj
def backup(environment: Environment, out: Path) -> int:
    """Copy the database while it is in use. The copy is checked before it gets its name."""
    with refusing():
        size = back_up(database_of(Settings.from_environ(environment.variables)), out)
    return say(f"{out} holds the database ({size:,} bytes). Keep secrets.toml with it: the keys need both.")


@click.command(
    "migrate",
    cls=VerdictCommand,
    example="verdict admin migrate ./.data postgres://verdict@db.example.org/verdict",
)
@click.argument("source", type=Utf8Text(), metavar="FROM", help="A data folder, or postgres://user:password@host/name.")
@click.argument("target", type=Utf8Text(), metavar="TO", help="A data folder without a database, or postgres://….")
@click.pass_obj
def migrate(environment: Environment, source: str, target: str) -> int:
    """Copy all stored data to another, empty store. Every row is compared afterwards.

    From folder to folder `secrets.toml` is copied too. The last line says where it is needed otherwise.
    """
    with refusing():
        settings = Settings.from_environ(environment.variables)
        if source == target:
            raise RefusalError("FROM and TO are the same store. Name two different ones.", MISUSED)
        with _named("FROM"):
            old = _at(settings, source)
        with _named("TO"):
            new = _at(settings, target)
        copied = asyncio.run(_move(old, new))
        notice = _secrets_notice(old, new)
    rows = [(name, found.rows, f"{found.digest:032x}") for name, found in copied.items() if found.rows]
    heads = ("table", "rows", "sum of digests")
    say(*(table(environment.screen, heads, rows) if rows else ["There was nothing to copy."]))
    total = sum(found.rows for found in copied.values())
    tell(f"{total:,} rows were copied and compared. FROM is unchanged.")
    tell(notice)
    return DONE


def _at(settings: Settings, place: str) -> Settings:
    """The settings of a service whose store is at `place`."""
    if place.startswith(_SERVERS):
        chosen = replace(settings, store=Secret(place))
    else:
        chosen = replace(settings, store=None, data_dir=Path(place).expanduser())
    chosen.check()
    return chosen


@contextmanager
def _named(argument: str) -> Iterator[None]:
    """In errors of a store, name the command's argument instead of the setting."""
    try:
        yield
    except (SettingsError, StorageError) as error:
        said = str(error)
        for setting in _SETTINGS:
            said = said.replace(setting, argument)
        raise RefusalError(said, MISUSED if isinstance(error, SettingsError) else FAILED) from error


async def _move(source: Settings, target: Settings) -> dict[str, TableDigest]:
    if source.store is None and not (source.data_dir / DATABASE).is_file():
        raise RefusalError(f"There is no database in FROM, {source.data_dir}. {_STORES}")
    if target.store is None and not target.data_dir.absolute().parent.is_dir():
        raise RefusalError(f"The parent folder of TO, {target.data_dir}, does not exist. {_STORES}")
    if target.store is None and (path := target.data_dir / DATABASE).exists():
        raise RefusalError(_TARGET_EXISTS.format(path=path))
    takes_secrets = _takes_secrets(source, target)
    async with AsyncExitStack() as stack:
        with _named("FROM"):
            old = await stack.enter_async_context(open_store(source, SystemClock()))
        with _named("TO"):
            new = await stack.enter_async_context(_opened(target, source.data_dir if takes_secrets else None))
        return await transfer(old, new)


def _takes_secrets(source: Settings, target: Settings) -> bool:
    """Whether `secrets.toml` is copied: from a folder that has it to one that has not.

    Raises:
        RefusalError: If the folders have different secrets.
        SecretsError: If a file is damaged, or others can read it.
    """
    if source.store is not None or target.store is not None or not (source.data_dir / FILE_NAME).exists():
        return False
    if not (target.data_dir / FILE_NAME).exists():
        open_secrets(source.data_dir)
        return True
    if open_secrets(target.data_dir) != open_secrets(source.data_dir):
        raise RefusalError(
            f"{target.data_dir / FILE_NAME} is not the {FILE_NAME} of FROM: with it, no key of FROM is accepted. Move "
            "it aside, or name another folder. Nothing was changed."
        )
    return False


def _secrets_notice(source: Settings, target: Settings) -> str:
    """What to do with `secrets.toml` before a service starts on the copy."""
    here, there = source.data_dir / FILE_NAME, target.data_dir / FILE_NAME
    known = source.store is None and here.exists()
    if target.store is None and known:
        return f"{there} is the one of FROM: all keys stay valid."
    which = str(here) if known else f"the {FILE_NAME} of the service that used FROM"
    if target.store is not None:
        todo = f"Each service on TO needs {which} in its data folder (VERDICT_DATA_DIR), with mode 0600."
    elif there.exists():
        todo = f"{there} was kept. It must be {which}."
    else:
        todo = f"Copy {which} to {there}, with mode 0600, before you start a service there."
    return f"{todo} With another one, no key of FROM is accepted."


@asynccontextmanager
async def _opened(target: Settings, secrets: Path | None) -> AsyncIterator[Database]:
    """An empty store. A file gets its name when everything is in it.

    Args:
        target: A folder, which is made if it does not exist, and removed again if copying fails; or a server.
        secrets: The folder whose `secrets.toml` the target gets, if any.
    """
    if target.store is not None:
        async with open_store(target, SystemClock(), new=True) as database:
            yield database
        return
    path = target.data_dir / DATABASE
    is_new = not target.data_dir.exists()
    unfinished = target.data_dir / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with suppress(OSError):  # opening the store names the reason
            target.data_dir.mkdir(mode=0o700)
        async with open_store(replace(target, data_dir=unfinished), SystemClock()) as database:
            yield database
        made = unfinished / DATABASE
        if made.with_name(made.name + "-wal").exists():  # Closing could not merge it, and reports no error.
            raise RefusalError(
                f"There is not enough space in {target.data_dir}. Free twice the size of FROM, then run this command "
                "again. Nothing was changed."
            )
        sync(made)
        if secrets is not None and not path.exists():
            try:
                copy_secrets(secrets, target.data_dir)  # first: without them a service would make others for this store
            except FileExistsError:
                raise RefusalError(
                    f"{target.data_dir} got a {FILE_NAME} meanwhile. Stop what uses that folder. Nothing was changed."
                ) from None
        os.link(made, path)  # fails if another process has made the file meanwhile
        sync(path.parent)
    except FileExistsError as error:
        raise RefusalError(_TARGET_EXISTS.format(path=path)) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if is_new:
            with suppress(OSError):  # it contains the copy, or what another process has written
                target.data_dir.rmdir()


@click.command("init", cls=VerdictCommand, example="verdict admin init --new-store")
@click.option("--new-store", is_flag=True, required=True, help="Confirm that the lost store is given up.")
@click.pass_obj
def initialize(environment: Environment, *, new_store: bool) -> int:
    """Start with an empty store in a folder whose store is lost. The files left of it are moved aside."""
    if not new_store:
        raise click.UsageError("Missing option '--new-store'.")

    async def make() -> None:
        async with open_store(settings, SystemClock(), new=True):
            pass

    with refusing():
        settings = Settings.from_environ(environment.variables)
        aside = _move_aside(settings, SystemClock())
        asyncio.run(make())
    left = f" The files left of the old one are in {aside}." if aside else ""
    return say(f"The store {place_of(settings)} is new and empty.{left} Start the service with `verdict serve`.")


def _move_aside(settings: Settings, clock: Clock) -> Path | None:
    """Move the files left of the lost store to a folder of their own, and return it; None if nothing is left.

    Otherwise journals of earlier runs would be read as journals of the new store. Secrets stay, so that old receipts
    can be verified. Keys and sessions are lost with the store.

    Raises:
        RefusalError: If the database has content, nothing was lost, or files cannot be moved.
    """
    folder = settings.data_dir
    path = folder / DATABASE
    try:
        if settings.store is None and holds_store(path):
            raise RefusalError(
                f"{path} is not empty. `verdict admin init --new-store` makes an empty store only where the store is "
                "lost. To start with an empty store anyway, name another folder in VERDICT_DATA_DIR."
            )
        left = sorted(folder.glob(f"{DATABASE}*" if settings.store is None else folder_beside(path).name))
        if not left and not marks_of(path):
            raise RefusalError(
                f"No store was lost in {folder}: it contains no files of one. `verdict serve` makes a new store by "
                "itself. If the lost store was in another folder, set VERDICT_DATA_DIR to it."
            )
        if not left:
            return None
        aside = folder / f"lost-store-{iso(clock.now_ms()).replace(':', '')}"
        aside.mkdir(mode=0o700)
        for found in left:
            found.rename(aside / found.name)
    except OSError as error:
        raise RefusalError(
            f"Files in {folder} cannot be moved ({error.strerror}). Stop the service and make the folder writable."
        ) from error
    return aside


@click.command("record", cls=VerdictCommand, example="verdict admin record --out recording BTC ETH")
@click.option("--out", type=_PATH, metavar="DIR", required=True, help="Folder to write; must be new or empty.")
@click.argument("coins", type=Utf8Text(), metavar="[COIN]...", nargs=-1, help="Only these coins (all that are listed).")
@click.pass_obj
def record(environment: Environment, out: Path, coins: Sequence[str]) -> int:
    """Capture live upstreams as a fixture set. Nothing is written unless all of it was received."""

    async def capture(settings: Settings) -> Metadata:
        url, weight = settings.hyperliquid_url, PUBLISHED[HYPERLIQUID]
        async with open_session(HYPERLIQUID, url, SystemClock(), weight_per_minute=weight) as session:
            return await record_upstreams(session, out, list(coins))

    with refusing():
        if out.exists() and any(out.iterdir()):
            raise RefusalError(f"{out} is not empty. Name a new folder.")
        metadata = asyncio.run(capture(Settings.from_environ(environment.variables)))
    return say(
        f"{out} holds {len(metadata.files)} files up to {metadata.last_day}. Replay them with:",
        f"  VERDICT_SOURCE=fixtures VERDICT_FIXTURES_DIR={out} verdict serve",
    )
