"""GET /api/cli/market/health: what it takes, and what a client reads."""

from pathlib import Path

import pytest

from service.clock import DAY_MS, iso
from service.routes.market import market_health
from service.wire.market import MarketHealth
from service.wire.queries import HealthQuery
from tests.fakes.clock import FakeClock
from tests.routes.concluded import TODAY, ask, body, open_leader
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ROUTE = Asked(HealthQuery, "/api/cli/market/health")


@pytest.mark.promise("health.flag")
@pytest.mark.parametrize(("query", "context"), [("", 0), ("context=0", 0), ("context=1", 1)])
def test_context_is_a_flag_and_off_where_it_is_not_given(query: str, context: int) -> None:
    assert ROUTE.decode(query) == HealthQuery(context)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [*(value for value in NO_WHOLE_NUMBERS if value != "0"), "2", "01", "true"])
def test_anything_else_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"context={value}") == "context"


def test_unknown_and_repeated_parameters_are_refused() -> None:
    assert ROUTE.refusal("symbol=BTC") == "symbol"
    assert ROUTE.refusal("context=1&context=1") == "context"


@pytest.mark.promise("health.payload", "health.as-of")
async def test_a_client_reads_every_field_in_the_order_of_the_contract(tmp_path: Path, clock: FakeClock) -> None:
    async with open_leader(tmp_path, clock) as leader:
        plain = body(market_health(leader.breadth, ask(HealthQuery())), clock)
        rich = body(market_health(leader.breadth, ask(HealthQuery(1))), clock)
    assert list(plain["data"]) == ["date", "universe", "trends", "breadth_pct", "hasExtremes", "extremes"]
    assert list(rich["data"]) == list(MarketHealth.__struct_encode_fields__)
    assert list(plain["data"]["trends"]) == list(plain["data"]["breadth_pct"]) == ["UP", "HODL", "DOWN"]
    assert plain["meta"]["as_of"] == iso((TODAY + 1) * DAY_MS)
    assert plain["meta"]["data_age_seconds"] == 60
