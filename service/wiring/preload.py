"""Preparing the history of a recording in a process of its own, while this one still imports its code.

A cold start on fixtures stores 400,000 rows. Decoded and inserted here they would hold the interpreter lock for half of
the start. So a second process writes them into files of its own, and the store copies the files' tables.
"""

import asyncio
import logging
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from service.clock import Clock
from service.interpreter import command_of
from service.settings import Settings
from service.storage.engine import DATABASE

HOURS_FILES: Final = 4
"""Hourly bars are copied in so many transactions, between which others write."""

FILES: Final = (
    "recorded-days.db",
    "recorded-payments.db",
    *(f"recorded-hours-{part}.db" for part in range(HOURS_FILES)),
    "recorded-alerts.db",
)
"""Files in the data folder, in the order in which they are written."""

_log: Final = logging.getLogger("verdict.wiring")


class Preload:
    """The process, and the files it writes.

    Args:
        process: It prints the name of the history after each file.
        folder: Where the files are.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self._process = process
        self._files = iter([folder / name for name in FILES])
        self._read: Path | None = None

    async def next(self, origin: str) -> Path | None:
        """The next file once it is complete; null where there is none, or it belongs to another history.

        The file given before is removed.
        """
        if self._read is not None:
            self._read.unlink(missing_ok=True)
        path = self._read = next(self._files, None)
        if path is None:
            await asyncio.to_thread(self._process.wait)
            return None
        assert self._process.stdout is not None  # noqa: S101 - it was asked for as a pipe
        line = await asyncio.to_thread(self._process.stdout.readline)
        return path if line == f"{origin}\n".encode() else None


@contextmanager
def preloading(settings: Settings, clock: Clock) -> Iterator[Preload | None]:
    """Start the process where the store is a file that does not exist yet; end it, and remove its files, on leaving.

    Args:
        settings: Which recording, and the data folder.
        clock: Says up to when the history is prepared.
    """
    _remove(settings.data_dir)  # left by a start that was killed
    if settings.source != "fixtures" or settings.store is not None or (settings.data_dir / DATABASE).exists():
        yield None
        return
    recording = (str(settings.fixtures_dir), settings.replay, str(clock.now_ms()))
    command = command_of("service.wiring.preload_worker", *recording, str(settings.data_dir))
    with ExitStack() as stack:
        try:
            # Its standard input stays open as long as this process lives. Ctrl-C does not reach it in its own session.
            process = subprocess.Popen(  # noqa: S603 - our own module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            _log.warning(
                "Could not start the process that prepares the recorded history.", extra={"reason": error.strerror}
            )
            yield None
            return
        stack.callback(_remove, settings.data_dir)
        stack.enter_context(process)
        stack.callback(process.kill)
        yield Preload(process, settings.data_dir)


def _remove(folder: Path) -> None:
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
