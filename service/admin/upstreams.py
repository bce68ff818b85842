"""Ask every upstream once for `verdict admin doctor --upstreams`, and say why one does not serve and what to do."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sized
from contextlib import AsyncExitStack
from http import HTTPStatus
from operator import attrgetter
from typing import Final, Literal, TypeVar, cast

import msgspec
from msgspec import Struct

from service.admin.doctor_checks import DoctorCheck
from service.admin.doctor_network import ask_logs, check_model, check_proxies, check_settlement
from service.clock import DAY_MS, MINUTE_MS, SECOND_MS, Clock
from service.feeds.dates import parse_http_date
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
from service.upstream.session import Head, UpstreamSession, open_session
from service.upstream.websocket import open_socket
from service.wallets.chain import Node
from service.wallets.nodes import BEHIND_MS, WEIGHT_PER_MINUTE
from service.wiring.upstreams import HYPERLIQUID, Upstreams, open_upstreams

T = TypeVar("T")

DEADLINE_S: Final = 20.0
"""Seconds for one row; rows are asked side by side, so it holds for all of them."""

CLOCK_WARN_MS: Final = 5 * SECOND_MS
CLOCK_FAIL_MS: Final = MINUTE_MS
"""From here on prices are dated wrongly: no observation may lie in the future."""

_LIMITS: Final = ("retry-after", "ratelimit", "x-ratelimit", "x-mbx-used-weight")
_MOST_LIMITS: Final = 3
AT_ONCE: Final = 12
"""Times the published budget of a minute: a check asks each endpoint once, and waits for no budget to refill."""

_DAYS: Final = 5


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
        group: A route needs one `ok` probe of the group. Null: no route needs this probe.
        setting: The variable that names its address.
        session: What its request goes through, if it is a session.
    """

    endpoint: str
    upstream: str
    ask: Callable[[], Awaitable[ProbeResult]]
    group: str | None
    setting: str
    session: UpstreamSession | None = None


class EndpointResult(Struct, frozen=True, kw_only=True):
    """One endpoint, asked once.

    Attributes:
        endpoint: Upstream and what was asked.
        state: `ok`, `warn` (nothing that a route needs is missing) or `fail`.
        said: What was answered, or why there was no answer.
        stage: Where it failed: `dns`, `connect`, `tls`, `http`, `decode`, `clock`; null where it did not.
        status: HTTP status; null where there was none, or where the protocol has none.
        took_ms: Milliseconds until the answer was decoded, waiting for the weight budget included.
        clock_ms: The upstream's clock less ours, milliseconds, to a second; null where it sent no `Date`.
        limits: Headers about rate limits and weights, as they came.
        remedy: What to do; null where nothing has to be done.
    """

    endpoint: str
    state: Literal["ok", "warn", "fail"]
    said: str
    stage: str | None = None
    status: int | None = None
    took_ms: int | None = None
    clock_ms: int | None = None
    limits: Mapping[str, str] = {}
    remedy: str | None = None


def ask_upstreams(settings: Settings, clock: Clock) -> list[EndpointResult]:
    """Ask every upstream that the configured service would use. Nothing is stored and no payment is made."""
    logging.disable()  # every failure is a row
    try:
        return asyncio.run(_ask_all(settings, clock))
    finally:
        logging.disable(logging.NOTSET)


async def _ask_all(settings: Settings, clock: Clock) -> list[EndpointResult]:
    configured = [check_settlement] if settings.settlement != "ledger" else []
    configured += [check_model] if settings.llm_url else []
    async with AsyncExitStack() as stack:
        upstreams = await stack.enter_async_context(open_upstreams(settings, clock, at_once=AT_ONCE))
        fetcher = await stack.enter_async_context(open_feed_fetcher(clock, upstreams.spoken))
        captions = Captions(fetcher) if settings.youtube_captions == "on" else None
        probes = [*_rest(upstreams, clock), *(_feed(source, fetcher, captions) for source in sources_of(settings))]
        for place, url in enumerate(upstreams.nodes, 1):
            session = open_session(f"node-{place}", url, clock, weight_per_minute=WEIGHT_PER_MINUTE)
            probes.append(_node(await stack.enter_async_context(session), clock))
        asked, others = await asyncio.gather(
            asyncio.gather(*(_ask(probe, clock) for probe in probes)),
            asyncio.gather(*(check(settings, clock) for check in configured)),
        )
    rows = list(zip(probes, asked, strict=True))
    served = {probe.group for probe, row in rows if row.state == "ok"} | {None}
    spared = [
        msgspec.structs.replace(row, state="warn")
        if row.state == "fail" and row.stage != "clock" and probe.group in served
        else row
        for probe, row in rows
    ]
    return [*map(_row, check_proxies(settings)), *spared, *map(_row, others)]


