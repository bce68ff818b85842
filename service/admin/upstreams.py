"""Ask every upstream once for `verdict admin doctor --upstreams`: why one fails, and what to do about it."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Literal, NamedTuple

from service.admin.doctor_network import check_model, check_proxies, check_settlement, look_at_node
from service.cli.doctor_command import DoctorCheck, check_lines
from service.cli.terminal import Cell, Display, Style
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
from service.transcripts.sources import sources_of
from service.transcripts.youtube import Captions
from service.upstream.failures import TITLES, UpstreamError
from service.upstream.feed_fetcher import UNSEEN, open_feed_fetcher
from service.upstream.session import Head, UpstreamSession, open_session
from service.upstream.websocket import open_socket
from service.wallets.chain import Node
from service.wallets.nodes import WEIGHT_PER_MINUTE
from service.wiring.upstreams import HYPERLIQUID, Upstreams, open_upstreams

DEADLINE_S: Final = 20.0
"""Seconds for one row; rows are asked side by side, so it holds for all of them."""

CLOCK_WARN_MS: Final = 5 * SECOND_MS
CLOCK_FAIL_MS: Final = MINUTE_MS
"""Above it, prices get wrong dates: no observation may be in the future."""

AT_ONCE: Final = 12
"""Multiple of the published budget of a minute: each endpoint is asked once, without waiting for a refill."""

_LIMITS: Final = ("retry-after", "ratelimit", "x-ratelimit", "x-mbx-used-weight")
_MOST_LIMITS: Final = 3
_DAYS: Final = 5
_SOCKET: Final = "WebSocket"
_STYLES: Final[Mapping[str, Style]] = {"ok": "good", "warn": "warn", "fail": "bad"}

Answered = tuple[str, str | None]
"""A usable answer: its content in a few words, and a remedy if it needs attention."""


class Probe(NamedTuple):
    """One endpoint to be asked, and the variable that names its address.

    A route needs one `ok` probe of the group; without a group, no route needs it.
    """

    endpoint: str
    upstream: str
    ask: Callable[[], Awaitable[Answered]]
    group: str | None
    setting: str
    session: UpstreamSession | None = None


class EndpointResult(NamedTuple):
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

    @property
    def is_finding(self) -> bool:
        """Whether a route lacks it."""
        return self.state == "fail"

    def lines(self, screen: Display) -> Iterator[str]:
        """The endpoint for people, with how long the answer took, and by how much the clocks differ."""
        mark = Cell(self.state if self.state == "ok" else self.state.upper(), _STYLES[self.state])
        took = "" if self.took_ms is None else f"{self.took_ms / SECOND_MS:.2f} s"
        off_s = round((self.clock_ms or 0) / SECOND_MS)
        measured = ", ".join(filter(None, [took, f"clock {off_s:+d} s" if off_s else ""]))
        head = f"{self.endpoint}: {self.said}{f' ({measured})' if measured else ''}"
        notes = [f"{name}: {value}" for name, value in self.limits.items()]
        return check_lines(screen, mark, head, notes, self.remedy, break_words=True)


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
        reader = FeedReader(fetcher, Captions(fetcher) if settings.youtube_captions == "on" else None)
        probes = list(_rest(upstreams, clock))
        for source in sources_of(settings):
            channel = partial(reader.channel, source, UNSEEN)
            ask = partial(_fetched, channel, "{} episodes", lambda found: len(found.items))
            probes.append(Probe(f"feed {source.id}", source.id, ask, "feeds", variable("transcript_feeds")))
        for place, url in enumerate(upstreams.nodes, 1):
            opened = open_session(f"node-{place}", url, clock, weight_per_minute=WEIGHT_PER_MINUTE)
            session = await stack.enter_async_context(opened)
            ask, name = partial(_ask_node, Node(session), clock), f"{session.name} eth_getLogs"
            probes.append(Probe(name, session.name, ask, "nodes", variable("wallets_rpc"), session))
        asked, others = await asyncio.gather(
            asyncio.gather(*(_ask(probe, clock) for probe in probes)),
            asyncio.gather(*(check(settings, clock) for check in configured)),
        )
    rows = list(zip(probes, asked, strict=True))
    served = {probe.group for probe, row in rows if row.state == "ok"} | {None}
    spared = [
        row._replace(state="warn") if row.is_finding and row.stage != "clock" and probe.group in served else row
        for probe, row in rows
    ]
    return [*map(_row, check_proxies(settings)), *spared, *map(_row, others)]


async def _ask(probe: Probe, clock: Clock) -> EndpointResult:
    """Ask one endpoint; a failure is a row, not an exception."""
    began_s = clock.monotonic()
    failure: UpstreamError | None = None
    said, remedy = "", None
    try:
        async with asyncio.timeout(DEADLINE_S):
            said, remedy = await probe.ask()
    except UpstreamError as error:
        failure = error
    except TimeoutError:
        failure = UpstreamError(probe.upstream, None, f"no answer within {DEADLINE_S:g} s".encode(), stage="connect")
    took_ms = round((clock.monotonic() - began_s) * SECOND_MS)
    head = None if probe.session is None else probe.session.last
    clock_ms = None if head is None else _clock_difference(head)
    row = EndpointResult(
        probe.endpoint, "ok" if remedy is None else "warn", said, status=None if head is None else head.status,
        took_ms=took_ms, clock_ms=clock_ms, limits={} if head is None else _limits(head), remedy=remedy,
    )  # fmt: skip
    if failure is not None:
        status, stage, remedy = failure.upstream_status, failure.stage, remedy_for(failure, probe.setting)
        return row._replace(state="fail", said=_said(failure), stage=stage, status=status, remedy=remedy)
    if abs(clock_ms or 0) > CLOCK_WARN_MS:
        said = f"{said}, but its clock and this machine's differ"
        remedy = "Set this machine's clock by NTP (`timedatectl set-ntp true`)."
        state: Literal["fail", "warn"] = "fail" if abs(clock_ms or 0) > CLOCK_FAIL_MS else "warn"
        return row._replace(state=state, said=said, stage="clock", remedy=remedy)
    return row


def _row(found: DoctorCheck) -> EndpointResult:
    said = " ".join([f"{found.said}:" if found.findings else found.said, *found.findings])
    return EndpointResult(found.check, "fail" if found.is_finding else "ok", said, remedy=found.remedy)


def _said(error: UpstreamError) -> str:
    if error.upstream_status is None:
        return error.body
    if error.stage == "decode":
        return f"{error.upstream_status}, not the expected format: {error.body[:80]}"
    return f"{error.upstream_status}: {error.body[:120]}"


def _clock_difference(head: Head) -> int | None:
    """The upstream's clock minus ours. A `Date` has whole seconds, so less than a second counts as none."""
    date_ms = parse_http_date(head.headers.get("Date", ""))
    if date_ms is None:
        return None
    return min(0, date_ms + SECOND_MS - head.at_ms) or max(0, date_ms - head.at_ms)


