"""Probes of upstreams for `verdict admin doctor --upstreams`, and what an operator can do about failures."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence, Sized
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from operator import attrgetter
from typing import Final, TypeVar, cast

from msgspec import Struct

from service.admin.nodes import ask_logs
from service.clock import DAY_MS, MINUTE_MS, SECOND_MS, Clock
from service.market.sources.binance import Binance
from service.market.sources.coingecko import HOURLY_DAYS, CoinGecko
from service.market.sources.hyperliquid import FEED_DECODERS, FEED_SUBSCRIPTIONS, Hyperliquid
from service.rwa.listing import DEX
from service.sentiment.sources.alternative import FearGreed
from service.sentiment.sources.rss import PATHS, NewsFeed
from service.settings import NOBODY, Settings, variable
from service.transcripts.feed_reader import FeedReader
from service.transcripts.sources import FeedSource, sources_of
from service.transcripts.youtube import Captions
from service.upstream.failures import TITLES, UpstreamError
from service.upstream.feed_fetcher import UNSEEN, FeedFetcher, open_feed_fetcher
from service.upstream.session import UpstreamSession, open_session
from service.upstream.websocket import open_socket
from service.wallets.chain import Node
from service.wallets.nodes import BEHIND_MS, WEIGHT_PER_MINUTE
from service.wiring.upstreams import HYPERLIQUID, Upstreams, open_upstreams

T = TypeVar("T")

AT_ONCE: Final = 12
"""Times the published budget of a minute: a check asks each endpoint once, and waits for no budget to refill."""

_DAYS: Final = 5
_BTC: Final = "BTC"
_BTCUSDT: Final = "BTCUSDT"
_BITCOIN: Final = "bitcoin"


class ProbeResult(Struct, frozen=True):
    """A usable answer: what was in it, in a few words; and what about it needs attention, with what to do."""

    said: str
    warning: str | None = None
    remedy: str | None = None


class Probe(Struct, frozen=True):
    """One endpoint to be asked.

    Attributes:
        endpoint: As it is shown.
        upstream: The upstream's name.
        ask: Asks once.
        group: What a route needs one of: it is served if any probe of the group is. Null: nothing depends on it alone.
        setting: The variable that names its address.
        session: What its request goes through, if it is a session.
    """

    endpoint: str
    upstream: str
    ask: Callable[[], Awaitable[ProbeResult]]
    group: str | None
    setting: str
    session: UpstreamSession | None = None


@asynccontextmanager
async def open_probes(settings: Settings, clock: Clock) -> AsyncIterator[Sequence[Probe]]:
    """Open the sessions of a service, and lay out what is asked through them.

    Raises:
        FixtureError: If the recording cannot be used.
        SettingsError: If the list of feeds cannot be used.
    """
    async with AsyncExitStack() as stack:
        upstreams = await stack.enter_async_context(open_upstreams(settings, clock, at_once=AT_ONCE))
        fetcher = await stack.enter_async_context(open_feed_fetcher(clock, upstreams.spoken))
        nodes = [
            await stack.enter_async_context(
                open_session(f"node-{place}", url, clock, weight_per_minute=WEIGHT_PER_MINUTE)
            )
            for place, url in enumerate(upstreams.nodes, 1)
        ]
        captions = Captions(fetcher) if settings.youtube_captions == "on" else None
        yield [
            *_hyperliquid(upstreams, clock),
            *_binance(upstreams.sessions["binance"], clock),
            *_coingecko(upstreams.sessions["coingecko"], clock),
            *_sentiment(upstreams, clock),
            *(_feed(source, fetcher, captions) for source in sources_of(settings)),
            *(_node(session, clock) for session in nodes),
        ]


def _hyperliquid(upstreams: Upstreams, clock: Clock) -> Iterator[Probe]:
    session, since_ms = upstreams.sessions[HYPERLIQUID], clock.now_ms() - _DAYS * DAY_MS
    venue = Hyperliquid(session, clock)
    quotes = attrgetter("quotes")
    yield _of(session, "metaAndAssetCtxs", lambda: _fetched(venue.quotes(), "coins", quotes))
    yield _of(session, f"metaAndAssetCtxs {DEX}", lambda: _fetched(venue.quotes(DEX), "assets", quotes))
    yield _of(
        session, "candleSnapshot", lambda: _fetched(venue.bars(_BTC, "1d", since_ms), "daily bars", attrgetter("bars"))
    )
    yield _of(session, "fundingHistory", lambda: _fetched(venue.funding_history(_BTC, since_ms), "payments"))
    yield _of(session, "perpConciseAnnotations", lambda: _fetched(venue.annotations(), "annotations"))
    title, setting = f"{TITLES[HYPERLIQUID]} WebSocket", variable(f"{HYPERLIQUID}_url")
    yield Probe(title, HYPERLIQUID, lambda: _listen(upstreams.feed_url, venue, clock), "feed", setting)


def _binance(session: UpstreamSession, clock: Clock) -> Iterator[Probe]:
    """What stands in where Hyperliquid fails: no route needs it otherwise."""
    binance, since_ms = Binance(session, clock), clock.now_ms() - _DAYS * DAY_MS

    async def klines() -> ProbeResult:
        await binance.bars(_BTCUSDT, "1d", since_ms)
        return ProbeResult("daily bars")  # how many are final, a second request would tell

    for name, ask in (
        ("exchangeInfo, fundingInfo", lambda: _fetched(binance.contracts(), "contracts")),
        ("premiumIndex, ticker/24hr", lambda: _fetched(binance.marks(), "mark prices", attrgetter("rows"))),
        ("klines", klines),
    ):
        yield _of(session, name, ask, needed=False)


def _coingecko(session: UpstreamSession, clock: Clock) -> Iterator[Probe]:
    gecko = CoinGecko(session, clock)
    yield _of(session, "coins/markets", lambda: _fetched(gecko.page(1), "coins"))
    yield _of(session, "coins/categories", lambda: _fetched(gecko.categories(), "categories"))
    yield _of(session, "market_chart", lambda: _fetched(gecko.caps(_BITCOIN, HOURLY_DAYS), "market caps"))


def _of(
    session: UpstreamSession,
    name: str,
    ask: Callable[[], Awaitable[ProbeResult]],
    *,
    needed: bool = True,
    group: str = "",
) -> Probe:
    endpoint = f"{TITLES[session.name]} {name}"
    whole = (group or endpoint) if needed else None
    return Probe(endpoint, session.name, ask, whole, variable(f"{session.name}_url"), session)


def _sentiment(upstreams: Upstreams, clock: Clock) -> Iterator[Probe]:
    index = FearGreed(upstreams.sessions["alternative"], clock)

    async def fear_greed() -> ProbeResult:
        return ProbeResult(f"index {(await index.newest()).value}")

    yield _of(upstreams.sessions["alternative"], "Fear & Greed", fear_greed)
    for name in PATHS:
        news = NewsFeed(upstreams.sessions[name], clock)

        async def stories(news: NewsFeed = news) -> ProbeResult:
            return await _fetched(news.stories(), "stories", attrgetter("stories"))

        yield _of(upstreams.sessions[name], "RSS", stories, group="news")


def _feed(source: FeedSource, fetcher: FeedFetcher, captions: Captions | None) -> Probe:
    reader = FeedReader(fetcher, captions)

    async def ask() -> ProbeResult:
        return await _fetched(reader.channel(source, UNSEEN), "episodes", attrgetter("items"))

    return Probe(f"feed {source.id}", source.id, ask, "feeds", variable("transcript_feeds"))


def _node(session: UpstreamSession, clock: Clock) -> Probe:
    node = Node(session)

    async def ask() -> ProbeResult:
        chain, newest = await node.chain_id(), await node.newest()
        await ask_logs(node, chain, newest.number, NOBODY.lower())
        age_ms = clock.now_ms() - newest.at_ms
        said = f"chain {chain}, block {newest.number}"
        if age_ms > BEHIND_MS:
            remedy = "Wait until the node has caught up, or name another one in VERDICT_WALLETS_RPC."
            return ProbeResult(said, f"its newest block is {age_ms // MINUTE_MS} minutes old", remedy)
        if node.by_contract:
            remedy = "Name a node in VERDICT_WALLETS_RPC that answers eth_getLogs without an address."
            return ProbeResult(said, "it tells transfers of known contracts alone", remedy)
        return ProbeResult(said)

    return Probe(f"{session.name} eth_getLogs", session.name, ask, "nodes", variable("wallets_rpc"), session)


async def _listen(url: str, venue: Hyperliquid, clock: Clock) -> ProbeResult:
    """Subscribe as the service does, and read the first frame."""
    await venue.quotes()
    venue.adopt_universe()  # a frame names no coins
    began_s = clock.monotonic()
    async with open_socket(HYPERLIQUID, url, clock, FEED_SUBSCRIPTIONS, FEED_DECODERS) as socket:
        frame = await socket.first()
        found = venue.read_frame(frame.value, frame.at_ms)
    if found is None:
        raise UpstreamError(HYPERLIQUID, None, b"the first frame is not in the expected format", stage="decode")
    waited_ms = round((clock.monotonic() - began_s) * SECOND_MS)
    packed = "compressed" if socket.compressed else "not compressed"
    return ProbeResult(f"{len(found.quotes)} coins after {waited_ms} ms, {packed}")


async def _fetched(asked: Awaitable[T], what: str, of: Callable[[T], Sized] | None = None) -> ProbeResult:
    """How many of the requested rows there are."""
    found = await asked
    return ProbeResult(f"{len(of(found) if of else cast('Sized', found))} {what}")


_BANNED: Final = 418
_GEOBLOCK: Final = re.compile(
    r"restricted location|block access from your country|not available in your (?:country|region)|error code: 1009"
    r"|banned the country or region",
    re.IGNORECASE,
)
"""How Binance, CloudFront and Cloudflare (error 1009) say that a region is refused."""

_OF_STAGE: Final = {
    "dns": "Check the network, the DNS resolver and {setting}.",
    "connect": "Check the network, the firewall and {setting}.",
    "tls": "Check this machine's clock and CA certificates, and {setting}.",
    "decode": "Unknown format: update Verdict, or report this line as a defect.",
}


def is_geoblock(error: UpstreamError) -> bool:
    """Whether an upstream refuses the region that it is asked from."""
    if error.upstream_status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
        return True
    return error.upstream_status == HTTPStatus.FORBIDDEN and _GEOBLOCK.search(error.body) is not None


def remedy_for(error: UpstreamError, probe: Probe) -> str:
    """Say what to do about a failure.

    Args:
        error: The failure.
        probe: What was asked.
    """
    if is_geoblock(error):
        return f"This region is refused. Run the service in another one, or set {probe.setting} to a mirror there."
    if error.upstream_status in {HTTPStatus.TOO_MANY_REQUESTS, _BANNED}:
        wait = f"{error.retry_after_s:.0f} s" if error.retry_after_s else "a few minutes"
        return f"Too many requests from this address. Wait {wait}; other programs here may use up the limit."
    if error.upstream_status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"The upstream refuses this client. Check {probe.setting} and the key, if there is one."
    if error.stage in _OF_STAGE:
        return _OF_STAGE[error.stage].format(setting=probe.setting)
    return f"Wait, and check the upstream's status page; {probe.setting} names its address."
