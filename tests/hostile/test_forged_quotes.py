"""Forged prices, funding, rows, coins and times, over every route, warm and cold."""

import pytest

from tests.hostile.conftest import OpenWorld
from tests.hostile.forgeries import FORGERIES, IN_EVERY_SCENE, SLOW, Change, Forgery
from tests.hostile.world import World

RECOVERY_S = 30.0
"""Two rounds of polling after the forging has ended, everything is fresh."""


class Scene:
    """Where a forgery comes in, and who is honest beside it. Every forgery of a route is tried in its main scene."""

    def __init__(
        self, route: str, *, polls: bool = True, pushes: bool = True, second: bool = True, is_main: bool = False
    ) -> None:
        self.route = route
        self.is_main = is_main
        self.polls = polls
        self.pushes = pushes
        self.second = second

    def begin(self, world: World, change: Change) -> None:
        """Begin to forge."""
        venues = world.venues
        venues.begin()
        world.pushes = self.pushes
        venues.first_up = self.polls
        venues.second_up = self.second
        if self.route == "polled":
            venues.forge_polled = change
        elif self.route == "pushed":
            venues.forge_pushed = change
        else:
            venues.forge_second = change


SCENES = {
    "polled": Scene("polled", pushes=False, is_main=True),
    "polled beside an honest feed": Scene("polled"),
    "polled alone": Scene("polled", pushes=False, second=False),
    "pushed beside honest answers": Scene("pushed", is_main=True),
    "pushed while the first venue is down": Scene("pushed", polls=False),
    "pushed alone": Scene("pushed", polls=False, second=False),
    "second while the first venue is down": Scene("second", polls=False, pushes=False, is_main=True),
}
CASES = [
    pytest.param(scene, forgery, id=f"{name}: {title}")
    for name, scene in SCENES.items()
    for title, forgery in FORGERIES.items()
    if scene.route in forgery.routes and (scene.is_main or title in IN_EVERY_SCENE)
]


@pytest.mark.slow
@pytest.mark.promise("plausibility.no-forged-value-is-fresh")
@pytest.mark.parametrize(("scene", "forgery"), CASES)
async def test_no_forged_value_is_served_as_fresh_and_honest_ones_come_back(
    warm: OpenWorld, scene: Scene, forgery: Forgery
) -> None:
    async with warm() as world:
        assert world.not_fresh() == []
        before = await world.records()
        world.tolerance, lasts_s = forgery.tolerance or world.tolerance, forgery.lasts_s
        if forgery.alone_s is not None and (scene.route == "second" or not scene.second):
            world.tolerance, lasts_s = SLOW, forgery.alone_s
        scene.begin(world, forgery.change)
        await world.run(lasts_s, look=True)
        assert await world.records() == before
        world.venues.honest()
        world.pushes = True
        await world.run(RECOVERY_S, look=True)
        assert world.not_fresh() == []
        assert await world.records() == before
