"""The first venue's loops, one step at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import msgspec

from service.market.ingest.jobs import IngestJobs
from service.upstream.websocket import Frame, UpstreamSocket
from tests.fakes.clock import FakeClock
from tests.market.parts import Parts, until
from tests.market.venue import context


class Pushing:
    """A socket that pushes one frame whenever somebody begins to listen, and then nothing for ever."""

    def __init__(self, clock: FakeClock) -> None:
        self.pushed = 0
        self._clock = clock

    async def listen(self, on_frame: Callable[[Frame], None]) -> None:
        data = msgspec.Raw(msgspec.json.encode({"ctxs": [["", [context("1.02")]]]}))
        on_frame(Frame("allDexsAssetCtxs", data, self._clock.now_ms()))
        self.pushed += 1
        await asyncio.Event().wait()


async def listen_until_pushed(socket: Pushing, listen: Callable[[], Awaitable[None]]) -> asyncio.Future[None]:
    before, listening = socket.pushed, asyncio.ensure_future(listen())
    await until(lambda: socket.pushed > before)
    return listening


async def end(listening: asyncio.Future[None]) -> None:
    listening.cancel()
    await asyncio.wait((listening,))


async def test_what_was_pushed_before_the_lead_was_lost_is_not_told_once_it_is_back(parts: Parts) -> None:
    """Another process has led meanwhile, and told newer prices."""
    parts.venue.contexts = {"BTC": context("1.0")}
    live, socket = (
        IngestJobs(parts.clock, parts.store, parts.source, parts.fallback, parts.told, parts.report),
        Pushing(parts.clock),
    )
    steps = {loop.name: loop.step for loop in live.tasks(cast("UpstreamSocket", socket))}
    await steps["quotes"]()
    listening = await listen_until_pushed(socket, steps["socket"])
    await steps["feed"]()
    assert live.service.view()["BTC"].price == 1.02
    await end(listening)
    await end(await listen_until_pushed(socket, steps["socket"]))
    await parts.clock.advance(60)
    await parts.quotes.round()
    await steps["follow"]()
    await steps["feed"]()
    assert live.service.view()["BTC"].price == 1.0
