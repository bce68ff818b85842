"""The venue's WebSocket: subscriptions in, frames out, silence punished."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, Literal

import msgspec
from aiohttp import WSMsgType, web

from service.clock import Clock
from service.upstream.replay.recording import MAIN_DEX
from service.upstream.replay.venue import Interval, RecordedHyperliquid, shifted

PUSH_S: Final = 5.0
"""Seconds between two frames of one subscription."""

SILENCE_S: Final = 60.0
"""A socket that has not sent anything for that long is closed."""

_LARGEST_MESSAGE: Final = 65_536
_GREETING: Final = "Websocket connection established."
_PONG: Final = '{"channel":"pong"}'


class AllMids(msgspec.Struct, frozen=True, tag_field="type", tag="allMids", omit_defaults=True):
    """Mid prices of every coin of a dex."""

    dex: str = MAIN_DEX


class AssetCtxs(msgspec.Struct, frozen=True, tag_field="type", tag="assetCtxs", omit_defaults=True):
    """Contexts of every coin of a dex."""

    dex: str = MAIN_DEX


class AllDexsAssetCtxs(msgspec.Struct, frozen=True, tag_field="type", tag="allDexsAssetCtxs"):
    """Contexts of every coin of every dex."""


class ActiveAssetCtx(msgspec.Struct, frozen=True, tag_field="type", tag="activeAssetCtx"):
    """The context of one coin."""

    coin: str


class CandleFeed(msgspec.Struct, frozen=True, tag_field="type", tag="candle"):
    """The open bar of one coin."""

    coin: str
    interval: Interval


Subscription = AllMids | AssetCtxs | AllDexsAssetCtxs | ActiveAssetCtx | CandleFeed
"""A subscription, tagged by `type`."""


class _Message(msgspec.Struct, frozen=True):
    method: Literal["subscribe", "unsubscribe", "ping"]
    subscription: Subscription | None = None


_messages: Final = msgspec.json.Decoder(_Message)

Now = Callable[[], tuple[int, int]]
"""Gives the instant in recorded time and the shift to present time, milliseconds."""


class Feed:
    """One client's socket.

    Args:
        venue: What is recorded.
        clock: Pace of the frames and of the silence allowed.
        now: Recorded time and shift.
    """

    def __init__(self, venue: RecordedHyperliquid, clock: Clock, now: Now) -> None:
        self._venue = venue
        self._clock = clock
        self._now = now
        self._socket = web.WebSocketResponse(max_msg_size=_LARGEST_MESSAGE)
        self._wanted: list[Subscription] = []
        self._heard_at = clock.monotonic()

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Speak with a client until it goes, is silent for too long, or the server stops."""
        await self._socket.prepare(request)
        await self._socket.send_str(_GREETING)
        pushing = asyncio.create_task(self._push())
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    self._heard_at = self._clock.monotonic()
                    await self._hear(message.data)
        finally:
            pushing.cancel()
            await asyncio.gather(pushing, return_exceptions=True)
        return self._socket

    async def close(self) -> None:
        """Hang up."""
        await self._socket.close()

    async def _hear(self, text: str) -> None:
        try:
            message = _messages.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            await self._send("error", f"Error parsing JSON into valid websocket request: {text[:200]}")
            return
        wanted = message.subscription
        if message.method == "ping":
            await self._socket.send_str(_PONG)
        elif wanted is None or not self._exists(wanted):
            await self._send("error", f"Invalid subscription {text[:200]}")
        elif (message.method == "subscribe") == (wanted in self._wanted):
            state = "Already subscribed" if message.method == "subscribe" else "Already unsubscribed"
            await self._send("error", f"{state}: {text[:200]}")
        else:
            await self._change(message.method, wanted)

    async def _change(self, method: str, wanted: Subscription) -> None:
        await self._send("subscriptionResponse", {"method": method, "subscription": wanted})
        if method == "subscribe":
            self._wanted.append(wanted)
            for channel, data in self._frames(wanted):
                await self._send(channel, data)
        else:
            self._wanted.remove(wanted)

    def _exists(self, wanted: Subscription) -> bool:
        if isinstance(wanted, ActiveAssetCtx | CandleFeed):
            return self._venue.tape.knows(wanted.coin)
        return isinstance(wanted, AllDexsAssetCtxs) or wanted.dex in self._venue.dexs

    async def _push(self) -> None:
        while self._clock.monotonic() - self._heard_at < SILENCE_S:
            await self._clock.sleep(PUSH_S)
            for wanted in tuple(self._wanted):
                for channel, data in self._frames(wanted):
                    await self._send(channel, data)
        await self.close()

    def _frames(self, wanted: Subscription) -> Iterator[tuple[str, object]]:
        at_ms, shift_ms = self._now()
        tape = self._venue.tape
        if isinstance(wanted, AllMids):
            yield "allMids", {"mids": self._venue.mids(wanted.dex, at_ms)}
        elif isinstance(wanted, AssetCtxs):
            yield "assetCtxs", {"dex": wanted.dex, "ctxs": self._venue.contexts(wanted.dex, at_ms)}
        elif isinstance(wanted, AllDexsAssetCtxs):
            yield "allDexsAssetCtxs", {"ctxs": [(dex, self._venue.contexts(dex, at_ms)) for dex in self._venue.dexs]}
        elif isinstance(wanted, ActiveAssetCtx):
            yield "activeAssetCtx", {"coin": wanted.coin, "ctx": tape.context(tape.asset(wanted.coin), at_ms)}
        else:
            for bar in tape.candles(wanted.coin, wanted.interval, at_ms, at_ms, at_ms):
                yield "candle", shifted(bar, shift_ms)

    async def _send(self, channel: str, data: object) -> None:
        # A client may be gone at any moment; that is its business, and reading from it ends the conversation.
        with suppress(ConnectionResetError):
            await self._socket.send_str(msgspec.json.encode({"channel": channel, "data": data}).decode())
