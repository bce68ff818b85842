"""Tells which processes that use the store may still run, so that work of dead ones can be taken over.

Every process of the service is a run, recorded in the store. A run in this data folder is alive while it holds the lock
on its journal. A run in another folder (PostgreSQL only) counts as alive until it records its end, or the next start in
its folder finds it dead; its reservations last until their lease ends.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.journal import announce, folder_beside, runs_alive

_NODE: Final = "node"
_SEED_BYTES: Final = 32
_MACHINE_ID: Final = Path("/etc/machine-id")

_ELSEWHERE: Final = "SELECT id FROM usage_runs WHERE ended_ms IS NULL AND node <> ?"
_SETTLED: Final = "SELECT id FROM usage_runs WHERE ended_ms IS NOT NULL OR node <> ?"
_OPEN: Final = "SELECT id FROM usage_runs WHERE ended_ms IS NULL AND (node IS NULL OR node = ?)"


class Runs:
    """The runs of a store, as seen from one data folder.

    Args:
        database: The store.

    Attributes:
        folder: Where the journals of this folder's runs are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.folder = folder_beside(database.path)

    def alive(self, connection: Connection) -> set[int]:
        """The runs whose processes live, or may: those of other folders that have not signed out among them."""
        if not self._database.shared:
            return runs_alive(self.folder)
        return self._with_here(connection.execute(_ELSEWHERE, (self._node(),)))

    async def alive_now(self) -> set[int]:
        """As `alive`, by what is committed.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        if not self._database.shared:
            return runs_alive(self.folder)
        return self._with_here(await self._database.read(_ELSEWHERE, (self._node(),)))

    def settled(self, connection: Connection) -> set[int]:
        """The runs that are not this folder's to settle: over, or of another one, whatever a journal here says.

        A journal tells of events by their number, so one that was left by work on another store must not be believed.
        """
        if not self._database.shared:
            return set()
        return {run_id for (run_id,) in connection.execute(_SETTLED, (self._node(),))}

    def enter(self, connection: Connection, run_id: int, now_ms: int, alive: Iterable[int]) -> None:
        """Enter a run of this folder, and that those of it that are dead are over.

        Its journal is announced before anybody can know of it: who starts right behind it must not take it for dead.

        Args:
            connection: Inside the transaction that settles what the dead have left.
            run_id: The new one.
            now_ms: Epoch milliseconds.
            alive: The runs that may live.
        """
        node, living = self._node(), set(alive)
        found = connection.execute(_OPEN, (node,)).fetchall()
        over = [(now_ms, dead) for (dead,) in found if dead not in living]
        connection.executemany("UPDATE usage_runs SET ended_ms = ? WHERE id = ?", over)
        announce(self.folder, run_id)
        connection.execute("INSERT INTO usage_runs (id, started_ms, node) VALUES (?, ?, ?)", (run_id, now_ms, node))

    def _with_here(self, rows: Iterable[tuple[Any, ...]]) -> set[int]:
        return {run_id for (run_id,) in rows} | runs_alive(self.folder)

    def _node(self) -> str:
        return node_of(self.folder)


def node_of(folder: Path, machine: Path = _MACHINE_ID) -> str:
    """The name of a data folder among those that share a store: the same after a restart, another once it is copied.

    It is made of a seed that is kept in the folder, of what a copy of that file cannot have (its inode, and when that
    last changed) and of the machine's id. Taken for another folder than it is, a folder's dead would be waited for;
    taken for the same, the living of a copy would be taken for dead.

    Args:
        folder: The journals' folder; made when absent.
        machine: Where the machine says which it is; it need not say.

    Raises:
        OSError: If the folder cannot be written.
    """
    path = folder / _NODE
    if not path.exists() or path.stat().st_size < _SEED_BYTES:
        folder.mkdir(mode=0o700, exist_ok=True)
        _plant(path)
    status = path.stat()
    machine_id = machine.read_bytes() if machine.is_file() else b""
    name = b"%b %d %d %b" % (path.read_bytes(), status.st_ino, status.st_ctime_ns, machine_id)
    return hashlib.sha256(name).hexdigest()[:32]


def _plant(path: Path) -> None:
    """Give a folder its seed; of several processes that do so at once, one gives it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_size < _SEED_BYTES:
            os.pwrite(descriptor, os.urandom(_SEED_BYTES), 0)
    finally:
        os.close(descriptor)
