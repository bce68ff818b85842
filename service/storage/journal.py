"""Records which answers were sent: one memory-mapped ring buffer of event ids per process.

A process that is killed between the `COMMIT` of a counted call and its answer leaves a call that is counted but not
answered. Pages of a mapped file belong to the kernel and survive `kill -9`, so recording an id costs one store to
memory. They need not survive a power failure: after a reboot the journal is not used.

A process holds a lock on its journal while it lives; a journal that can be locked belongs to a dead process. Before
the journal exists, a file named after the run and the process id stands for it.
"""

import errno
import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

SLOTS: Final = 1 << 16
"""Marks a ring holds; an answer can be that many events late before its call is taken for answered."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_HEADER: Final = 4_096
_SINCE_WORD: Final = 8
_SIZE: Final = _HEADER + 8 * SLOTS
_SUFFIX: Final = ".marks"


def folder_beside(database: Path) -> Path:
    """Where the journals of a database are."""
    return database.with_name(database.name + "-runs")


def boot_id(source: Path = _BOOT_ID) -> bytes:
    """What tells this boot of the machine from any other; empty where the machine does not say."""
    try:
        return source.read_bytes().strip()[:64]
    except OSError:
        return b""


class Journal:
    """The marks of one process.

    Args:
        path: Where the file goes.
        since: The highest event id there was before this process's first.
        boot: This boot's id.

    Raises:
        OSError: If the file cannot be made.
    """

    def __init__(self, path: Path, since: int, boot: bytes) -> None:
        self._path = path
        # It gets its name once it is locked, so that it never looks dead. It was announced empty and is not cut short:
        # ext4 would write it out soon, without marks, and a file system that fails then would look as if none was made.
        unlocked = _half_made_of(path)
        self._descriptor = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # All of it is written now: in a hole, a disk that fills up later would be a SIGBUS.
        if os.pwrite(self._descriptor, bytes(_SIZE), 0) < _SIZE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._map = mmap.mmap(self._descriptor, _SIZE)
        self._map[: len(boot)] = boot
        words = memoryview(self._map).cast("Q")
        words[_SINCE_WORD] = since
        self._marks = words[_HEADER // 8 :]
        words.release()
        unlocked.rename(path)

    def mark(self, event_id: int) -> None:
        """Note that an event's answer has left."""
        self._marks[event_id % SLOTS] = event_id

    def close(self, *, settled: bool) -> None:
        """End the process's journal.

        Args:
            settled: Whether nothing is in doubt; else the file stays for the next to start.
        """
        self._marks.release()
        self._map.close()
        if settled:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


class DeadJournal:
    """What a process left behind that did not end in order.

    Args:
        run_id: Its run.
        content: Its journal.
        boot: This boot's id; empty where the machine does not say.

    Attributes:
        run_id: Its run.
        telling: Whether it tells which answers have left: it is whole, and of this boot of the machine.
    """

    def __init__(self, run_id: int, content: bytes, boot: bytes) -> None:
        self.run_id = run_id
        self.telling = bool(boot) and content.startswith(boot) and len(content) == _SIZE
        words = memoryview(content if self.telling else bytes(_SIZE)).cast("Q")
        self._marks = words[_HEADER // 8 :]
        self._since = words[_SINCE_WORD]

    def floor(self) -> int:
        """The event id from which on an unmarked event was not answered."""
        return max(self._since, max(self._marks) - SLOTS)

    def answered(self, event_id: int) -> bool:
        """Whether the answer of one of this process's events above the floor has left, or may have."""
        return self._marks[event_id % SLOTS] >= event_id


@contextmanager
def dead_journals(folder: Path, boot: bytes) -> Iterator[list[DeadJournal]]:
    """Take hold of what dead processes left.

    Args:
        folder: Where the journals are.
        boot: This boot's id.

    Yields:
        The journals; no other process is given them meanwhile. When the block ends without an exception they are gone.
    """
    with ExitStack() as held:
        for path in _half_made(folder):
            if not _is_maker_there(path) and _lock(path, held):
                path.unlink(missing_ok=True)
        paths = [path for path in _journals(folder) if _lock(path, held)]
        yield [DeadJournal(int(path.stem), path.read_bytes(), boot) for path in paths]
        for path in paths:
            path.unlink(missing_ok=True)


def runs_alive(folder: Path) -> set[int]:
    """The runs whose processes live, also while they make their journals, and those whose dead journals are held."""
    with ExitStack() as held:
        making = {int(path.stem) for path in _half_made(folder) if _is_maker_there(path)}
        return making | {int(path.stem) for path in _journals(folder) if not _lock(path, held)}


def path_of(folder: Path, run_id: int) -> Path:
    """Where a run's journal goes."""
    return folder / f"{run_id}{_SUFFIX}"


def announce(folder: Path, run_id: int) -> None:
    """Have a run taken for alive from now on, as long as this process lives and until its journal says so itself.

    Raises:
        OSError: If the folder cannot be written.
    """
    _half_made_of(path_of(folder, run_id)).touch(0o600)


def _journals(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdecimal())


def _half_made_of(path: Path) -> Path:
    """What a journal is called while this process makes it."""
    return path.with_suffix(f".{os.getpid()}")


def _half_made(folder: Path) -> list[Path]:
    """Journals that have no name yet."""
    return [path for path in folder.glob("*.*") if path.stem.isdecimal() and path.suffix[1:].isdecimal()]


def _is_maker_there(path: Path) -> bool:
    """Whether the process lives that makes a journal; else it was killed meanwhile."""
    try:
        os.kill(int(path.suffix[1:]), 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def _lock(path: Path, held: ExitStack) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return path.exists()
