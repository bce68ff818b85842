"""Fetches URLs that operators or feeds name, from hosts that are not trusted.

Obeys robots.txt, sends one request per host in two seconds, asks only for what has changed, and connects to public
addresses only.
"""

import asyncio
import logging
import zlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, NamedTuple

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from service import __version__
from service.clock import Clock
from service.feeds.dates import parse_http_date
from service.upstream.failures import Stage, UpstreamError, reason_of
from service.upstream.responses import BodyError, asked_pause, read_body, read_start
from service.upstream.robots import EVERYTHING, LARGEST, PRODUCT, Robots, read_robots
from service.upstream.ssrf_guard import open_public

DEADLINE_S: Final = 20.0
"""Seconds for one answer; each redirect has its own."""

PACE_S: Final = 2.0
"""Seconds between two requests to a host."""

RULES_S: Final = 86_400.0
"""How long a robots.txt is cached (RFC 9309 §2.4)."""

MOST_REDIRECTS: Final = 3
MOST_REDIRECTS_TO_RULES: Final = 5
"""RFC 9309 §2.3.1.2."""

LONGEST_URL: Final = 2_000
MOST_HOSTS: Final = 256
"""Hosts whose pace and rules are kept: the ones used last."""

_LONGEST_HEADER: Final = 500
_START_OF_FAILURE: Final = 16_384
_CONNECTIONS: Final = 8
_ANYTHING: Final = "*/*"
_HEADERS: Final = {"User-Agent": f"{PRODUCT}/{__version__}", "Accept-Encoding": "gzip"}
_CONDITIONS: Final = frozenset({"If-None-Match", "If-Modified-Since"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_encode: Final = msgspec.json.Encoder().encode
_log: Final = logging.getLogger("verdict.upstream")


class BlockedError(UpstreamError):
    """The host's robots.txt disallows the URL; it was not requested."""


class Validators(Struct, frozen=True):
    """Validators of a fetched version (RFC 9110 §8.8), sent to ask only for a newer one."""

    etag: str | None = None
    last_modified: str | None = None


UNSEEN: Final = Validators()
"""Validators of a URL that was never fetched."""


class FetchedPage(Struct, frozen=True):
    """A fetched URL.

    Attributes:
        body: Null if it has not changed since the known version.
        content_type: As declared, or null.
        validators: Of the current version.
        date_ms: The host's clock (`Date`), ours if it sent none; never later than ours.
    """

    body: bytes | None
    content_type: str | None
    validators: Validators
    date_ms: int


class _Request(NamedTuple):
    """What is sent, the largest body accepted, and whether a missing file is acceptable."""

    body: bytes | None
    headers: Mapping[str, str]
    most: int
    may_lack: bool = False


class _Host:
    """Pace (monotonic time of the next request) and robots rules of a host."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.reading = asyncio.Lock()
        self.free_s = 0.0
        self.rules: Robots | None = None
        self.rules_until_s = 0.0


class FeedFetcher:
    """Fetches URLs; opened by `open_feed_fetcher`.

    Attributes:
        calls: Requests sent.
        failures: Fetches without a usable answer.
    """

    def __init__(self, http: aiohttp.ClientSession, clock: Clock, replay: str | None) -> None:
        self.calls = self.failures = 0
        self._http = http
        self._clock = clock
        self._replay = replay
        self._pace_s = PACE_S if replay is None else 0.0
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    async def get(
        self, url: str, most: int, *, accept: str = _ANYTHING, known: Validators = UNSEEN, obey_robots: bool = True
    ) -> FetchedPage:
        """Fetch a URL, following at most three redirects.

        Args:
            url: `http` or `https`, without user and password.
            most: Largest body in bytes, before and after decompression.
            accept: Accepted media types.
            known: The known version; if it is current, the page has no body.
            obey_robots: Whether robots.txt is checked first. False only where the operator has chosen to read
                this host anyway.

        Raises:
            BlockedError: If robots.txt disallows the URL or a redirect's target.
            UpstreamError: If there is no usable answer.
        """
        headers = {"Accept": accept}
        if known.etag is not None:
            headers["If-None-Match"] = known.etag
        if known.last_modified is not None:
            headers["If-Modified-Since"] = known.last_modified
        return await self._follow(
            self._address(url), _Request(None, headers, most), MOST_REDIRECTS, obey_robots=obey_robots
        )

    async def post_json(self, url: str, payload: object, most: int) -> FetchedPage:
        """Post JSON to an API that the operator has enabled; redirects are not followed.

        Raises:
            UpstreamError: If there is no usable answer.
        """
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return await self._follow(self._address(url), _Request(_encode(payload), headers, most), 0, obey_robots=False)

    async def _follow(self, at: URL, request: _Request, redirects: int, *, obey_robots: bool) -> FetchedPage:
        to = at
        for _ in range(redirects + 1):
            if obey_robots:
                await self._check_robots(to)
            found = await self._ask(to, request)
            if isinstance(found, FetchedPage):
                return found
            to = self._address(found)
        raise self._failed(at, None, f"more than {redirects} redirects".encode())

    async def _check_robots(self, at: URL) -> None:
        host = self._host(at)
        async with host.reading:
            if host.rules is None or self._clock.monotonic() >= host.rules_until_s:
                await self._read_rules(at, host)
        rules = host.rules or EVERYTHING
        # An untrusted host may have tens of thousands of rules: match them in a thread.
        if not await asyncio.to_thread(rules.allow, at.raw_path_qs):
            raise BlockedError(_name(at), None, b"its robots.txt keeps programs out")

    async def _read_rules(self, at: URL, host: _Host) -> None:
        """Read robots.txt. A missing file allows all; an unreadable one leaves the older rules, or raises."""
        wanted = _Request(None, {"Accept": "text/plain"}, LARGEST, may_lack=True)
        try:
            visit = await self._follow(at.origin() / "robots.txt", wanted, MOST_REDIRECTS_TO_RULES, obey_robots=False)
        except UpstreamError:
            if host.rules is None:
                raise
        else:
            host.rules = await asyncio.to_thread(read_robots, (visit.body or b"").decode("utf-8", "replace"))
        host.rules_until_s = self._clock.monotonic() + RULES_S

    async def _ask(self, at: URL, request: _Request) -> FetchedPage | str:
        """Send a request at the host's pace: the page, or the URL it redirects to."""
        host = self._host(at)
        await self._wait(at, host)
        self.calls += 1
        try:
            async with asyncio.timeout(DEADLINE_S), self._send(at, request) as response:
                return await self._read(at, host, response, request)
        except TimeoutError as error:
            raise self._failed(at, None, f"no answer within {DEADLINE_S:g} s".encode(), stage="connect") from error
        except BodyError as error:
            raise self._failed(at, HTTPStatus.OK, str(error).encode()) from error
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            reason = reason_of(error)
            raise self._failed(at, None, reason.text.encode(), stage=reason.stage) from error

    def _send(self, at: URL, request: _Request) -> "aiohttp.client._RequestContextManager":
        method = "GET" if request.body is None else "POST"
        return self._http.request(
            method, self._locate(at), data=request.body, headers=request.headers, allow_redirects=False
        )

    def _locate(self, at: URL) -> URL:
        if self._replay is None:
            return at
        return URL(f"{self._replay}/{_name(at)}{at.raw_path_qs}", encoded=True)

    async def _read(
        self, at: URL, host: _Host, response: aiohttp.ClientResponse, request: _Request
    ) -> FetchedPage | str:
        pause_s = asked_pause(response, self._clock)
        if pause_s:
            host.free_s = max(host.free_s, self._clock.monotonic() + pause_s)
        if response.status in _REDIRECTS:
            return str(at.join(URL(response.headers.get("Location", ""))))
        body = None
        if response.status == HTTPStatus.OK:
            body = await read_body(response, request.most)
        elif request.may_lack and _is_absent(response.status):
            body = b""
        elif response.status != HTTPStatus.NOT_MODIFIED or request.headers.keys().isdisjoint(_CONDITIONS):
            raise self._failed(at, response.status, await read_start(response, _START_OF_FAILURE), pause_s)
        now_ms = self._clock.now_ms()
        date_ms = parse_http_date(response.headers.get("Date", ""))
        return FetchedPage(
            body=body,
            content_type=_header(response, "Content-Type"),
            validators=Validators(_header(response, "ETag"), _header(response, "Last-Modified")),
            date_ms=now_ms if date_ms is None else min(date_ms, now_ms),
        )

    async def _wait(self, at: URL, host: _Host) -> None:
        async with host.turn:
            wait_s = host.free_s - self._clock.monotonic()
            if wait_s > self._pace_s:
                said = f"not asked again for {wait_s:.0f} s".encode()
                raise UpstreamError(_name(at), None, said, retry_after_s=wait_s)
            if wait_s > 0:
                await self._clock.sleep(wait_s)
            host.free_s = self._clock.monotonic() + self._pace_s

    def _host(self, at: URL) -> _Host:
        key = str(at.origin())
        host = self._hosts.setdefault(key, _Host())
        self._hosts.move_to_end(key)
        if len(self._hosts) > MOST_HOSTS:
            self._hosts.popitem(last=False)
        return host

    def _address(self, url: str) -> URL:
        try:
            at = URL(url) if len(url) <= LONGEST_URL else URL()
        except ValueError:
            at = URL()
        if at.scheme not in {"http", "https"} or not at.raw_host or at.user is not None or at.password is not None:
            raise self._failed(URL(), None, b"not a URL that is visited")
        return at.with_fragment(None)

    def _failed(
        self, at: URL, status: int | None, body: bytes, retry_after_s: float | None = None, stage: Stage = "http"
    ) -> UpstreamError:
        self.failures += 1
        error = UpstreamError(_name(at), status, body, retry_after_s=retry_after_s, stage=stage)
        # Debug only: a dead link of a third party is normal, and the job that reads a feed logs that it fails.
        _log.debug("A fetch failed.", extra={"upstream": error.upstream, "status": status, "body": error.body[:200]})
        return error


def _is_absent(status: int) -> bool:
    """Whether a status means that the file does not exist (RFC 9309 §2.3.1.3)."""
    return (
        HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.TOO_MANY_REQUESTS
    )


def _name(at: URL) -> str:
    return at.raw_host or "a link"


def _header(response: aiohttp.ClientResponse, name: str) -> str | None:
    """A header that can be stored: other than ASCII would be lone surrogates, which databases refuse."""
    value = response.headers.get(name)
    return value if value and value.isascii() and len(value) <= _LONGEST_HEADER else None


@asynccontextmanager
async def open_feed_fetcher(clock: Clock, replay: str | None = None) -> AsyncIterator[FeedFetcher]:
    """Open a fetcher and close it with its requests.

    Args:
        clock: Pace, pauses, and the time of answers without a `Date`.
        replay: Base URL that serves every URL as `{replay}/HOST/PATH`, redirects and robots.txt too, without a pace.
            Null for the web itself.
    """
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_CONNECTIONS, socket_factory=open_public if replay is None else None),
        timeout=aiohttp.ClientTimeout(total=None),  # each request has its own deadline
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as http:
        yield FeedFetcher(http, clock, replay)
