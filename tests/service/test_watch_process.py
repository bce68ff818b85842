"""Streams of processes: killed, stopped, revoked, in great number; nothing is lost in silence."""

import asyncio
import json
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.access.admin import AccessAdmin
from service.access.factory import open_admin
from service.access.secrets import open_secrets
from service.clock import SystemClock
from service.settings import Settings
from service.storage.database import open_database
from tests.fakes.calls import request
from tests.fakes.serving import PATIENCE_S, Serving, ended, wait_until
from tests.service.attack import UNBOUNDED
from tests.service.watching import Line, Reader, cursor_of, path_of, reading, ticks

pytestmark = pytest.mark.process

SEATS = 3
OPEN = 50
MANY = 1_000
EVENTS = 10


class Brisk(Serving):
    """A service whose streams tell something every fifth of a second."""

    MODULE = "tests.service.brisk"


def start(stack: ExitStack, data_dir: Path) -> Brisk:
    service = Brisk(data_dir=str(data_dir), **UNBOUNDED)
    stack.enter_context(ended(service))
    service.wait_for("ready")
    return service


def read_to_the_break(stream: Reader) -> list[Line]:
    """What was still on its way; that it is cut off must be seen, for nobody may take it for whole."""
    lines: list[Line] = []
    try:
        while (line := stream.next()) is not None:
            lines.append(line)
    except ConnectionError:
        return lines
    raise AssertionError("the stream seems to have ended")


@pytest.mark.promise("watch.close")
def test_told_to_stop_it_closes_its_streams_and_ends(tmp_path: Path) -> None:
    with ExitStack() as stack:
        service = start(stack, tmp_path)
        key = service.make_key("--tier", "pro")
        streams = [stack.enter_context(reading(service, key, name)) for name in ("prices", "funding", "alerts")]
        for stream in streams:
            assert stream.next()["type"] == "open"  # type: ignore[index]
        service.process.terminate()
        for stream in streams:
            last = stream.rest()[-1]
            assert (last["type"], last["reason"]) == ("close", "shutdown")
        assert service.process.wait(PATIENCE_S) == 0
        assert [record for record in service.records if record["level"] == "error"] == []


@pytest.mark.soak
@pytest.mark.parametrize("events", [1, 3, 5])
def test_a_killed_process_breaks_a_stream_off_and_another_goes_on_with_it(tmp_path: Path, events: int) -> None:
    with ExitStack() as stack:
        leader, next_one = start(stack, tmp_path), start(stack, tmp_path)
        key = next_one.make_key("--tier", "pro")
        stream = stack.enter_context(reading(leader, key, "prices", interval=10))
        told = stream.events(events)
        leader.process.kill()
        told += [line for line in read_to_the_break(stream) if line["type"] == "event"]
        again = stack.enter_context(reading(next_one, key, "prices", interval=10, cursor=cursor_of(told[-1])))
        told += again.events(events + 1)
        _, *after = ticks(told)
        assert after == list(range(after[0], after[0] + 2 * len(after), 2))


# In great number.


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Brisk]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    with ExitStack() as stack:
        yield start(stack, tmp_path)


@asynccontextmanager
async def registering(service: Serving) -> AsyncIterator[AccessAdmin]:
    """What the operator's commands do, without a process for each."""
    settings, clock = Settings(data_dir=Path(service.settings["data_dir"])), SystemClock()
    async with open_database(settings.data_dir / "verdict.db", clock) as database:
        yield open_admin(settings, open_secrets(settings.data_dir), database, clock)


async def make_keys(service: Serving, count: int) -> list[str]:
    """Keys of so many users without a limit."""
    async with registering(service) as admin:
        return [(await admin.create_key("test", tier="pro")).key for _ in range(count)]


async def revoke_keys(service: Serving, keys: list[str]) -> None:
    async with registering(service) as admin:
        for key in keys:
            await admin.revoke_key(key[:19])


def descriptors(service: Serving) -> int:
    return len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))


class Crowd:
    """Readers of one stream, in one loop.

    Attributes:
        lines: What each has read so far.
    """

    def __init__(self, port: int, keys: list[str], count: int) -> None:
        self.lines: list[list[Any]] = [[] for _ in range(count)]
        self._port = port
        self._keys = keys
        self._readers: list[asyncio.StreamReader] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> None:
        """Open all streams."""
        self._readers = [await self._open(number) for number in range(len(self.lines))]

    async def read(self, events: int) -> None:
        """Read until each has so many events, or has ended."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(self._read(number, reader, events) for number, reader in enumerate(self._readers)))

    async def _open(self, number: int) -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(request(path_of("prices", interval=10), self._keys[number // SEATS]))
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        self._writers.append(writer)
        return reader

    async def _read(self, number: int, reader: asyncio.StreamReader, events: int) -> None:
        lines = self.lines[number]
        while sum(line["type"] == "event" for line in lines) < events:
            size = int(await reader.readline(), 16)
            if not size:
                return
            lines += map(json.loads, (await reader.readexactly(size + 2))[:-2].splitlines())

    async def leave(self) -> None:
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)


@asynccontextmanager
async def crowded(service: Serving, keys: list[str], count: int) -> AsyncIterator[Crowd]:
    """So many open streams, three with each key."""
    crowd = Crowd(service.port, keys, count)
    try:
        await crowd.open()
        yield crowd
    finally:
        await crowd.leave()


@pytest.mark.soak
@pytest.mark.promise("revocation.streams")
async def test_revoking_with_fifty_streams_open_closes_all_of_them(service: Brisk) -> None:
    keys = await make_keys(service, -(-OPEN // SEATS))
    async with crowded(service, keys, OPEN) as crowd:
        await crowd.read(1)
        await revoke_keys(service, keys)
        await crowd.read(MANY)
        for each in crowd.lines:
            assert [line["type"] for line in each[-2:]] == ["error", "close"]
            assert each[-1]["reason"] == "revoked"


@pytest.mark.soak
async def test_a_thousand_streams_opened_and_closed_leave_no_descriptor(service: Brisk) -> None:
    keys = await make_keys(service, OPEN)
    before = descriptors(service)
    for _ in range(-(-MANY // (OPEN * SEATS))):
        async with crowded(service, keys, OPEN * SEATS) as crowd:
            await crowd.read(1)
        await asyncio.to_thread(wait_until, lambda: descriptors(service) <= before)
    assert service.ask("/readyz")[0] == 200
    assert [record for record in service.records if record["level"] == "error"] == []


@pytest.mark.soak
async def test_a_thousand_readers_get_every_event(service: Brisk) -> None:
    keys = await make_keys(service, -(-MANY // SEATS))
    async with crowded(service, keys, MANY) as crowd:
        await crowd.read(EVENTS)
    for each in crowd.lines:
        told = ticks(each)[1:]
        assert told == list(range(told[0], told[0] + 2 * len(told), 2))
