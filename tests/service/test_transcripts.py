"""Spoken words, through the whole service: what they cost, and what is told while their hosts are away."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from service.clock import SECOND_MS, parse_iso
from service.transcripts.refresh import AGAIN_MS, FEEDS_EVERY_MS
from tests.fakes.clock import FakeClock
from tests.fakes.handful import handful
from tests.service.indoors import PATIENCE_S, Indoors, indoors
from tests.upstream.faults import reset

ROUTE = "/api/cli/transcripts"
EPISODES = 13


async def be_told(house: Indoors, key: str, target: str = ROUTE) -> Any:
    answer = await house.ask(target, key=key)
    assert answer.status == 200, answer.json
    return answer.json


async def be_listed(house: Indoors, key: str, status: str, episodes: int = EPISODES) -> None:
    """Let time pass until every source stands so, and so many episodes were read."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            sources = (await be_told(house, key, f"{ROUTE}?action=sources"))["data"]["sources"]
            read = sum(source["episodes"] for source in sources)
            if {source["status"] for source in sources} == {status} and read == episodes:
                break
            await house.pass_time(5, 5)


@pytest.mark.slow
@pytest.mark.promise("transcripts.actions", "transcripts.as-of")
async def test_what_was_said_is_told_for_a_question_each_and_goes_on_being_told_while_its_hosts_are_away(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    async with indoors(tmp_path, clock, fixtures_dir=handful()) as house:
        await house.be_ready()
        key, free = await house.make_key("pro"), await house.make_key()
        await be_listed(house, key, "ok")
        for target in ("source=nobody", "coin=NOWHERE", "sector=Nowhere", "action=sources&coin=BTC", "macro=weather"):
            assert (await house.ask(f"{ROUTE}?{target}", key=free)).status in {400, 404}
        paid = await house.ask(f"{ROUTE}?coin=btc&limit=1", key=free)
        assert paid.headers["ratelimit"].startswith('"questions";r=9')
        first = paid.json
        assert first["data"]["highlights"][0]["coins"].count("BTC") == 1
        assert first["meta"]["data_age_seconds"] < FEEDS_EVERY_MS // SECOND_MS + 60
        house.doors.shut("podcasts", fault=reset)
        before = await be_told(house, key)
        clock.set_wall(clock.now_ms() + FEEDS_EVERY_MS)
        await be_listed(house, key, "failing")
        after = await be_told(house, key)
        assert after["data"] == before["data"]
        assert after["meta"]["as_of"] == before["meta"]["as_of"]
        assert after["meta"]["data_age_seconds"] >= FEEDS_EVERY_MS // SECOND_MS
        house.doors.open()
        clock.set_wall(clock.now_ms() + AGAIN_MS)
        await be_listed(house, key, "ok")
        again = await be_told(house, key)
        assert again["data"] == before["data"]
        assert parse_iso(again["meta"]["as_of"]) > parse_iso(before["meta"]["as_of"])
