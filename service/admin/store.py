"""`verdict backup` and `verdict migrate-store`: copies of the store."""

import asyncio
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from service.admin.folder import database_of, refusing
from service.admin.output import print_table
from service.client.errors import DONE, FAILED, MISUSED, RefusalError
from service.clock import SystemClock
from service.settings import Secret, Settings, SettingsError
from service.storage.backup import back_up, sync
from service.storage.database import DATABASE, Database
from service.storage.engine import StorageError
from service.storage.store import open_store
from service.storage.transfer import TableDigest, transfer

_SERVERS: Final = ("postgres://", "postgresql://")
_UNFINISHED: Final = ".migrate-store"
_SETTINGS: Final = ("VERDICT_STORE", "VERDICT_DATA_DIR")
_STORES: Final = "name the data folder of a service, or a server as postgres://user:password@host/database"
_EXISTS: Final = "{path} exists already; name a folder without a database"
_NO_ROOM: Final = (
    "{folder} could not take the whole of it: make room there, of twice what FROM takes, and start again. Nothing was "
    "changed"
)


def move(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Copy a store to an empty one, compare the two, and say what was copied."""
    with refusing():
        settings = Settings.from_environ(environment)
        if arguments.source == arguments.target:
            raise RefusalError("FROM and TO are the same store", MISUSED)
        with _meaning("FROM"):
            source = _at(settings, arguments.source)
        with _meaning("TO"):
            target = _at(settings, arguments.target)
        copied = asyncio.run(_move(source, target))
    rows = [(table, found.rows, f"{found.digest:032x}") for table, found in copied.items() if found.rows]
    print_table(("table", "rows", "sum of digests"), rows, nothing="there was nothing to copy")
    total = sum(found.rows for found in copied.values())
    sys.stderr.write(f"{total:,} rows were copied and read back alike; FROM is as it was\n")
    return DONE


def _at(settings: Settings, place: str) -> Settings:
    """The settings of a service whose store is there."""
    if place.startswith(_SERVERS):
        chosen = replace(settings, store=Secret(place))
    else:
        chosen = replace(settings, store=None, data_dir=Path(place).expanduser())
    chosen.check()
    return chosen


@contextmanager
def _meaning(argument: str) -> Iterator[None]:
    """Name the argument instead of the setting in errors of a store that an argument names."""
    try:
        yield
    except (SettingsError, StorageError) as error:
        said = str(error)
        for setting in _SETTINGS:
            said = said.replace(setting, argument)
        raise RefusalError(said, MISUSED if isinstance(error, SettingsError) else FAILED) from error


async def _move(source: Settings, target: Settings) -> dict[str, TableDigest]:
    if source.store is None and not (source.data_dir / DATABASE).is_file():
        raise RefusalError(f"there is no database in FROM, {source.data_dir}: {_STORES}")
    if target.store is None and not target.data_dir.absolute().parent.is_dir():
        raise RefusalError(f"there is no folder that could hold TO, {target.data_dir}: {_STORES}")
    async with AsyncExitStack() as stack:
        with _meaning("FROM"):
            old = await stack.enter_async_context(open_store(source, SystemClock()))
        with _meaning("TO"):
            new = await stack.enter_async_context(_opened(target))
        return await transfer(old, new)


@asynccontextmanager
async def _opened(target: Settings) -> AsyncIterator[Database]:
    """An empty store; a file gets its name when everything is in it."""
    if target.store is not None:
        async with open_store(target, SystemClock(), new=True) as database:
            yield database
        return
    path = target.data_dir / DATABASE
    if path.exists():
        raise RefusalError(_EXISTS.format(path=path))
    unfinished = target.data_dir / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        async with open_store(replace(target, data_dir=unfinished), SystemClock()) as database:
            yield database
        _give_name(unfinished / DATABASE, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _give_name(made: Path, path: Path) -> None:
    """Let a file that was closed be found, unless somebody has begun another in its place."""
    if made.with_name(made.name + "-wal").exists():  # closing could not fold it in, and says nothing of that
        raise RefusalError(_NO_ROOM.format(folder=path.parent))
    sync(made)
    try:
        os.link(made, path)
    except FileExistsError as error:
        raise RefusalError(_EXISTS.format(path=path)) from error
    sync(path.parent)


def copy(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Copy the database as of one instant; the copy is checked before it gets its name."""
    with refusing():
        settings = Settings.from_environ(environment)
        size = back_up(database_of(settings), Path(arguments.out))
    sys.stdout.write(
        f"{arguments.out} holds the database ({size:,} bytes). Keep secrets.toml with it: the keys need both.\n"
    )
    return DONE
