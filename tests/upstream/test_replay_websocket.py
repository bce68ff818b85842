"""The replay's WebSocket: the venue's own frames, pushed by the clock."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from service.upstream.replay.server import Replay, replay_server
from service.upstream.replay.websocket import PUSH_S, SILENCE_S
from tests.fakes.clock import FakeClock
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES
from tests.upstream.test_replay import SAMPLES, fields, needs_samples

GREETING = "Websocket connection established."


class Socket:
    """A bare client, so that what is seen is what was sent."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.raw = socket

    async def text(self) -> str:
        async with asyncio.timeout(20):
            return await self.raw.receive_str()

    async def frame(self) -> Any:
        return json.loads(await self.text())

    async def say(self, method: str, **subscription: object) -> Any:
        """Say it and take the next frame."""
        await self.raw.send_json(
            {"method": method, "subscription": subscription} if subscription else {"method": method}
        )
        return await self.frame()


@asynccontextmanager
async def connected(clock: FakeClock) -> AsyncIterator[tuple[Replay, Socket]]:
    async with (
        replay_server(FIXTURES, clock, "shifted") as replay,
        aiohttp.ClientSession() as http,
        http.ws_connect(replay.url + "/ws") as raw,
    ):
        socket = Socket(raw)
        assert await socket.text() == GREETING
        yield replay, socket


async def test_a_subscription_is_confirmed_and_answered_at_once(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        confirmed = await socket.say("subscribe", type="allMids")
        first = await socket.frame()
    assert confirmed == {
        "channel": "subscriptionResponse",
        "data": {"method": "subscribe", "subscription": {"type": "allMids"}},
    }
    assert first["channel"] == "allMids"
    assert len(first["data"]["mids"]) == 80


async def test_frames_follow_the_clock(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="candle", coin="BTC", interval="1h")
        before = (await socket.frame())["data"]
        await clock.advance(PUSH_S)
        after = (await socket.frame())["data"]
    assert (before["t"], before["s"], before["i"]) == (after["t"], "BTC", "1h")
    assert float(after["v"]) > float(before["v"])
    assert after["t"] <= clock.now_ms() <= after["T"]


async def test_a_coins_context_comes_with_its_name(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="activeAssetCtx", coin="kPEPE")
        frame = await socket.frame()
    assert frame["data"]["coin"] == "kPEPE"
    assert float(frame["data"]["ctx"]["markPx"]) > 0


async def test_the_contexts_of_every_coin_come_under_their_dex(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="allDexsAssetCtxs")
        contexts = dict((await socket.frame())["data"]["ctxs"])
    assert {dex: len(of_dex) for dex, of_dex in contexts.items()} == {"": 85, "xyz": 26}, "also of delisted coins"
    assert all(float(context["markPx"]) > 0 for of_dex in contexts.values() for context in of_dex)


async def test_one_dexs_contexts_and_mids_can_be_heard_alone(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        confirmed = await socket.say("subscribe", type="assetCtxs", dex="xyz")
        contexts = await socket.frame()
        await socket.say("subscribe", type="allMids", dex="xyz")
        mids = await socket.frame()
    assert confirmed["data"]["subscription"] == {"type": "assetCtxs", "dex": "xyz"}
    assert (contexts["channel"], contexts["data"]["dex"], len(contexts["data"]["ctxs"])) == ("assetCtxs", "xyz", 26)
    assert "xyz:AAPL" in mids["data"]["mids"]


async def test_a_builders_market_has_its_own_candles_and_context(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="candle", coin="xyz:NVDA", interval="1d")
        candle = await socket.frame()
        await socket.say("subscribe", type="activeAssetCtx", coin="xyz:NVDA")
        context = await socket.frame()
    assert candle["data"]["c"] == context["data"]["ctx"]["markPx"]


async def test_an_ended_subscription_is_silent(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="allMids")
        await socket.frame()
        ended = await socket.say("unsubscribe", type="allMids")
        await clock.advance(PUSH_S)
        assert await socket.say("ping") == {"channel": "pong"}
    assert ended["data"]["method"] == "unsubscribe"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("nonsense", "Error parsing JSON"),
        ('{"method":"dance"}', "Error parsing JSON"),
        ("[" * 50_000, "Error parsing JSON"),
        ('{"method":"subscribe"}', "Invalid subscription"),
        ('{"method":"subscribe","subscription":{"type":"activeAssetCtx","coin":"TSLA"}}', "Invalid subscription"),
        ('{"method":"subscribe","subscription":{"type":"assetCtxs","dex":"nope"}}', "Invalid subscription"),
        ('{"method":"unsubscribe","subscription":{"type":"allMids"}}', "Already unsubscribed"),
    ],
)
async def test_what_cannot_be_done_is_answered_on_the_error_channel(clock: FakeClock, said: str, answer: str) -> None:
    async with connected(clock) as (_, socket):
        await socket.raw.send_bytes(b"ignored")
        await socket.raw.send_str(said)
        frame = await socket.frame()
    assert frame["channel"] == "error"
    assert frame["data"].startswith(answer)


async def test_subscribing_twice_is_an_error(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="allMids")
        await socket.frame()
        assert (await socket.say("subscribe", type="allMids"))["data"].startswith("Already subscribed")


async def test_a_socket_silent_for_a_minute_is_closed(clock: FakeClock) -> None:
    async with connected(clock) as (_, socket):
        await clock.advance(SILENCE_S - PUSH_S)
        assert await socket.say("ping") == {"channel": "pong"}
        await clock.advance(SILENCE_S - PUSH_S)
        assert await socket.say("ping") == {"channel": "pong"}
        await clock.advance(SILENCE_S)
        async with asyncio.timeout(20):
            assert (await socket.raw.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_when_the_replay_ends_its_sockets_are_closed(clock: FakeClock) -> None:
    async with aiohttp.ClientSession() as http:
        async with replay_server(FIXTURES, clock, "shifted") as replay:
            raw = await http.ws_connect(replay.url + "/ws")
            assert await Socket(raw).text() == GREETING
            closing = asyncio.create_task(raw.receive())
            await clock.settle()
        async with asyncio.timeout(20):
            assert (await closing).type is aiohttp.WSMsgType.CLOSE


async def test_a_fault_can_stand_in_for_the_socket(clock: FakeClock) -> None:
    async with replay_server(FIXTURES, clock, "shifted") as replay, aiohttp.ClientSession() as http:
        replay.interceptor = put = faults.Faults()
        put.next = faults.answer(503)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(replay.url + "/ws")


@needs_samples
@pytest.mark.recorded
@pytest.mark.promise("fixtures.wire")
async def test_frames_have_the_fields_of_recorded_ones(clock: FakeClock) -> None:
    nautilus, net = SAMPLES / "hyperliquid-nautilus", SAMPLES / "hyperliquid-net"
    async with connected(clock) as (_, socket):
        await socket.say("subscribe", type="allDexsAssetCtxs")
        contexts = await socket.frame()
        await socket.say("subscribe", type="candle", coin="BTC", interval="1d")
        candle = await socket.frame()
    recorded = json.loads((nautilus / "ws_all_dexs_asset_ctxs.json").read_text())
    known = dict(recorded["data"]["ctxs"])
    for dex, of_dex in contexts["data"]["ctxs"]:
        assert fields(of_dex[:1]) == fields(known[dex][:1])
    assert contexts["data"]["ctxs"][0][0] == recorded["data"]["ctxs"][0][0]
    sample = (net / "Subscriptions-Klines.txt").read_text().partition("= \n")[2]
    assert fields(candle) == fields(json.loads(sample))
