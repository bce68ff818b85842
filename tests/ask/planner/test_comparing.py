"""Places of a ranking, categories, ratios of measures, sums and majorities, recounted row by row."""

import pytest

from service.ask.query import Rank
from tests.ask.planner.asked import ALL, VOLUME, of
from tests.ask.planner.world import COINS, World

WORLD = World()
ROWS = WORLD.table


def _by_volume() -> list[str]:
    known = [symbol for symbol in COINS if ROWS[symbol].volume_24h_usd is not None]
    return sorted(known, key=lambda symbol: (-ROWS[symbol].volume_24h_usd, symbol))


@pytest.mark.parametrize(("skip", "limit"), [(1, 1), (3, 5), (500, 2)])
async def test_a_ranking_skips_the_first_places(skip: int, limit: int) -> None:
    found = await WORLD.ask(of(ALL, VOLUME, operation=Rank("most", limit, skip)))
    assert [row.subject for row in found.rows] == _by_volume()[skip : skip + limit]
    assert found.kind == ("position" if found.rows else "nothing")
    if found.rows:
        assert found.figures["place"].value == skip + 1
