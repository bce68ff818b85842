"""The load: keep-alive connections, each with one request under way, for some time or until there is nothing to ask."""

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import cast

import uvloop

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Load:
    """What a run saw: answers a second, latency percentiles in milliseconds, answers of another status.

    Attributes:
        busy: Share of its processor that the load took: near 1 the server may have waited for it.
    """

    per_second: float
    p50_ms: float
    p99_ms: float
    answers: int
    not_ok: int
    busy: float


class Connection(asyncio.Protocol):
    """One client: sends the next request as soon as the last answer is whole."""

    def __init__(self, run: "Run") -> None:
        self.run = run
        self.buffer = b""
        self.sent_at = 0.0
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.send()

    def send(self) -> None:
        request = next(self.run.requests, None)
        if request is not None:
            self.run.under_way += 1
            self.sent_at = time.perf_counter()
            self.transport.write(request)
        elif not self.run.under_way:
            self.run.finish()

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        head, gap, body = self.buffer.partition(b"\r\n\r\n")
        length = LENGTH.search(head) if gap else None
        if length is None or len(body) < int(length[1]):
            return
        self.buffer = b""
        self.run.note(time.perf_counter() - self.sent_at, ok=head.startswith(self.run.expected))
        if not self.run.over:
            self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.run.over and not self.run.done.done():
            self.run.done.set_exception(exc or ConnectionError("the server closed a keep-alive connection"))


class Run:
    """One measurement: ends after some time or with the last answer, or fails when a connection does."""

    def __init__(self, requests: Iterator[bytes], status: int) -> None:
        self.requests = requests
        self.expected = b"HTTP/1.1 %d" % status
        self.under_way = 0
        self.latencies: list[float] = []
        self.not_ok = 0
        self.over = False
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def note(self, seconds: float, *, ok: bool) -> None:
        self.under_way -= 1
        self.latencies.append(seconds)
        self.not_ok += not ok


async def _drive(
    host: str, port: int, requests: Iterator[bytes], status: int, connections: int, seconds: float
) -> Load:
    loop = asyncio.get_running_loop()
    run = Run(requests, status)
    started, started_cpu_s = time.perf_counter(), time.process_time()
    clients = [await loop.create_connection(lambda: Connection(run), host, port) for _ in range(connections)]
    loop.call_later(seconds, run.finish)
    await run.done
    run.over = True
    took, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu_s
    await asyncio.sleep(0.2)
    for transport, _ in clients:
        transport.close()
    assert run.latencies, "nothing was answered in the time"
    ranked = sorted(run.latencies)
    return Load(
        per_second=len(ranked) / took,
        p50_ms=ranked[len(ranked) // 2] * 1000,
        p99_ms=ranked[len(ranked) * 99 // 100] * 1000,
        answers=len(ranked),
        not_ok=run.not_ok,
        busy=cpu_s / took,
    )


def drive(host: str, port: int, request: bytes, *, connections: int, seconds: float, status: int = 200) -> Load:
    """Load a server with one request, again and again, and say what came back.

    Args:
        host: Where it listens.
        port: Where it listens.
        request: The bytes of one request.
        connections: Keep-alive connections, each with one request under way.
        seconds: How long.
        status: What every answer should be.
    """
    return uvloop.run(_drive(host, port, repeat(request), status, connections, seconds))


def drive_each(host: str, port: int, requests: Iterable[bytes], *, connections: int, seconds: float) -> Load:
    """As `drive`, with requests that may be sent once: until all are answered, but no longer than `seconds`."""
    return uvloop.run(_drive(host, port, iter(requests), 200, connections, seconds))
