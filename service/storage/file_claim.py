"""A claim that one process of a machine holds: an `flock`, which the kernel gives back when its holder dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileClaim:
    """A claim on a file.

    Args:
        descriptor: The file, open.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = False

    def held(self) -> bool:
        """Whether it is held. Once it is, it is to the end."""
        return self._held

    async def contend(self) -> bool:
        """Try to take it.

        Returns:
            Whether it is held.
        """
        return self.take()

    def take(self) -> bool:
        """As `contend`, for callers that are no coroutines."""
        if not self._held:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._held = True
        return True


@contextmanager
def claim_in(folder: Path, name: str) -> Iterator[FileClaim]:
    """A claim, tried once already; given up on leaving.

    Args:
        folder: An existing folder.
        name: What is claimed; the file is `<name>.lock`.
    """
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        claim = FileClaim(descriptor)
        claim.take()
        yield claim
    finally:
        os.close(descriptor)
