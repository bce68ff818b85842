"""`verdict init --new-store`: start with an empty store in a data folder whose store is lost."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from service.admin.folder import refusing
from service.client.errors import DONE, RefusalError
from service.clock import Clock, SystemClock, iso
from service.settings import Settings
from service.storage.database import DATABASE
from service.storage.journal import folder_beside
from service.storage.lost_store import holds_store
from service.storage.store import open_store

_ASIDE: Final = "lost-store-{at}"
_EXISTS: Final = (
    "{path} is not empty. `init --new-store` starts with an empty store only where the store is lost. To start anew "
    "all the same, name another folder in VERDICT_DATA_DIR."
)


def make(_arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Move what is left of the lost store aside, and make an empty one."""
    with refusing():
        settings = Settings.from_environ(environment)
        clock = SystemClock()
        aside = _move_aside(settings, clock)
        asyncio.run(_make(settings, clock))
    left = f" What was left of the old one is in {aside}." if aside else ""
    sys.stdout.write(f"The store is new and empty.{left} Start the service with `verdict serve`.\n")
    return DONE


def _move_aside(settings: Settings, clock: Clock) -> Path | None:
    """Move what is left of the lost store to a folder of its own, and return that folder; null if nothing is left.

    Journals of earlier runs would be read as journals of the new store. Secrets stay, so that old receipts can still be
    verified; keys and sessions are rows of the lost store and end with it.

    Raises:
        RefusalError: If the database has content, or files cannot be moved.
    """
    folder = settings.data_dir
    path = folder / DATABASE
    try:
        if settings.store is None and holds_store(path):
            raise RefusalError(_EXISTS.format(path=path))
        left = sorted(folder.glob(f"{DATABASE}*" if settings.store is None else folder_beside(path).name))
        if not left:
            return None
        aside = folder / _ASIDE.format(at=iso(clock.now_ms()).replace(":", ""))
        aside.mkdir(mode=0o700)
        for found in left:
            found.rename(aside / found.name)
    except OSError as error:
        raise RefusalError(
            f"Files in {folder} cannot be moved ({error.strerror}). Stop the service and make the folder writable."
        ) from error
    return aside


async def _make(settings: Settings, clock: Clock) -> None:
    async with open_store(settings, clock, new=True):
        pass
