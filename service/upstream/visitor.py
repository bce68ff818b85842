"""A polite visitor of the public web: whatever URL an operator, or a feed, names; slowly, as hosts ask, and not inside.

Where `UpstreamSession` speaks to a partner it knows, this one goes to strangers: it heeds their robots.txt, comes to a
host once in two seconds, asks only for what has changed, and connects to public addresses alone.
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
from service.upstream.body import BodyError, read_body, read_start
from service.upstream.failure import UpstreamError
from service.upstream.guard import open_public
from service.upstream.http_date import parse_http_date
from service.upstream.reasons import Stage, reason_of
from service.upstream.retry_after import asked_pause
from service.upstream.robots import EVERYTHING, LARGEST, PRODUCT, Robots, read_robots

DEADLINE_S: Final = 20.0
"""Seconds for one answer; a redirect begins anew."""

PACE_S: Final = 2.0
"""Seconds between two requests to a host."""

RULES_S: Final = 86_400.0
"""How long a robots.txt is believed (RFC 9309 §2.4)."""

MOST_REDIRECTS: Final = 3
MOST_REDIRECTS_TO_RULES: Final = 5
"""RFC 9309 §2.3.1.2."""

LONGEST_URL: Final = 2_000
MOST_HOSTS: Final = 256
"""Hosts that are remembered: those visited last."""

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
    """The host's robots.txt keeps us out; nothing was asked for."""


class Validators(Struct, frozen=True):
    """What a host called the version that it sent (RFC 9110 §8.8), to be asked with for a newer one."""

    etag: str | None = None
    last_modified: str | None = None


UNSEEN: Final = Validators()
"""Of what was never fetched."""


class Visit(Struct, frozen=True):
    """What a visit brought.

    Attributes:
        body: Null where it has not changed since the version that was asked with.
        content_type: As declared, if it is.
        validators: Of the version that stands there now.
        date_ms: The host's own clock, ours where it sent none; never after ours.
    """

    body: bytes | None
    content_type: str | None
    validators: Validators
    date_ms: int


class _Request(NamedTuple):
    """What is sent: a posted body or none, headers, the most bytes taken; whether nothing need be there."""

    body: bytes | None
    headers: Mapping[str, str]
    most: int
    may_lack: bool = False


class _Host:
    """What is remembered of a host: when it may be asked again (monotonic), and what it asks of visitors."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.reading = asyncio.Lock()
        self.free_s = 0.0
        self.rules: Robots | None = None
        self.rules_until_s = 0.0


class Visitor:
    """Visits URLs; opened by `open_visitor`.

    Attributes:
        calls: Requests sent.
        failures: Visits that brought nothing that can be used.
    """

    def __init__(self, http: aiohttp.ClientSession, clock: Clock, replay: str | None) -> None:
        self.calls = self.failures = 0
        self._http = http
        self._clock = clock
        self._replay = replay
        self._pace_s = PACE_S if replay is None else 0.0
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    async def get(
        self, url: str, most: int, *, accept: str = _ANYTHING, known: Validators = UNSEEN, heeding: bool = True
    ) -> Visit:
        """Fetch what stands at a URL, following three redirects at the most.

        Args:
            url: `http` or `https`, without user and password.
            most: The most bytes taken, before and after unpacking.
            accept: Media types that are wanted.
            known: The version that is known; where it still stands, the visit has no body.
            heeding: Whether robots.txt is asked first. Not where the operator has said in so many words that this
                host is to be read.

        Raises:
            BlockedError: If robots.txt keeps us out of it, or of where it leads to.
            UpstreamError: If there is no answer that can be used.
        """
        headers = {"Accept": accept}
        if known.etag is not None:
            headers["If-None-Match"] = known.etag
        if known.last_modified is not None:
            headers["If-Modified-Since"] = known.last_modified
        return await self._walk(self._address(url), _Request(None, headers, most), MOST_REDIRECTS, heeding=heeding)

    async def post_json(self, url: str, payload: object, most: int) -> Visit:
        """Post JSON to an API that the operator has said is to be asked; no redirect is followed.

        Raises:
            UpstreamError: If there is no answer that can be used.
        """
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return await self._walk(self._address(url), _Request(_encode(payload), headers, most), 0, heeding=False)

    async def _walk(self, at: URL, request: _Request, redirects: int, *, heeding: bool) -> Visit:
        to = at
        for _ in range(redirects + 1):
            if heeding:
                await self._heed(to)
            found = await self._ask(to, request)
            if isinstance(found, Visit):
                return found
            to = self._address(found)
        raise self._failed(at, None, f"more than {redirects} redirects".encode())

    async def _heed(self, at: URL) -> None:
        host = self._host(at)
        async with host.reading:
            if host.rules is None or self._clock.monotonic() >= host.rules_until_s:
                await self._read_rules(at, host)
        rules = host.rules or EVERYTHING
        # A stranger's rules, tens of thousands of them if he likes: in a thread they hold up nobody.
        if not await asyncio.to_thread(rules.allow, at.raw_path_qs):
            raise BlockedError(_name(at), None, b"its robots.txt keeps programs out")

    async def _read_rules(self, at: URL, host: _Host) -> None:
        """Read robots.txt; where there is none all is allowed, where it cannot be had nothing but by an older one."""
        wanted = _Request(None, {"Accept": "text/plain"}, LARGEST, may_lack=True)
        try:
            visit = await self._walk(at.origin() / "robots.txt", wanted, MOST_REDIRECTS_TO_RULES, heeding=False)
        except UpstreamError:
            if host.rules is None:
                raise
        else:
            host.rules = await asyncio.to_thread(read_robots, (visit.body or b"").decode("utf-8", "replace"))
        host.rules_until_s = self._clock.monotonic() + RULES_S

    async def _ask(self, at: URL, request: _Request) -> Visit | str:
        """Send it when it is its turn: what came of it, or where else it is."""
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

    async def _read(self, at: URL, host: _Host, response: aiohttp.ClientResponse, request: _Request) -> Visit | str:
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
        return Visit(
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
        # What it means is for who asked to say: one dead link of a stranger's is nothing to wake an operator for.
        _log.info("a visit failed", extra={"upstream": error.upstream, "status": status, "body": error.body[:200]})
        return error


def _is_absent(status: int) -> bool:
    """Whether a host says that there is nothing of the kind, rather than that it cannot say now (RFC 9309 §2.3.1.3)."""
    return (
        HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.TOO_MANY_REQUESTS
    )


def _name(at: URL) -> str:
    return at.raw_host or "a link"


def _header(response: aiohttp.ClientResponse, name: str) -> str | None:
    """A header that can be kept: bytes that are no ASCII would come as lone surrogates, which no store takes."""
    value = response.headers.get(name)
    return value if value and value.isascii() and len(value) <= _LONGEST_HEADER else None


@asynccontextmanager
async def open_visitor(clock: Clock, replay: str | None = None) -> AsyncIterator[Visitor]:
    """Open a visitor and close it with what is under way.

    Args:
        clock: Pace, pauses, and the time of answers without a `Date`.
        replay: Where every URL is found instead, as `{replay}/HOST/PATH`, redirects and robots.txt too: nothing else is
            asked then, and at no pace. Null for the web itself.
    """
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_CONNECTIONS, socket_factory=open_public if replay is None else None),
        timeout=aiohttp.ClientTimeout(total=None),  # each request has its own deadline
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as http:
        yield Visitor(http, clock, replay)
