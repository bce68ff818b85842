"""The one HTTP session to an upstream: bounded in time, size, weight and retries, and never led to another site."""

import asyncio
import logging
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, NoReturn, Protocol, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from service import __version__
from service.clock import Clock
from service.feeds.dates import parse_http_date
from service.proxies import proxy_address
from service.upstream.budget import Breaker, RetryBudget, WeightBudget
from service.upstream.failures import Outage, Stage, UpstreamError, entrust, reason_of, refused_by_proxy
from service.upstream.redirects import PERMANENT, STATUSES, RedirectRefusedError, Redirects
from service.upstream.responses import BodyError, asked_pause, read_body, read_start
from service.upstream.ssrf_guard import open_public

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

DEADLINE_S: Final = 10.0
LARGEST_BODY: Final = 4 * 1024 * 1024
_START_OF_FAILURE: Final = 16_384
_CONNECTIONS: Final = 8
_HEADERS: Final = {
    "User-Agent": f"verdict/{__version__}",
    "Accept-Encoding": "gzip",
}
_JSON_BODY: Final = {"Content-Type": "application/json"}
_OF_ALL: Final = frozenset({401, 403, 407, 418, 429, 451})
"""Refusals that concern every request, not the one that was made: a bad key, a block, a ban, too many requests."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_encode: Final = msgspec.json.Encoder().encode
_log: Final = logging.getLogger("verdict.upstream")


def _without_nul(answer: bytes) -> bytes:
    """An answer in which U+0000, escaped as JSON does, is U+FFFD: not every store takes it, in a name or anywhere."""
    if b"\\u0000" not in answer:
        return answer
    return b"\\\\".join(part.replace(b"\\u0000", b"\\ufffd") for part in answer.split(b"\\\\"))


class Decoder(Protocol[T_co]):
    """Reads an answer: msgspec's own decoders, or one of another format."""

    def decode(self, body: bytes, /) -> T_co:
        """Read it whole.

        Raises:
            MsgspecError: If it is not what was asked for.
            ValueError: The same.
        """


class _Question(NamedTuple):
    """What is sent: a path with its query below the session's URL, and a body where it is posted."""

    target: str
    body: bytes | None
    weight: int


class Fetched(msgspec.Struct, Generic[T], frozen=True):
    """A decoded answer. `date_ms` is the upstream's own clock (`Date`, whole seconds), ours where it sent none."""

    value: T
    date_ms: int


class Head(NamedTuple):
    """Status and headers of an answer, and when it came by our clock."""

    status: int
    headers: Mapping[str, str]
    at_ms: int


