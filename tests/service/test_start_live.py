"""Live, with the replay as upstream and the venue's own budget: readiness and 503s are truthful to the second."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from service.market.categories.refresh import CATEGORIES_EVERY_S
from service.market.ingest.recording import RecordingLoader
from service.wiring.upstreams import PUBLISHED
from tests.fakes.clock import FakeClock
from tests.service.indoors import PATIENCE_S, Kept, indoors

HEALTH = "/api/cli/market/health"
HOURS = "/api/cli/coin/historical/{}?count=24&unit=h"
DAYS = "/api/cli/coin/historical/{}?count=30&unit=d"
ALERTS = "/api/cli/funding/alerts"
CATEGORY = "/api/cli/category/info/Meme"
SENTIMENT = "/api/cli/category/sentiment/Meme"
EARLY = 0.5
"""An answer that came before this part of the wait that was named would make the estimate useless."""


@pytest.mark.slow
@pytest.mark.promise("start.live-ready", "start.live-progress")
async def test_a_route_that_is_loading_answers_after_the_time_it_named(kept: Kept, tmp_path: Path) -> None:
    clock = FakeClock(kept.at_ms)
    slow = {**PUBLISHED, "hyperliquid": 600}
    async with indoors(tmp_path, clock, fixtures_dir=kept.fixtures_dir, source="live", weights=slow) as house:
        key = await house.make_key("pro")
        await house.be_ready()
        ready = await house.readiness()
        assert ready["loading"]["ready"] is False
        assert ready["loading"]["daily history"].endswith("of 7 coins")
        assert (await house.ask(key=key)).status == 200, "prices are served"
        waits = []
        refused = await house.ask(HEALTH, key=key)
        while refused.status == 503:
            wait_s = int(refused.headers["retry-after"])
            error = refused.json["error"]
            assert error["message"].startswith("Breadth is not available yet: history is loading (")
            assert error["message"].endswith(f"of 7 coins). Retry in {wait_s} s.")
            waits.append(wait_s)
            if wait_s > 10:
                await house.pass_time(wait_s * EARLY, 1)
                assert (await house.ask(HEALTH, key=key)).status == 503, "it was not available much earlier"
                await house.pass_time(wait_s * (1 - EARLY), 1)
            else:
                await house.pass_time(wait_s, 1)
            refused = await house.ask(HEALTH, key=key)
        assert refused.status == 200
        assert waits[0] > 5, "the estimate is of the actual work"
        assert sum(waits) <= 1.25 * waits[0] + 5, f"{waits}: who waited as long as was said is answered little later"


@pytest.mark.slow
@pytest.mark.promise("start.live-progress")
@pytest.mark.parametrize(
    ("target", "message"),
    [
        (HOURS.format("BTC"), "Hourly bars of BTC are not available yet: history is loading ("),
        (HOURS.format("DOGE"), "Hourly bars of DOGE are not available yet: history is loading ("),
        (DAYS.format("DOGE"), "Daily bars of DOGE are not available yet: history is loading ("),
        (ALERTS, "Funding alerts are not available yet: history is loading ("),
        (CATEGORY, "Categories are not available yet: data is loading ("),
        (SENTIMENT, "Categories are not available yet: data is loading ("),
    ],
)
async def test_who_waits_exactly_as_told_is_refused_once_more_at_most(
    kept: Kept, tmp_path: Path, target: str, message: str
) -> None:
    clock = FakeClock(kept.at_ms)
    slow = {**PUBLISHED, "hyperliquid": 400}
    async with indoors(tmp_path, clock, fixtures_dir=kept.fixtures_dir, source="live", weights=slow) as house:
        key = await house.make_key("pro")
        await house.be_ready()
        refused = await house.ask(target, key=key)
        assert refused.json["error"]["message"].startswith(message)
        waits = []
        while refused.status == 503:
            wait_s = int(refused.headers["retry-after"])
            assert refused.json["error"]["message"].endswith(f"Retry in {wait_s} s.")
            waits.append(wait_s)
            await house.pass_time(wait_s * EARLY, 1)
            early = await house.ask(target, key=key)
            await house.pass_time(wait_s * (1 - EARLY), 1)
            refused = await house.ask(target, key=key)
            assert early.status == 503 or len(waits) > 1, "it was not available much earlier than first said"
        assert refused.status == 200
        assert waits[0] > 5, "the estimate is of the actual work"
        assert len(waits) <= 2, waits


@pytest.mark.slow
async def test_on_fixtures_past_market_caps_follow_readiness_without_waiting_for_a_round(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    categories_read, load = asyncio.Event(), RecordingLoader._load_payments

    async def load_late(self: RecordingLoader, *arguments: Any) -> None:
        await categories_read.wait()
        await load(self, *arguments)

    monkeypatch.setattr(RecordingLoader, "_load_payments", load_late)
    clock = FakeClock()
    async with indoors(tmp_path, clock, fixtures_dir=kept.fixtures_dir) as house, asyncio.timeout(PATIENCE_S):
        key = await house.make_key("pro")
        while (await house.readiness())["categories"]["read"] < 3:
            await house.settle()
        await house.settle()
        categories_read.set()
        await house.be_ready()
        while (await house.ask(HOURS.format("BTC"), key=key)).json["data"]["at"]["marketCap"] is None:
            await house.settle()
        assert clock.monotonic() < CATEGORIES_EVERY_S
