"""GET /api/cli/market/crossing: what it takes, and what a client reads."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, iso
from service.routes.market import market_crossing
from service.wire.market import Crossing
from service.wire.queries import NoParameters
from tests.fakes.clock import FakeClock
from tests.routes.concluded import TODAY, ask, body, open_leader
from tests.routes.queries import Asked


def test_it_takes_nothing() -> None:
    route = Asked(NoParameters, "/api/cli/market/crossing")
    assert route.decode("") == NoParameters()
    assert route.refusal("limit=1") == "limit"


@pytest.mark.promise("crossing.array", "crossing.payload", "crossing.as-of")
async def test_the_array_is_always_there(tmp_path: Path, clock: FakeClock) -> None:
    async with open_leader(tmp_path, clock) as leader:
        some = body(market_crossing(leader.breadth, ask(NoParameters())), clock)
        told = leader.told
        await leader.document.put("test", replace(told, crossings=[]), told.through_ms)
        none = body(market_crossing(leader.breadth, ask(NoParameters())), clock)
    assert list(some["data"]) == ["crossings"]
    assert some["data"]["crossings"]
    assert all(list(one) == list(Crossing.__struct_encode_fields__) for one in some["data"]["crossings"])
    assert some["meta"]["as_of"] == iso((TODAY + 1) * DAY_MS)
    assert none["data"]["crossings"] == []
    assert none["data"]["message"].startswith("UP less DOWN has not changed its sign")