class UpstreamSession:
    """A session to one upstream; opened by `open_session`.

    Attributes:
        name: The upstream's name in errors and logs.
        last: The head of the newest answer; null before the first.
        calls_per_month: What the upstream allows in a month; null: it has no such limit. Who asks keeps to it.
        calls: Requests sent.
        failures: Times that there was no usable answer.
        weight: Spent of the upstream's budget.
    """

    def __init__(
        self,
        http: aiohttp.ClientSession,
        name: str,
        url: str,
        clock: Clock,
        *,
        weight_per_minute: int,
        deadline_s: float,
        elsewhere: aiohttp.ClientSession | None = None,
        calls_per_month: int | None = None,
    ) -> None:
        self.name = name
        self.calls_per_month = calls_per_month
        self.last: Head | None = None
        self.calls = self.failures = self.weight = 0
        self._http = http
        self._url = url.rstrip("/")
        self._clock = clock
        self._deadline_s = deadline_s
        self._weight = WeightBudget(clock, weight_per_minute)
        self._retries = RetryBudget()
        self._breaker = Breaker(clock)
        self._elsewhere = elsewhere
        self._redirects = Redirects(URL(url))
        self._outage = Outage(name)
        self._last_status: int | None = None
        self._last_stage: Stage = "http"
        self._flights: dict[tuple[_Question, int], asyncio.Task[Fetched[Any]]] = {}

    async def get(
        self, path: str, *, weight: int, decoder: Decoder[T], query: Mapping[str, str] = _NOTHING
    ) -> Fetched[T]:
        """Ask by GET; else as `post_json`.

        Args:
            path: Below the session's URL (`/coins/markets`).
            weight: What the upstream charges for it.
            decoder: Of the answer's type; kept by the caller, one for each type.
            query: Parameters, in this order.

        Raises:
            UpstreamError: If there is no usable answer.
        """
        target = f"{path}?{urlencode(query)}" if query else path
        return await self._ask(_Question(target, None, weight), decoder)

    async def post_json(self, path: str, payload: object, *, weight: int, decoder: Decoder[T]) -> Fetched[T]:
        """Ask, and decode the answer into its type.

        Calls that ask the same at the same time share one request and one value, so values should be immutable.
        Waits for its share of the weight budget; the deadline runs from then on and holds for the retry too.

        Args:
            path: Below the session's URL (`/info`).
            payload: What to send, JSON-ready.
            weight: What the venue charges for it.
            decoder: Of the answer's type; kept by the caller, one for each type.

        Raises:
            UpstreamError: If there is no usable answer: refused, broken, late, too large, malformed, or not asked for
                because it is down or asked for a pause.
        """
        return await self._ask(_Question(path, _encode(payload), weight), decoder)

    async def _ask(self, question: _Question, decoder: Decoder[T]) -> Fetched[T]:
        key = (question, id(decoder))
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._fly(question, decoder))
            self._flights[key] = flight
            flight.add_done_callback(lambda done: self._land(key, done))
        # Shielded: a caller that gives up must not take the answer from the others.
        fetched: Fetched[T] = await asyncio.shield(flight)
        return fetched

    def wait_s(self, weight: int, others_per_second: float) -> float:
        """Estimate of the seconds until so much weight has been asked for: the budget's pace, and pauses asked for.

        Args:
            weight: In the venue's own weights.
            others_per_second: Weight that other calls spend meanwhile.
        """
        return max(self._breaker.wait_s(), self._weight.wait_s(weight, others_per_second))

    async def close(self) -> None:
        """End the requests under way."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    def _land(self, key: tuple[_Question, int], flight: asyncio.Task[Fetched[Any]]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # Retrieved here: all who waited may have given up.

    async def _fly(self, question: _Question, decoder: Decoder[T]) -> Fetched[T]:
        self._hold()
        await self._weight.take(question.weight)
        self.weight += question.weight
        self._hold()
        self._breaker.enter()
        self._retries.deposit()
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._try_twice(question, decoder)
        except TimeoutError:
            self._breaker.failed()
            self._fail(None, f"no answer within {self._deadline_s:g} s".encode(), stage="connect")

    async def _try_twice(self, question: _Question, decoder: Decoder[T]) -> Fetched[T]:
        try:
            return await self._try(question, decoder)
        except UpstreamError as error:
            again = error.code != "UPSTREAM_4XX" and not self._breaker.wait_s()
            if not again or not self._retries.withdraw() or not self._weight.take_now(question.weight):
                raise
        self.weight += question.weight
        return await self._try(question, decoder)

    async def _try(self, question: _Question, decoder: Decoder[T]) -> Fetched[T]:
        self.calls += 1
        try:
            async with self._send(question) as response:
                self.last = Head(response.status, response.headers, self._clock.now_ms())
                if response.status != HTTPStatus.OK:
                    await self._refused(response)
                answer = await read_body(response, LARGEST_BODY)
        except BodyError as error:
            self._breaker.failed()
            self._fail(HTTPStatus.OK, str(error).encode())
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            self._breaker.failed()
            reason = reason_of(error)
            self._fail(None, reason.text.encode(), stage=reason.stage)
        try:
            value = decoder.decode(_without_nul(answer))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self._breaker.failed()
            self._fail(HTTPStatus.OK, answer[:_START_OF_FAILURE], stage="decode")
        self._breaker.succeeded()
        self._outage.answered()
        date_ms = parse_http_date(response.headers.get("Date", ""))
        return Fetched(value, self._clock.now_ms() if date_ms is None else date_ms)

    @asynccontextmanager
    async def _send(self, question: _Question) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send it, and follow redirects where the session does that (a feed's, by GET)."""
        moved = self._redirects.take(question.target)
        # Encoded already: what was quoted must not be quoted again.
        visited = [moved or URL(self._url + question.target, encoded=True)]
        permanent = True
        while True:
            url = visited[-1]
            http = self._http if self._elsewhere is None or self._redirects.is_own(url) else self._elsewhere
            method, headers = ("GET", None) if question.body is None else ("POST", _JSON_BODY)
            async with http.request(
                method, url, data=question.body, headers=headers, allow_redirects=False
            ) as response:
                if self._elsewhere is None or response.status not in STATUSES:
                    if response.status == HTTPStatus.OK and permanent and (moved or len(visited) > 1):
                        self._redirects.remember(question.target, url)
                    yield response
                    return
                try:
                    visited.append(self._redirects.next(visited, response))
                except RedirectRefusedError as refusal:
                    self._breaker.failed()
                    self._fail(response.status, str(refusal).encode())
                permanent = permanent and response.status in PERMANENT

    async def _refused(self, response: aiohttp.ClientResponse) -> NoReturn:
        pause_s = asked_pause(response, self._clock)
        if pause_s:
            self._breaker.pause(pause_s)
        if response.status < HTTPStatus.BAD_REQUEST or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        if response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            reason = refused_by_proxy(self._url, response.status)
            self._fail(response.status, reason.text.encode(), stage=reason.stage)
        self._fail(response.status, await read_start(response, _START_OF_FAILURE), pause_s)

    def _hold(self) -> None:
        wait_s = self._breaker.wait_s()
        if wait_s:
            why = f"{self._outage.reason}; " if self._outage.reason else ""
            said = f"{why}not asked again for {wait_s:.0f} s".encode()
            raise UpstreamError(self.name, self._last_status, said, retry_after_s=wait_s, stage=self._last_stage)

    def _fail(
        self, status: int | None, body: bytes, retry_after_s: float | None = None, *, stage: Stage = "http"
    ) -> NoReturn:
        self.failures += 1
        self._last_status, self._last_stage = status, stage
        error = UpstreamError(self.name, status, body, retry_after_s=retry_after_s, stage=stage)
        if status is None:
            self._outage.failed(error.body)
        elif error.code == "UPSTREAM_4XX" and status not in _OF_ALL:
            _log.info(
                "The upstream refused a request.",
                extra={"upstream": self.name, "status": status, "body": error.body[:200]},
            )
        else:
            why = f"status {status}, not the expected format" if stage == "decode" else f"status {status}"
            self._outage.failed(why, status=status, body=error.body)
        raise error


