"""Starts several workers on one listening socket, restarts them and stops them together.

The parent opens no data and serves nothing. Each worker is a new interpreter that inherits the socket. Its standard
input is a pipe from the parent, so that it stops when the parent is gone; a line on its standard output says that it
listens. Workers start one after another: if the first one refuses to start, the others are not tried.
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
"""Exit code of a worker that refuses to start; a restart would fail too. (`EX_CONFIG` of sysexits.h)"""

LAST_CALL_S: Final = 9.7
"""Seconds until a worker that has not ended is killed, shortly after its own alarm: a stop takes ten seconds."""

_STEADY_S: Final = 5.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0

_log: Final = logging.getLogger("verdict.supervisor")


class Supervisor:
    """Keeps a number of workers running until stopped.

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
            False if a worker refused to start; it has printed the reason.
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
            listens.set()  # it died and did not refuse, so the others are tried
            steady = self._clock.monotonic() - started_s > _STEADY_S
            pause_s = _FIRST_PAUSE_S if steady else min(pause_s * 2, _LONGEST_PAUSE_S)
            _log.error(
                "A worker ended. Starting another.", extra={"worker": number, "exit_code": code, "pause_s": pause_s}
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
            if await _read_line(process):
                listens.set()
            return await process.wait()
        finally:
            del self._workers[number]

    async def _either(self, other: Coroutine[object, object, object]) -> None:
        """Wait for a coroutine or for the stop."""
        waits = {asyncio.ensure_future(other), asyncio.ensure_future(self._stopping.wait())}
        _, idle = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in idle:
            wait.cancel()

    async def _end(self) -> None:
        for process in self._workers.values():
            _signal(process, signal.SIGTERM)
        await self._clock.sleep(LAST_CALL_S)
        for number, process in self._workers.items():
            _log.error("A worker did not stop in time. Killing it.", extra={"worker": number})
            _signal(process, signal.SIGKILL)


async def _read_line(process: asyncio.subprocess.Process) -> bytes:
    """Wait for a worker's line; empty if it ends without one."""
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    return await process.stdout.readline()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
