"""The whole service in this process: a clock moved by hand, a venue that fails on demand, everything else as it is."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from service.access.room import open_registrar
from service.access.secrets import open_secrets
from service.settings import Settings
from service.storage.database import open_database
from service.upstream.replay.server import Replay, replay_server
from service.wire.access import Tier
from service.wiring import build as wiring
from service.wiring import venues
from tests.fakes.asgi import Reply, ask
from tests.fakes.clock import FakeClock
from tests.upstream.faults import Faults

RISK = "/api/cli/coin/risk/BTC"
PATIENCE_S = 30.0
UNBOUNDED = 1_000_000_000


class Indoors:
    """A running service.

    Attributes:
        clock: All of its time.
        faults: Stands before the venue: `faults.next = hang`; counts its requests.
    """

    def __init__(self, service: wiring.Service, settings: Settings, clock: FakeClock, faults: Faults) -> None:
        self.service = service
        self.clock = clock
        self.faults = faults
        self._settings = settings

    async def ask(self, target: str = RISK, method: str = "GET", *, key: str | None = None) -> Reply:
        return await ask(self.service.app, target, method, key=key)

    async def make_key(self, tier: Tier = "free") -> str:
        """Make a key as the operator does: on the data folder, beside the running service."""
        async with open_database(self._settings.data_dir / "verdict.db", self.clock) as database:
            registrar = open_registrar(self._settings, open_secrets(self._settings.data_dir), database, self.clock)
            return (await registrar.create_key("test", tier=tier)).key

    async def be_ready(self) -> None:
        await until(lambda: self.service.health.ready)

    async def pass_time(self, seconds: float, step_s: float = 30.0) -> None:
        """Let time pass in steps; the venue is asked, and has answered or failed, in each."""
        for _ in range(max(1, round(seconds / step_s))):
            await self.clock.advance(min(step_s, seconds))
            await self.settle()

    async def settle(self) -> None:
        """Let what is under way over sockets and threads come to its end."""
        for _ in range(40):
            await asyncio.sleep(0.001)


@asynccontextmanager
async def indoors(
    data_dir: Path, clock: FakeClock, faults: Faults | None = None, **settings: Any
) -> AsyncIterator[Indoors]:
    """Build the service around a replay whose interceptor is ours from the first request on."""
    before = faults or Faults()

    @asynccontextmanager
    async def intercepted(*arguments: Any) -> AsyncIterator[Replay]:
        async with replay_server(*arguments) as replay:
            replay.interceptor = before
            yield replay

    chosen: dict[str, Any] = {"source": "fixtures", "rate_per_minute": UNBOUNDED, "rate_burst": UNBOUNDED, **settings}
    own = Settings(data_dir=data_dir, **chosen)
    with patch.object(venues, "replay_server", intercepted):
        async with wiring.build(own, clock) as service:
            yield Indoors(service, own, clock, before)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for is of many kinds
            await asyncio.sleep(0.002)
