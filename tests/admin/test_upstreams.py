"""`verdict doctor --upstreams`: every upstream asked once, and what is said of each that does not serve."""

import asyncio
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from service.admin import upstreams
from service.clock import HOUR_MS, SECOND_MS, SystemClock
from service.upstream.replay.server import Replay, replay_server
from service.upstream.responses import http_date
from tests.admin.conftest import Told, Verdict
from tests.fakes.in_thread import in_thread
from tests.fakes.serving import live_at
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES

ENDPOINTS = 16
NODE = "node-1 eth_getLogs"


@pytest.fixture
def replay() -> Iterator[Replay]:
    with in_thread(replay_server(FIXTURES, SystemClock(), "shifted")) as replay:
        yield replay


def live(replay: Replay) -> dict[str, str]:
    return {**live_at(replay.url), "wallets_rpc": replay.base("ethereum")}


def fail(replay: Replay, **of: faults.Fault) -> None:
    """Put faults in the place of upstreams, by the first step of their paths (`info` is Hyperliquid's)."""

    async def stand_in(request: web.Request) -> web.StreamResponse | None:
        fault = of.get(request.path.split("/")[1])
        return None if fault is None else await fault(request)

    replay.interceptor = stand_in


def rows_of(told: Told) -> dict[str, Any]:
    return {row["endpoint"]: row for row in told.json["upstreams"]}


@pytest.mark.promise("doctor.upstreams")
def test_every_endpoint_of_a_live_service_is_asked_and_shown_in_80_columns(verdict: Verdict, replay: Replay) -> None:
    told = verdict("admin", "doctor", "--upstreams", **live(replay))
    assert told.code == 0, told.out
    lines = told.out.splitlines()
    assert sum(line.startswith("ok ") for line in lines) == ENDPOINTS
    assert lines[-1] == f"{ENDPOINTS} endpoints: {ENDPOINTS} ok, 0 warnings, 0 failed."
    assert max(map(len, lines)) <= 80
    assert told.err == ""


@pytest.mark.promise("doctor.upstreams")
def test_the_replay_of_fixtures_is_asked_like_live_upstreams_feeds_included(verdict: Verdict) -> None:
    told = verdict(
        "admin", "doctor", "--upstreams", "--json", source="fixtures", replay="frozen", youtube_captions="on"
    )
    assert (told.code, told.json["ok"]) == (0, True)
    rows = rows_of(told)
    assert {row["state"] for row in rows.values()} == {"ok"}
    assert {"feed chain-reaction", NODE, "Hyperliquid WebSocket"} <= rows.keys()
    assert rows["Hyperliquid metaAndAssetCtxs"]["status"] == 200
    assert rows["Hyperliquid metaAndAssetCtxs"]["clock_ms"] == 0


