"""A venue that answers `{"ok":true}` until a fault is put in its place."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import FakeClock
from tests.upstream.faults import Faults

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "upstream"
DATE = "Fri, 25 Jul 2025 12:00:01 GMT"


class Ok(msgspec.Struct, frozen=True):
    ok: bool


OK = msgspec.json.Decoder(Ok)


class Venue(msgspec.Struct):
    url: str
    faults: Faults
    clock: FakeClock

    @asynccontextmanager
    async def session(
        self, *, weight_per_minute: int = 1_200, deadline_s: float = 20
    ) -> AsyncIterator[UpstreamSession]:
        async with open_session(
            "hyperliquid", self.url, self.clock, weight_per_minute=weight_per_minute, deadline_s=deadline_s
        ) as session:
            yield session


@asynccontextmanager
async def listening(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield "http://{}:{}".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()


@pytest.fixture
async def skip_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the event loop's own clock ahead: a deadline passes when a test says so, not when the machine is slow."""
    loop, skipped = asyncio.get_running_loop(), [0.0]
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + sum(skipped))
    return skipped.append


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def venue(clock: FakeClock) -> AsyncIterator[Venue]:
    faults = Faults()

    async def info(request: web.Request) -> web.StreamResponse:
        return await faults(request) or web.Response(body=b'{"ok":true}', headers={"Date": DATE})

    app = web.Application()
    app.router.add_post("/info", info)
    async with listening(app) as url:
        yield Venue(url, faults, clock)
