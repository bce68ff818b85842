"""Alert rules of users beside forged prices: what is not accepted fires nothing."""

from typing import Any

import pytest

from service.notify.evaluation import RuleEvaluator
from service.notify.store import RuleStore
from service.storage.engine import Connection
from tests.hostile.conftest import OpenWorld
from tests.hostile.forgeries import FORGERIES


@pytest.mark.promise("notify.accepted-data")
@pytest.mark.parametrize("title", ["price x10 of one", "price /10 of all", "price 1e99 of all"])
async def test_a_forged_price_fires_no_rule(warm: OpenWorld, title: str) -> None:
    async with warm() as world:

        def add_user(connection: Connection) -> None:
            connection.execute("INSERT INTO users (created_ms) VALUES (0)")

        await world.database.write(add_user)
        store = RuleStore(world.database)
        for coin in ("BTC", "ETH", "SOL"):
            price = world.truth.price(coin, world.clock.now_ms())
            for text in (f"{coin} > {price * 1.5:.6f}", f"{coin} < {price * 0.5:.6f}"):
                await store.add(1, text, "https://example.org/", world.clock.now_ms())
        verdict: Any = None
        evaluator = RuleEvaluator(world.clock, store, world.market, verdict, "live")
        await evaluator.round()
        assert {rule.state for rule in await store.rules()} == {"armed"}
        world.venues.begin()
        world.venues.forge_polled = FORGERIES[title].change
        for _ in range(12):
            await world.step(5)
            await evaluator.round()
        assert await store.messages(1, 9) == []
        assert {rule.state for rule in await store.rules()} == {"armed"}
