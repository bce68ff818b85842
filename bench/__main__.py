"""Run the benches and write BENCHMARKS.md."""

import argparse
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import analytics, tick
from bench.fastapi_stack import TOKEN as FASTAPI_TOKEN
from bench.load import Load, drive

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "BENCHMARKS.md"
HOST = "127.0.0.1"
SERVER_CPU, LOAD_CPU = 0, 1
PATH = "/api/cli/coin/risk/BTC"
BARE, OURS, FASTAPI = "bare uvicorn ASGI", "verdict, all gates, durable metering", "FastAPI + SQLAlchemy + pydantic"


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


def request(token: str) -> bytes:
    return f"GET {PATH} HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


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
def bare() -> Iterator[Contender]:
    port = free_port()
    with serving(["-m", "bench.bare", str(port)], port, {}):
        yield Contender(BARE, port, request("x"))


@contextmanager
def fastapi(folder: Path) -> Iterator[Contender]:
    port = free_port()
    with serving(["-m", "bench.fastapi_stack", str(port), str(folder / "fastapi.db")], port, {}):
        yield Contender(FASTAPI, port, request(FASTAPI_TOKEN))


@contextmanager
def ours(folder: Path) -> Iterator[Contender]:
    port = free_port()
    environ = {
        "VERDICT_DATA_DIR": str(folder / "data"),
        "VERDICT_SOURCE": "fixtures",
        "VERDICT_PORT": str(port),
        "VERDICT_RATE_PER_MINUTE": "1000000000",
        "VERDICT_RATE_BURST": "1000000000",
    }
    with serving(["-m", "service", "serve"], port, environ):
        token = create_key(environ)
        wait_until_ready(port)
        yield Contender(OURS, port, request(token))


def create_key(environ: dict[str, str]) -> str:
    made = subprocess.run(
        [sys.executable, "-m", "service", "keys", "create", "--name", "bench", "--tier", "pro", "--json"],
        cwd=ROOT, env=os.environ | environ, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return str(json.loads(made.stdout)["key"])


def wait_until_ready(port: int) -> None:
    for _ in range(200):
        with socket.create_connection((HOST, port)) as probe:
            probe.sendall(f"GET /readyz HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            if probe.recv(64).startswith(b"HTTP/1.1 200"):
                return
        time.sleep(0.1)
    raise TimeoutError("the service did not become ready")


def measure(contenders: list[Contender], *, rounds: int, seconds: float, connections: int) -> dict[str, list[Load]]:
    """Interleave: every contender once a round, the first round thrown away as warm-up."""
    seen: dict[str, list[Load]] = {contender.name: [] for contender in contenders}
    for number in range(rounds + 1):
        for contender in contenders:
            load = drive(HOST, contender.port, contender.request, connections=connections, seconds=seconds)
            assert load.not_ok == 0, f"{contender.name}: {load.not_ok} answers were not 200"
            if number:
                seen[contender.name].append(load)
    return seen


def spread(values: list[float], digits: int) -> str:
    ranked = sorted(values)
    return f"{statistics.median(ranked):.{digits}f} ({ranked[0]:.{digits}f} to {ranked[-1]:.{digits}f})"


def table(seen: dict[str, list[Load]]) -> str:
    rows = [
        "| server | answers/s, median (min to max) | ratio to bare | p50 ms | p99 ms | p99 to bare |",
        "|---|---|---|---|---|---|",
    ]
    yardstick = seen[BARE]
    for name, loads in seen.items():
        ratios = [load.per_second / base.per_second for load, base in zip(loads, yardstick, strict=True)]
        tails = [load.p99_ms / base.p99_ms for load, base in zip(loads, yardstick, strict=True)]
        rows.append(
            f"| {name} | {spread([load.per_second for load in loads], 0)} | {spread(ratios, 3)} "
            f"| {spread([load.p50_ms for load in loads], 2)} | {spread([load.p99_ms for load in loads], 2)} "
            f"| {spread(tails, 2)} |"
        )
    return "\n".join(rows)


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


def report(before: str, seen: dict[str, list[Load]], options: argparse.Namespace) -> str:
    times = [ours.per_second / other.per_second for ours, other in zip(seen[OURS], seen[FASTAPI], strict=True)]
    return f"""# Benchmarks

Written by `make bench`. Ratios are formed within a round and are what counts; absolute figures drift with the machine.

{before}. Server and load generator pinned to a processor each; {options.connections} keep-alive connections, one
request under way on each; {options.rounds} interleaved rounds of {options.seconds:g} s after a warm-up round. Every
answer was checked to be a 200.

## One metered call: `GET {PATH}`

Bare: uvicorn with uvloop and httptools sending 600 constant bytes. Verdict: limits, authentication, request rate,
parameters, quota, committed to SQLite at `synchronous=FULL` before each answer, envelope with its age. FastAPI: key
look-up, conditional quota update and usage row through SQLAlchemy on aiosqlite at `synchronous=FULL`, pydantic
response: the same work, as durable.

{table(seen)}

Verdict to FastAPI, round by round: {spread(times, 1)} times.
"""


def main() -> None:
    options = argparse.ArgumentParser(prog="bench")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=float, default=4.0)
    options.add_argument("--connections", type=int, default=64)
    options.add_argument("--out", type=Path, default=REPORT)
    chosen = options.parse_args()
    before = machine()
    os.sched_setaffinity(0, {LOAD_CPU})
    folder = Path(tempfile.mkdtemp(prefix="verdict-bench-"))
    try:
        with ExitStack() as stack:
            contenders = [stack.enter_context(entry) for entry in (bare(), ours(folder), fastapi(folder))]
            seen = measure(contenders, rounds=chosen.rounds, seconds=chosen.seconds, connections=chosen.connections)
    finally:
        shutil.rmtree(folder)
    sections = [report(before, seen, chosen), analytics.report(2 * chosen.rounds + 1), tick.report(8 * chosen.rounds)]
    text = "\n".join(sections)
    chosen.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