@pytest.mark.promise("doctor.network-gone")
def test_with_nobody_listening_each_row_says_so_with_a_remedy_and_the_exit_code_is_1(verdict: Verdict) -> None:
    told = verdict("admin", "doctor", "--upstreams", **live_at("http://127.0.0.1:1"), wallets_rpc="http://127.0.0.1:1")
    assert told.code == 1
    assert told.out.count("connection refused") == ENDPOINTS
    assert "What to do: Check the network, the firewall and VERDICT_HYPERLIQUID_URL." in " ".join(told.out.split())
    assert told.out.splitlines()[-1] == f"{ENDPOINTS} endpoints: 0 ok, 3 warnings, 13 failed."
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.promise("doctor.network-gone")
def test_with_no_name_resolved_each_row_says_that(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", unknown)
    told = verdict("admin", "doctor", "--upstreams", "--json", source="live")
    assert (told.code, told.json["ok"]) == (1, False)
    assert {(row["stage"], row["said"]) for row in rows_of(told).values()} == {("dns", "DNS lookup failed")}


@pytest.mark.slow
@pytest.mark.promise("doctor.upstreams")
@pytest.mark.parametrize(
    ("fault", "stage", "status", "said", "remedy"),
    [
        (faults.answer(451, b'{"code":0,"msg":"restricted location"}'), "http", 451, "451: ", "This region is refused"),
        (
            faults.answer(403, b"configured to block access from your country"),
            "http",
            403,
            "403: configured",
            "This region is refused",
        ),
        (faults.answer(404, b"restricted location"), "http", 404, "404: restricted", "status page"),
        (faults.answer(403, b"no"), "http", 403, "403: no", "The upstream refuses this client"),
        (faults.too_many("30"), "http", 429, "429: slow down", "Wait 30 s"),
        (faults.answer(418, b"banned"), "http", 418, "418: banned", "Wait a few minutes"),
        (faults.answer(503, b"down"), "http", 503, "503: down", "status page"),
        (faults.html, "decode", 200, "200, not the expected format: <html>", "Unknown format"),
        (faults.reset, "http", None, "connection closed without an answer", "status page"),
    ],
)
def test_each_way_to_fail_has_its_stage_and_remedy(
    verdict: Verdict, replay: Replay, fault: faults.Fault, stage: str, status: int | None, said: str, remedy: str
) -> None:
    fail(replay, coingecko=fault)
    told = verdict("admin", "doctor", "--upstreams", "--json", **live(replay))
    row = rows_of(told)["CoinGecko coins/markets"]
    assert (told.code, row["state"], row["stage"], row["status"]) == (1, "fail", stage, status)
    assert row["said"].startswith(said)
    assert remedy in row["remedy"]


def test_what_no_route_depends_on_alone_is_a_warning(verdict: Verdict, replay: Replay) -> None:
    fail(replay, binance=faults.answer(451), coindesk=faults.answer(500))
    told = verdict("admin", "doctor", "--upstreams", "--json", **live(replay))
    states = {name: row["state"] for name, row in rows_of(told).items() if row["state"] != "ok"}
    assert told.code == 0
    assert states == {
        "Binance exchangeInfo, fundingInfo": "warn",
        "Binance premiumIndex, ticker/24hr": "warn",
        "Binance klines": "warn",
        "CoinDesk RSS": "warn",
    }


def test_with_no_news_feed_left_the_check_fails(verdict: Verdict, replay: Replay) -> None:
    fail(replay, cointelegraph=faults.answer(500), coindesk=faults.answer(500))
    assert verdict("admin", "doctor", "--upstreams", **live(replay)).code == 1


@pytest.mark.parametrize(("off_ms", "state", "code"), [(30 * SECOND_MS, "warn", 0), (-HOUR_MS, "fail", 1)])
def test_a_clock_that_differs_is_told_with_the_remedy(
    verdict: Verdict, replay: Replay, off_ms: int, state: str, code: int
) -> None:
    async def dated(request: web.Request) -> web.StreamResponse:
        date = http_date(SystemClock().now_ms() + off_ms)
        body = b'{"data":[{"value":"50","timestamp":"1"}]}'
        return await faults.answer(200, body, Date=date, X_RateLimit_Remaining="7", Retry_After="0")(request)

    fail(replay, alternative=dated)
    told = verdict("admin", "doctor", "--upstreams", "--json", **live(replay))
    row = rows_of(told)["alternative.me Fear & Greed"]
    assert (told.code, row["state"], row["stage"]) == (code, state, "clock")
    assert off_ms * row["clock_ms"] > 0
    assert row["limits"] == {"retry-after": "0", "x-ratelimit-remaining": "7"}
    assert "NTP" in row["remedy"]
    shown = verdict("admin", "doctor", "--upstreams", **live(replay)).out
    assert "x-ratelimit-remaining: 7" in shown


def test_a_node_that_stands_still_is_a_warning(verdict: Verdict, replay: Replay) -> None:
    with in_thread(replay_server(FIXTURES, SystemClock(), "frozen")) as still:
        rpc = ",".join(each.base("ethereum") for each in (replay, still))
        told = verdict("admin", "doctor", "--upstreams", "--json", **live_at(replay.url), wallets_rpc=rpc)
    row = rows_of(told)["node-2 eth_getLogs"]
    assert (told.code, row["state"]) == (0, "warn")
    assert "minutes old" in row["said"]


@pytest.mark.promise("chain.nodes")
def test_a_node_that_wants_contracts_named_is_a_warning(verdict: Verdict, replay: Replay) -> None:
    async def refuse(request: web.Request) -> web.StreamResponse | None:
        asked = msgspec.json.decode(await request.read())
        if request.path != "/ethereum" or asked["method"] != "eth_getLogs" or "address" in asked["params"][0]:
            return None
        error = {"code": -32701, "message": "Please specify an address in your request"}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    replay.interceptor = refuse
    told = verdict("admin", "doctor", "--upstreams", "--json", **live(replay))
    row = rows_of(told)[NODE]
    assert row["state"] == "warn"
    assert "known contracts alone" in row["said"]
    assert "VERDICT_WALLETS_RPC" in row["remedy"]


@pytest.mark.slow
def test_a_feed_that_hangs_breaks_off_or_refuses_is_told(
    verdict: Verdict, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for fault, said, deadline_s in (
        (faults.hang, "no answer within 2 s", 2.0),
        (faults.answer(403), "status 403", 60.0),
        (faults.answer(200), "status 200", 60.0),
    ):
        monkeypatch.setattr(upstreams, "DEADLINE_S", deadline_s)
        fail(replay, ws=fault)
        told = verdict("admin", "doctor", "--upstreams", "--json", **live(replay))
        row = rows_of(told)["Hyperliquid WebSocket"]
        assert (told.code, row["state"], row["said"]) == (1, "fail", said)


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
    ("frame", "stage", "said"),
    [
        (None, "http", "connection closed before the first frame"),
        ('{"channel":"assetCtxs","data":{"dex":"","ctxs":[]}}', "decode", "the first frame is not in the"),
    ],
)
def test_a_feed_without_a_usable_frame_is_told(
    verdict: Verdict, replay: Replay, frame: str | None, stage: str, said: str
) -> None:
    fail(replay, ws=_greets(frame))
    told = verdict("admin", "doctor", "--upstreams", "--json", **live(replay))
    row = rows_of(told)["Hyperliquid WebSocket"]
    assert (told.code, row["stage"], row["said"][: len(said)]) == (1, stage, said)


def test_a_facilitator_and_a_model_that_are_configured_are_asked_too(verdict: Verdict, replay: Replay) -> None:
    told = verdict(
        "admin",
        "doctor",
        "--upstreams",
        "--json",
        **live(replay),
        settlement="remote",
        facilitator_url="http://127.0.0.1:1",
        rpc_url="http://127.0.0.1:1",
        pay_to="0x" + "11" * 20,
        llm_url="http://127.0.0.1:1/v1",
        llm_model="small",
    )
    rows = rows_of(told)
    assert told.code == 1
    assert [rows[name]["state"] for name in ("settlement", "model")] == ["fail", "fail"]
    assert "VERDICT_LLM_URL" in rows["model"]["remedy"]


@pytest.mark.promise("doctor.last-failures")
def test_a_folder_whose_upstreams_all_failed_is_not_called_all_ok(verdict: Verdict, data_dir: Path) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    with closing(sqlite3.connect(data_dir / "verdict.db")) as store, store:
        store.execute(
            "INSERT INTO market_state (id, origin, revision, failed_ms, failed_body) "
            "VALUES (1, 'live', 1, 1753444800000, 'DNS lookup failed') ON CONFLICT DO UPDATE SET "
            "failed_ms = excluded.failed_ms, failed_body = excluded.failed_body"
        )
        store.execute(
            "INSERT INTO documents (name, origin, revision, failed_ms, failed_status, failed_body) "
            "VALUES ('rwa.listing', '', 1, 1753444800000, 451, 'restricted location')"
        )
        store.execute(
            "INSERT INTO transcript_sources (origin, source, feed, status, asked_ms) "
            "VALUES ('live', 'show', 'https://show.example', 'failing', 1753444800000)"
        )
    told = verdict("admin", "doctor", "--json")
    found = next(check for check in told.json["checks"] if check["check"] == "refreshes")
    assert (told.code, told.json["ok"]) == (1, False)
    assert found["findings"] == [
        "feed show: no answer, 2025-07-25T12:00:00.000Z",
        "prices and funding (Hyperliquid): DNS lookup failed, 2025-07-25T12:00:00.000Z",
        "rwa.listing: restricted location (status 451), 2025-07-25T12:00:00.000Z",
    ]
    assert "doctor --upstreams" in found["remedy"]
