"""Sends messages to URLs that users name: to public addresses, without redirects, reading the response's head only."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from yarl import URL

from service import __version__
from service.clock import Clock
from service.upstream.failures import reason_of
from service.upstream.responses import asked_pause
from service.upstream.ssrf_guard import open_public

DEADLINE_S: Final = 10.0
"""Seconds from the name lookup to the head of the response."""

_CONNECTIONS: Final = 64
_LOOKUPS: Final = 8
_HEADERS: Final = {"User-Agent": f"verdict/{__version__}", "Accept-Encoding": "identity"}


class PushResult(Struct, frozen=True):
    """How an attempt ended.

    Attributes:
        error: Null if the response was 2xx. Never text of the receiver's.
        retry_after_s: The pause that the receiver asked for, in seconds.
        gone: Whether the receiver wants no further messages (410).
    """

    error: str | None = None
    retry_after_s: float = 0.0
    gone: bool = False


class _ThreadResolver(AbstractResolver):
    """Looks names up on threads of its own, so that dead name servers of receivers delay no other lookup."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_LOOKUPS, "verdict-push-lookup")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        look_up = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(hostname=host, host=str(address[0]), port=port, family=kind, proto=protocol, flags=flags)
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class PushClient:
    """Sends messages; opened by `open_push_client`."""

    def __init__(self, http: aiohttp.ClientSession, clock: Clock) -> None:
        self._http = http
        self._clock = clock

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> PushResult:
        """Send a message once. Closing the response unread closes its connection, so no body is received."""
        try:
            async with (
                asyncio.timeout(DEADLINE_S),
                self._http.post(URL(url), data=body, headers=headers, allow_redirects=False) as response,
            ):
                if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
                    return PushResult()
                pause_s = asked_pause(response, self._clock) or 0.0
                gone = response.status == HTTPStatus.GONE
                return PushResult(f"The receiver answered {response.status}.", pause_s, gone)
        except TimeoutError:
            return PushResult(f"No answer within {DEADLINE_S:g} s.")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return PushResult(f"Connection failed: {reason_of(error).text}.")


@asynccontextmanager
async def open_push_client(clock: Clock, *, private: bool) -> AsyncIterator[PushClient]:
    """Open a client and close it with its connections.

    Args:
        clock: Reads dates of `Retry-After`.
        private: Whether addresses that are not public may be connected to.
    """
    resolver = _ThreadResolver()
    connector = aiohttp.TCPConnector(
        resolver=resolver,
        limit=_CONNECTIONS,
        force_close=True,
        socket_factory=None if private else open_public,
    )
    try:
        async with aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None),  # each message has its own deadline
            headers=_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        ) as http:
            yield PushClient(http, clock)
    finally:
        await resolver.close()
