"""A cold start on forged answers: nothing forged is served, and honest answers are served as soon as they come."""

import pytest

from tests.hostile.conftest import OpenWorld
from tests.hostile.forgeries import FORGERIES, IN_EVERY_SCENE, Forgery
from tests.hostile.world import World, expect_none

CASES = [
    pytest.param(forgery, second_up, id=f"{title}{'' if second_up else ', one venue'}")
    for title, forgery in FORGERIES.items()
    if "polled" in forgery.routes and forgery.tolerance is None and not forgery.is_warm
    for second_up in (True, False)
    if second_up or (title in IN_EVERY_SCENE and not forgery.needs_second)
]


async def _round(world: World) -> None:
    await world.do("quotes", "history", "recheck", "conclude", "follow")


@pytest.mark.slow
@pytest.mark.promise("plausibility.no-forged-value-is-fresh")
@pytest.mark.parametrize(("forgery", "second_up"), CASES)
async def test_a_cold_start_serves_nothing_forged(cold: OpenWorld, forgery: Forgery, *, second_up: bool) -> None:
    async with cold() as world:
        world.pushes = False
        world.tolerance = forgery.tolerance or world.tolerance
        world.venues.second_up = second_up
        world.venues.forge_polled = forgery.change
        for _ in range(3):
            await _round(world)
            expect_none(world.wrong(is_first=True))
            await world.step(15)
            expect_none(world.wrong(is_first=True))
        world.venues.honest()
        for _ in range(3):
            await world.step(15)
            await _round(world)
            expect_none(world.wrong(is_first=True))
        assert world.not_fresh() == []
        assert set(world.market.coins.view()) == set(world.truth.symbols())


async def test_an_honest_cold_start_has_every_price_after_one_round(cold: OpenWorld) -> None:
    async with cold() as world:
        await _round(world)
        assert world.not_fresh() == []
        assert world.wrong() == []
