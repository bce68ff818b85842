"""The route of categories hands the name to the desk and its answer on."""

from pathlib import Path

import pytest

from service.errors import ServiceError
from service.market.categories.documents import GeckoCategories, GeckoDocuments, GeckoMembers, Membership
from service.market.categories.service import CategoryService
from service.market.sources.coingecko import GeckoCategory
from service.routes.call import Call
from service.routes.market import category_info
from service.storage.database import open_database
from service.storage.documents import DocumentStore
from service.wire.envelope import success
from service.wire.queries import OfCategory
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import calls_wait_s

ORACLES = GeckoCategory("oracle", "Oracle", None, 5.0, 1.0, 2.0, START_MS - 1_500)


@pytest.mark.promise("category.exact-name", "category.info-payload")
async def test_a_category_is_answered_under_its_exact_name_alone(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_database(tmp_path / "verdict.db", clock) as database:
        drawers = GeckoDocuments.on(DocumentStore(database))
        await drawers.categories.put("test", GeckoCategories((ORACLES,)), START_MS)
        await drawers.members.put("test", GeckoMembers({"oracle": Membership(frozenset(), START_MS)}), START_MS)
        desk = CategoryService(clock, drawers, dict, calls_wait_s)
        answer = category_info(desk, Call(OfCategory("Oracle"), None, None))
        assert success(answer, START_MS) == (
            b'{"schemaVersion":1,"data":{"name":"Oracle","description":null,"coins":[],'
            b'"trends":{"UP":0,"HODL":0,"DOWN":0},"market_cap":5.0,"change_24h":1.0,"volume_24h":2.0,"leaders":[],'
            b'"laggards":[]},"meta":{"ts":"2025-07-25T12:00:00.000Z","as_of":"2025-07-25T11:59:58.500Z",'
            b'"data_age_seconds":1}}'
        )
        with pytest.raises(ServiceError) as caught:
            category_info(desk, Call(OfCategory("oracle"), None, None))
        assert caught.value.details == {"candidates": ["Oracle"]}