@asynccontextmanager
async def open_session(
    name: str,
    url: str,
    clock: Clock,
    *,
    weight_per_minute: int,
    deadline_s: float = DEADLINE_S,
    headers: Mapping[str, str] = _NOTHING,
    follows: bool = False,
    calls_per_month: int | None = None,
) -> AsyncIterator[UpstreamSession]:
    """Open a session to one upstream and close it with everything that is under way.

    Args:
        name: The upstream's name (`hyperliquid`).
        url: Scheme and host, perhaps a base path.
        clock: Time of the budgets and of answers without a `Date`.
        weight_per_minute: The venue's published budget; 80 % of it are used at most.
        deadline_s: Seconds for a whole call, the retry included.
        headers: Sent with every request (an API key). They never reach an error, a log, or a redirect's target on
            another host.
        calls_per_month: As the session's attribute.
        follows: Whether up to three redirects on the upstream's own site are followed, as `Redirects` says.
    """
    entrust(url, *headers.values())
    async with AsyncExitStack() as stack:
        own = aiohttp.TCPConnector(limit=_CONNECTIONS)
        http = await stack.enter_async_context(_client({**_HEADERS, **headers}, own, proxy_address(url)))
        elsewhere = None
        if follows:
            public = aiohttp.TCPConnector(limit=_CONNECTIONS, socket_factory=open_public)
            elsewhere = await stack.enter_async_context(_client(_HEADERS, public, None))
        session = UpstreamSession(
            http,
            name,
            url,
            clock,
            weight_per_minute=weight_per_minute,
            deadline_s=deadline_s,
            elsewhere=elsewhere,
            calls_per_month=calls_per_month,
        )
        stack.push_async_callback(session.close)
        yield session


def _client(headers: Mapping[str, str], connector: aiohttp.TCPConnector, proxy: str | None) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None),  # each call has its own deadline
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        proxy=proxy,
    )
