"""Lines to many readers: how many arrive in a second, how late, and what a reader costs.

Beside a plain Starlette `StreamingResponse` with a queue for each reader. Every reader counts what it gets: a run is
over only when each has had every event.
"""

import gc
import json
import os
import re
import select
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.asked import at_least, below, short
from bench.serving import HOST, LOAD_CPU, serving, spread

RATIO, LAG_MS, READER_KB, BLOCK_MS = 10.0, 2.0, 20.0, 50.0
"""What issue 7 asks for: delivered lines beside the other, lag p99, memory of a reader, the loop's longest block."""

NAMES = {"ours": "verdict", "plain": "Starlette, a queue a reader"}
FLOODS = {"ours": 20_000, "plain": 1_500}
"""Events of a flood: both take some seconds."""

READERS, RATE = 100, 1_000
CROWD, CROWD_RATE = 1_000, 10
PATIENCE_S = 120

_TICK = b'"tick":'
_MADE = re.compile(rb'"data":(\d+),')
_PIECE = 256 * 1_024
_END = b"0\r\n\r\n"


class Reader:
    """A reader, who counts events."""

    def __init__(self, port: int, events: int) -> None:
        self.connection = socket.create_connection((HOST, port))
        self.connection.sendall(get(f"/follow/{events}"))
        self.events = 0
        self.tail = b""

    def count(self, data: bytes) -> None:
        data = self.tail + data
        self.events += data.count(_TICK)
        self.tail = data[1 - len(_TICK) :]


class Audience:
    """Readers of so many events each. They wait for nothing but their connections: they are not what is measured."""

    def __init__(self, port: int, readers: int, events: int) -> None:
        self.port = port
        self.events = events
        self.lags_ms: list[float] = []
        self.readers = [Reader(port, events) for _ in range(readers)]
        while ask(port, "/size")["readers"] < readers:
            time.sleep(0.01)

    def publish(self, how: str, *, timed: bool = False) -> dict[str, float]:
        """Have events published, and read until every reader has had all of them; what the server says of it.

        Where time is kept, events are counted afterwards, so that nobody waits for that; nor for the garbage collector
        of this process, which by what is kept comes often and stays long: readers were late by up to 30 ms for it.
        """
        came: list[tuple[int, Reader, bytes]] = []
        began_s = time.monotonic()
        with socket.create_connection((HOST, self.port)) as control, uncollected():
            control.sendall(get(how))
            for at_ns, reader, data in self._read():
                if timed:
                    came.append((at_ns, reader, data))
                else:
                    reader.count(data)
            seconds = time.monotonic() - began_s
            seen = answer(control)
        for at_ns, reader, data in came:
            self.lags_ms += [at_ns / 1e6 - int(made) / 1e3 for made in _MADE.findall(data)]
            reader.count(data)
        assert {reader.events for reader in self.readers} == {self.events}, "a reader did not get every event"
        return seen | {"per_second": len(self.readers) * self.events / seconds}

    def _read(self) -> Iterator[tuple[int, Reader, bytes]]:
        """What comes and when, until the last line has come to each."""
        waiting = {reader.connection.fileno(): reader for reader in self.readers}
        with select.epoll() as poll:
            for number in waiting:
                poll.register(number, select.EPOLLIN)
            while waiting:
                ready = poll.poll(PATIENCE_S)
                assert ready, "a reader waits for the end in vain"
                for number, _ in ready:
                    data = waiting[number].connection.recv(_PIECE)
                    yield time.monotonic_ns(), waiting[number], data
                    if data.endswith(_END):
                        poll.unregister(number)
                        del waiting[number]

    def leave(self) -> None:
        for reader in self.readers:
            reader.connection.close()


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing is looked through for garbage meanwhile."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()


def answer(connection: socket.socket) -> dict[str, float]:
    told = b""
    while piece := connection.recv(_PIECE):
        told += piece
    return dict(json.loads(told.partition(b"\r\n\r\n")[2]))


def ask(port: int, path: str) -> dict[str, float]:
    with socket.create_connection((HOST, port)) as connection:
        connection.sendall(get(path))
        return answer(connection)


