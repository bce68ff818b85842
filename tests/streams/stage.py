"""A hub with two streams, one of states and one of happenings, and what its lines say."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from service.clock import SECOND_MS
from service.streams.broker import StreamBroker
from service.streams.state import StreamKind, StreamState, SubscriptionOptions
from service.streams.subscriber import StreamSubscriber
from service.wire.cursor import Cursors
from service.wire.streams import StreamName
from tests.fakes.clock import START_MS, FakeClock

_object = msgspec.json.Decoder(dict[str, Any])

ALL = SubscriptionOptions(interval_s=10, diff=False, max=0)


def differing(old: bytes, new: bytes) -> bytes | None:
    """Members of an object that are new or another."""
    before, after = _object.decode(old), _object.decode(new)
    told = {name: value for name, value in after.items() if before.get(name) != value}
    return msgspec.json.encode(told) if told else None


def state(seq: int, data: object = None) -> StreamState:
    """A state of its own, five seconds after the one before, of data two seconds old."""
    at_ms = START_MS + seq * 5 * SECOND_MS
    return StreamState(seq, at_ms, at_ms - 2 * SECOND_MS, msgspec.json.encode({"n": seq} if data is None else data))


def states(first: int, last: int) -> list[StreamState]:
    return [state(seq) for seq in range(first, last + 1)]


class Stage:
    """A hub, its clock, and whether its upstream feeds."""

    def __init__(self, kept: int = 360) -> None:
        self.clock = FakeClock()
        self.cursors = Cursors(b"k" * 32)
        self.live = True
        shapes = (
            StreamKind("prices", snapshot=True, changes=differing),
            StreamKind("alerts", snapshot=False, changes=differing),
        )
        self.hub = StreamBroker(self.clock, self.cursors, shapes, lambda: self.live, kept)

    def join(
        self, stream: StreamName = "prices", terms: SubscriptionOptions = ALL, cursor: str | None = None
    ) -> StreamSubscriber:
        return self.hub.join(stream, terms, cursor, "live")

    def cursor(self, seq: int, flag: int = 0, stream: str = "prices") -> str:
        return self.cursors.write("watch", {"stream": stream}, (seq, flag))

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """The hub looks at the time."""
        watch = asyncio.create_task(self.hub.watch())
        await self.clock.settle()
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


def read(reader: StreamSubscriber) -> list[dict[str, Any]]:
    """Everything that waits, line by line."""
    return told(everything(reader))


def everything(reader: StreamSubscriber) -> bytes:
    pieces = []
    while piece := reader.take():
        pieces.append(piece)
    return b"".join(pieces)


def told(lines: bytes) -> list[dict[str, Any]]:
    assert not lines or lines.endswith(b"\n")
    return [msgspec.json.decode(line) for line in lines.splitlines()]


def types(lines: list[dict[str, Any]]) -> list[str]:
    return [line["type"] for line in lines]


def ticks(lines: list[dict[str, Any]]) -> list[int]:
    return [line["meta"]["tick"] for line in lines if line["type"] == "event"]


def events(lines: list[dict[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Tick and data of each event."""
    return [(line["meta"]["tick"], line["data"]) for line in lines if line["type"] == "event"]


async def arrives(reader: StreamSubscriber) -> list[dict[str, Any]]:
    """Wait for something, and read it."""
    await asyncio.wait_for(reader.wait(), 20)
    return read(reader)