async def _ask(probe: Probe, clock: Clock) -> EndpointResult:
    """Ask one endpoint; a failure is a row, not an exception."""
    began_s = clock.monotonic()
    outcome: ProbeResult | UpstreamError
    try:
        async with asyncio.timeout(DEADLINE_S):
            outcome = await probe.ask()
    except UpstreamError as error:
        outcome = error
    except TimeoutError:
        outcome = UpstreamError(probe.upstream, None, f"no answer within {DEADLINE_S:g} s".encode(), stage="connect")
    took_ms = round((clock.monotonic() - began_s) * SECOND_MS)
    head = None if probe.session is None else probe.session.last
    clock_ms = None if head is None else _clock_difference(head)
    status = None if head is None else head.status
    stage: str | None = None
    remedy: str | None = None
    state: Literal["ok", "warn", "fail"] = "ok"
    if isinstance(outcome, UpstreamError):
        status, stage, remedy = outcome.upstream_status, outcome.stage, remedy_for(outcome, probe)
        state, said = "fail", _said(outcome)
    elif abs(clock_ms or 0) > CLOCK_WARN_MS:
        state = "fail" if abs(clock_ms or 0) > CLOCK_FAIL_MS else "warn"
        said, stage = f"{outcome.said}; its clock and this machine's differ", "clock"
        remedy = "Set this machine's clock by NTP (`timedatectl set-ntp true`)."
    elif outcome.warning is not None:
        state, said, remedy = "warn", f"{outcome.said}; {outcome.warning}", outcome.remedy
    else:
        said = outcome.said
    return EndpointResult(
        endpoint=probe.endpoint, state=state, said=said, stage=stage, status=status, took_ms=took_ms,
        clock_ms=clock_ms, limits={} if head is None else _limits(head), remedy=remedy,
    )  # fmt: skip


def _row(found: DoctorCheck) -> EndpointResult:
    said = "; ".join([found.said, *found.findings])
    return EndpointResult(
        endpoint=found.check, state="fail" if found.findings else "ok", said=said, remedy=found.remedy
    )


def _said(error: UpstreamError) -> str:
    if error.upstream_status is None:
        return error.body
    if error.stage == "decode":
        return f"{error.upstream_status}, not the expected format: {error.body[:80]}"
    return f"{error.upstream_status}: {error.body[:120]}"


def _clock_difference(head: Head) -> int | None:
    """The upstream's clock less ours; a `Date` is the second that it was written in, so up to a second is none."""
    date_ms = parse_http_date(head.headers.get("Date", ""))
    if date_ms is None:
        return None
    return min(0, date_ms + SECOND_MS - head.at_ms) or max(0, date_ms - head.at_ms)


def _limits(head: Head) -> dict[str, str]:
    found = [(name.lower(), value[:40]) for name, value in head.headers.items() if name.lower().startswith(_LIMITS)]
    return dict(sorted(found)[:_MOST_LIMITS])


