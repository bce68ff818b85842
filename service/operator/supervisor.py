"""Several workers on one listening socket: started, kept alive, and stopped together.

The parent has no data open and serves nothing, so there is nothing in it that could fail. Each worker is a fresh
interpreter that inherits the socket. Its standard input is a pipe from the parent, so that it notices when the parent
is gone and stops as well, also while it still starts; a line on its standard output says that it listens. Workers are
started one after another: what the first one refuses, none of the others need try.
"""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Coroutine, Sequence
from typing import Final

from service.clock import Clock

STAND_DOWN: Final = 78
"""Exit code of a worker that refuses to start: another attempt would end the same way. (`EX_CONFIG` of sysexits.h)"""

LAST_CALL_S: Final = 9.7
"""A worker that has not ended after so long is killed, a little after its own alarm: ten seconds, and all is over."""

_STEADY_S: Final = 5.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0

_log: Final = logging.getLogger("verdict.supervisor")


class Supervisor:
    """Keeps a number of workers running until told to stop.

    Args:
        command: What starts a worker; `--listener FD --worker N` is appended.
        listener: The socket they inherit.
        clock: Paces restarts and the stop.
    """

    def __init__(self, command: Sequence[str], listener: socket.socket, clock: Clock) -> None:
        self._command = (*command, "--listener", str(listener.fileno()))
        self._descriptor = listener.fileno()
        self._clock = clock
        self._stopping = asyncio.Event()
        self._workers: dict[int, asyncio.subprocess.Process] = {}
        self._refused = False

    def stop(self) -> None:
        """Ask every worker to stop. Asking again changes nothing."""
        self._stopping.set()

    async def run(self, count: int) -> bool:
        """Run `count` workers until `stop` is called or one refuses to start.

        Returns:
            Whether all went as asked; `False` where a worker refused, and said why.
        """
        async with asyncio.TaskGroup() as group:
            keepers = []
            for number in range(count):
                listens = asyncio.Event()
                keepers.append(group.create_task(self._keep(number, listens)))
                await self._either(listens.wait())
            await self._stopping.wait()
            last_call = group.create_task(self._end())
            await asyncio.wait(keepers)
            last_call.cancel()
        return not self._refused

    async def _keep(self, number: int, listens: asyncio.Event) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._stopping.is_set():
            started_s = self._clock.monotonic()
            code = await self._run_worker(number, listens)
            if code == STAND_DOWN:
                self._refused = True
                self._stopping.set()
            if self._stopping.is_set():
                return
            steady = self._clock.monotonic() - started_s > _STEADY_S
            pause_s = _FIRST_PAUSE_S if steady else min(pause_s * 2, _LONGEST_PAUSE_S)
            _log.error(
                "a worker ended; starting another", extra={"worker": number, "exit_code": code, "pause_s": pause_s}
            )
            await self._either(self._clock.sleep(pause_s))

    async def _run_worker(self, number: int, listens: asyncio.Event) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            "--worker",
            str(number),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=(self._descriptor,),
            start_new_session=True,  # Ctrl-C in a terminal reaches the parent alone, which stops its workers in order.
        )
        self._workers[number] = process
        if self._stopping.is_set():
            _signal(process, signal.SIGTERM)
        try:
            await _read_line(process)
            listens.set()
            return await process.wait()
        finally:
            del self._workers[number]

    async def _either(self, other: Coroutine[object, object, object]) -> None:
        """Wait for something, or for the stop."""
        waits = {asyncio.ensure_future(other), asyncio.ensure_future(self._stopping.wait())}
        _, idle = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in idle:
            wait.cancel()

    async def _end(self) -> None:
        for process in self._workers.values():
            _signal(process, signal.SIGTERM)
        await self._clock.sleep(LAST_CALL_S)
        for number, process in self._workers.items():
            _log.error("a worker did not stop in time; killing it", extra={"worker": number})
            _signal(process, signal.SIGKILL)


async def _read_line(process: asyncio.subprocess.Process) -> None:
    """Wait for a worker's line; there is none where it ended before."""
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    await process.stdout.readline()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