def _limits(head: Head) -> dict[str, str]:
    found = [(name.lower(), value[:40]) for name, value in head.headers.items() if name.lower().startswith(_LIMITS)]
    return dict(sorted(found)[:_MOST_LIMITS])


def _rest(upstreams: Upstreams, clock: Clock) -> Iterator[Probe]:
    """The endpoints that are asked through a session. Binance only replaces Hyperliquid: no route needs it."""
    sessions, since_ms = upstreams.sessions, clock.now_ms() - _DAYS * DAY_MS
    venue, binance = Hyperliquid(sessions[HYPERLIQUID], clock), Binance(sessions["binance"], clock)
    gecko, index = CoinGecko(sessions["coingecko"], clock), FearGreed(sessions["alternative"], clock)
    rows: list[tuple[str, str, Callable[[], Awaitable[Any]], str, Callable[[Any], object]]] = [
        (HYPERLIQUID, "metaAndAssetCtxs", venue.quotes, "{} coins", lambda found: len(found.quotes)),
        (HYPERLIQUID, f"metaAndAssetCtxs {DEX}", partial(venue.quotes, DEX), "{} assets", lambda got: len(got.quotes)),
        (HYPERLIQUID, "candleSnapshot", partial(venue.bars, "BTC", "1d", since_ms), "{} daily bars",
         lambda found: len(found.bars)),
        (HYPERLIQUID, "fundingHistory", partial(venue.funding_history, "BTC", since_ms), "{} payments", len),
        (HYPERLIQUID, "perpConciseAnnotations", venue.annotations, "{} annotations", len),
        (HYPERLIQUID, _SOCKET, partial(_listen, upstreams.feed_url, venue, clock), "{}", str),
        ("binance", "exchangeInfo, fundingInfo", binance.contracts, "{} contracts", len),
        ("binance", "premiumIndex, ticker/24hr", binance.marks, "{} mark prices", lambda found: len(found.rows)),
        ("binance", "klines", partial(binance.bars, "BTCUSDT", "1d", since_ms), "daily bars", id),
        ("coingecko", "coins/markets", partial(gecko.page, 1), "{} coins", len),
        ("coingecko", "coins/categories", gecko.categories, "{} categories", len),
        ("coingecko", "market_chart", partial(gecko.caps, "bitcoin", HOURLY_DAYS), "{} market caps", len),
        ("alternative", "Fear & Greed", index.newest, "index {}", lambda found: found.value),
    ]  # fmt: skip
    for name in PATHS:
        news = NewsFeed(sessions[name], clock)
        rows += [(name, "RSS", news.stories, "{} stories", lambda found: len(found.stories))]
    for name, what, fetch, text, size in rows:
        endpoint = f"{TITLES[name]} {what}"
        group = None if name == "binance" else "news" if name in PATHS else endpoint
        session = None if what == _SOCKET else sessions[name]
        ask = partial(_fetched, fetch, text, size)
        yield Probe(endpoint, name, ask, group, variable(f"{name}_url"), session)


