"""Verdicts while upstreams fail: less is known, the verdict says so and is less sure, and at last there is none."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from service.clock import HOUR_MS, iso
from service.verdict.ledger import ABSTAINED
from tests.service.indoors import PATIENCE_S, SIGNAL, Doors, Indoors, Kept
from tests.service.verdicts import SOURCES, STEPS, SYMBOLS, check, entries, recomputes, told_by
from tests.upstream.faults import answer, hang

DOWN = answer(503, b"down for maintenance")
VENUES = ("hyperliquid", "feed", "binance")
BARS = ("candleSnapshot", "binance")
FEEDS = ("coindesk", "cointelegraph")
UNSPENT = '"questions";r=10'


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data") as service:
        await service.pass_time(30, 10)
        yield service


async def judged(house: Indoors, key: str, coin: str = "BTC") -> Any:
    """A verdict that holds together and stands in the ledger, whatever is known; of abstentions the hour's first."""
    reply = await house.ask(f"/api/cli/signal/{coin}", key=key)
    assert reply.status == 200, reply
    said = reply.json["data"]
    check(said)
    assert said["as_of"] == reply.json["meta"]["as_of"] <= reply.json["meta"]["ts"]
    assert recomputes(reply.body, house.data_dir / "answer.json")
    written = [entry for entry in entries(house.data_dir) if entry.symbol == coin]
    assert any(
        entry.verdict_id == said["verdict_id"]
        or (entry.verdict == said["verdict"] == ABSTAINED and house.clock.at_ms - entry.issued_ms <= HOUR_MS)
        for entry in written
    )
    return said


def _points_of_bars(said: Any) -> list[float]:
    """What trends and the regime, which follow from bars, contribute; funding and mood go on."""
    return [rule["contribution"] for rule in said["rules"] if rule["id"].startswith(("trend", "regime"))]


async def pass_wall(house: Indoors, hours: float) -> None:
    house.clock.set_wall(house.clock.at_ms + round(hours * HOUR_MS))
    await house.pass_time(120, 15)


@pytest.mark.promise("signal.sources", "signal.fan-out")
async def test_while_everything_is_up_all_sources_are_fulfilled(house: Indoors, kept: Kept) -> None:
    for coin in SYMBOLS:
        said = await judged(house, kept.key, coin)
        assert list(said["sources"].items()) == [(source, "fulfilled") for source in SOURCES]
        assert None not in said["raw"].values()


@pytest.mark.slow
@pytest.mark.promise("signal.sources", "signal.evidence")
async def test_without_news_a_verdict_is_less_sure_and_says_why_until_they_are_back(house: Indoors, kept: Kept) -> None:
    before = await judged(house, kept.key)
    await house.lose(*FEEDS, fault=DOWN)
    await pass_wall(house, 2)
    said = await judged(house, kept.key)
    assert said["sources"] == {**before["sources"], "sentiment": "stale"}
    assert (before["confidence"], said["confidence"]) == ("high", "medium")
    assert "that would be high, but sentiment is stale" in said["confidence_basis"]["explanation"]
    assert said["confidence_basis"]["coverage"] == 1 - 0.5 / 2 / 4
    house.doors.open()
    await pass_wall(house, 1)
    back = await judged(house, kept.key)
    assert (back["sources"], back["confidence"]) == (before["sources"], "high")


@pytest.mark.slow
@pytest.mark.promise("signal.sources", "signal.evidence")
async def test_with_funding_and_regime_down_and_mood_stale_there_is_no_verdict_and_each_is_named(
    kept: Kept, tmp_path: Path
) -> None:
    doors = Doors()

    async def never_hype(request: web.Request) -> web.StreamResponse | None:
        return await hang(request) if b'"HYPE"' in await request.read() else None

    doors.shut("candleSnapshot", fault=never_hype)  # no day is concluded before every coin was asked for
    doors.shut("alternative", *FEEDS, fault=DOWN)
    async with kept.anew(tmp_path / "data", faults=doors) as house:
        key = await house.make_key("pro")
        await house.be_ready()
        await house.pass_time(15, 5)
        async with asyncio.timeout(PATIENCE_S):
            while (said := await judged(house, key))["raw"]["risk"]["trend_weekly"] is None:
                await house.pass_time(5, 5)
        assert said["sources"] == {
            "risk": "fulfilled",
            "funding": "rejected",
            "regime": "rejected",
            "sentiment": "stale",
        }
        assert (said["raw"]["funding"], said["raw"]["regime"]) == (None, None)
        assert (said["verdict"], said["score"], said["confidence"]) == ("insufficient-evidence", 1.5, "low")
        assert "only 43.75 % of the evidence is at hand" in said["evidence"][-2]
        unknown = ("The regime of the market", "The regime of BTC", "The 24-hour mean of funding of BTC")
        assert {f"{subject} is not known and does not count." for subject in unknown} <= {*said["evidence"]}
        assert said["evidence"][6].endswith("This input could not be refreshed, which lowers confidence.")


