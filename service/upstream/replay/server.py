"""The replay server on its loopback port."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

from aiohttp import web

from service.clock import DAY_MS, Clock, day_of
from service.upstream.http_date import http_date
from service.upstream.replay.answers import Venue
from service.upstream.replay.feed import Feed
from service.upstream.replay.recording import Recording, load_recording

Mode = Literal["shifted", "frozen"]
Interceptor = Callable[[web.Request], Awaitable[web.StreamResponse | None]]

WEIGHT_PER_MINUTE: Final = 1_200_000
"""The replay's own published budget: nobody else shares it, so a first start need not take the venue's two minutes."""

_STOP_S: Final = 1.0
_LARGEST_REQUEST: Final = 65_536


class Replay:
    """A running replay.

    Attributes:
        url: Where it listens (`http://127.0.0.1:41234`); `/info` and `/ws` below it.
        interceptor: Called before the venue; what it returns is answered in the venue's place. Null but in tests.
    """

    def __init__(self, recording: Recording, clock: Clock, mode: Mode) -> None:
        self.url = ""
        self.interceptor: Interceptor | None = None
        self._recording = recording
        self._clock = clock
        self._mode = mode
        self._venue = Venue(recording)
        self._feeds: set[Feed] = set()

    @property
    def shift_days(self) -> int:
        """Whole days added to recorded time at this moment."""
        if self._mode == "frozen":
            return 0
        return day_of(self._clock.now_ms()) - day_of(self._recording.frozen_at_ms)

    @property
    def origin(self) -> str:
        """Names the fixture set and the shift; data of two origins must not be mixed."""
        return f"fixtures:{self._recording.identity}:{self._mode}:{self.shift_days:+d}d"

    def now(self) -> tuple[int, int]:
        """The instant in recorded time, never past the recording's end, and the shift; milliseconds both."""
        shift_ms = self.shift_days * DAY_MS
        return min(self._clock.now_ms() - shift_ms, self._recording.frozen_at_ms), shift_ms

    async def info(self, request: web.Request) -> web.StreamResponse:
        """`POST /info`."""
        intercepted = await self._intercept(request)
        if intercepted is not None:
            return intercepted
        reply = self._venue.reply(await request.read(), *self.now())
        headers = {"Date": http_date(self._clock.now_ms()), "Content-Type": reply.content_type}
        return web.Response(status=reply.status, body=reply.body, headers=headers)

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """`GET /ws`."""
        intercepted = await self._intercept(request)
        if intercepted is not None:
            return intercepted
        feed = Feed(self._venue, self._clock, self.now)
        self._feeds.add(feed)
        try:
            return await feed.serve(request)
        finally:
            self._feeds.discard(feed)

    async def hang_up(self) -> None:
        """Close every socket."""
        for feed in tuple(self._feeds):
            await feed.close()

    async def _intercept(self, request: web.Request) -> web.StreamResponse | None:
        return await self.interceptor(request) if self.interceptor else None


@asynccontextmanager
async def replay_server(fixtures_dir: Path, clock: Clock, mode: Mode) -> AsyncIterator[Replay]:
    """Serve a fixture set on a free loopback port until the block ends.

    Args:
        fixtures_dir: The folder of `metadata.json`.
        clock: What now is; in `frozen` mode it stands at `frozen_at(fixtures_dir)`.
        mode: Whether recorded time is shifted to today or kept.

    Raises:
        FixtureError: If the set cannot be used.
    """
    replay = Replay(load_recording(fixtures_dir), clock, mode)
    app = web.Application(client_max_size=_LARGEST_REQUEST)
    app.router.add_post("/info", replay.info)
    app.router.add_get("/ws", replay.socket)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=_STOP_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        replay.url = f"http://{host}:{port}"
        yield replay
    finally:
        await replay.hang_up()
        await runner.cleanup()
