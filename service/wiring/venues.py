"""Who the service asks for data, what each of them allows, and names that several entrances share."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.settings import UPSTREAMS, Settings
from service.upstream.replay.server import WEIGHT_PER_MINUTE, replay_server
from service.upstream.session import UpstreamSession, open_session

HYPERLIQUID: Final = "hyperliquid"

PUBLISHED: Final[Mapping[str, int]] = {
    HYPERLIQUID: 1_200,
    "binance": 2_400,
    "coingecko": 5,
    "alternative": 60,
    "coindesk": 6,
    "cointelegraph": 6,
}
"""Weight a minute and address.

Sources: Hyperliquid's API documentation, "Rate limits and user limits"; Binance's `exchangeInfo.rateLimits`; CoinGecko
without a key answers 5 calls a minute reliably; alternative.me publishes 60; the feeds publish nothing, and one call in
ten minutes is what a reader's program makes.
"""


class Upstreams(Struct, frozen=True):
    """Open sessions by name, where the venue's live feed is, and which history all of them tell at this moment."""

    sessions: Mapping[str, UpstreamSession]
    feed_url: str
    origin: Callable[[], str]


@asynccontextmanager
async def open_upstreams(settings: Settings, clock: Clock) -> AsyncIterator[Upstreams]:
    """Open a session to each upstream: to the real ones, or to a replay of them in this process.

    Raises:
        FixtureError: If the recording cannot be used.
    """
    async with AsyncExitStack() as stack:
        if settings.source == "live":
            urls = {name: settings.url_of(name) for name in UPSTREAMS}
            weights, origin = PUBLISHED, _live
        else:
            replay = await stack.enter_async_context(replay_server(settings.fixtures_dir, clock, settings.replay))
            urls = {name: replay.base(name) for name in UPSTREAMS}
            weights, origin = dict.fromkeys(UPSTREAMS, WEIGHT_PER_MINUTE), lambda: replay.origin
        sessions = {
            name: await stack.enter_async_context(
                open_session(name, url, clock, weight_per_minute=weights[name], headers=_headers(settings, name))
            )
            for name, url in urls.items()
        }
        yield Upstreams(sessions, f"ws{urls[HYPERLIQUID].removeprefix('http')}/ws", origin)


def _live() -> str:
    return "live"


def _headers(settings: Settings, name: str) -> Mapping[str, str]:
    """What identifies us to an upstream: nothing, but for a key that the operator has given."""
    if name == "coingecko" and settings.coingecko_key:
        return {"x-cg-demo-api-key": settings.coingecko_key}
    return {}
