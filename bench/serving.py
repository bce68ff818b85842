"""Servers under load: each on its processor, in a process of its own, on a port of its own."""

import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.load import LENGTH

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
SERVER_CPU, LOAD_CPU = 0, 1
PATH = "/api/cli/coin/risk/BTC"


@dataclass(frozen=True)
class Contender:
    """A server under load: where it listens and the request it is sent."""

    name: str
    port: int
    request: bytes


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def request(token: str, *more: str, path: str = PATH) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@contextmanager
def serving(
    arguments: list[str], port: int, environ: dict[str, str], python: str | Path = sys.executable
) -> Iterator[int]:
    """Start a server on its processor and wait until it listens; its process id. Stop it at the end."""
    server = subprocess.Popen(
        [python, *arguments],
        cwd=ROOT,
        env=os.environ | environ,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CPU}),  # noqa: PLW1509 - Linux, before any thread
    )
    try:
        wait_until_it_listens(server, port)
        yield server.pid
    finally:
        server.terminate()
        server.wait(20)


def wait_until_it_listens(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        assert server.poll() is None, f"a server ended before it listened: {server.args!r}"
        time.sleep(0.05)
    raise TimeoutError(f"a server never listened: {server.args!r}")


def environment(folder: Path, port: int) -> dict[str, str]:
    """Settings of ours: on the fixtures, with no limit to the request rate."""
    return {
        "VERDICT_DATA_DIR": str(folder / "data"),
        "VERDICT_SOURCE": "fixtures",
        "VERDICT_PORT": str(port),
        "VERDICT_RATE_PER_MINUTE": "1000000000",
        "VERDICT_RATE_BURST": "1000000000",
    }


@contextmanager
def service(folder: Path, port: int) -> Iterator[dict[str, str]]:
    """Start ours on the fixtures, without its daily walk-forward, and wait until it is ready; its environment."""
    environ = environment(folder, port)
    with serving(["-m", "tests.service.still", "serve"], port, environ):
        wait_until_ready(port)
        yield environ


def create_key(environ: dict[str, str], tier: str) -> str:
    made = subprocess.run(
        [sys.executable, "-m", "service", "keys", "create", "--name", "bench", "--tier", tier, "--json"],
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