@pytest.mark.slow
@pytest.mark.promise("signal.insufficient-free", "signal.scale", "meter.uncounted-answers", "meter.head-free")
async def test_with_both_venues_lost_there_is_no_verdict_and_nothing_is_spent(house: Indoors, kept: Kept) -> None:
    free = await house.make_key()
    await house.lose(*VENUES, fault=DOWN)
    await house.pass_time(300, 15)
    stale = await judged(house, kept.key)
    assert (stale["sources"]["risk"], stale["raw"]["risk"]["stale_fields"]) == ("stale", ["price", "funding_apr"])
    assert stale["confidence"] == "medium"
    await house.pass_time(360, 15)
    said: Any = None
    for _ in range(2):
        reply = await house.ask(SIGNAL, key=free)
        said = reply.json["data"]
        check(said)
        assert (said["verdict"], said["sources"]["risk"], said["raw"]["risk"]) == (
            "insufficient-evidence",
            "rejected",
            None,
        )
        assert "There is no verdict: the price is not known" in said["evidence"][-2]
        assert reply.headers["ratelimit"] == UNSPENT
    head = await house.ask(SIGNAL, "HEAD", key=free)
    assert (head.status, head.body, head.headers["ratelimit"]) == (200, b"", UNSPENT)
    written = len(entries(house.data_dir))
    await house.pass_time(60, 15)
    again = await house.ask(SIGNAL, key=free)
    assert again.json["data"] == said, "the same abstention is no new verdict"
    assert len(entries(house.data_dir)) == written
    house.doors.open()
    await house.pass_time(300, 15)
    assert (await judged(house, kept.key))["verdict"] == "strong-bull"
    assert (await house.ask(SIGNAL, key=free)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.slow
@pytest.mark.promise("signal.scale", "signal.sources")
async def test_trends_count_half_once_a_day_is_overdue_and_after_two_days_there_is_no_verdict(
    house: Indoors, kept: Kept
) -> None:
    fresh = await judged(house, kept.key)
    await house.lose(*BARS, fault=DOWN)
    await pass_wall(house, 34)  # 22:03 of the next day
    stale = await judged(house, kept.key)
    assert stale["raw"]["risk"]["stale_fields"] == ["trend_daily", "trend_weekly"]
    assert {stale["sources"]["risk"], stale["sources"]["regime"]} == {"stale"}
    assert (_points_of_bars(stale), stale["as_of"]) == (_points_of_bars(fresh), fresh["as_of"])
    assert STEPS.index(stale["confidence"]) < STEPS.index(fresh["confidence"])
    for named in ("the risk context is stale", "the regime is stale"):
        assert named in stale["evidence"][-1]
    assert 0.5 < stale["confidence_basis"]["coverage"] <= (1 + 0.5 + 0.5 + 0.25 + 0.25) / 4, "trends and regime by half"
    await pass_wall(house, 3)
    gone = await judged(house, kept.key)
    assert gone["raw"]["risk"]["price"] > 0
    assert (gone["raw"]["risk"]["trend_daily"], gone["raw"]["risk"]["trend_weekly"]) == (None, None)
    assert (gone["verdict"], gone["sources"]["regime"]) == (ABSTAINED, "rejected")
    assert "neither trend is known" in gone["evidence"][-2]
    for _ in range(40):  # payments are fetched beside everything else, in their own time
        if gone["sources"]["funding"] == "fulfilled":
            break
        await house.pass_time(15, 15)
        gone = await judged(house, kept.key)
    assert gone["as_of"] > iso(house.clock.at_ms - 3 * HOUR_MS), "nothing that is old is used any more"


@pytest.mark.slow
@pytest.mark.promise("signal.no-model")
async def test_judging_asks_nobody_neither_upstreams_nor_anyone_else(house: Indoors, kept: Kept) -> None:
    calls = {name: session.calls for name, session in house.sessions.items()}
    assert calls.keys() == {"hyperliquid", "binance", "coingecko", "alternative", "coindesk", "cointelegraph"}
    with told_by("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.posix_spawn") as heard:
        for target in (SIGNAL, *(f"/api/cli/signal/{coin}" for coin in SYMBOLS), f"{SIGNAL}?as_of={now(house)}"):
            assert (await house.ask(target, key=kept.key)).status == 200
    assert heard == []
    assert {name: session.calls for name, session in house.sessions.items()} == calls
    with told_by("socket.connect") as heard:
        await house.pass_time(120, 15)
    upstreams = {("127.0.0.1", int(house.replay.url.rpartition(":")[2]))}
    assert set(heard) <= upstreams, "the rooms below ask their upstreams, and nobody asks anyone else"


def now(house: Indoors) -> str:
    return iso(house.clock.at_ms)
