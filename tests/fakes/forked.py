"""The service as a process of its own, forked from one that has imported it already: three starts in the time of one.

For tests that start it hundreds of times. It is `verdict serve` as it is, with memory, files and signals of its own.
"""

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection

import msgspec

from tests.fakes.handful import handful
from tests.fakes.serving import PATIENCE_S, environment

_FORK = multiprocessing.get_context("forkserver")
_PRELOADED = ("service.admin.serve", "service.wiring.process", "service.payments.facilitators.remote")
_FORK.set_forkserver_preload(["pytest", *_PRELOADED, "service.payments.facilitators.chain_reader"])


class Forked:
    """A service that was told to start.

    Attributes:
        pid: Of its process.
        port: Where it listens, once it is `ready`.
        lines: What it has logged.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        heard, said = _FORK.Pipe(duplex=False)
        chosen = {"port": "0", "source": "fixtures", "fixtures_dir": str(handful()), **settings}
        self._process = _FORK.Process(target=_serve, args=(said, environment(chosen)))
        self._process.start()
        said.close()
        self.pid = self._process.pid or 0
        self.port = 0
        self.lines: list[str] = []
        self._ready = threading.Event()
        self._listener = threading.Thread(target=self._listen, args=(heard,))
        self._listener.start()

    def wait_until_ready(self) -> None:
        assert self._ready.wait(PATIENCE_S), self.lines
        assert self.port, self.lines

    def end(self) -> None:
        """Wait for its end; it is made to, unless it has come."""
        self._process.terminate()
        self._process.join(15)
        self._process.kill()
        self._process.join(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        self._process.close()

    def _listen(self, heard: Connection) -> None:
        with os.fdopen(os.dup(heard.fileno()), encoding="utf-8") as lines, heard:
            for line in lines:
                self.lines.append(line)
                if line.startswith("{"):
                    self._hear(msgspec.json.decode(line))
        self._ready.set()

    def _hear(self, record: dict[str, object]) -> None:
        if record["message"] == "listening":
            self.port = int(str(record["port"]))
        if record["message"] == "ready":
            self._ready.set()


@contextmanager
def forked(settings: Mapping[str, str]) -> Iterator[Forked]:
    """A service that starts, ended on leaving whatever happens."""
    running = Forked(settings)
    try:
        yield running
    finally:
        running.end()


def _serve(said: Connection, outer: Mapping[str, str]) -> None:
    from service.__main__ import main  # noqa: PLC0415 - in the child only

    os.dup2(said.fileno(), 2)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)  # the old one may remember a place in a file
    os.environ.clear()
    os.environ.update(outer)
    sys.argv = ["verdict", "serve"]
    sys.exit(main())
