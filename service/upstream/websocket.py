"""The one WebSocket session to an upstream: subscribed, pinged, bounded, and connected again when it breaks."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import msgspec

from service import __version__
from service.clock import Clock
from service.proxies import proxy_address
from service.upstream.failures import FailureReason, Outage, UpstreamError, reason_of, redact

PING_S: Final = 30.0
"""Seconds between pings; a socket that gave no frame at all between two of them is given up."""

CONNECT_S: Final = 10.0
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
LARGEST_FRAME: Final = 4 * 1024 * 1024
_CLOSE_S: Final = 2.0
_OFFERED_WINDOW: Final = 15
"""Compression (RFC 7692) is offered with the largest window; a server that has none answers without."""

_ENDED: Final = FailureReason("http", "connection closed before the first frame")
_PING: Final = '{"method":"ping"}'
_OWN_CHANNELS: Final = frozenset({"pong", "subscriptionResponse"})
_log: Final = logging.getLogger("verdict.upstream")


class Frame(msgspec.Struct, frozen=True):
    """One decoded frame. `at_ms` is our clock: frames carry no time of their own. `value` is what its decoder makes."""

    channel: str
    value: Any
    at_ms: int


class _Envelope(msgspec.Struct, frozen=True):
    channel: str
    data: msgspec.Raw = msgspec.Raw(b"null")


_envelopes: Final = msgspec.json.Decoder(_Envelope)
_encode: Final = msgspec.json.Encoder().encode


class UpstreamSocket:
    """A session to one upstream; opened by `open_socket`.

    Attributes:
        name: The upstream's name in logs.
        connected: Whether a subscribed connection stands at this moment.
        compressed: Whether the server agreed to compress frames on the newest connection (permessage-deflate).
        connections: How many times one was made.
        malformed: How many frames were skipped because they could not be read.
    """

    def __init__(
        self,
        http: aiohttp.ClientSession,
        name: str,
        url: str,
        clock: Clock,
        subscriptions: Sequence[Mapping[str, object]],
        decoders: Mapping[str, msgspec.json.Decoder[Any]],
    ) -> None:
        self.name = name
        self.connected = self.compressed = False
        self.connections = 0
        self.malformed = 0
        self._http = http
        # A proxy is asked for http:// targets; aiohttp would name ws:// ones.
        self._url = f"http{url.removeprefix('ws')}" if url.startswith("ws") else url
        self._clock = clock
        self._subscriptions = [
            _encode({"method": "subscribe", "subscription": each}).decode() for each in subscriptions
        ]
        self._decoders = decoders
        self._pause_s = FIRST_PAUSE_S
        self._frames = 0
        self._outage = Outage(name, "feed")

    async def listen(self, hear: Callable[[Frame], None]) -> None:
        """Hand on every frame of a channel that has a decoder; never returns, connects again after every break.

        Pauses double from one second to sixty, and start over with the first frame that can be read. There is no
        jitter: we are one client.

        Args:
            hear: Called on the event loop; must not raise and must not wait.
        """
        while True:
            try:
                await self._converse(hear)
            except TimeoutError:
                self._outage.failed(f"no connection within {CONNECT_S:g} s")
            except (aiohttp.ClientError, OSError) as error:
                self._outage.failed(reason_of(error).text)
            await self._clock.sleep(self._pause_s)
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    async def first(self) -> Frame:
        """Connect once, and return the first frame of a channel that has a decoder.

        Raises:
            UpstreamError: If there is no connection, or it ends before that.
        """
        heard: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()

        def hear(frame: Frame) -> None:
            if not heard.done():
                heard.set_result(frame)

        conversing = asyncio.create_task(self._converse(hear))
        try:
            await asyncio.wait((conversing, heard), return_when=asyncio.FIRST_COMPLETED)
            if heard.done():
                return heard.result()
        finally:
            conversing.cancel()
            (ended,) = await asyncio.gather(conversing, return_exceptions=True)
        reason = reason_of(ended) if isinstance(ended, Exception) else _ENDED
        raise UpstreamError(self.name, None, reason.text.encode(), stage=reason.stage)

    async def _converse(self, hear: Callable[[Frame], None]) -> None:
        async with asyncio.timeout(CONNECT_S):
            socket = await self._http.ws_connect(
                self._url,
                max_msg_size=LARGEST_FRAME,
                timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_S),
                compress=_OFFERED_WINDOW,
            )
        self.compressed = socket.compress > 0
        self.connected = True
        self.connections += 1
        self._frames = 0
        pinging = asyncio.create_task(self._ping(socket))
        try:
            for subscription in self._subscriptions:
                await socket.send_str(subscription)
            async for message in socket:
                self._frames += 1
                self._take(message, hear)
        finally:
            self.connected = False
            pinging.cancel()
            await asyncio.gather(pinging, return_exceptions=True)
            await socket.close()

    async def _ping(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        before = 0
        await self._clock.sleep(PING_S)
        while self._frames != before:
            before = self._frames
            await socket.send_str(_PING)
            await self._clock.sleep(PING_S)
        await socket.close()

    def _take(self, message: aiohttp.WSMessage, hear: Callable[[Frame], None]) -> None:
        """Hand on one frame; the first may be a greeting in plain text, which is ignored."""
        try:
            if message.type is not aiohttp.WSMsgType.TEXT:
                raise msgspec.DecodeError("not a text frame")
            frame = _envelopes.decode(message.data)
            decoder = self._decoders.get(frame.channel)
            value = decoder.decode(frame.data) if decoder else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self.malformed += self._frames > 1
            return
        if decoder:
            self._pause_s = FIRST_PAUSE_S
            self._outage.answered()
            hear(Frame(frame.channel, value, self._clock.now_ms()))
        elif frame.channel not in _OWN_CHANNELS:
            said = redact(bytes(frame.data))[:200]
            _log.warning(
                "The upstream sent an unexpected frame.",
                extra={"upstream": self.name, "channel": frame.channel[:40], "body": said},
            )


async def _refuse_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """`ws_connect` follows redirects and has no switch for it."""
    response = await handler(request)
    if HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST:
        response.close()
        raise aiohttp.ClientConnectionError("redirected")
    return response


@asynccontextmanager
async def open_socket(
    name: str,
    url: str,
    clock: Clock,
    subscriptions: Sequence[Mapping[str, object]],
    decoders: Mapping[str, msgspec.json.Decoder[Any]],
) -> AsyncIterator[UpstreamSocket]:
    """Open a session; nothing is connected before `listen` runs.

    Args:
        name: The upstream's name (`hyperliquid`).
        url: `wss://…/ws`; `http(s)` is taken too.
        clock: Time of pings, pauses and frames.
        subscriptions: What to subscribe to on every connection (`{"type": "allMids"}`).
        decoders: Channel → decoder of its `data`. Frames of other channels are logged and dropped.
    """
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=None),
        headers={"User-Agent": f"verdict/{__version__}"},
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(_refuse_redirects,),
        proxy=proxy_address(url),
    ) as http:
        yield UpstreamSocket(http, name, url, clock, subscriptions, decoders)
