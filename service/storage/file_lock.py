"""A lock that one process of a machine holds: an `flock`, which the kernel releases when the process dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLock:
    """A claim on a file.

    Args:
        descriptor: The file, open.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = False

    def held(self) -> bool:
        """Whether it is held; once taken it is held until the process or the block ends."""
        return self._held

    async def contend(self) -> bool:
        """Try to take it.

        Returns:
            Whether it is held.
        """
        return self.take()

    def take(self) -> bool:
        """Like `contend`, without a coroutine."""
        if not self._held:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._held = True
        return True


@contextmanager
def file_lock_in(folder: Path, name: str) -> Iterator[FileLock]:
    """A claim, tried once already; released when the block ends.

    Args:
        folder: An existing folder.
        name: What is claimed; the file is `<name>.lock`.
    """
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        claim = FileLock(descriptor)
        claim.take()
        yield claim
    finally:
        os.close(descriptor)
