"""Two servers that tell many readers the same lines: the service's hub and stream, and a plain Starlette broadcast.

Both run on uvicorn with uvloop and httptools and make the same lines of some 215 bytes, each once. Over HTTP they are
told what to do: `/follow/N` reads N events; `/flood/N` publishes N, as fast as the slowest reader takes them;
`/pace/N/RATE` so many a second. Both answer once all was taken, with what was seen meanwhile; `/size` is what is held.
"""

import asyncio
import gc
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from bench.serving import HOST
from service.access.caller import Caller
from service.access.stream_expiry import StreamExpiry
from service.clock import SystemClock
from service.http.protocol import VerdictProtocol
from service.http.request import RequestContext
from service.http.streaming import StreamEndpoint
from service.routes.call import Call, StreamRoute
from service.streams import lines
from service.streams.broker import StreamBroker
from service.streams.state import StreamKind, StreamState, SubscriptionOptions
from service.streams.subscriber import StreamSubscriber
from service.wire.cursor import Cursors

WINDOW: Final = 256
"""Lines that the slowest reader may lag in a flood: fewer than the hub keeps, so that no line is ever lost."""

BATCH: Final = 32
"""Lines that a flood publishes before it lets the loop turn."""

_LOOK_S: Final = 0.001


class Broadcast(ABC):
    """What is measured of a server: how it publishes, and how far its slowest reader is behind."""

    http: type[asyncio.Protocol] | str = "httptools"

    def __init__(self) -> None:
        self.clock = SystemClock()
        self.cursors = Cursors(b"k" * 32)
        self._numbers = count(1)

    def state(self) -> StreamState:
        """The next one; it says when it was made, in microseconds of the machine's own clock."""
        now_ms = self.clock.now_ms()
        return StreamState(next(self._numbers), now_ms, now_ms, b"%d" % (time.monotonic_ns() // 1_000))

    @abstractmethod
    def follow(self, events: int) -> ASGIApp: ...

    @abstractmethod
    def publish(self, batch: int) -> None: ...

    @abstractmethod
    def lag(self) -> int: ...

    @abstractmethod
    def readers(self) -> int: ...


class Connection(VerdictProtocol):
    """A connection as uvicorn makes it: with the state of its application, which is left out."""

    def __init__(self, config: uvicorn.Config, server_state: ServerState, **_: Any) -> None:
        super().__init__(config, server_state)


class Ours(Broadcast):
    """The service's own way from the hub to the socket; only who asks, and what it costs, is left out."""

    http = Connection

    def __init__(self) -> None:
        super().__init__()
        shape = StreamKind("alerts", snapshot=False, changes=lambda _, new: new)
        self._hub = StreamBroker(self.clock, self.cursors, [shape], lambda: True)
        self._stream_expiry = StreamExpiry(self.clock, lambda _: True)
        self._newest = 0
        self._open: set[StreamSubscriber] = set()

    @cache  # noqa: B019 - there is one of this, for as long as the process runs
    def follow(self, events: int) -> ASGIApp:
        stream = StreamEndpoint(
            StreamRoute(lambda _: None, partial(self._join, events)), self._stream_expiry, "fixtures"
        )

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            request = scope["verdict"] = RequestContext(scope)
            request.connect(receive, send)
            request.caller = Caller(1, "api_key", 1)
            await stream(scope, receive, request.send)

        return app

    def _join(self, events: int, _: Call[object, object]) -> StreamSubscriber:
        reader = self._hub.join("alerts", SubscriptionOptions(10, diff=False, max=events), None, "fixtures")
        self._open.add(reader)
        return reader

    def publish(self, batch: int) -> None:
        states = [self.state() for _ in range(batch)]
        self._newest = states[-1].seq
        self._hub.show("alerts", states)

    def lag(self) -> int:
        places = [reader._place for reader in self._open if not reader.ended]  # noqa: SLF001 - nobody else asks
        return max((self._newest - place.through for place in places if place), default=0)

    def readers(self) -> int:
        self._open = {reader for reader in self._open if not reader.ended}
        return len(self._open)


class Plain(Broadcast):
    """What is usually written: a queue for each reader, and a generator that hands on what is put into it."""

    def __init__(self) -> None:
        super().__init__()
        self._queues: set[asyncio.Queue[bytes]] = set()

    def follow(self, events: int) -> ASGIApp:
        return StreamingResponse(self._events(events), media_type="application/x-ndjson")

    async def _events(self, events: int) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._queues.add(queue)
        try:
            for _ in range(events):
                yield await queue.get()
        finally:
            self._queues.discard(queue)

    def publish(self, batch: int) -> None:
        for _ in range(batch):
            state = self.state()
            cursor = self.cursors.write("watch", {"stream": "alerts"}, (state.seq, 0))
            line = lines.event("alerts", state, state.data, cursor)
            for queue in self._queues:
                queue.put_nowait(line)

    def lag(self) -> int:
        return max((queue.qsize() for queue in self._queues), default=0)

    def readers(self) -> int:
        return len(self._queues)


async def flood(told: Broadcast, events: int) -> None:
    """Publish as fast as the slowest reader takes it."""
    for _ in range(0, events, BATCH):
        while told.lag() > WINDOW - BATCH:  # noqa: ASYNC110 - neither side has an event for it
            await asyncio.sleep(0)
        told.publish(BATCH)


async def pace(told: Broadcast, events: int, rate: int) -> None:
    """Publish evenly."""
    began_s = time.monotonic()
    for number in range(events):
        wait_s = began_s + number / rate - time.monotonic()
        if wait_s > 0:
            await asyncio.sleep(max(_LOOK_S, wait_s))  # for less, uvloop does not sleep: it would only turn
        told.publish(1)


class Blocks:
    """Somebody else on the loop, who wants to run once in a millisecond: how late he is at the most."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._task = asyncio.create_task(self._look())

    def end(self) -> float:
        self._task.cancel()
        return self.longest_s * 1e3

    async def _look(self) -> None:
        while True:
            left_s = time.monotonic()
            await asyncio.sleep(_LOOK_S)
            self.longest_s = max(self.longest_s, time.monotonic() - left_s - _LOOK_S)


def routes(told: Broadcast) -> ASGIApp:
    """The server of one contender."""

    async def publish(request: Request) -> JSONResponse:
        wanted = request.path_params
        gc.collect()
        gc.freeze()
        cpu_s, blocks = time.process_time(), None
        if "rate" in wanted:
            blocks = Blocks()
            await pace(told, wanted["events"], wanted["rate"])
        else:
            await flood(told, wanted["events"])
        while told.lag():  # noqa: ASYNC110 - the same
            await asyncio.sleep(_LOOK_S)
        cpu_s = time.process_time() - cpu_s
        return JSONResponse({"cpu_s": cpu_s, "longest_block_ms": blocks.end() if blocks else None})

    async def size(_: Request) -> JSONResponse:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])  # noqa: ASYNC240 - no disk is behind it
        return JSONResponse({"readers": told.readers(), "resident": pages * os.sysconf("SC_PAGE_SIZE")})

    others = Starlette(
        routes=[
            Route("/flood/{events:int}", publish),
            Route("/pace/{events:int}/{rate:int}", publish),
            Route("/size", size),
        ]
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        kind, _, events = scope["path"].rpartition("/")
        await (told.follow(int(events)) if kind == "/follow" else others)(scope, receive, send)

    return app


CONTENDERS: Final = {"ours": Ours, "plain": Plain}


async def serve(name: str) -> None:
    """Serve until the process is told to end."""
    told = CONTENDERS[name]()
    config = uvicorn.Config(
        routes(told), host=HOST, port=0, http=told.http, ws="none", lifespan="off",
        access_log=False, proxy_headers=False, log_level="info", backlog=2_048,
    )  # fmt: skip
    await uvicorn.Server(config).serve()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(sys.argv[1]))