def _rest(upstreams: Upstreams, clock: Clock) -> Iterator[Probe]:
    """The endpoints that are asked through a session. Binance stands in where Hyperliquid fails: no route needs it."""
    since_ms = clock.now_ms() - _DAYS * DAY_MS
    session, venue_two, coins = (upstreams.sessions[name] for name in (HYPERLIQUID, "binance", "coingecko"))
    venue, binance, gecko = Hyperliquid(session, clock), Binance(venue_two, clock), CoinGecko(coins, clock)
    quotes, bars, rows, stories = map(attrgetter, ("quotes", "bars", "rows", "stories"))
    yield _of(session, "metaAndAssetCtxs", venue.quotes, "coins", quotes)
    yield _of(session, f"metaAndAssetCtxs {DEX}", lambda: venue.quotes(DEX), "assets", quotes)
    yield _of(session, "candleSnapshot", lambda: venue.bars("BTC", "1d", since_ms), "daily bars", bars)
    yield _of(session, "fundingHistory", lambda: venue.funding_history("BTC", since_ms), "payments")
    yield _of(session, "perpConciseAnnotations", venue.annotations, "annotations")
    title, setting = f"{TITLES[HYPERLIQUID]} WebSocket", variable(f"{HYPERLIQUID}_url")
    yield Probe(title, HYPERLIQUID, lambda: _listen(upstreams.feed_url, venue, clock), "feed", setting)

    async def klines() -> ProbeResult:
        await binance.bars("BTCUSDT", "1d", since_ms)
        return ProbeResult("daily bars")  # how many are final, a second request would tell

    yield _of(venue_two, "exchangeInfo, fundingInfo", binance.contracts, "contracts", group=None)
    yield _of(venue_two, "premiumIndex, ticker/24hr", binance.marks, "mark prices", rows, group=None)
    yield _asking(venue_two, "klines", klines, group=None)
    yield _of(coins, "coins/markets", lambda: gecko.page(1), "coins")
    yield _of(coins, "coins/categories", gecko.categories, "categories")
    yield _of(coins, "market_chart", lambda: gecko.caps("bitcoin", HOURLY_DAYS), "market caps")

    async def fear_greed() -> ProbeResult:
        return ProbeResult(f"index {(await FearGreed(upstreams.sessions['alternative'], clock).newest()).value}")

    yield _asking(upstreams.sessions["alternative"], "Fear & Greed", fear_greed)
    for name in PATHS:
        news = NewsFeed(upstreams.sessions[name], clock)
        yield _of(upstreams.sessions[name], "RSS", news.stories, "stories", stories, group="news")


def _of(
    session: UpstreamSession,
    name: str,
    fetch: Callable[[], Awaitable[T]],
    what: str,
    of: Callable[[T], Sized] | None = None,
    *,
    group: str | None = "",
) -> Probe:
    """A probe that says how many rows were fetched."""
    return _asking(session, name, lambda: _fetched(fetch(), what, of), group=group)


def _asking(
    session: UpstreamSession, name: str, ask: Callable[[], Awaitable[ProbeResult]], *, group: str | None = ""
) -> Probe:
    endpoint = f"{TITLES[session.name]} {name}"
    needed = endpoint if group == "" else group
    return Probe(endpoint, session.name, ask, needed, variable(f"{session.name}_url"), session)


def _feed(source: FeedSource, fetcher: FeedFetcher, captions: Captions | None) -> Probe:
    reader, items = FeedReader(fetcher, captions), attrgetter("items")

    async def ask() -> ProbeResult:
        return await _fetched(reader.channel(source, UNSEEN), "episodes", items)

    return Probe(f"feed {source.id}", source.id, ask, "feeds", variable("transcript_feeds"))


def _node(session: UpstreamSession, clock: Clock) -> Probe:
    node = Node(session)

    async def ask() -> ProbeResult:
        chain, newest = await node.chain_id(), await node.newest()
        await ask_logs(node, chain, newest.number, NOBODY.lower())
        age_ms = clock.now_ms() - newest.at_ms
        said, warning, remedy = f"chain {chain}, block {newest.number}", None, None
        if age_ms > BEHIND_MS:
            warning = f"its newest block is {age_ms // MINUTE_MS} minutes old"
            remedy = "Wait until the node has caught up, or name another one in VERDICT_WALLETS_RPC."
        elif node.by_contract:
            warning = "it tells transfers of known contracts alone"
            remedy = "Name a node in VERDICT_WALLETS_RPC that answers eth_getLogs without an address."
        return ProbeResult(said, warning, remedy)

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


def remedy_for(error: UpstreamError, probe: Probe) -> str:
    """What to do when a probe fails."""
    status, setting = error.upstream_status, probe.setting
    if status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS or (
        status == HTTPStatus.FORBIDDEN and _GEOBLOCK.search(error.body) is not None
    ):
        return f"This region is refused. Run the service in another one, or set {setting} to a mirror there."
    if status in {HTTPStatus.TOO_MANY_REQUESTS, _BANNED}:
        wait = f"{error.retry_after_s:.0f} s" if error.retry_after_s else "a few minutes"
        return f"Too many requests from this address. Wait {wait}; other programs here may use up the limit."
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"The upstream refuses this client. Check {setting} and the key, if there is one."
    if error.stage in _OF_STAGE:
        return _OF_STAGE[error.stage].format(setting=setting)
    return f"Wait, and check the upstream's status page; {setting} names its address."
