"""What a question costs: answers a second beside the risk route, and how soon one alone begins and is whole.

The questions are those of the banks in `tests/ask/banks`, each asked in turn; no model writes. Every answer that holds
figures is counted and committed before its first byte, as the risk route's is.
"""

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import msgspec

from bench.asked import below, short
from bench.load import Load, drive, drive_each
from bench.serving import HOST, LOAD_CPU, create_key, exchange, request, service, spread
from tests.ask.banks.case import BANKS, Case, cases

FIRST_MS, WHOLE_MS = 50.0, 150.0
"""What issue 6 asks for, at the median."""

RISK, ONE, ALL = "the risk route", "one question, again and again", "questions of every kind, in turn"
_END = b"0\r\n\r\n"


@dataclass(frozen=True)
class Waits:
    """How long answers took that were asked for one at a time, milliseconds: to the first byte, and to the last."""

    first_ms: list[float]
    whole_ms: list[float]


def bodies() -> list[bytes]:
    """The questions as they are sent."""
    return [_body(case) for bank in BANKS for case in cases(bank)]


def _body(case: Case) -> bytes:
    return msgspec.json.encode({"messages": [{"role": "user", "content": text} for text in case.ask]})


def asking(token: str, body: bytes, accept: str) -> bytes:
    """One request."""
    lines = (
        "POST /api/cli HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}", f"Accept: {accept}",
        "Content-Type: application/json", f"Content-Length: {len(body)}",
    )  # fmt: skip
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def ours(folder: Path) -> Iterator[tuple[int, str]]:
    """The service on the fixtures, once it has an answer to everything: its port, and a key without a limit."""
    with service(folder) as (port, environ):
        token = create_key(environ, "pro")
        for body in bodies():
            wait_for(port, asking(token, body, "application/json"))
        yield port, token


def wait_for(port: int, asked: bytes) -> None:
    """Ask until there is an answer: what is scanned once a minute is not known at once."""
    for _ in range(120):
        if exchange(port, asked).startswith(b"HTTP/1.1 200"):
            return
        time.sleep(1)
    raise TimeoutError("a question has no answer")


def side_by_side(port: int, token: str, rounds: int, seconds: float, connections: int) -> list[list[Load]]:
    """Interleave, the first round thrown away as warm-up; for every round a load of each."""
    every = [asking(token, body, "application/json") for body in bodies()]
    seen = []
    for _ in range(rounds + 1):
        loads = [
            drive(HOST, port, request(token), connections=connections, seconds=seconds),
            drive(HOST, port, every[0], connections=connections, seconds=seconds),
            drive_each(HOST, port, cycle(every), connections=connections, seconds=seconds),
        ]
        assert not any(load.not_ok for load in loads), "an answer was not a 200"
        seen.append(loads)
    return seen[1:]


def one_at_a_time(port: int, token: str) -> Waits:
    """Ask every question once, as text that is sent as it is produced."""
    asked = [asking(token, body, "text/plain") for body in bodies()]
    waits = Waits([], [])
    with socket.create_connection((HOST, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for each in asked:
            began = time.perf_counter()
            connection.sendall(each)
            answer = connection.recv(65_536)
            first = time.perf_counter()
            while not answer.endswith(_END):
                answer += connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            waits.first_ms.append((first - began) * 1e3)
            waits.whole_ms.append((time.perf_counter() - began) * 1e3)
    return waits


def table(seen: list[list[Load]]) -> str:
    rows = ["| what is asked | answers/s, median (min to max) | ratio | p50 ms | p99 ms |", "|---|---|---|---|---|"]
    for number, name in enumerate((RISK, ONE, ALL)):
        loads = [each[number] for each in seen]
        ratios = [each[number].per_second / each[0].per_second for each in seen]
        rows.append(
            f"| {name} | {spread([load.per_second for load in loads], 0)} | {spread(ratios, 3)} "
            f"| {spread([load.p50_ms for load in loads], 2)} | {spread([load.p99_ms for load in loads], 2)} |"
        )
    return "\n".join(rows)


def quantiles(waits_ms: Sequence[float]) -> str:
    ranked = sorted(waits_ms)
    return f"{ranked[len(ranked) // 2]:.2f} ({ranked[len(ranked) * 99 // 100]:.2f}, {ranked[-1]:.2f})"


def report(*, rounds: int, seconds: float, connections: int) -> str:
    """Measure, and write it up."""
    folder = Path(tempfile.mkdtemp(prefix="verdict-bench-"))
    try:
        with ours(folder) as (port, token):
            seen = side_by_side(port, token, rounds, seconds, connections)
            waits = one_at_a_time(port, token)
    finally:
        shutil.rmtree(folder)
    return f"""## Questions

The same service, the same caller: the risk route, one question, and the questions of the banks in `tests/ask/banks`,
answered as JSON without a model, counted and committed. Ratios to the risk route.

{table(seen)}

One at a time, as text: {len(waits.whole_ms)} questions.

| until | median (p99, max) ms | asked for, at the median |
|---|---|---|
| the first byte | {quantiles(waits.first_ms)} | < {FIRST_MS:g} ms |
| the whole answer | {quantiles(waits.whole_ms)} | < {WHOLE_MS:g} ms |

{short(below("first byte, ms", waits.first_ms, FIRST_MS), below("whole answer, ms", waits.whole_ms, WHOLE_MS))}
"""


if __name__ == "__main__":
    os.sched_setaffinity(0, {LOAD_CPU})
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(report(rounds=number, seconds=float(sys.argv[2]) if len(sys.argv) > 2 else 2.0, connections=64))
