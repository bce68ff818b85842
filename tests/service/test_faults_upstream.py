"""What callers see while the venue fails: honest ages, then a refusal that says why, then everything as before."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.clock import parse_iso
from service.upstream.replay.server import replay_server
from tests.fakes.asgi import Reply
from tests.fakes.clock import FakeClock
from tests.fakes.serving import live_at
from tests.service.indoors import PATIENCE_S, RISK, Indoors, indoors, until
from tests.upstream.conftest import FIXTURES
from tests.upstream.faults import Fault, Faults, answer, cut_short, hang, html, not_a_number, redirect, reset, too_many

SECRETS = {
    "key": b'{"api_key":"hunter2hunter2"}',
    "bearer": b"Authorization: Bearer abc.def.ghi",
    "query": b"https://venue.example/x?token=abcdef&user=1",
    "opaque": b"0123456789abcdef0123456789abcdef0123456789abcdef",
}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Indoors]:
    async with indoors(tmp_path, FakeClock()) as service:
        await service.be_ready()
        yield service


async def fail_until_gone(house: Indoors, key: str, fault: Fault) -> list[Reply]:
    """Let the venue fail for eleven minutes; what is answered every half a minute."""
    house.faults.next = fault
    replies = []
    for _ in range(22):
        await house.pass_time(30)
        replies.append(await house.ask(key=key))
    return replies


async def recover(house: Indoors, key: str) -> Reply:
    """Let the venue answer again, and time pass until it is asked."""
    house.faults.next = None
    for _ in range(40):
        await house.pass_time(15)
        if (await house.ask(RISK, "HEAD", key=key)).status == 200:
            break
    reply = await house.ask(key=key)
    assert reply.status == 200, reply
    return reply


@pytest.mark.promise("time.as-of-honest", "risk.stale-limit", "errors.upstream-502", "errors.upstream-details")
async def test_while_the_venue_fails_ages_grow_fields_are_named_stale_and_at_last_it_is_502(house: Indoors) -> None:
    key = await house.make_key("pro")
    fresh = await house.ask(key=key)
    assert (fresh.status, fresh.json["data"]["_stale_fields"]) == (200, ["sentiment_stance"])
    replies = await fail_until_gone(house, key, answer(503, b"the engine is down"))

    statuses = [reply.status for reply in replies]
    assert statuses == sorted(statuses)
    assert Counter(statuses).keys() == {200, 502}
    for reply in replies[: statuses.index(502)]:
        said = reply.json
        assert said["data"]["price"] == fresh.json["data"]["price"]
        assert said["meta"]["as_of"] == fresh.json["meta"]["as_of"]
        age_ms = parse_iso(said["meta"]["ts"]) - parse_iso(said["meta"]["as_of"])
        assert said["meta"]["data_age_seconds"] == age_ms // 1_000
        assert {"price", "funding_apr"} <= set(said["data"]["_stale_fields"])
        assert age_ms <= 600_000
    for reply in replies[statuses.index(502) :]:
        assert reply.code == "UPSTREAM_5XX"
        details = reply.json["error"]["details"]
        assert list(details) == ["upstream", "upstreamStatus", "upstreamBody"]
        assert (details["upstream"], details["upstreamStatus"]) == ("hyperliquid", 503)

    again = await recover(house, key)
    assert again.json["data"]["_stale_fields"] == ["sentiment_stance"]
    assert again.json["meta"]["data_age_seconds"] <= 60


@pytest.mark.promise("errors.upstream-timeout-null", "errors.upstream-502")
@pytest.mark.parametrize(
    ("fault", "code", "status"),
    [
        (reset, "UPSTREAM_5XX", None),
        (cut_short, "UPSTREAM_5XX", None),
        (html, "UPSTREAM_5XX", 200),
        (not_a_number, "UPSTREAM_5XX", 200),
        (redirect("http://127.0.0.1:1/"), "UPSTREAM_5XX", 302),
        (answer(500, b""), "UPSTREAM_5XX", 500),
        (answer(403, b"forbidden"), "UPSTREAM_4XX", 403),
        (too_many("30"), "UPSTREAM_4XX", 429),
    ],
    ids=["reset", "cut short", "HTML at 200", "NaN", "redirect", "500", "403", "429"],
)
async def test_each_way_to_fail_is_told_by_its_status_and_costs_nothing(
    house: Indoors, fault: Fault, code: str, status: int | None
) -> None:
    key = await house.make_key()
    replies = await fail_until_gone(house, await house.make_key("pro"), fault)
    assert replies[-1].status == 502
    assert (await house.ask(key=key)).code == code
    assert replies[-1].json["error"]["details"]["upstreamStatus"] == status
    assert (await recover(house, key)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("errors.upstream-redacted")
@pytest.mark.parametrize("secret", SECRETS)
async def test_what_the_venue_says_is_repeated_without_its_secrets(house: Indoors, secret: str) -> None:
    key = await house.make_key("pro")
    said = b"down: " + SECRETS[secret] + b" " + b"word " * 1_000
    (*_, last) = await fail_until_gone(house, key, answer(500, said))
    body = last.json["error"]["details"]["upstreamBody"]
    assert len(body.encode()) <= 2_048
    for part in (b"hunter2", b"abc.def.ghi", b"token=abcdef", b"0123456789abcdef"):
        assert part.decode() not in body


async def test_a_venue_that_hangs_keeps_nobody_waiting(house: Indoors) -> None:
    key = await house.make_key("pro")
    house.faults.next = hang
    asked = len(house.faults.requests)
    await house.clock.advance(15)
    await until(lambda: len(house.faults.requests) > asked)
    replies = await asyncio.gather(*(house.ask(key=key) for _ in range(100)))
    assert {reply.status for reply in replies} == {200}


async def test_a_thousand_misses_on_one_symbol_ask_the_venue_nothing(house: Indoors) -> None:
    key = await house.make_key("pro")
    async with asyncio.timeout(PATIENCE_S):
        while (await house.ask("/readyz")).json["market"]["history"] != {"known": 40, "total": 40}:
            await house.settle()
    before = len(house.faults.requests)
    replies = await asyncio.gather(*(house.ask("/api/cli/coin/risk/NOSUCHCOIN", key=key) for _ in range(1_000)))
    assert {(reply.status, reply.code) for reply in replies} == {(404, "UNKNOWN_SYMBOL")}
    assert len(house.faults.requests) == before


async def test_a_thousand_calls_before_the_first_answer_of_the_venue_ask_it_once(tmp_path: Path) -> None:
    faults = Faults()
    faults.next = hang
    async with indoors(tmp_path, FakeClock(), faults) as house:
        key = await house.make_key()
        await faults.came(1)
        replies = await asyncio.gather(*(house.ask(key=key) for _ in range(1_000)))
        assert {(reply.status, reply.code) for reply in replies} == {(503, "UNAVAILABLE")}
        assert all(int(reply.headers["retry-after"]) > 0 for reply in replies)
        assert len(faults.requests) == 1
        assert (await house.ask("/readyz")).status == 503
        assert (await house.ask("/healthz")).status == 200
        assert (await house.ask("/api/cli/billing/tier", key=key)).status == 200


@pytest.mark.promise("fixtures.header", "run.source")
async def test_the_source_of_the_data_is_said_live_or_fixtures(tmp_path: Path, house: Indoors) -> None:
    assert (await house.ask(key=await house.make_key())).headers["x-data-source"] == "fixtures"
    clock = FakeClock()
    async with (
        replay_server(FIXTURES, clock, "shifted") as venue,
        indoors(tmp_path / "live", clock, **live_at(venue.url)) as live,
    ):
        key = await live.make_key()
        await live.be_ready()
        reply = await live.ask(key=key)
        assert (reply.status, reply.headers["x-data-source"]) == (200, "live")