async def _fetched(fetch: Callable[[], Awaitable[Any]], text: str, size: Callable[[Any], object]) -> Answered:
    return text.format(size(await fetch())), None


async def _ask_node(node: Node, clock: Clock) -> Answered:
    chain, block, late = await look_at_node(node, clock, NOBODY.lower())
    said = f"chain {chain}, block {block}"
    if late:
        remedy = "Wait until the node has caught up, or name another one in VERDICT_WALLETS_RPC."
        return f"{said}, but its newest block is {late} minutes old", remedy
    if node.by_contract:
        remedy = "Name a node in VERDICT_WALLETS_RPC that answers eth_getLogs without an address."
        return f"{said}, but it reports transfers of known contracts only", remedy
    return said, None


async def _listen(url: str, venue: Hyperliquid, clock: Clock) -> str:
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
    return f"{len(found.quotes)} coins after {waited_ms} ms, {'compressed' if socket.compressed else 'not compressed'}"


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
    "decode": "The format is unknown. Update Verdict, or report this line as a defect.",
}


def remedy_for(error: UpstreamError, setting: str) -> str:
    """What to do when a probe fails."""
    status = error.upstream_status
    if status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS or (
        status == HTTPStatus.FORBIDDEN and _GEOBLOCK.search(error.body) is not None
    ):
        return f"The upstream refuses this region. Run the service in another one, or set {setting} to a mirror there."
    if status in {HTTPStatus.TOO_MANY_REQUESTS, _BANNED}:
        wait = f"{error.retry_after_s:.0f} s" if error.retry_after_s else "a few minutes"
        return f"Too many requests came from this address. Wait {wait}. Other programs here may use up the limit."
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"The upstream refuses this client. Check {setting} and the key, if there is one."
    if error.stage in _OF_STAGE:
        return _OF_STAGE[error.stage].format(setting=setting)
    return f"Wait, and check the upstream's status page. {setting} holds its address."
