"""Sessions to upstreams, their rate limits, and the replay server for fixtures."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.market.ingest.recording import PreparedRecording
from service.sentiment.sources.rss import PATHS
from service.settings import UPSTREAMS, Settings
from service.upstream.session import UpstreamSession, open_session
from service.wiring.preload import Preload

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
without a key answers 5 to 15 calls a minute, varying with load; alternative.me publishes 60; the feeds publish nothing,
and one call in ten minutes is what a reader's program makes.
"""


KEYED_PER_MINUTE: Final = 30
KEYED_PER_MONTH: Final = 10_000
"""CoinGecko with a demo key (its pricing page, 2026): one credit a call."""


class Upstreams(Struct, frozen=True):
    """Open sessions by name, and the dataset they serve now.

    Attributes:
        sessions: To those of `UPSTREAMS`.
        feed_url: URL of the venue's WebSocket feed.
        nodes: JSON-RPC URLs of the chain of watched wallets, in order of use.
        spoken: Replay server that stands for all hosts of feeds and transcripts, if any.
        origin: Name of the dataset.
        recorded: The replayed recording, if any.
    """

    sessions: Mapping[str, UpstreamSession]
    feed_url: str
    nodes: Sequence[str]
    spoken: str | None
    origin: Callable[[], str]
    recorded: PreparedRecording | None = None


@asynccontextmanager
async def open_upstreams(
    settings: Settings, clock: Clock, *, at_once: int = 1, preload: Preload | None = None
) -> AsyncIterator[Upstreams]:
    """Open a session to each upstream: to the real ones, or to a replay of them in this process.

    Args:
        settings: Who is asked, and where.
        clock: All of their time.
        at_once: Times the published budgets that may be spent: more than 1 is for a check of a few requests alone.
        preload: Prepares the recording's history, if anything does.

    Raises:
        FixtureError: If the recording cannot be used.
    """
    async with AsyncExitStack() as stack:
        live = settings.source == "live"
        if live:
            urls = {name: settings.url_of(name) for name in UPSTREAMS}
            weights, origin = _published(settings), _live
            nodes, spoken, recorded = [url.text for url in settings.wallets_rpc], None, None
        else:
            # A server of its own: a fifth of what else is loaded, and nothing that live data needs.
            from service.upstream.replay.server import WEIGHT_PER_MINUTE, replay_server  # noqa: PLC0415

            replay = await stack.enter_async_context(replay_server(settings.fixtures_dir, clock, settings.replay))
            replay.prepare = None if preload is None else preload.next
            urls = {name: replay.base(name) for name in UPSTREAMS}
            weights, origin = dict.fromkeys(UPSTREAMS, WEIGHT_PER_MINUTE), lambda: replay.origin
            nodes, spoken, recorded = [replay.base("ethereum")], replay.base("podcasts"), replay
        sessions = {
            name: await stack.enter_async_context(
                open_session(
                    name,
                    url,
                    clock,
                    weight_per_minute=weights[name] * at_once,
                    headers=_headers(settings, name),
                    follows=name in PATHS,
                    calls_per_month=KEYED_PER_MONTH if live and _is_keyed(settings, name) else None,
                )
            )
            for name, url in urls.items()
        }
        feed_url = f"ws{urls[HYPERLIQUID].removeprefix('http')}/ws"
        yield Upstreams(sessions, feed_url, nodes, spoken, origin, recorded)


def _live() -> str:
    return "live"


def _headers(settings: Settings, name: str) -> Mapping[str, str]:
    """What identifies us to an upstream: nothing, but for a key that the operator has given."""
    if settings.coingecko_key and _is_keyed(settings, name):
        return {"x-cg-demo-api-key": settings.coingecko_key.text}
    return {}


def _is_keyed(settings: Settings, name: str) -> bool:
    return name == "coingecko" and settings.coingecko_key is not None


def _published(settings: Settings) -> Mapping[str, int]:
    """What each allows in a minute, a key that the operator has given considered."""
    return {name: KEYED_PER_MINUTE if _is_keyed(settings, name) else weight for name, weight in PUBLISHED.items()}
