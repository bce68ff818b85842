"""HTTP client without retries, for calls that move money: the caller decides whether to send again."""

import asyncio
import logging
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, Literal, NoReturn

import aiohttp
from msgspec import Struct
from yarl import URL

from service import __version__
from service.proxies import proxy_address
from service.upstream.failures import FailureReason, UpstreamError, entrust, reason_of
from service.upstream.responses import BodyError, read_body

_KEPT_OPEN_S: Final = 4.0
"""Idle time of a connection. Node's servers close after five seconds; a request on a closing connection has an unknown
outcome, so this is shorter."""

_CONNECTIONS: Final = 100
_HEADERS: Final = {
    "User-Agent": f"verdict/{__version__}",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
}
_JSON_BODY: Final = {"Content-Type": "application/json"}
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_log: Final = logging.getLogger("verdict.upstream")


class Reply(Struct, frozen=True):
    """An HTTP status (3xx too: redirects are not followed) and the whole body."""

    status: int
    body: bytes


class HttpClient:
    """Sends single requests to one host; opened by `open_http_client`.

    No retry, no circuit breaker, no decoding: the caller interprets status and body.

    Attributes:
        name: What errors and logs call it.
    """

    def __init__(self, http: aiohttp.ClientSession, name: str, url: str, deadline_s: float, most: int) -> None:
        self.name = name
        self._http = http
        self._url = url.rstrip("/")
        self._deadline_s = deadline_s
        self._most = most

    async def post(self, target: str, body: bytes, headers: Mapping[str, str] = _NOTHING) -> Reply:
        """Send JSON once and read the whole answer.

        Args:
            target: Below the base URL (`/settle`); empty for the URL itself.
            body: JSON.
            headers: For this request only (a bearer token).

        Raises:
            UpstreamError: If there is no complete answer: no connection, a broken one, late, or too large. The
                request may have arrived anyway.
        """
        return await self._ask("POST", target, body, {**_JSON_BODY, **headers})

    async def get(self, target: str, headers: Mapping[str, str] = _NOTHING) -> Reply:
        """Send a GET request; otherwise as `post`.

        Raises:
            UpstreamError: If there is no complete answer.
        """
        return await self._ask("GET", target, None, headers)

    async def _ask(
        self, method: Literal["GET", "POST"], target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Reply:
        url = URL(self._url + target, encoded=True)
        try:
            async with (
                asyncio.timeout(self._deadline_s),
                self._http.request(method, url, data=body, headers=headers, allow_redirects=False) as response,
            ):
                return Reply(response.status, await read_body(response, self._most))
        except TimeoutError:
            self._fail(FailureReason("connect", f"no answer within {self._deadline_s:g} s"))
        except BodyError as error:
            self._fail(FailureReason("http", str(error)))
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            self._fail(reason_of(error))

    def _fail(self, reason: FailureReason) -> NoReturn:
        error = UpstreamError(self.name, None, reason.text.encode(), stage=reason.stage)
        _log.warning("An upstream request failed.", extra={"upstream": self.name, "status": None, "body": error.body})
        raise error


@asynccontextmanager
async def open_http_client(name: str, url: str, *, deadline_s: float, most: int) -> AsyncIterator[HttpClient]:
    """Open a client for one host and close it with its connections.

    Args:
        name: Its name in errors and logs (`facilitator`).
        url: Scheme and host, perhaps a base path. It may hold a key: it never reaches an error or a log.
        deadline_s: Seconds from sending the request to the last byte of the answer.
        most: Bytes taken of an answer, before and after decompression.
    """
    entrust(url)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=_KEPT_OPEN_S),
        timeout=aiohttp.ClientTimeout(total=None),  # each request has its own deadline
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        proxy=proxy_address(url),
    ) as http:
        yield HttpClient(http, name, url, deadline_s, most)
