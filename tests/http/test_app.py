"""Paths and methods, and what the front does about the unexpected."""

import asyncio
import logging
from pathlib import Path

import pytest
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.app import App
from service.http.gates.cors import CorsGate
from service.http.gates.limits import RequestLimitsGate
from service.http.request import PeerGoneError, RequestContext
from tests.fakes.asgi import ask, conversing, scope_of
from tests.http.stage import RISK, STREAM, staged
from tests.http.wire import HOST, served


class Answering:
    """Answers with the name it was given and the parameters it was reached with."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange: RequestContext = scope["verdict"]
        await PlainTextResponse(f"{self.name} {exchange.path_params}")(scope, receive, send)


class Doing:
    """An endpoint that Starlette takes for an ASGI application, not for a function of a request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


def front(*answering: ASGIApp, cors: tuple[str, ...] = (), hosts: tuple[str, ...] = ()) -> App:
    paths = [("/coin/{symbol}", ["GET"]), ("/keys", ["GET"]), ("/keys", ["POST"]), ("/keys/rotate", ["POST"])]
    named = [Answering(f"{methods[0]} {path}") for path, methods in paths]
    apps: list[ASGIApp] = [*map(Doing, answering), *named[len(answering) :]]
    routes = [Route(path, app, methods=methods, name=path) for (path, methods), app in zip(paths, apps, strict=True)]
    return App(routes, [Middleware(CorsGate, cors), Middleware(RequestLimitsGate, hosts, "verdict_sk_")])


async def test_a_path_finds_its_route_and_its_last_segment_the_parameter() -> None:
    app = front()
    assert (await ask(app, "/coin/BTC")).body == b"GET /coin/{symbol} {'symbol': 'BTC'}"
    assert (await ask(app, "/keys")).body == b"GET /keys {}"
    assert (await ask(app, "/keys", "POST")).body == b"POST /keys {}"
    assert (await ask(app, "/keys/rotate", "POST")).body == b"POST /keys/rotate {}"


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("Layer%201", "Layer 1"),
        ("%42TC", "BTC"),
        ("a+b", "a+b"),
        ("%C3%A9", "é"),
        ("a%3Fb", "a?b"),
        ("a%2Fb", "a/b"),
        ("..%2F..%2Fkeys", "../../keys"),
    ],
)
async def test_a_segment_is_percent_decoded_once(segment: str, text: str) -> None:
    assert (await ask(front(), f"/coin/{segment}")).body.decode() == f"GET /coin/{{symbol}} {{'symbol': '{text}'}}"


@pytest.mark.promise("errors.always-json")
@pytest.mark.parametrize(
    "path",
    [
        "/", "/nothing", "/coin", "/coin/", "/coin/BTC/", "/coin//BTC", "//coin/BTC", "/coin/./BTC", "/coin/../keys",
        "/coin/.", "/coin/..", "/coin/%2E", "/coin/%2e%2e", "/coin/a/b", "/keys/", "/KEYS",
        "/%6Beys", "/coin%2FBTC", "/keys/rotate/", "*",
    ],
)  # fmt: skip
async def test_a_path_that_is_not_exactly_a_routes_is_404_in_json_and_never_a_redirect(path: str) -> None:
    reply = await ask(front(), path)
    assert (reply.status, reply.code) == (404, "NOT_FOUND")
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    "segment", ["%", "%z", "%zz", "%f", "%ff", "%C3", "%00", "%0a", "%0d%0a", "BTC%0A", "%7F", "%E2%80%8B", "%ED%A0%80"]
)
async def test_a_segment_that_is_no_printable_text_is_400(segment: str) -> None:
    reply = await ask(front(), f"/coin/{segment}")
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")


@pytest.mark.promise("errors.405-allow")
@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/coin/BTC", "GET, HEAD, OPTIONS"),
        ("PUT", "/keys", "GET, HEAD, POST, OPTIONS"),
        ("GET", "/keys/rotate", "POST, OPTIONS"),
        ("HEAD", "/keys/rotate", "POST, OPTIONS"),
        ("TRACE", "/coin/BTC", "GET, HEAD, OPTIONS"),
        ("TRACE", "/nothing", "GET, HEAD, POST, DELETE, OPTIONS"),
        ("CONNECT", "/nothing", "GET, HEAD, POST, DELETE, OPTIONS"),
    ],
)
async def test_a_wrong_method_is_405_and_says_which_are_right(method: str, path: str, allow: str) -> None:
    reply = await ask(front(), path, method)
    assert (reply.status, reply.headers["allow"]) == (405, allow)
    assert method == "HEAD" or reply.code == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("path", "allow"), [("/keys", "GET, HEAD, POST, OPTIONS"), ("/coin/BTC", "GET, HEAD, OPTIONS")]
)
async def test_options_is_204_with_allow(path: str, allow: str) -> None:
    reply = await ask(front(), path, "OPTIONS")
    assert (reply.status, reply.headers["allow"], reply.body) == (204, allow, b"")
    assert "access-control-allow-origin" not in reply.headers


async def test_options_of_everything_is_204_and_of_nothing_404() -> None:
    assert (await ask(front(), "*", "OPTIONS")).status == 204
    assert (await ask(front(), "/nothing", "OPTIONS")).status == 404


async def test_a_preflight_from_an_origin_that_may_call_is_told_what_it_may_send() -> None:
    app = front(cors=("https://app.example.org",))
    asked = {"origin": "https://app.example.org", "access-control-request-method": "GET"}
    reply = await ask(app, "/coin/BTC", "OPTIONS", headers=asked)
    assert reply.headers["access-control-allow-origin"] == "https://app.example.org"
    assert "authorization" in reply.headers["access-control-allow-headers"]
    assert reply.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert reply.headers["vary"] == "origin"


