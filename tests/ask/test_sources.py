"""Sources name the route that gives the same payload."""

from typing import Any

import pytest

from service.ask.data_services import path_of


@pytest.mark.parametrize(
    ("tool", "args", "path"),
    [
        ("coin.risk", {"symbol": "BTC"}, "/api/cli/coin/risk/BTC"),
        ("rwa.symbol", {"symbol": "xyz:AAPL"}, "/api/cli/rwa/symbol/xyz%3AAAPL"),
        ("category.info", {"name": "Layer 1 (L1)"}, "/api/cli/category/info/Layer%201%20%28L1%29"),
        ("category.info", {"name": "a/b?c"}, "/api/cli/category/info/a%2Fb%3Fc"),
        ("coin.historical", {"symbol": "BTC", "count": 7, "unit": "d"}, "/api/cli/coin/historical/BTC?count=7&unit=d"),
        ("regime", {"action": "active", "symbol": None}, "/api/cli/regime?action=active"),
        ("market.crossing", {}, "/api/cli/market/crossing"),
        ("glossary", {"term": "funding"}, None),
    ],
)
def test_a_source_names_the_route_that_gives_the_same_payload(tool: str, args: dict[str, Any], path: str) -> None:
    assert path_of(tool, args) == path
