"""10,000 events, a receiver that fails in every way it can, and a process that is killed again and again."""

import asyncio
import random
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from service.clock import SystemClock
from service.notify.messages import sign, signing_secret
from service.storage.database import open_database
from tests.notify.outbox_process import KEY, event
from tests.upstream.conftest import listening

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600), pytest.mark.process]

ROOT = Path(__file__).resolve().parents[2]
EVENTS = 10_000
KILLS = 8
PATIENCE_S = 300.0


class FlappingReceiver:
    """Takes six of ten requests, and remembers every one.

    Attributes:
        heard: Requests by id.
        taken: Those answered 2xx.
        bodies: The body of each id.
        url: Where it listens.
    """

    def __init__(self) -> None:
        self.heard: Counter[str] = Counter()
        self.taken: set[str] = set()
        self.bodies: dict[str, bytes] = {}
        self.url = ""
        self._chance = random.Random(8402)  # noqa: S311 - a replayable schedule, not a secret

    async def answer(self, request: web.Request) -> web.StreamResponse:
        event_id, body = request.headers["webhook-id"], await request.read()
        timestamp, user_id = int(request.headers["webhook-timestamp"]), int(event_id[4:]) % 16 + 1
        secret = signing_secret(KEY, user_id, self.url)
        assert request.headers["webhook-signature"] == sign(secret, event_id, timestamp, body)
        self.heard[event_id] += 1
        assert self.bodies.setdefault(event_id, body) == body, "a duplicate with the same id is the same message"
        way = self._chance.random()
        if way < 0.6:
            self.taken.add(event_id)
            return web.Response(status=204)
        if way < 0.7 and request.transport is not None:  # it has the message, and its answer is lost
            request.transport.abort()
        if way < 0.8:
            raise web.HTTPTemporaryRedirect("/inside")
        return web.Response(status=500, body=b"x" * 100_000)


@pytest.fixture
async def receiver() -> AsyncIterator[FlappingReceiver]:
    flapping = FlappingReceiver()
    app = web.Application()
    app.router.add_post("/hook", flapping.answer)
    async with listening(app) as url:
        flapping.url = f"{url}/hook"
        yield flapping


async def start(database: Path, url: str, first: int) -> Process:
    arguments = ("-m", "tests.notify.outbox_process", str(database), url, str(first), str(EVENTS))
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=PIPE, stderr=DEVNULL)


async def kill(process: Process) -> bytes:
    """Kill it; what it had written and nobody had read yet."""
    assert process.stdout is not None
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    return rest


@pytest.mark.promise("notify.survives-kills", "notify.delivery", "notify.outbox")
async def test_no_event_is_lost_and_duplicates_carry_the_same_id(tmp_path: Path, receiver: FlappingReceiver) -> None:
    path, chance, stored = tmp_path / "verdict.db", random.Random(1), 0  # noqa: S311 - a replayable schedule
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(KILLS):
            process = await start(path, receiver.url, stored)
            assert process.stdout is not None
            data = await process.stdout.readexactly(8 * chance.randrange(50, EVENTS // KILLS))
            already = len(receiver.taken)
            while len(receiver.taken) < already + chance.randrange(1, 300):  # noqa: ASYNC110 - any moment will do
                await asyncio.sleep(0.005)
            data += await kill(process)
            numbers = [number for (number,) in struct.iter_unpack("<Q", data[: len(data) // 8 * 8])]
            stored = max(stored, *(number + 1 for number in numbers))
        process = await start(path, receiver.url, stored)
        while len(receiver.taken) < EVENTS:  # noqa: ASYNC110 - it is the other process that works
            await asyncio.sleep(0.05)
        await kill(process)
    assert receiver.bodies == dict(event(number) for number in range(EVENTS))
    assert max(receiver.heard.values()) > 1
    async with open_database(path, SystemClock()) as database:
        assert await database.read("SELECT count(*) FROM alert_deliveries") == [(EVENTS,)]
        assert await database.read(
            "SELECT count(*) FROM alert_deliveries WHERE finished_ms IS NOT NULL AND error IS NOT NULL"
        ) == [(0,)]
        done = await database.read("SELECT id FROM alert_deliveries WHERE finished_ms IS NOT NULL")
    assert {event_id for (event_id,) in done} <= receiver.taken
