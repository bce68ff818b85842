"""Live, with the replay as upstream and the venue's own budget: readiness and 503s are truthful to the second."""

from pathlib import Path

import pytest

from service.wiring.venues import PUBLISHED
from tests.fakes.clock import FakeClock
from tests.service.indoors import Kept, indoors

HEALTH = "/api/cli/market/health"
EARLY = 0.5
"""An answer that came before this part of the wait that was named would make the estimate useless."""


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
        assert waits[0] > 10, "the estimate is of the actual work"
        assert sum(waits) <= 1.25 * waits[0], f"{waits}: who waited as long as was said is answered little later"