async def test_pages_of_an_allowed_origin_may_read_payment_and_rate_headers_of_failures_too() -> None:
    reply = await ask(front(cors=("*",)), "/nothing", origin="https://anyone.example")
    assert reply.status == 404
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "payment-required" in reply.headers["access-control-expose-headers"]
    assert "ratelimit" in reply.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", [{}, {"origin": "https://evil.example"}])
async def test_other_origins_are_told_nothing(origin: dict[str, str]) -> None:
    reply = await ask(front(cors=("https://app.example.org",)), "/coin/BTC", headers=origin)
    assert (reply.status, reply.headers["vary"]) == (200, "origin")
    assert "access-control-allow-origin" not in reply.headers


def test_a_route_whose_parameter_is_not_its_last_segment_is_refused_when_the_service_is_built() -> None:
    with pytest.raises(ValueError, match="only the last segment"):
        App([Route("/coin/{symbol}/x", Answering("x"), methods=["GET"])], [])


@pytest.mark.promise("errors.internal", "headers.request-id")
async def test_a_defect_is_500_with_only_the_request_id_and_is_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError("the secret is 42")

    reply = await ask(front(broken), "/coin/BTC")
    request_id = reply.headers["x-request-id"]
    assert (reply.status, reply.code) == (500, "INTERNAL")
    assert reply.json["error"] == {
        "code": "INTERNAL",
        "message": f"Internal error. Report the request id {request_id} to the operator.",
    }
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.__dict__["request_id"] == request_id
    assert record.exc_info is not None


async def test_a_defect_after_the_first_byte_breaks_the_answer_off(caplog: pytest.LogCaptureFixture) -> None:
    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise ZeroDivisionError

    async with served(front(half), shortcut=False) as wire:
        peer = await wire.connect()
        await peer.say(b"GET /coin/BTC HTTP/1.1\r\n" + HOST + b"\r\n")
        raw = await peer.closed()
    assert raw.endswith(b"4\r\nhalf\r\n")
    assert len(caplog.records) == 2


async def test_a_peer_that_left_is_not_answered_and_not_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def reading(scope: Scope, receive: Receive, send: Send) -> None:
        raise PeerGoneError

    app = front(reading)
    async with conversing(app, scope_of("/coin/BTC", "GET", {})) as conversation:
        conversation.leave()
    assert conversation.sent.empty()
    assert not caplog.records
    assert app.answers == {("/coin/{symbol}", 0): 1}


async def test_a_request_that_is_cancelled_is_answered_503_first() -> None:
    begun = asyncio.Event()

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    task = asyncio.ensure_future(front(waiting)(scope_of("/coin/BTC", "GET", {}), asyncio.Queue().get, send))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sent[0]["status"] == 503


@pytest.mark.promise("headers.request-id")
async def test_every_answer_has_a_request_id_of_its_own() -> None:
    app = front()
    replies = [await ask(app, path) for path in ("/coin/BTC", "/coin/BTC", "/nothing", "/keys")]
    assert len({reply.headers["x-request-id"] for reply in replies}) == 4


async def test_answers_are_counted_by_route_and_status() -> None:
    app = front()
    for path in ("/coin/BTC", "/coin/ETH", "/nothing"):
        await ask(app, path)
    assert app.answers == {("/coin/{symbol}", 200): 2, ("none", 404): 1}


async def test_the_lifespan_is_passed_through() -> None:
    async with conversing(front(), {"type": "lifespan"}) as conversation:
        conversation.leave()
    said = [conversation.sent.get_nowait()["type"] for _ in range(2)]
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


@pytest.mark.promise("meter.head-free", "headers.no-store", "fixtures.header")
async def test_head_answers_as_get_without_body_and_costs_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        head, get = await ask(stage.app, RISK, "HEAD", key=key), await ask(stage.app, RISK, key=key)
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == get.headers["content-length"]
        assert await stage.used() == [("coin.risk", 1)]
        assert head.headers["cache-control"] == "private, no-store"
        assert head.headers["x-data-source"] == "fixtures"


async def test_head_on_a_stream_has_headers_only(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        bearer = b"Authorization: Bearer " + (await stage.key()).encode()
        peer = await wire.connect()
        await peer.say(b"HEAD " + STREAM.encode() + b" HTTP/1.1\r\n" + HOST + bearer + b"\r\n\r\n")
        head = await peer.reply(bodiless=True)
        peer.close()
        assert head.status == 200
        assert await stage.used() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "symbol",
    [
        "%2F", "%252F", "%00", "%0d%0a", "%ff", "%zz", "%D0%92TC", "%EF%BC%A2%EF%BC%B4%EF%BC%A3", "B%E2%80%8BTC",
        "%F0%9F%9A%80", "B" * 201, "BTC%0A", "1" * 5000, "..", ".", "%2e", "a%20b", "BTC;DROP", "'", "%22",
    ],
)  # fmt: skip
async def test_a_symbol_that_is_none_is_refused_over_the_wire_and_costs_nothing(tmp_path: Path, symbol: str) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        bearer = b"Authorization: Bearer " + (await stage.key()).encode()
        reply = await wire.get(b"/api/cli/coin/risk/" + symbol.encode(), bearer)
        assert reply.status in {400, 404}
        assert reply.code in {"BAD_REQUEST", "NOT_FOUND"}
        assert await stage.used() == []


async def test_pages_and_probes_are_public_and_answer_head(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        page = await ask(stage.app, "/robots.txt")
        assert (page.status, page.body) == (200, b"User-agent: *\n")
        assert "max-age" in page.headers["cache-control"]
        assert (await ask(stage.app, "/robots.txt", "HEAD")).body == b""
        assert [(await ask(stage.app, path)).status for path in ("/healthz", "/readyz")] == [200, 200]
