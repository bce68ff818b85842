"""Connections that drip, say nothing or read nothing cost the others nothing, and leave nothing behind."""

import asyncio
import resource
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.fakes.calls import read_answer, request
from tests.fakes.serving import Serving, serving, wait_until
from tests.service.attack import RISK, UNBOUNDED

pytestmark = pytest.mark.process

EACH = 50
CALLS = 1_000
CALLERS = 20
PATIENCE_S = 60.0
DRIP_S = 0.05

Slow = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[object, object, None]]


@pytest.fixture(autouse=True)
def _many_connections() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("data"), **UNBOUNDED) as running:
        yield running


def descriptors(service: Serving) -> int:
    return len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))


async def drip_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
    await drip(reader, writer)


async def drip_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: 60000\r\n\r\n")
    await drip(reader, writer)


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while not reader.at_eof():
        writer.write(b"a")
        await asyncio.sleep(DRIP_S)


async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def read_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for _ in range(99):
        writer.write(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n")
    with suppress(ConnectionError):
        await asyncio.wait_for(writer.wait_closed(), PATIENCE_S)


class Crowd:
    """Slow connections; one that the service gives up is opened again, so that all are there all the time."""

    def __init__(self) -> None:
        self.opened = 0

    async def join(self, port: int, behave: Slow) -> None:
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            self.opened += 1
            try:
                with suppress(ConnectionError):
                    await behave(reader, writer)
            finally:
                writer.transport.abort()


@asynccontextmanager
async def crowded(port: int, *kinds: Slow) -> AsyncIterator[None]:
    crowd = Crowd()
    tasks = [asyncio.create_task(crowd.join(port, kind)) for kind in kinds for _ in range(EACH)]
    try:
        async with asyncio.timeout(PATIENCE_S):
            while crowd.opened < len(tasks):  # noqa: ASYNC110 - a count, not an event
                await asyncio.sleep(DRIP_S)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def call(port: int, key: str, calls: int) -> Counter[int]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    statuses: Counter[int] = Counter()
    for _ in range(calls):
        writer.write(request(RISK, key))
        statuses[await read_answer(reader)] += 1
    writer.close()
    await writer.wait_closed()
    return statuses


async def call_among(port: int, key: str, *kinds: Slow) -> Counter[int]:
    async with asyncio.timeout(PATIENCE_S), crowded(port, *kinds):
        each = await asyncio.gather(*(call(port, key, CALLS // CALLERS) for _ in range(CALLERS)))
        return sum(each, Counter[int]())


@pytest.mark.promise("errors.head-10s", "errors.body-15s")
@pytest.mark.parametrize(
    "kinds",
    [(drip_head, say_nothing), (drip_body, say_nothing), (read_nothing,)],
    ids=["50 dripping heads and 50 silent", "50 dripping bodies and 50 silent", "50 that read nothing"],
)
def test_a_thousand_calls_are_all_answered_among(service: Serving, kinds: tuple[Slow, ...]) -> None:
    key = service.make_key("--tier", "pro")
    assert service.ask(RISK, key)[0] == 200
    before = descriptors(service)
    assert asyncio.run(call_among(service.port, key, *kinds)) == {200: CALLS}
    wait_until(lambda: descriptors(service) <= before)
    assert service.ask("/readyz")[0] == 200
    assert [record for record in service.records if record["level"] in {"warning", "error"}] == []


@pytest.mark.soak
@pytest.mark.wall
@pytest.mark.parametrize(("behave", "word"), [(say_nothing, b""), (drip_head, b" 408 "), (drip_body, b" 408 ")])
async def test_whoever_is_too_slow_is_shown_the_door(service: Serving, behave: Slow, word: bytes) -> None:
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        slow = asyncio.create_task(behave(reader, writer))
        said = b"" if behave is say_nothing else await reader.read()
        await slow
        assert word in said
        writer.close()
