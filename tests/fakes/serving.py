"""The service as its operator starts it: a process of its own, seen from outside."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from service.settings import UPSTREAMS, Settings
from tests.fakes.handful import handful

PATIENCE_S = 60.0
"""Longest wait for anything a process says or does; nothing takes that long unless it fails."""

_ASKED_EVERY_S = 0.2


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with these settings and no others, and a profile beside the data folder."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("VERDICT_")}
    if "data_dir" in settings:
        outer["XDG_STATE_HOME"] = f"{settings['data_dir']}-profile"
    return outer | {f"VERDICT_{name.upper()}": value for name, value in settings.items()}


WHOLE = {"fixtures_dir": str(Settings().fixtures_dir)}
"""The recording as it is bundled."""


def live_at(url: str) -> dict[str, str]:
    """Settings of live data whose upstreams all stand at one address, as the replay has them."""
    others = {f"{name}_url": f"{url}/{name}" for name in UPSTREAMS}
    return {"source": "live", **others, "hyperliquid_url": url}


def run_verdict(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


class Serving:
    """A `verdict serve` that runs.

    Args:
        arguments: After `serve`.
        settings: Without their prefix, in lower case. It knows a handful of coins, soon; `**WHOLE` makes it know all.
    """

    MODULE = "service"

    def __init__(self, *arguments: str, **settings: str) -> None:
        self.settings = {"port": "0", "source": "fixtures", "fixtures_dir": str(handful()), **settings}
        self.process = subprocess.Popen(
            [*self.command(), "serve", *arguments],
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._heard = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def command(self) -> list[str]:
        """What stands for `verdict`."""
        return [sys.executable, "-m", self.MODULE]

    def environ(self) -> dict[str, str]:
        """What it is started with."""
        return environment(self.settings)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                self.lines.append(line)
                self._heard.notify_all()
        with self._heard:
            self._heard.notify_all()

    def hang_up(self) -> None:
        """Hear the last of it."""
        self._listener.join(PATIENCE_S)
        assert not self._listener.is_alive(), "it ended, and another process still holds its standard error"
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    @property
    def records(self) -> list[dict[str, Any]]:
        """The log so far."""
        return [json.loads(line) for line in list(self.lines) if line.startswith("{")]

    def wait_for(self, message: str, times: int = 1) -> dict[str, Any]:
        """Wait until a message has been logged so often; return its last record."""

        def found() -> list[dict[str, Any]]:
            return [record for record in self.records if record["message"] == message]

        with self._heard:
            assert self._heard.wait_for(lambda: len(found()) >= times or not self._listener.is_alive(), PATIENCE_S), (
                f"no {message!r} in {self.lines}"
            )
        assert len(found()) >= times, f"no {message!r} in {self.lines}"
        return found()[-1]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.wait_for("listening")["port"])

    def ask(
        self, path: str, key: str | None = None, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """Send one request on a connection of its own: status, headers by lower-case name, decoded JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            bearer = {"Authorization": f"Bearer {key}"} if key else {}
            connection.request(method, path, headers={**bearer, **headers})
            response = connection.getresponse()
            body = response.read()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return response.status, fields, json.loads(body) if body else None
        finally:
            connection.close()

    def verdict(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an operator's command on the same data folder."""
        done = run_verdict(*arguments, **self.settings)
        assert done.returncode == 0, done.stderr
        return done

    def make_key(self, *arguments: str) -> str:
        """Make a key while the service runs."""
        made = self.verdict("admin", "keys", "create", "--name", "test", "--json", *arguments)
        return str(json.loads(made.stdout)["key"])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop and wait for its end."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def wait_until(true: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    """Ask again and again, a little slower than the request rate allows, until something is so.

    Args:
        true: Whether it is.
        within_s: How long is waited, beside what the asking takes.
    """
    pause = threading.Event()
    for _ in range(round(within_s / _ASKED_EVERY_S)):
        if true():
            return
        pause.wait(_ASKED_EVERY_S)
    raise AssertionError("it never came to be so")


@contextmanager
def serving(data_dir: Path, *arguments: str, **settings: str) -> Iterator[Serving]:
    """A service on a data folder, ready when given, ended on leaving whatever happens."""
    running = Serving(*arguments, data_dir=str(data_dir), **settings)
    with ended(running):
        running.wait_for("ready")
        yield running


@contextmanager
def ended(running: Serving) -> Iterator[Serving]:
    """End a service on leaving, whatever happens, and let go of its pipes."""
    try:
        yield running
    finally:
        running.process.terminate()
        try:
            running.process.wait(15)
        except subprocess.TimeoutExpired:
            running.process.kill()
        running.process.wait(PATIENCE_S)
        running.hang_up()
