"""GET /api/cli/coin/historical/{symbol}: what it takes, and that the desk's answer is handed on."""

import pytest

from service.access.caller import Caller
from service.routes.call import Call
from service.routes.market import historical
from service.wire.envelope import Answer
from service.wire.market import FactsNow, FactsThen, Historical
from service.wire.queries import HistoricalQuery
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ROUTE = Asked(HistoricalQuery, "/api/cli/coin/historical/{symbol}", symbol="BTC")


@pytest.mark.promise("historical.parameters", "historical.bounds")
@pytest.mark.parametrize(
    ("query", "count", "unit"),
    [("", 24, "h"), ("count=1", 1, "h"), ("count=1000&unit=d", 1000, "d"), ("unit=h&count=0007", 7, "h")],
)
def test_a_count_and_a_unit_are_taken(query: str, count: int, unit: str) -> None:
    assert ROUTE.decode(query) == HistoricalQuery("BTC", count, "d" if unit == "d" else "h")


@pytest.mark.promise("historical.bounds")
@pytest.mark.parametrize("value", [*NO_WHOLE_NUMBERS, "1001"])
def test_what_is_no_count_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"count={value}") == "count"


@pytest.mark.promise("historical.bounds")
@pytest.mark.parametrize("value", ["w", "H", "hours", "", "1d"])
def test_what_is_no_unit_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"unit={value}") == "unit"


@pytest.mark.parametrize(
    ("query", "parameter"), [("count=1&count=1", "count"), ("limit=5", "limit"), ("symbol=ETH", "symbol")]
)
def test_what_is_repeated_or_unknown_is_refused_by_name(query: str, parameter: str) -> None:
    assert ROUTE.refusal(query) == parameter


async def test_the_desks_answer_is_handed_on() -> None:
    then, now = FactsThen(*[None] * 7), FactsNow(*[None] * 8)
    answer = Answer(Historical("BTC", 24, "h", then, now, None, []), 1)

    class Desk:
        asked: HistoricalQuery | None = None

        async def historical(self, query: HistoricalQuery) -> Answer:
            self.asked = query
            return answer

    desk, query = Desk(), HistoricalQuery("BTC")
    assert await historical(desk, Call(query, None, Caller(1, "api_key", 1))) is answer  # type: ignore[arg-type]
    assert desk.asked is query
