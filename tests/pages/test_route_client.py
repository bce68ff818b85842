"""Routes asked by pages."""

from typing import Any

import pytest
from msgspec import Raw

from service.errors import ServiceError
from service.pages.route_client import RouteClient, RouteResult
from service.routes.call import Call, QuestionRoute, WaitingRoute
from service.wire.envelope import Answer
from service.wire.market import Crossings
from service.wire.queries import HistoricalQuery

NOTHING = Raw(b'{"crossings":[]}')


async def later(call: Call[Any, Any]) -> Answer:
    assert call.caller is None
    return Answer(NOTHING, 7)


@pytest.mark.parametrize(
    "endpoint",
    [lambda _: Answer(NOTHING, 7), lambda _: Answer(Crossings([]), 7), later, WaitingRoute(later, lambda _: None)],
    ids=["at once", "not encoded yet", "later", "waiting"],
)
async def test_a_route_is_asked_whatever_it_answers_like(endpoint: Any) -> None:
    asker = RouteClient({"market.crossing": endpoint})
    assert await asker.ask("market.crossing", Crossings) == RouteResult(Crossings([]), 7)


async def test_parameters_are_the_routes_own() -> None:
    seen: list[object] = []

    def known(query: object) -> None:
        seen.append(query)

    await RouteClient({"coin.historical": WaitingRoute(later, known)}).ask(
        "coin.historical", Crossings, symbol="BTC", count=9
    )
    assert seen == [HistoricalQuery("BTC", 9)]


async def test_a_failure_is_raised_or_returned() -> None:
    error = ServiceError("UNAVAILABLE", "not now")

    def fails(_: object) -> Answer:
        raise error

    asker = RouteClient({"market.crossing": fails})
    with pytest.raises(ServiceError):
        await asker.ask("market.crossing", Crossings)
    assert await asker.try_ask("market.crossing", Crossings) is error


async def test_what_answers_piece_by_piece_is_not_asked() -> None:
    asked: Any = QuestionRoute(lambda _: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="question answers piece by piece"):
        await RouteClient({"question": asked}).ask("question", Crossings)
