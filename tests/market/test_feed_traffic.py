"""What the feed weighs: of the main market alone, compressed where the server agrees; by a recorded frame."""

import json
import zlib

import pytest
from aiohttp import web

from service.market.sources.hyperliquid import FEED_DECODERS, FEED_SUBSCRIPTIONS
from service.upstream.websocket import open_socket
from tests.fakes.clock import FakeClock
from tests.market.recordings import DATA, needs_recordings
from tests.upstream.conftest import listening

RECORDED = "hyperliquid-nautilus/ws_all_dexs_asset_ctxs.json"


def packed(frame: bytes) -> int:
    """Bytes of a frame under permessage-deflate (RFC 7692), the first one of a connection."""
    packer = zlib.compressobj(wbits=-15)
    return len(packer.compress(frame) + packer.flush(zlib.Z_SYNC_FLUSH))


@needs_recordings
@pytest.mark.promise("feed.traffic")
def test_a_recorded_frame_of_the_main_market_has_54_kilobytes_and_11_compressed() -> None:
    whole = json.loads((DATA / "wire" / RECORDED).read_text())
    (contexts,) = (rows for dex, rows in whole["data"]["ctxs"] if dex == "")
    ours = {"channel": "assetCtxs", "data": {"dex": "", "ctxs": contexts}}
    all_of_them, main = (json.dumps(frame, separators=(",", ":")).encode() for frame in (whole, ours))
    assert (len(all_of_them), len(main)) == (95_879, 53_826)
    assert packed(main) < 0.25 * len(main)
    assert packed(all_of_them) < 0.25 * len(all_of_them)


@pytest.mark.promise("feed.traffic")
@pytest.mark.parametrize("agrees", [True, False])
async def test_compression_is_asked_for_and_a_server_without_it_is_read_all_the_same(agrees: bool) -> None:
    offers: list[str] = []

    async def serve(request: web.Request) -> web.WebSocketResponse:
        offers.append(request.headers.get("Sec-WebSocket-Extensions", ""))
        socket = web.WebSocketResponse(compress=agrees)
        await socket.prepare(request)
        await socket.receive()
        for _ in range(2):
            await socket.send_str('{"channel":"assetCtxs","data":{"dex":"","ctxs":[]}}')
        await socket.close()
        return socket

    app = web.Application()
    app.router.add_get("/ws", serve)
    async with (
        listening(app) as url,
        open_socket("hyperliquid", f"{url}/ws", FakeClock(), FEED_SUBSCRIPTIONS, FEED_DECODERS) as socket,
    ):
        assert (await socket.first()).channel == "assetCtxs"
        assert socket.compressed is agrees
    assert offers[0].startswith("permessage-deflate")