@dataclass(frozen=True)
class Seen:
    """Of one server in one round: lines a second in a flood, lag p50 and p99 at a pace, memory and block of a crowd."""

    per_second: float
    p50_ms: float
    p99_ms: float
    reader_kb: float
    block_ms: float


def look(name: str, port: int, seconds: float) -> Seen:
    """Flood, pace and crowd, one after the other."""
    flooded = Audience(port, READERS, FLOODS[name])
    flood = flooded.publish(f"/flood/{flooded.events}")
    flooded.leave()

    paced = Audience(port, READERS, int(RATE * seconds))
    paced.publish(f"/pace/{paced.events}/{RATE}", timed=True)
    paced.leave()
    lags_ms = statistics.quantiles(paced.lags_ms, n=100)

    before = ask(port, "/size")["resident"]
    crowd = Audience(port, CROWD, max(1, int(CROWD_RATE * seconds)))
    after = ask(port, "/size")["resident"]
    told = crowd.publish(f"/pace/{crowd.events}/{CROWD_RATE}")
    crowd.leave()
    reader_kb = (after - before) / CROWD / 1_024
    return Seen(flood["per_second"], lags_ms[49], lags_ms[98], reader_kb, told["longest_block_ms"])


def measure(rounds: int, seconds: float) -> dict[str, list[Seen]]:
    """Interleave, each on a server of its own, the first round thrown away as warm-up."""
    seen: dict[str, list[Seen]] = {name: [] for name in NAMES}
    for number in range(rounds + 1):
        for name, looks in seen.items():
            with serving(["-m", "bench.broadcast", name], {}) as server:
                looks.append(look(name, server.port, seconds))
        if not number:
            seen = {name: [] for name in NAMES}
    return seen


def table(seen: dict[str, list[Seen]]) -> str:
    rows = [
        "| server | lines delivered a second | ratio | lag p50 ms | lag p99 ms | KB a reader | longest block ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, looks in seen.items():
        ratios = [mine.per_second / plain.per_second for mine, plain in zip(looks, seen["plain"], strict=True)]
        rows.append(
            f"| {NAMES[name]} | {spread([each.per_second for each in looks], 0)} | {spread(ratios, 1)} "
            f"| {spread([each.p50_ms for each in looks], 2)} | {spread([each.p99_ms for each in looks], 2)} "
            f"| {spread([each.reader_kb for each in looks], 1)} | {spread([each.block_ms for each in looks], 1)} |"
        )
    rows.append(f"| asked for | | ≥ {RATIO:g} | | < {LAG_MS:g} | < {READER_KB:g} | < {BLOCK_MS:g} |")
    return "\n".join(rows)


def shortfalls(seen: dict[str, list[Seen]]) -> str:
    """What ours falls short of."""
    ours = seen["ours"]
    times = [mine.per_second / plain.per_second for mine, plain in zip(ours, seen["plain"], strict=True)]
    return short(
        at_least("times the other", times, RATIO),
        below("lag p99, ms", [each.p99_ms for each in ours], LAG_MS),
        below("KB a reader", [each.reader_kb for each in ours], READER_KB),
        below("longest block, ms", [each.block_ms for each in ours], BLOCK_MS),
    )


def report(rounds: int, seconds: float) -> str:
    """The section of BENCHMARKS.md."""
    seen = measure(rounds, seconds)
    return f"""## Live streams

Lines of some 215 bytes, made once each on both sides, delivered to readers on the other processor that count them:
each has every line, or there is no figure. Delivered a second: to {READERS} readers, published as fast as the slowest
takes them. Lag, from the making of a line to its reader: {RATE:,} lines a second to {READERS} readers. Memory and the
loop's longest block: {CROWD:,} readers, {CROWD_RATE} lines a second. Starlette: `StreamingResponse` over a queue for
each reader, on uvicorn with uvloop and httptools, as ours is. Ours: the way from the hub to the socket as the service
has it, without who asks and what it costs. Rounds: {rounds}, after one of warm-up, each on servers of its own.

{table(seen)}

{shortfalls(seen)}
"""


if __name__ == "__main__":
    os.sched_setaffinity(0, {LOAD_CPU})
    print(report(1, 2.0))
