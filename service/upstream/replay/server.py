"""The replay server on its loopback port."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from service.clock import Clock
from service.upstream.fixture_set import read_files
from service.upstream.replay import binance, coingecko, ethereum
from service.upstream.replay.feeds import fear_greed_routes, news_routes, podcast_routes
from service.upstream.replay.history import Mode, RecordedHistory, ReplayContext
from service.upstream.replay.recording import Recording, load_recording
from service.upstream.replay.venue import RecordedHyperliquid
from service.upstream.replay.websocket import Feed
from service.upstream.responses import http_date

Interceptor = Callable[[web.Request], Awaitable[web.StreamResponse | None]]

MAIN: Final = "hyperliquid"
"""The upstream at the root, `/info` and `/ws`."""

MOUNTED: Final[Sequence[tuple[str, Callable[[ReplayContext], list[web.RouteDef]]]]] = (
    ("/binance", binance.routes),
    ("/coingecko", coingecko.routes),
    ("/alternative", fear_greed_routes),
    ("/ethereum", ethereum.routes),
    ("/podcasts", podcast_routes),
    ("", news_routes),
)
"""Where each of the others is; the two news feeds name their own first step."""

UPSTREAMS: Final = (MAIN, "binance", "coingecko", "alternative", "ethereum", "podcasts", "coindesk", "cointelegraph")
"""Names of sessions that can be opened to a replay."""

WEIGHT_PER_MINUTE: Final = 1_200_000
"""The replay's own published budget: not shared, so a first start need not take the venue's two minutes."""

_STOP_S: Final = 1.0
_LARGEST_REQUEST: Final = 65_536


class Replay(RecordedHistory):
    """A running replay.

    Attributes:
        url: Where it listens (`http://127.0.0.1:41234`); `/info` and `/ws` below it.
        interceptor: Called before whatever is asked, whichever upstream it is (`request.path` tells); what it returns
    """

    def __init__(self, recording: Recording, files: Mapping[str, bytes], clock: Clock, mode: Mode) -> None:
        self.url = ""
        self.interceptor: Interceptor | None = None
        self.prepare: Callable[[str], Awaitable[Path | None]] | None = None
        super().__init__(recording, clock, mode)
        self._venue = RecordedHyperliquid(recording)
        self._files = files
        self._feeds: set[Feed] = set()

    def base(self, upstream: str) -> str:
        """The address a session to one of `UPSTREAMS` is opened with.

        Raises:
            ValueError: If it is none of them.
        """
        if upstream not in UPSTREAMS:
            raise ValueError(f"{upstream!r} is not replayed; these are: {', '.join(UPSTREAMS)}")
        return self.url if upstream == MAIN else f"{self.url}/{upstream}"

    def application(self) -> web.Application:
        """Every upstream under one roof."""
        app = web.Application(client_max_size=_LARGEST_REQUEST, middlewares=[self._at_the_door])
        app.router.add_post("/info", self.info)
        app.router.add_get("/ws", self.socket)
        context = ReplayContext(
            files=self._files, tape=self._venue.tape, recording=self._recording, clock=self._clock, now=self.now
        )
        for prefix, routes in MOUNTED:
            app.router.add_routes(
                web.RouteDef(route.method, prefix + route.path, route.handler, route.kwargs)
                for route in routes(context)
            )
        return app

    async def prepared(self, origin: str) -> Path | None:
        """The next file of tables that was prepared of a history, once it is complete; or null."""
        return await self.prepare(origin) if self.prepare else None

    async def info(self, request: web.Request) -> web.Response:
        """`POST /info`."""
        reply = self._venue.reply(await request.read(), *self.now())
        return web.Response(status=reply.status, body=reply.body, headers={"Content-Type": reply.content_type})

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """`GET /ws`."""
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

    @web.middleware
    async def _at_the_door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let a fault stand in, and date what is answered by the replay's clock: ages are taken from that header."""
        intercepted = await self.interceptor(request) if self.interceptor else None
        if intercepted is not None:
            return intercepted
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            refusal.headers["Date"] = http_date(self._clock.now_ms())
            raise
        if not response.prepared:
            response.headers["Date"] = http_date(self._clock.now_ms())
        return response


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
    replay = Replay(load_recording(fixtures_dir), read_files(fixtures_dir), clock, mode)
    runner = web.AppRunner(replay.application(), access_log=None, handler_cancellation=True, shutdown_timeout=_STOP_S)
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
