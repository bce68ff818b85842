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


def request(token: str, *more: str) -> bytes:
    lines = [f"GET {PATH} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@contextmanager
def serving(arguments: list[str], port: int, environ: dict[str, str]) -> Iterator[None]:
    """Start a server on its processor and wait until it listens; stop it at the end."""
    server = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | environ,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CPU}),  # noqa: PLW1509 - Linux, before any thread
    )
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex((HOST, port)) == 0:
                    break
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def service(folder: Path, port: int) -> Iterator[dict[str, str]]:
    """Start ours on the fixtures and wait until it is ready; its environment."""
    environ = {
        "VERDICT_DATA_DIR": str(folder / "data"),
        "VERDICT_SOURCE": "fixtures",
        "VERDICT_PORT": str(port),
        "VERDICT_RATE_PER_MINUTE": "1000000000",
        "VERDICT_RATE_BURST": "1000000000",
    }
    with serving(["-m", "service", "serve"], port, environ):
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
    """Ask once, on a connection of its own; the answer's first bytes."""
    with socket.create_connection((HOST, port)) as probe:
        probe.sendall(asked)
        return probe.recv(65_536)


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
