"""`verdict backup OUT`: a copy of the database, taken while it is in use."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from service.clients.cli.refusal import DONE
from service.operator.folder import database_of, refusing
from service.settings import Settings
from service.storage.backup import back_up


def copy(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Copy the database as of one instant; the copy is checked before it gets its name."""
    with refusing():
        settings = Settings.from_environ(environment)
        size = back_up(database_of(settings), Path(arguments.out))
    sys.stdout.write(
        f"{arguments.out} holds the database ({size:,} bytes). Keep secrets.toml with it: the keys need both.\n"
    )
    return DONE
