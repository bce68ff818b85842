"""GET /api/cli/signal-quality: what it takes, and that the desk's answer is passed on."""

from typing import Any

import pytest

from service.routes.call import Call
from service.routes.signals import signal_quality
from service.wire.envelope import Answer
from service.wire.queries import SignalQualityQuery
from tests.routes.queries import Asked

ROUTE = Asked(SignalQualityQuery, "/api/cli/signal-quality")
TYPES = ["mean_reversion", "trend-following", "cross-sectional-momentum", "funding-reversion", "verdict"]


@pytest.mark.promise("quality.types", "quality.asset")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("asset=BTC", SignalQualityQuery("BTC", "mean_reversion")),
        ("asset=btc&signal_type=mean_reversion", SignalQualityQuery("btc")),
        ("asset=SOL&signal_type=funding-reversion", SignalQualityQuery("SOL", "funding-reversion")),
        ("asset=SOL&signal_type=verdict", SignalQualityQuery("SOL", "verdict")),
    ],
)
def test_an_asset_and_a_type_are_taken(query: str, expected: SignalQualityQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.promise("quality.types")
@pytest.mark.parametrize("value", ["", "momentum", "Mean_Reversion", "all", "trend_following"])
def test_an_unknown_type_is_refused_with_the_list_of_types(value: str) -> None:
    error = ROUTE.error(f"asset=BTC&signal_type={value}")
    assert error.code == "BAD_REQUEST"
    assert error.details == {"parameter": "signal_type", "allowed": TYPES}
    assert all(name in error.message for name in TYPES)


@pytest.mark.promise("quality.asset")
@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("", "asset"),
        ("signal_type=trend-following", "asset"),
        ("asset=", "asset"),
        ("asset=BTC%2FUSD", "asset"),
        ("asset=BTC&asset=ETH", "asset"),
        ("asset=BTC&symbol=BTC", "symbol"),
    ],
)
def test_a_missing_asset_and_unknown_parameters_are_refused_by_name(query: str, parameter: str) -> None:
    assert ROUTE.refusal(query) == parameter


async def test_the_walk_forward_answers_of_strategies_and_the_verdict_room_of_verdicts() -> None:
    class Desk:
        async def signal_quality(self, asset: str, signal_type: str) -> Answer:
            return Answer(("walk-forward", asset, signal_type))

        async def quality(self, asset: str) -> Answer:
            return Answer(("verdicts", asset))

    async def ask(query: SignalQualityQuery) -> object:
        call: Call[SignalQualityQuery, None] = Call(query, None, None)
        desk: Any = Desk()
        return (await signal_quality(desk, desk, call)).data

    assert await ask(SignalQualityQuery("BTC")) == ("walk-forward", "BTC", "mean_reversion")
    assert await ask(SignalQualityQuery("BTC", "trend-following")) == ("walk-forward", "BTC", "trend-following")
    assert await ask(SignalQualityQuery("btc", "verdict")) == ("verdicts", "btc")
