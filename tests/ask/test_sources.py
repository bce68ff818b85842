"""Where figures come from: the route one could ask for the same payload."""

from typing import Any

import pytest
from msgspec import Raw
from msgspec.json import encode

from service.ask.sources import path_of, sources_of
from service.wire.ask import Source, Step

AT = "2025-07-25T12:00:00.000Z"


def found(tool: str, args: dict[str, Any], result: object, as_of: str | None = AT) -> Step:
    return Step(id="s1", tool=tool, args=args, result=result, as_of=as_of)


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
        ("scan", {"by": "price"}, None),
        ("glossary", {"term": "funding"}, None),
    ],
)
def test_a_source_names_the_route_that_gives_the_same_payload(tool: str, args: dict[str, Any], path: str) -> None:
    assert path_of(tool, args) == path


def test_a_step_that_failed_is_no_source_and_the_same_source_is_named_once() -> None:
    btc = found("coin.risk", {"symbol": "BTC"}, {"symbol": "BTC"})
    failed = Step(id="s2", tool="signal", args={}, result=None, as_of=None, error="broken")
    assert sources_of([btc, failed, btc]) == (Source("coin.risk", "/api/cli/coin/risk/BTC", AT),)


def test_what_is_stale_is_named_by_field_and_of_a_verdict_by_source() -> None:
    states = {"risk": "fulfilled", "funding": "stale", "regime": "rejected", "sentiment": "stale"}
    told = sources_of(
        [
            found("coin.risk", {"symbol": "BTC"}, Raw(encode({"_stale_fields": ["price", "funding_apr"]}))),
            found("signal", {"symbol": "BTC"}, Raw(encode({"sources": states}))),
            found("category.sentiment", {"name": "Meme"}, Raw(encode({"sources": ["coindesk"]}))),
            found("glossary", {"term": "funding"}, Raw(encode({"_stale_fields": "no list"})), None),
            found("scan", {}, Raw(b"[]")),
        ]
    )
    assert [source.stale for source in told] == [("price", "funding_apr"), ("funding", "sentiment"), (), (), ()]
    assert told[3].as_of is None
