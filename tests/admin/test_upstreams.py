"""`verdict admin doctor --upstreams`: every upstream asked once, and what is said of each that does not serve."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest
from aiohttp import web

from service.admin import upstreams
from service.clock import HOUR_MS, SECOND_MS, SystemClock
from service.upstream.replay.server import Replay, replay_server
from service.upstream.responses import http_date
from tests.admin.conftest import Admin
from tests.cli.commanding import Told
from tests.fakes.in_thread import in_thread
from tests.fakes.serving import live_at
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES

ENDPOINTS = 16
NODE = "node-1 eth_getLogs"
Rows = dict[str, Any]
Fault = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
Asked = Callable[..., tuple[Told, Rows]]


@pytest.fixture(scope="module")
def server() -> Iterator[Replay]:
    with in_thread(replay_server(FIXTURES, SystemClock(), "shifted")) as replay:
        yield replay


@pytest.fixture
def ask(admin: Admin, server: Replay) -> Iterator[Asked]:
    """Ask upstreams that fail: `ask({"/binance/": fault})`, by a part of their paths; settings as keywords."""

    def asked(of: Mapping[str, Fault] | None = None, **settings: str) -> tuple[Told, Rows]:
        async def stand_in(request: web.Request) -> web.StreamResponse | None:
            fault = next((fault for part, fault in (of or {}).items() if part in request.path), None)
            return None if fault is None else await fault(request)

        server.interceptor = stand_in
        live = {**live_at(server.url), "wallets_rpc": server.base("ethereum")}
        told = admin("doctor --upstreams --json", **{**live, **settings})
        return told, {row["endpoint"]: row for row in told.json["upstreams"]}

    yield asked
    server.interceptor = None


@pytest.mark.promise("doctor.upstreams")
def test_every_endpoint_of_a_live_service_is_asked_and_shown_in_80_columns(admin: Admin, server: Replay) -> None:
    told = admin("doctor --upstreams", **live_at(server.url), wallets_rpc=server.base("ethereum"))
    assert (told.code, told.err) == (0, ""), told.out
    lines = told.out.splitlines()
    assert sum(line.startswith("ok ") for line in lines) == ENDPOINTS
    assert lines[-1] == f"{ENDPOINTS} endpoints: {ENDPOINTS} ok, 0 warnings, 0 failed."
    assert max(map(len, lines)) <= 80


@pytest.mark.promise("doctor.upstreams")
def test_the_replay_of_fixtures_is_asked_like_live_upstreams_feeds_included(ask: Asked) -> None:
    told, rows = ask(source="fixtures", replay="frozen", youtube_captions="on")
    assert (told.code, told.json["ok"]) == (0, True)
    assert {row["state"] for row in rows.values()} == {"ok"}
    assert {"feed chain-reaction", NODE, "Hyperliquid WebSocket"} <= rows.keys()
    assert rows["Hyperliquid WebSocket"]["status"] is None
    quotes = rows["Hyperliquid metaAndAssetCtxs"]
    assert " ".join(quotes) == "endpoint state said stage status took_ms clock_ms limits remedy"
    assert (quotes["status"], quotes["clock_ms"], quotes["stage"], quotes["remedy"]) == (200, 0, None, None)


@pytest.mark.promise("doctor.network-gone")
def test_with_nobody_listening_each_row_says_so_with_a_remedy_and_the_exit_code_is_1(admin: Admin) -> None:
    gone = "http://127.0.0.1:1"
    told = admin("doctor --upstreams", terminal=True, **live_at(gone), wallets_rpc=gone)
    assert (told.code, told.out.count("connection refused")) == (1, ENDPOINTS)
    assert "What to do: Check the network, the firewall and VERDICT_HYPERLIQUID_URL." in " ".join(told.out.split())
    assert told.out.splitlines()[-1] == f"{ENDPOINTS} endpoints: 0 ok, 3 warnings, 13 failed."
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.promise("doctor.network-gone")
def test_with_no_name_resolved_each_row_says_that(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", unknown)
    told = admin("doctor --upstreams --json", source="live")
    assert (told.code, told.json["ok"]) == (1, False)
    assert {(row["stage"], row["said"]) for row in told.json["upstreams"]} == {("dns", "DNS lookup failed")}


LONG = faults.answer(503, b"\x1b" + b"x" * 300)
FAULTS: dict[str, tuple[str, faults.Fault, str, int | None, str, str]] = {
    "CoinGecko coins/markets":
        ("/coins/markets", faults.answer(451, b"restricted location"), "http", 451, "451: ", "refuses this region"),
    "CoinGecko coins/categories":
        ("/coins/categories", faults.answer(404, b"restricted location"), "http", 404, "404: ", "status page"),
    "CoinGecko market_chart": ("/market_chart", faults.too_many("30"), "http", 429, "429: slow down", "Wait 30 s"),
    "Binance exchangeInfo, fundingInfo":
        ("/exchangeInfo", faults.answer(418, b"banned"), "http", 418, "418: banned", "Wait a few minutes"),
    "Binance premiumIndex, ticker/24hr":
        ("/premiumIndex", faults.answer(403, b"block access from your country"), "http", 403, "403: ", "this region"),
    "Binance klines": ("/klines", faults.answer(403, b"no"), "http", 403, "403: no", "refuses this client"),
    "alternative.me Fear & Greed": ("/alternative/", LONG, "http", 503, "503: ", "status page"),
    "CoinDesk RSS": ("/coindesk/", faults.html, "decode", 200, "200, not the expected format: <", "format is unknown"),
    "Cointelegraph RSS":
        ("/cointelegraph/", faults.reset, "http", None, "connection closed without an answer", "status page"),
}  # fmt: skip


@pytest.mark.promise("doctor.upstreams")
def test_each_way_to_fail_has_its_stage_and_remedy(ask: Asked, admin: Admin) -> None:
    told, rows = ask({part: fault for part, fault, *_ in FAULTS.values()})
    assert told.code == 1
    assert {name for name, row in rows.items() if row["state"] != "ok"} == set(FAULTS)
    for name, (_, _, stage, status, said, remedy) in FAULTS.items():
        row = rows[name]
        state = "warn" if name.startswith("Binance") else "fail"  # no route depends on it alone
        assert (row["state"], row["stage"], row["status"]) == (state, stage, status), name
        assert row["said"].startswith(said), name
        assert remedy in row["remedy"], name


def test_what_no_route_depends_on_alone_is_a_warning(ask: Asked) -> None:
    told, rows = ask({"/binance/": faults.answer(451), "/coindesk/": faults.answer(500)})
    warned = {name for name, row in rows.items() if row["state"] == "warn"}
    assert told.code == 0
    assert warned == {"CoinDesk RSS", *(name for name in rows if name.startswith("Binance"))}
    assert {row["state"] for name, row in rows.items() if name not in warned} == {"ok"}


@pytest.mark.parametrize(("off_ms", "state", "code"), [(30 * SECOND_MS, "warn", 0), (-HOUR_MS, "fail", 1)])
def test_a_clock_that_differs_is_told_with_the_remedy(ask: Asked, off_ms: int, state: str, code: int) -> None:
    async def dated(request: web.Request) -> web.StreamResponse:
        date = http_date(SystemClock().now_ms() + off_ms)
        body = b'{"data":[{"value":"50","timestamp":"1"}]}'
        return await faults.answer(200, body, Date=date, X_RateLimit_Remaining="7", Retry_After="0")(request)

    told, rows = ask({"/alternative/": dated})
    row = rows["alternative.me Fear & Greed"]
    assert (told.code, row["state"], row["stage"]) == (code, state, "clock")
    assert off_ms * row["clock_ms"] > 0
    assert row["limits"] == {"retry-after": "0", "x-ratelimit-remaining": "7"}
    assert "NTP" in row["remedy"]


@pytest.mark.promise("chain.nodes")
def test_nodes_that_stand_still_or_want_contracts_named_are_warnings(ask: Asked, server: Replay) -> None:
    async def refuse(request: web.Request) -> web.StreamResponse | None:
        asked = msgspec.json.decode(await request.read())
        if asked["method"] != "eth_getLogs" or "address" in asked["params"][0]:
            return None
        error = {"code": -32701, "message": "Please specify an address in your request"}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    with in_thread(replay_server(FIXTURES, SystemClock(), "frozen")) as still:
        nodes = ",".join(each.base("ethereum") for each in (server, still))
        told, rows = ask({"/ethereum": refuse}, wallets_rpc=nodes)
    assert (told.code, rows[NODE]["state"], rows["node-2 eth_getLogs"]["state"]) == (0, "warn", "warn")
    assert "known contracts only" in rows[NODE]["said"]
    assert "minutes old" in rows["node-2 eth_getLogs"]["said"]
    assert all("VERDICT_WALLETS_RPC" in rows[name]["remedy"] for name in (NODE, "node-2 eth_getLogs"))


def _greets(frame: str | None) -> faults.Fault:
    async def serve(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if frame is not None:
            await socket.send_str(frame)
        await socket.close()
        return socket

    return serve


@pytest.mark.parametrize(
    ("fault", "stage", "said", "deadline_s"),
    [
        (faults.hang, "connect", "no answer within 0.5 s", 0.5),
        (faults.answer(403), "http", "status 403", 60.0),
        (faults.answer(200), "http", "status 200", 60.0),
        (_greets(None), "http", "connection closed before the first frame", 60.0),
        (_greets('{"channel":"assetCtxs","data":{"dex":"","ctxs":[]}}'), "decode", "the first frame is not in", 60.0),
    ],
)
def test_a_feed_that_hangs_breaks_off_refuses_or_sends_no_usable_frame_is_told(
    ask: Asked, monkeypatch: pytest.MonkeyPatch, fault: faults.Fault, stage: str, said: str, deadline_s: float
) -> None:
    monkeypatch.setattr(upstreams, "DEADLINE_S", deadline_s)
    told, rows = ask({"/ws": fault})
    row = rows["Hyperliquid WebSocket"]
    assert (told.code, row["state"], row["stage"], row["said"][: len(said)]) == (1, "fail", stage, said)


def test_a_facilitator_and_a_model_that_are_configured_are_asked_too(ask: Asked) -> None:
    gone = "http://127.0.0.1:1"
    paid = {"settlement": "remote", "facilitator_url": gone, "rpc_url": gone, "pay_to": "0x" + "11" * 20}
    told, rows = ask(**paid, llm_url=f"{gone}/v1", llm_model="small")
    assert told.code == 1
    assert [rows[name]["state"] for name in ("settlement", "model")] == ["fail", "fail"]
    assert "VERDICT_LLM_URL" in rows["model"]["remedy"]
