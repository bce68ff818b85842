"""Servers under load: each on its processor, in a process of its own, on a port of its own."""

import json
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bench.load import LENGTH

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
SERVER_CPU, LOAD_CPU = 0, 1
PATH = "/api/cli/coin/risk/BTC"

_LISTENING: Final = re.compile(rb'"message": "listening".*?"port": (\d+)|running on http://[\d.]+:(\d+)')
_LOOK_S: Final = 0.05


@dataclass(frozen=True)
class Contender:
    """A server under load: where it listens and the request it is sent."""

    name: str
    port: int
    request: bytes


@dataclass(frozen=True)
class Server:
    """A server that listens: its process, and its port."""

    pid: int
    port: int


def request(token: str, *more: str, path: str = PATH) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@contextmanager
def serving(
    arguments: list[str],
    environ: dict[str, str],
    python: str | Path = sys.executable,
    listener: socket.socket | None = None,
) -> Iterator[Server]:
    """Start a server on its processor. Stop it at the end.

    It binds port 0, and its log says which port that is; or it is given a socket that listens already.
    """
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [python, *arguments],
            cwd=ROOT,
            env=os.environ | environ,
            stderr=log,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()] if listener else [],
            preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CPU}),  # noqa: PLW1509 - Linux, before any thread
        )
        try:
            yield Server(server.pid, listener.getsockname()[1] if listener else wait_for_port(server, log))
        finally:
            server.terminate()
            server.wait(20)


def wait_for_port(server: subprocess.Popen[bytes], log: IO[bytes], patience_s: float = 60) -> int:
    """Wait until a server's log names its port."""
    for _ in range(int(patience_s / _LOOK_S)):
        if (port := logged_port(log)) is not None:
            return port
        assert server.poll() is None, f"a server ended before it listened: {server.args!r}"
        time.sleep(_LOOK_S)
    raise TimeoutError(f"a server never listened: {server.args!r}")


def logged_port(log: IO[bytes]) -> int | None:
    """The port that a log names, of the service or of uvicorn; None before it does."""
    size = os.fstat(log.fileno()).st_size
    found = _LISTENING.search(os.pread(log.fileno(), size, 0))
    return int(found[1] or found[2]) if found else None


def environment(folder: Path) -> dict[str, str]:
    """Settings of ours: on the fixtures, with no limit to the request rate."""
    return {
        "VERDICT_DATA_DIR": str(folder / "data"),
        "VERDICT_SOURCE": "fixtures",
        "VERDICT_PORT": "0",
        "VERDICT_RATE_PER_MINUTE": "1000000000",
        "VERDICT_RATE_BURST": "1000000000",
    }


@contextmanager
def service(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[tuple[int, dict[str, str]]]:
    """Start ours on the fixtures, without its daily walk-forward, and wait until it is ready; port and environment."""
    environ = environment(folder) | dict(more or {})
    with serving(["-m", "tests.service.still", "serve"], environ) as server:
        wait_until_ready(server.port)
        yield server.port, environ


def create_key(environ: dict[str, str], tier: str) -> str:
    made = subprocess.run(
        [sys.executable, "-m", "service", "admin", "keys", "create", "--name", "bench", "--tier", tier, "--json"],
        cwd=ROOT, env=os.environ | environ, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return str(json.loads(made.stdout)["key"])


def wait_until_ready(port: int) -> None:
    for _ in range(200):
        if exchange(port, f"GET /readyz HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()).startswith(b"HTTP/1.1 200"):
            return
        time.sleep(0.1)
    raise TimeoutError("the service did not become ready")


def exchange(port: int, asked: bytes) -> bytes:
    """Ask once, on a connection of its own; the whole answer, or its first bytes where it does not say its length."""
    with socket.create_connection((HOST, port)) as probe:
        probe.sendall(asked)
        answer = probe.recv(65_536)
        head, gap, body = answer.partition(b"\r\n\r\n")
        length = LENGTH.search(head) if gap else None
        missing = int(length[1]) - len(body) if length else 0
        while missing > 0:
            piece = probe.recv(65_536)
            assert piece, f"an answer was cut off: {answer!r}"
            answer, missing = answer + piece, missing - len(piece)
        return answer


def spread(values: Iterable[float], digits: int) -> str:
    ranked = sorted(values)
    return f"{statistics.median(ranked):.{digits}f} ({ranked[0]:.{digits}f} to {ranked[-1]:.{digits}f})"


def machine() -> str:
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return (
        f"{model}, {os.cpu_count()} processors, Python {platform.python_version()}, load average before the run {load}"
    )
