"""Which of several processes on one data folder fetches from upstreams."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.clock import Clock

LOCK: Final = "leader.lock"
_PAUSE_S: Final = 1.0

_log: Final = logging.getLogger("verdict.wiring")


class Leadership:
    """This process's claim to lead; opened by `claim_leadership`.

    The claim is an `flock`: the kernel gives it back when its holder dies, so there is nothing to expire.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = False
        self.contend()

    def held(self) -> bool:
        """Whether this process leads. Once it does, it does to its end."""
        return self._held

    def contend(self) -> None:
        """Try to take the lead."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        self._held = True
        _log.info("this process fetches from upstreams", extra={"process_id": os.getpid()})

    async def watch(self, clock: Clock) -> None:
        """Try once a second until this process leads."""
        while not self._held:
            await clock.sleep(_PAUSE_S)
            self.contend()


@contextmanager
def claim_leadership(data_dir: Path) -> Iterator[Leadership]:
    """Stand for the lead of a data folder until leaving.

    Args:
        data_dir: An existing folder.

    Yields:
        The claim, tried once already.
    """
    descriptor = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield Leadership(descriptor)
    finally:
        os.close(descriptor)
