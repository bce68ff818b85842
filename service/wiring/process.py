"""One serving process, from its signal handlers to the end of its last package."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from socket import socket
from typing import Final

from service.clock import Clock
from service.http.fast_path import FastPath
from service.settings import Settings
from service.wiring import resource_limits as memory
from service.wiring.build import Service, build
from service.wiring.preload import Preload
from service.wiring.server import Server, configure, configure_metrics

LAST_CALL_S: Final = 9.5
"""What has not ended so long after the first signal is ended by the kernel."""

_LOOK_S: Final = 0.05
_COLLECT_AFTER: Final = (50_000, 20, 100)
"""Objects, then young, then middle-aged collections between two: what answers allocate is freed without a collector."""

_COLLECT_AT_START: Final = (1_000_000, *_COLLECT_AFTER[1:])
"""Until the service is ready: a start makes half a million rows and hardly any garbage."""

_log: Final = logging.getLogger("verdict.wiring")


def _nothing() -> None:
    """Do nothing."""


class Process:
    """Serves until it is stopped.

    Args:
        settings: With the port as it was bound.
        clock: Time.
        listener: Where callers come in.
        metrics: Where `/metrics` is asked for, if anywhere.
        preload: Prepares the recording's history, if anything does.
        listening: Called once callers are let in.
        ready: Called once the service can answer them.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        listener: socket,
        metrics: socket | None,
        *,
        preload: Preload | None = None,
        listening: Callable[[], None] = _nothing,
        ready: Callable[[], None] = _nothing,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._listener = listener
        self._metrics = metrics
        self._preload = preload
        self._listening = listening
        self._ready = ready
        self._service: Service | None = None
        self._server: Server | None = None
        self._stopping = False

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT."""
        memory.configure_malloc()
        gc.set_threshold(*_COLLECT_AT_START)
        loop = asyncio.get_running_loop()
        serving = asyncio.create_task(self._serve())
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, serving)
        await asyncio.wait({serving})
        if not serving.cancelled():
            serving.result()

    def _stop(self, serving: asyncio.Task[None]) -> None:
        """Stop in order: no new connections, open answers finish, packages close. Later calls have no effect."""
        if self._stopping:
            return
        self._stopping = True
        signal.setitimer(signal.ITIMER_REAL, LAST_CALL_S)
        if self._service is None or self._server is None:
            serving.cancel()
        else:
            self._service.streams.stop()  # else the server would wait for them until it waits no longer
            self._server.stop()

    async def _serve(self) -> None:
        async with build(self._settings, self._clock, self._preload) as service:
            self._service = service
            fast_path = FastPath(service.app) if self._settings.fast_path == "on" else None
            config = configure(service.app, self._settings)
            self._server = Server(config, service.connections, self._announce, fast_path)
            async with asyncio.TaskGroup() as group:
                beside = [
                    group.create_task(loop) for loop in (self._settle(service), memory.trim_periodically(self._clock))
                ]
                metrics = Server(configure_metrics(service.metrics, self._settings), service.connections, _nothing)
                if self._metrics is not None:
                    group.create_task(metrics.serve([self._metrics]))
                try:
                    await self._server.serve([self._listener])
                finally:
                    for task in beside:
                        task.cancel()
                    metrics.stop()
        _log.info("stopped", extra={"process_id": os.getpid()})

    def _announce(self) -> None:
        host, port = self._listener.getsockname()[:2]
        _log.info("listening", extra={"host": host, "port": port, "process_id": os.getpid()})
        self._listening()

    async def _settle(self, service: Service) -> None:
        while not service.health.ready:
            await self._clock.sleep(_LOOK_S)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_COLLECT_AFTER)
        _log.info("ready", extra={"process_id": os.getpid(), "python": sys.version.split()[0]})
        service.ready.set()
        self._ready()
