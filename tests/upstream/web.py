"""A small web: hosts and their pages behind one loopback port, as a fetcher with a replay finds them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from service.upstream.feed_fetcher import FeedFetcher, open_feed_fetcher
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import listening
from tests.upstream.faults import Fault, answer


class Web:
    """What stands where.

    Attributes:
        pages: `host/path` → what answers there; everything else is 404.
        requests: `host/path?query` of what was asked for, in order; `sent` their headers, `bodies` what was posted.
        fetcher: Who asks.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.pages: dict[str, Fault] = {}
        self.requests: list[str] = []
        self.sent: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.url = ""
        self.fetcher: FeedFetcher

    def put(self, at: str, body: str | bytes = b"", **headers: str) -> None:
        """Publish something; `Content_Type="text/vtt"` becomes a header."""
        self.pages[at] = answer(200, body.encode() if isinstance(body, str) else body, **headers)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.raw_path.removeprefix("/"))
        self.sent.append(dict(request.headers))
        self.bodies.append(await request.read())
        page = self.pages.get(request.path.removeprefix("/"))
        return await page(request) if page else web.Response(status=404)

    def asked(self, host: str) -> list[str]:
        """What was asked of a host, robots.txt aside."""
        return [at for at in self.requests if at.startswith(f"{host}/") and not at.endswith("/robots.txt")]


@asynccontextmanager
async def open_web(clock: FakeClock, pace_s: float = 0.0) -> AsyncIterator[Web]:
    served, app = Web(clock), web.Application()
    app.router.add_route("*", "/{at:.*}", served.serve)
    async with listening(app) as url, open_feed_fetcher(clock, url) as fetcher:
        served.url, served.fetcher = url, fetcher
        fetcher._pace_s = pace_s
        yield served
