"""The gates, over the real authenticator, rate and meter: who may enter, how often, and what it costs."""

import asyncio
from pathlib import Path

import pytest

from service.access.rate_limiter import RateLimiter, RequestLimiter
from service.clock import DAY_MS, SECOND_MS, midnight_after
from service.errors import ServiceError
from tests.fakes.asgi import Reply, ask
from tests.fakes.clock import FakeClock
from tests.http.stage import RISK, SLOW, STREAM, TIER, Stage, staged
from tests.http.wire import HOST, served, until

KEYS = "/api/keys"
MANIFEST = "/api/cli/manifest"


async def asked(stage: Stage, times: int, key: str, target: str = RISK) -> list[int]:
    return [(await ask(stage.app, target, key=key)).status for _ in range(times)]


# Who may enter.


@pytest.mark.promise("auth.none-403", "errors.auth-required-message", "routes.token")
@pytest.mark.parametrize("path", [RISK, TIER, KEYS])
async def test_no_token_is_403_and_says_how_to_log_in(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        reply = await ask(stage.app, path)
        assert (reply.status, reply.code) == (403, "AUTH_REQUIRED")
        assert "verdict login" in reply.json["error"]["message"]
        assert (await ask(stage.app, path, authorization="")).status == 403


@pytest.mark.promise("auth.bearer", "auth.two-kinds", "auth.scheme-case")
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
async def test_keys_and_sessions_enter_whatever_the_case_of_the_scheme(tmp_path: Path, scheme: str) -> None:
    async with staged(tmp_path) as stage:
        for token, kind in ((await stage.key(), "api_key"), (await stage.session(), "session")):
            reply = await ask(stage.app, TIER, authorization=f"{scheme} {token}")
            assert (reply.status, reply.json["data"]["kind"]) == (200, kind)


@pytest.mark.slow
@pytest.mark.promise("auth.malformed-401", "errors.www-authenticate")
@pytest.mark.parametrize(
    "value",
    [
        "Bearer", "Bearer ", "Basic dTpw", "token", "Bearer x", "Bearer verdict_sk_x", "Bearer ey.a.b", "Bearer a b",
        "Bearer " + "x" * 5000, "Bearer é", "Bearer verdict_sk_" + "0" * 36,
    ],
)  # fmt: skip
async def test_a_malformed_token_is_401_with_the_challenge(tmp_path: Path, value: str) -> None:
    async with staged(tmp_path) as stage:
        reply = await ask(stage.app, RISK, authorization=value)
        assert (reply.status, reply.code) == (401, "AUTH_INVALID")
        assert reply.headers["www-authenticate"] == "Bearer"
        assert "malformed" in reply.json["error"]["message"]


async def test_a_token_of_64_kb_is_431_over_the_wire(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        reply = await wire.get(RISK.encode(), b"Authorization: Bearer " + b"x" * 65_536)
    assert (reply.status, reply.code) == (431, "HEADERS_TOO_LARGE")


@pytest.mark.promise("auth.revoked-401", "revocation.immediate")
async def test_a_revoked_key_is_401_and_says_so(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        assert await asked(stage, 1, key) == [200]
        await stage.admin.revoke_key(key[:19])
        await stage.access.authenticator.catch_up()
        reply = await ask(stage.app, RISK, key=key)
        assert (reply.status, reply.code) == (401, "AUTH_INVALID")
        assert "revoked" in reply.json["error"]["message"]


@pytest.mark.promise("keys.session-only")
async def test_a_route_for_sessions_refuses_a_key_and_says_how_to_log_in(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        reply = await ask(stage.app, KEYS, key=await stage.key())
        assert (reply.status, reply.code) == (403, "AUTH_REQUIRED")
        assert "verdict login" in reply.json["error"]["message"]
        assert (await ask(stage.app, KEYS, key=await stage.session())).status == 200


@pytest.mark.promise("manifest.public")
async def test_a_public_route_asks_for_nothing_and_ignores_what_it_is_told(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        for header in ({}, {"authorization": "Bearer nonsense"}):
            assert (await ask(stage.app, MANIFEST, headers=header)).json["data"] == {"caller": None}


# How often.


@pytest.mark.promise("rate.limit", "rate.all-attempts", "run.rate-settings", "errors.retry-after")
async def test_requests_past_the_rate_are_429_until_time_has_passed_whatever_they_ask_for(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=30, rate_burst=3) as stage:
        key, other = await stage.key(), await stage.key()
        assert [(await ask(stage.app, path, key=key)).status for path in (TIER, RISK, TIER, TIER)] == [200] * 3 + [429]
        reply = await ask(stage.app, RISK, key=key)
        assert (reply.code, reply.headers["retry-after"]) == ("RATE_LIMITED", "2")
        assert reply.headers["ratelimit"] == '"requests";r=0;t=2'
        assert await asked(stage, 1, other) == [200]
        await stage.clock.advance(2)
        assert await asked(stage, 1, key) == [200]
        assert await stage.used() == [("coin.risk", 3)]


@pytest.mark.promise("run.proxy")
async def test_strangers_are_told_apart_by_the_hop_nearest_to_us_that_is_no_proxy_of_ours(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=60, rate_burst=1, trusted_proxies=("192.0.2.0/24",)) as stage:

        async def told(chain: str) -> int:
            return (await ask(stage.app, MANIFEST, x_forwarded_for=chain)).status

        assert await told("198.51.100.1") == 200
        assert await told("198.51.100.1") == 429
        assert await told("203.0.113.9, 198.51.100.1") == 429  # what a client writes before it is nothing
        assert await told("198.51.100.2, 192.0.2.9") == 200  # a proxy behind a proxy
        assert await told("198.51.100.2") == 429
        assert await told("2001:db8::1") == 200
        assert await told("2001:db8::ffff:1") == 429  # the same /64
        assert await told("2001:db8:0:1::1") == 200
        assert await told("::ffff:198.51.100.1") == 429
        assert await told("192.0.2.1") == 200  # nothing but proxies: the one that spoke to us
        assert await told("198.51.100.9, unknown") == 429  # what names nobody is that one too, not a network of its own


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("198.51.100.1:4711", "198.51.100.1:4712"),
        ("198.51.100.1", "198.51.100.1:80"),
        ("[2001:db8::1]:4711", "[2001:db8::2]:4712"),
        ("2001:db8::1", "[2001:db8::1]"),
        ("198.51.100.1, ::ffff:192.0.2.9", "198.51.100.1, 192.0.2.9:80"),
    ],
)
async def test_a_port_that_a_proxy_tells_of_makes_no_new_network(tmp_path: Path, first: str, again: str) -> None:
    async with staged(tmp_path, rate_per_minute=60, rate_burst=1, trusted_proxies=("192.0.2.0/24",)) as stage:
        replies = [await ask(stage.app, MANIFEST, x_forwarded_for=chain) for chain in (first, again)]
        assert [reply.status for reply in replies] == [200, 429]


@pytest.mark.parametrize("trusted", ["192.0.2.0/24", "::ffff:192.0.2.0/120"])
def test_a_proxy_that_comes_over_ipv6_by_its_ipv4_address_is_the_proxy(trusted: str) -> None:
    throttle = RequestLimiter(RateLimiter(FakeClock(), 60, 1), (trusted,))
    forwarded = [(b"x-forwarded-for", b"198.51.100.1")]
    for client, host in (
        ("::ffff:192.0.2.7", "198.51.100.1"),
        ("2001:db8::7", "2001:db8::7"),
        ("a socket", "a socket"),
    ):
        assert throttle.host_of({"client": (client, 1), "headers": forwarded}) == host


async def test_nobody_else_is_believed_about_where_a_request_comes_from(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=60, rate_burst=1) as stage:
        chains = ["198.51.100.1", "198.51.100.2"]
        assert [(await ask(stage.app, MANIFEST, x_forwarded_for=chain)).status for chain in chains] == [200, 429]


def test_whoever_comes_from_a_socket_without_an_address_is_one_stranger() -> None:
    throttle = RequestLimiter(RateLimiter(FakeClock(), 60, 1), ())
    throttle.count(None, {"client": None})
    with pytest.raises(ServiceError, match="Too many requests"):
        throttle.count(None, {"client": None})


# What it costs.


@pytest.mark.promise("meter.once", "headers.ratelimit", "quota.402")
@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_a_free_caller_gets_ten_answers_and_then_a_challenge(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        replies = [await ask(stage.app, path, key=key) for _ in range(11)]
        assert [reply.status for reply in replies] == [200] * 10 + [402]
        reset_s = (midnight_after(stage.clock.now_ms()) - stage.clock.now_ms()) // SECOND_MS
        assert [reply.headers["ratelimit"] for reply in replies[:9]] == [f'"questions";r={9 - n}' for n in range(9)]
        assert replies[0].headers["ratelimit-policy"] == '"questions";q=10'
        assert replies[-1].code == "PAYMENT_REQUIRED"
        assert replies[-1].headers["ratelimit"].startswith('"questions";r=0')
        assert replies[-1].headers["ratelimit"].endswith(f";t={reset_s}")
        assert replies[-1].json["gate"]["quota"]["remaining"] == 0
        assert sum(count for _, count in await stage.used()) == 10


@pytest.mark.promise("tiers.three")
async def test_the_tiers_are_told_by_the_day_and_without_limit_not_at_all(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        access = await ask(stage.app, RISK, key=await stage.key("access"))
        pro = await ask(stage.app, RISK, key=await stage.key("pro"))
        assert access.headers["ratelimit-policy"] == f'"questions";q=50;w={DAY_MS // SECOND_MS}'
        assert access.headers["ratelimit"].startswith('"questions";r=49;t=')
        assert "ratelimit" not in pro.headers


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_tier_route_tells_what_is_left_and_uses_none_of_it(tmp_path: Path, method: str) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        assert (await ask(stage.app, RISK, key=key)).headers["ratelimit"] == '"questions";r=9'
        for _ in range(2):
            told = await ask(stage.app, TIER, method, key=key)
            assert (told.status, told.headers["ratelimit"]) == (200, '"questions";r=9')
        assert "ratelimit" not in (await ask(stage.app, TIER, method, key=await stage.key("pro"))).headers
        assert await stage.used() == [("coin.risk", 1)]


@pytest.mark.promise("meter.order", "meter.errors-free", "meter.uncounted-answers")
@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_what_is_refused_fails_or_is_unsure_costs_nothing(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()

        async def status(target: str, **named: str) -> int:
            return (await ask(stage.app, target, key=key, headers=None, body=b"", **named)).status

        base = path.removesuffix("BTC")
        assert await status(f"{path}?unknown=1") == 400
        assert await status(f"{base}B_C") == 400
        assert await status(f"{base}NOWHERE") == 404
        assert await status(f"{base}DOWN") == 502
        assert await status(f"{base}BROKEN") == 500
        assert await status(f"{base}UNSURE") == 200
        assert await status(path, x_payment="e30=") == 400
        assert (await ask(stage.app, path, "HEAD", key=key)).status == 200
        assert (await ask(stage.app, path, "DELETE", key=key)).status == 405
        assert await stage.used() == []
        assert (await ask(stage.app, path, key=key)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("meter.head-free")
@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_head_with_a_spent_quota_is_the_402_that_get_would_be(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        await asked(stage, 10, key, path)
        head, get = await ask(stage.app, path, "HEAD", key=key), await ask(stage.app, path, key=key)
        assert (head.status, get.status, head.body) == (402, 402, b"")
        assert head.headers["payment-required"] == get.headers["payment-required"]
        assert head.headers["ratelimit"] == get.headers["ratelimit"]


async def test_an_answer_that_costs_nothing_is_given_with_a_spent_quota_too(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        await asked(stage, 10, key)
        assert (await ask(stage.app, RISK.replace("BTC", "UNSURE"), key=key)).status == 200


async def test_an_answer_that_costs_nothing_shows_nothing_spent_and_a_failure_shows_no_quota(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        unsure = [await ask(stage.app, SLOW.replace("BTC", "UNSURE"), key=key) for _ in range(2)]
        assert [reply.headers["ratelimit"] for reply in unsure] == ['"questions";r=10'] * 2
        assert "ratelimit" not in (await ask(stage.app, SLOW.replace("BTC", "DOWN"), key=key)).headers


@pytest.mark.promise("errors.retry-after")
async def test_a_spent_quota_on_a_stream_is_429_until_the_next_day_and_no_challenge(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        assert await asked(stage, 10, key, STREAM) == [200] * 10
        reply = await ask(stage.app, STREAM, key=key)
        assert (reply.status, reply.code) == (429, "RATE_LIMITED")
        now_ms = stage.clock.now_ms()
        assert int(reply.headers["retry-after"]) == (midnight_after(now_ms) - now_ms) // SECOND_MS
        assert "payment-required" not in reply.headers


@pytest.mark.promise("meter.last-question")
@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_with_one_question_left_a_hundred_at_once_get_one_answer(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        await asked(stage, 9, key, path)
        replies: list[Reply] = await asyncio.gather(*(ask(stage.app, path, key=key) for _ in range(100)))
        refused = {RISK: [402], SLOW: [402, 429]}[path]  # a route that waits holds the question until it is answered
        assert [reply.status for reply in replies].count(200) == 1
        assert {reply.status for reply in replies} <= {200, *refused}
        assert (await ask(stage.app, path, key=key)).status == 402
        assert sum(count for _, count in await stage.used()) == 10


@pytest.mark.promise("meter.once", "meter.commit-first-byte")
async def test_nothing_is_answered_before_its_count_is_durable(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        bearer = b"Authorization: Bearer " + (await stage.key()).encode()
        for number in range(1, 4):
            assert (await wire.get(RISK.encode(), bearer)).status == 200
            assert await stage.used() == [("coin.risk", number)]


async def test_a_peer_that_leaves_while_a_route_works_is_not_spared_its_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        bearer = b"Authorization: Bearer " + (await stage.key()).encode() + b"\r\n"
        stage.desk.gate.clear()
        peer = await wire.connect()
        await peer.say(b"GET " + SLOW.encode() + b" HTTP/1.1\r\n" + HOST + bearer + b"\r\n")
        await until(lambda: bool(wire.state.tasks))
        peer.writer.transport.abort()
        await asyncio.sleep(0)
        stage.desk.gate.set()
        await until(lambda: not wire.state.tasks)
        assert await stage.used() == [("slow", 1)]


async def test_a_request_that_is_cancelled_while_it_waits_gives_its_question_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        bearer = b"Authorization: Bearer " + (await stage.key()).encode() + b"\r\n"
        stage.desk.gate.clear()
        peer = await wire.connect()
        await peer.say(b"GET " + SLOW.encode() + b" HTTP/1.1\r\n" + HOST + bearer + b"\r\n")
        await until(lambda: stage.desk.entered == 1)
        reserved = "SELECT count(*) FROM usage_events WHERE state = 0"
        assert await stage.db.read(reserved) == [(1,)]
        for task in wire.state.tasks:
            task.cancel()
        reply = await peer.reply()
        assert (reply.status, reply.headers["retry-after"]) == (503, "1")
        await until(lambda: not wire.state.tasks)
        assert await stage.db.read(reserved) == [(0,)]
        assert await stage.used() == []
        peer.close()


@pytest.mark.promise("errors.unavailable")
@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_an_answer_that_cannot_be_counted_is_not_given(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        assert await asked(stage, 1, key) == [200]

        async def fails(*_: object) -> None:
            raise ServiceError("UNAVAILABLE", "the disk is full", headers={"Retry-After": "5"})

        monkeypatch.setattr(stage.meter, "charge", fails)
        monkeypatch.setattr(stage.meter, "commit", fails)
        reply = await ask(stage.app, path, key=key)
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "UNAVAILABLE", "5")
        assert await stage.used() == [("coin.risk", 1)]


async def test_a_counted_route_without_auth_before_it_answers_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path) as stage:
        quota = stage.app.paths._with_parameter[b"/api/cli/stream"].routes["GET"][1].app.app.app  # type: ignore[attr-defined]
        monkeypatch.setitem(stage.app.paths._exact[MANIFEST.encode()].routes, "GET", ("manifest", quota))
        reply = await ask(stage.app, MANIFEST)
        assert (reply.status, reply.code) == (500, "INTERNAL")
