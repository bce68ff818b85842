"""What browsers are given, and what others are told at the same paths."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from starlette.middleware import Middleware

from service.access.rate_limiter import RateLimiter, RequestLimiter
from service.errors import ServiceError
from service.http.app import App
from service.http.browser import MissingPageEndpoint, routes
from service.http.gates.cors import CorsGate
from service.http.gates.limits import RequestLimitsGate
from tests.fakes.asgi import ask
from tests.fakes.clock import FakeClock

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
GUARDS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Shown(NamedTuple):
    body: bytes
    status: int = 200
    content_type: bytes = b"text/html; charset=utf-8"
    cache_control: bytes = b"no-cache"
    gzipped: bytes = b""
    etag: bytes = b""
    location: bytes = b""


class Site:
    """Shows what it was asked for."""

    paths: Sequence[str] = ("/", "/coin/{symbol}", "/static/{file}", "/snapshot.json")

    async def answer(self, path: str, segment: str, query: Mapping[str, str]) -> Shown:
        if segment == "NOPE":
            raise ServiceError("UNKNOWN_SYMBOL", "no such coin", headers={"X-Tried": "NOPE"})
        if segment == "BROKEN":
            raise RuntimeError("a template wants what it is not told")
        if segment == "MOVED":
            return Shown(b"", 303, location=b"/coin/BTC")
        if path == "/snapshot.json":
            return Shown(b"whole", gzipped=b"packed", etag=b'W/"1"')
        return Shown(f"{path} {segment} {dict(query)}".encode())

    def refuse(self, error: ServiceError) -> Shown:
        return Shown(f"refused: {error.message}".encode(), error.status)


@pytest.fixture
def app() -> App:
    throttle = RequestLimiter(RateLimiter(FakeClock(), per_minute=60, burst=20), ())
    gates = [Middleware(CorsGate, ()), Middleware(RequestLimitsGate, (), "verdict_sk_")]
    return App(list(routes(Site(), throttle)), gates, MissingPageEndpoint(Site(), throttle))


@pytest.mark.promise("pages.browser")
async def test_a_browser_is_shown_a_page_under_a_strict_policy(app: App) -> None:
    reply = await ask(app, "/", accept=CHROMIUM)
    assert (reply.status, reply.body) == (200, b"/  {}")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["vary"] == "accept"
    assert reply.headers["cache-control"] == "no-cache"
    assert GUARDS.items() <= reply.headers.items()


@pytest.mark.promise("pages.browser")
@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/html;q=0.5, application/json", "text/*;q=0"])
async def test_who_prefers_no_page_gets_json(app: App, accept: str | None) -> None:
    headers = {} if accept is None else {"accept": accept}
    index = await ask(app, "/", headers=headers)
    assert index.headers["content-type"] == "application/json"
    assert index.json["manifest"] == "/api/cli/manifest"
    coin = await ask(app, "/coin/BTC", headers=headers)
    assert (coin.status, coin.code, coin.headers["vary"]) == (404, "NOT_FOUND", "accept")


async def test_a_page_is_given_its_segment_and_query(app: App) -> None:
    reply = await ask(app, "/coin/B%20C?span=7d&empty=", accept=CHROMIUM)
    assert reply.body == b"/coin/{symbol} B C {'span': '7d', 'empty': ''}"


async def test_head_is_the_page_without_its_body(app: App) -> None:
    whole, head = await ask(app, "/", accept=CHROMIUM), await ask(app, "/", "HEAD", accept=CHROMIUM)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize("query", ["a=1&a=2", "a=%FF", "a=1&a="])
async def test_a_query_that_could_be_read_in_two_ways_is_refused(app: App, query: str) -> None:
    assert (await ask(app, f"/?{query}", accept=CHROMIUM)).status == 400


async def test_a_failure_is_a_page_with_its_headers(app: App) -> None:
    reply = await ask(app, "/coin/NOPE", accept=CHROMIUM)
    assert (reply.status, reply.body) == (404, b"refused: no such coin")
    assert reply.headers["x-tried"] == "NOPE"
    assert GUARDS.items() <= reply.headers.items()


async def test_files_are_the_same_for_everybody_and_their_failures_are_json(app: App) -> None:
    reply = await ask(app, "/static/a.js")
    assert reply.body == b"/static/{file} a.js {}"
    assert "vary" not in reply.headers
    assert (await ask(app, "/static/NOPE", accept=CHROMIUM)).code == "UNKNOWN_SYMBOL"


@pytest.mark.parametrize(("path", "accept"), [("/static/NOPE", CHROMIUM), ("/coin/BTC", "*/*"), ("/", "*/*")])
async def test_what_is_said_in_json_is_under_the_policy_too(app: App, path: str, accept: str) -> None:
    reply = await ask(app, path, accept=accept)
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] in {"no-cache", "private, no-store"}
    assert GUARDS.items() <= reply.headers.items()


async def test_pages_and_files_count_to_the_request_rate_of_their_network(app: App) -> None:
    for _ in range(10):
        await ask(app, "/", accept=CHROMIUM)
        await ask(app, "/static/a.js")
    slowed = await ask(app, "/", accept=CHROMIUM)
    assert (slowed.status, slowed.headers["retry-after"]) == (429, "1")
    assert slowed.body.startswith(b"refused: Too many requests")
    assert (await ask(app, "/static/a.js")).status == 429
    assert (await ask(app, "/")).code == "RATE_LIMITED"


async def test_pages_are_only_read(app: App) -> None:
    reply = await ask(app, "/", "POST", accept=CHROMIUM)
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_a_defect_is_a_page_that_names_the_request_and_nothing_else(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    reply = await ask(app, "/coin/BROKEN", accept=CHROMIUM)
    assert (reply.status, reply.body.decode()) == (
        500,
        f"refused: Internal error. Report the request id {reply.headers['x-request-id']} to the operator.",
    )
    assert GUARDS.items() <= reply.headers.items()
    assert caplog.messages == ["A request failed."]


async def test_a_page_can_lead_to_another(app: App) -> None:
    reply = await ask(app, "/coin/MOVED", accept=CHROMIUM)
    assert (reply.status, reply.headers["location"]) == (303, "/coin/BTC")


@pytest.mark.promise("pages.snapshot")
async def test_a_shared_document_is_compressed_and_sent_once(app: App) -> None:
    plain = await ask(app, "/snapshot.json")
    assert (plain.body, plain.headers["etag"], plain.headers["vary"]) == (b"whole", 'W/"1"', "accept-encoding")
    packed = await ask(app, "/snapshot.json", accept_encoding="gzip, br")
    assert (packed.body, packed.headers["content-encoding"]) == (b"packed", "gzip")
    refused = await ask(app, "/snapshot.json", accept_encoding="gzip; q=0, br")
    assert (refused.body, "content-encoding" in refused.headers) == (b"whole", False)
    known = await ask(app, "/snapshot.json", if_none_match='W/"0", W/"1"', accept_encoding="gzip")
    assert (known.status, known.body, known.headers["etag"]) == (304, b"", 'W/"1"')
    assert "content-encoding" not in known.headers
    assert "content-type" not in known.headers
    assert (await ask(app, "/snapshot.json", if_none_match='W/"2"')).status == 200


@pytest.mark.promise("pages.snapshot")
async def test_shared_documents_do_not_count_to_the_request_rate(app: App) -> None:
    assert {(await ask(app, "/snapshot.json")).status for _ in range(30)} == {200}
    assert (await ask(app, "/", accept=CHROMIUM)).status == 200


async def test_a_browser_is_shown_a_page_where_there_is_nothing(app: App) -> None:
    reply = await ask(app, "/nothing", accept=CHROMIUM)
    assert (reply.status, reply.body) == (404, b"refused: There is no page at this address.")
    assert GUARDS.items() <= reply.headers.items()
    assert (await ask(app, "/nothing", "HEAD", accept=CHROMIUM)).status == 404
    for method, path, accept in (("GET", "/nothing", "*/*"), ("GET", "/api/x", CHROMIUM), ("POST", "/x", CHROMIUM)):
        assert (await ask(app, path, method, accept=accept)).code == "NOT_FOUND"
