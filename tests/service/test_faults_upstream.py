"""What callers see while both venues fail: honest ages, then a refusal that says why, then everything as before."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.clock import parse_iso
from tests.fakes.asgi import Reply
from tests.fakes.clock import FakeClock
from tests.service.indoors import EVERYTHING, RISK, Doors, Indoors, Kept, indoors, until
from tests.upstream.faults import Fault, answer, cut_short, hang, html, not_a_number, redirect, reset, too_many

SECRETS = (
    b'{"api_key":"hunter2hunter2"}',
    b"Authorization: Bearer abc.def.ghi",
    b"https://venue.example/x?token=abcdef&user=1",
    b"0123456789abcdef0123456789abcdef0123456789abcdef",
)


VENUES = ("hyperliquid", "feed", "binance")
MISSED = (
    "/api/cli/coin/historical/NOSUCHCOIN",
    "/api/cli/regime?action=history&symbol=NOSUCHCOIN",
    "/api/cli/rwa/symbol/NOSUCHASSET",
    "/api/cli/category/info/No%20such%20category",
    "/api/cli/category/sentiment/No%20such%20category",
    "/api/cli/funding/alerts?symbol=NOSUCHCOIN",
)


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data") as service:
        await service.pass_time(15, 5)
        yield service


async def fail_until_gone(house: Indoors, key: str, fault: Fault) -> list[Reply]:
    """Let the venues fail for eleven minutes; what is answered every half a minute."""
    await house.lose(*VENUES, fault=fault)
    replies = []
    for _ in range(22):
        await house.pass_time(30, 15)
        replies.append(await house.ask(key=key))
    return replies


async def recover(house: Indoors, key: str) -> Reply:
    """Let the venues answer again, and time pass until they are asked."""
    house.doors.open()
    for _ in range(40):
        await house.pass_time(15)
        if (await house.ask(RISK, "HEAD", key=key)).status == 200:
            break
    reply = await house.ask(key=key)
    assert reply.status == 200, reply
    return reply


@pytest.mark.slow
@pytest.mark.promise("time.as-of-honest", "risk.stale-limit", "errors.upstream-502", "errors.upstream-details")
async def test_while_the_venue_fails_ages_grow_fields_are_named_stale_and_at_last_it_is_502(house: Indoors) -> None:
    key = await house.make_key("pro")
    fresh = await house.ask(key=key)
    assert (fresh.status, fresh.json["data"]["_stale_fields"]) == (200, [])
    await house.lose(*VENUES, fault=answer(503, b"the engine is down"))
    await house.pass_time(10, 5)
    last = await house.ask(key=key)  # a frame that was on its way has been read
    replies = await fail_until_gone(house, key, answer(503, b"the engine is down"))

    statuses = [reply.status for reply in replies]
    assert statuses == sorted(statuses)
    assert Counter(statuses).keys() == {200, 502}
    for reply in replies[: statuses.index(502)]:
        said = reply.json
        assert said["data"]["price"] == last.json["data"]["price"]
        assert said["meta"]["as_of"] == last.json["meta"]["as_of"]
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
    assert again.json["data"]["_stale_fields"] == []
    assert again.json["meta"]["data_age_seconds"] <= 60


@pytest.mark.slow
@pytest.mark.promise("errors.upstream-timeout-null", "errors.upstream-502")
@pytest.mark.parametrize(
    ("fault", "code", "status"),
    [
        (reset, "UPSTREAM_UNREACHABLE", None),
        (cut_short, "UPSTREAM_UNREACHABLE", None),
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


@pytest.mark.slow
@pytest.mark.promise("errors.upstream-redacted")
async def test_what_the_venue_says_is_repeated_without_its_secrets(house: Indoors) -> None:
    key = await house.make_key("pro")
    said = b"down: " + b" ".join(SECRETS) + b" " + b"word " * 1_000
    (*_, last) = await fail_until_gone(house, key, answer(500, said))
    body = last.json["error"]["details"]["upstreamBody"]
    assert body.startswith("down: ")
    assert "word" in body
    assert len(body.encode()) <= 2_048
    for part in (b"hunter2", b"abc.def.ghi", b"token=abcdef", b"0123456789abcdef"):
        assert part.decode() not in body


@pytest.mark.slow
async def test_venues_that_hang_keep_nobody_waiting(house: Indoors) -> None:
    key = await house.make_key("pro")
    await house.lose(*VENUES, fault=hang)
    asked = house.doors.calls["hyperliquid"]
    await house.clock.advance(15)
    await until(lambda: house.doors.calls["hyperliquid"] > asked)
    replies = await asyncio.gather(*(house.ask(key=key) for _ in range(100)))
    assert {reply.status for reply in replies} == {200}


@pytest.mark.slow
async def test_a_thousand_misses_on_one_symbol_ask_the_venue_nothing(house: Indoors) -> None:
    key = await house.make_key("pro")
    before = len(house.faults.requests)
    replies = await asyncio.gather(*(house.ask("/api/cli/coin/risk/NOSUCHCOIN", key=key) for _ in range(1_000)))
    assert {(reply.status, reply.code) for reply in replies} == {(404, "UNKNOWN_SYMBOL")}
    assert len(house.faults.requests) == before


@pytest.mark.slow
async def test_what_does_not_exist_asks_nobody_and_costs_nothing(house: Indoors) -> None:
    key, before = await house.make_key(), len(house.faults.requests)
    for missed in MISSED:
        for _ in range(20):
            replies = await asyncio.gather(*(house.ask(missed, key=key) for _ in range(10)))
            assert {reply.status for reply in replies} == {404}, missed
    assert len(house.faults.requests) == before
    assert (await house.ask(key=key)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.slow
async def test_a_thousand_calls_before_the_first_answer_of_the_venue_ask_it_once(kept: Kept, tmp_path: Path) -> None:
    doors = Doors()
    doors.next = hang
    async with indoors(tmp_path, FakeClock(), doors, fixtures_dir=kept.fixtures_dir) as house:
        key = await house.make_key("pro")
        await until(lambda: doors.calls["hyperliquid"] > doors.calls["xyz"] > 0)
        for target in EVERYTHING:
            calls = 1_000 if target is RISK else 20
            replies = await asyncio.gather(*(house.ask(target, key=key) for _ in range(calls)))
            assert {(reply.status, reply.code) for reply in replies} == {(503, "UNAVAILABLE")}, target
            assert all(int(reply.headers["retry-after"]) > 0 for reply in replies)
        # Once what it trades itself, once what its builder dex does.
        assert doors.calls == {"metaAndAssetCtxs": 2, "hyperliquid": 2, "xyz": 1}
        assert (await house.ask("/readyz")).status == 503
        assert (await house.ask("/healthz")).status == 200
        assert (await house.ask("/api/cli/billing/tier", key=key)).json["data"]["tier"] == "pro"


@pytest.mark.slow
@pytest.mark.promise("fixtures.header", "run.source")
async def test_the_source_of_the_data_is_said_live_or_fixtures(kept: Kept, house: Indoors, tmp_path: Path) -> None:
    assert (await house.ask(key=kept.key)).headers["x-data-source"] == "live"
    async with indoors(tmp_path / "other", FakeClock(), fixtures_dir=kept.fixtures_dir) as other:
        await other.be_ready()
        reply = await other.ask(key=await other.make_key())
        assert (reply.status, reply.headers["x-data-source"]) == (200, "fixtures")
