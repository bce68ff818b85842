"""How soon a service lives and can answer, and how much memory it takes."""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from bench.asked import below, short
from bench.coins import LIVE, recording, upstreams
from bench.effort import Effort
from bench.serving import HOST, ROOT, SERVER_CPU, environment, exchange, logged_port, spread
from service.clock import SystemClock
from tests.fakes.serving import environment as only
from tests.fakes.serving import live_at

COINS: Final = 200
LIVE_S, MEMORY_MB = 1.0, 150.0
"""What issue 9 asks for: `/healthz` answers so soon, and so much is taken with 200 coins."""

SERVE: Final = ("-m", "service", "serve")
STILL: Final = ("-m", "tests.service.still", "serve")
"""The same without a walk-forward: a process of its own that computes for a minute, and not beside a load."""

_SETTLED_S: Final = 20
"""After everything is fetched: rounds of every loop but the hourly ones have run."""

_PATIENCE_S: Final = 600.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Start:
    """Seconds from a process's start until it lives and until it is ready, and processor seconds until it lives."""

    live_s: float
    ready_s: float
    live_cpu_s: float


class Running:
    """A service that was just started.

    Args:
        process: It.
        log: Its log, which names its port once it listens.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
        self._process = process
        self._log = log
        self._began_s = time.perf_counter()

    @cached_property
    def port(self) -> int:
        """Where it answers.

        Raises:
            ConnectionError: If it does not listen yet.
        """
        if (port := logged_port(self._log)) is None:
            raise ConnectionError("the service does not listen yet")
        return port

    def until(self, path: str) -> float:
        """Ask again and again until the answer is a 200; seconds since the start."""
        while time.perf_counter() - self._began_s < _PATIENCE_S:
            assert self._process.poll() is None, "the service ended"
            try:
                if self.ask(path).startswith(b"HTTP/1.1 200"):
                    return time.perf_counter() - self._began_s
            except ConnectionError:
                time.sleep(0.002)
            time.sleep(0.003)
        raise TimeoutError(f"{path} never answered 200")

    def start(self) -> Start:
        live_s = self.until("/healthz")
        cpu_s = self.cpu_s()
        return Start(live_s, self.until("/readyz"), cpu_s)

    def ask(self, path: str) -> bytes:
        return exchange(self.port, f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())

    def fetch_all(self) -> int:
        """Wait until every series of every coin is there; how many coins those are."""
        health: dict[str, Any] = {}
        for _ in range(int(_PATIENCE_S * 2)):
            health = msgspec.json.decode(self.ask("/readyz").partition(b"\r\n\r\n")[2])
            market = health["market"]
            series = [market[kind] for kind in ("history", "hourly", "funding")]
            if all(0 < each["total"] == each["known"] for each in series):
                return int(market["history"]["total"])
            time.sleep(0.5)
        raise TimeoutError(f"not everything was fetched: {health}")

    def cpu_s(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory_mb(self, name: str = "VmRSS") -> float:
        """Resident memory: now, or (`VmHWM`) at its highest."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
        return int(line.split()[1]) * 1_024 / 1e6


@contextmanager
def started(folder: Path, more: Mapping[str, str], arguments: Sequence[str] = SERVE) -> Iterator[Running]:
    """Start a service, what Python compiles kept; it has not answered yet."""
    environ = only({}) | environment(folder) | dict(more)
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=log,
            preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CPU}),  # noqa: PLW1509 - Linux, before any thread
        )
        try:
            yield Running(process, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


@dataclass
class Seen:
    """Of one way to run it: starts on a new folder and on one that is kept, and what was taken, MB."""

    first: list[Start] = field(default_factory=list)
    again: list[Start] = field(default_factory=list)
    ready_mb: list[float] = field(default_factory=list)
    settled_mb: list[float] = field(default_factory=list)
    highest_mb: list[float] = field(default_factory=list)


def look(more: Mapping[str, str], arguments: Sequence[str], starts: int, coins: int, settled_s: float) -> Seen:
    """Start it on a new folder, wait until it has everything, and start it again and again on what it has kept."""
    seen = Seen()
    with tempfile.TemporaryDirectory(prefix="verdict-bench-") as folder:
        with started(Path(folder), more, arguments) as running:
            seen.first.append(running.start())
            seen.ready_mb.append(running.memory_mb())
            known = running.fetch_all()
            assert known >= coins, f"{known} coins instead of {coins}"
            time.sleep(settled_s)
            seen.settled_mb.append(running.memory_mb())
            seen.highest_mb.append(running.memory_mb("VmHWM"))
        for number in range(starts):
            with started(Path(folder), more, arguments) as running:
                seen.again.append(running.start())
                seen.ready_mb.append(running.memory_mb())
                if number == starts - 1:
                    time.sleep(settled_s)
                    seen.settled_mb.append(running.memory_mb())
                    seen.highest_mb.append(running.memory_mb("VmHWM"))
    return seen


def live_settings(url: str) -> dict[str, str]:
    return {f"VERDICT_{name.upper()}": value for name, value in live_at(url).items()}


def measure(starts: int, coins: int, settled_s: float) -> dict[str, Seen]:
    """Live over so many coins, and as `make run` does it."""
    with tempfile.TemporaryDirectory(prefix="verdict-bench-") as folder:
        fixtures = recording(Path(folder) / "fixtures", coins)
        with upstreams(fixtures, SystemClock()) as url:
            live = look(live_settings(url), LIVE, starts, coins, settled_s)
    bundled = look({}, SERVE, starts, 1, settled_s)
    return {f"live, {coins} coins": live, "`make run`: the fixtures, replayed in the same process": bundled}


def table(seen: Mapping[str, Seen]) -> str:
    rows = [
        "| service | start | `/healthz` s | of that, processor s | `/readyz` s | ready MB | settled MB | highest MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, one in seen.items():
        for number, (what, starts) in enumerate((("on an empty folder", one.first), ("again", one.again))):
            ready = one.ready_mb[:1] if number == 0 else one.ready_mb[1:]
            rows.append(
                f"| {name} | {what} | {spread([start.live_s for start in starts], 2)} "
                f"| {spread([start.live_cpu_s for start in starts], 2)} "
                f"| {spread([start.ready_s for start in starts], 2)} | {statistics.median(ready):.0f} "
                f"| {one.settled_mb[number]:.0f} | {one.highest_mb[number]:.0f} |"
            )
    rows.append(f"| asked for | | < {LIVE_S:g} | | | | < {MEMORY_MB:g} | |")
    return "\n".join(rows)


def shortfalls(seen: Mapping[str, Seen]) -> str:
    """What each way to run it falls short of."""
    return short(
        *(
            below(f"`/healthz` of {name}, s", [one.live_s for one in way.first + way.again], LIVE_S)
            for name, way in seen.items()
        ),
        *(below(f"MB of {name}, the most settled", [max(way.settled_mb)], MEMORY_MB) for name, way in seen.items()),
    )


def report(effort: Effort) -> str:
    """The section of BENCHMARKS.md."""
    starts = effort.rounds
    seen = measure(starts, COINS, _SETTLED_S)
    return f"""## Starting the service, and its memory

From the start of the process until a request is answered 200, asked every few milliseconds; {starts} starts on a kept
folder. Memory is what is resident: when `/readyz` first says so, {_SETTLED_S} s after every series is there, and at its
highest. Live: the upstreams are another process, and as quick as wanted.

{table(seen)}

{shortfalls(seen)}
"""
