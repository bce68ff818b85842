"""GET /api/cli/regime: what it takes, and what a client reads."""

from pathlib import Path

import pytest

from service.clock import DAY_MS, iso
from service.errors import ServiceError
from service.routes.market import regime
from service.wire.queries import RegimeAction, RegimeQuery
from tests.fakes.clock import FakeClock
from tests.routes.concluded import COINS, TODAY, ask, body, open_leader
from tests.routes.queries import Asked

ROUTE = Asked(RegimeQuery, "/api/cli/regime")


@pytest.mark.promise("regime.actions")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", RegimeQuery("active", None)),
        ("action=signals", RegimeQuery("signals", None)),
        ("action=confidence&symbol=sol", RegimeQuery("confidence", "sol")),
        ("action=history&symbol=kPEPE", RegimeQuery("history", "kPEPE")),
    ],
)
def test_an_action_and_a_symbol_are_taken(query: str, expected: RegimeQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.promise("regime.required", "regime.actions")
def test_history_without_a_symbol_is_refused_and_says_why() -> None:
    assert ROUTE.refusal("action=history") == "symbol"
    with pytest.raises(ServiceError, match="symbol is required when action=history"):
        ROUTE.decode("action=history")


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("action=Active", "action"),
        ("action=", "action"),
        ("action=active&action=active", "action"),
        ("action=history&symbol=", "symbol"),
        ("action=history&symbol=BTC%0A", "symbol"),
        ("action=history&symbol=B%2FTC", "symbol"),
        ("coin=BTC", "coin"),
    ],
)
def test_anything_else_is_refused_by_name(query: str, parameter: str) -> None:
    assert ROUTE.refusal(query) == parameter


@pytest.mark.promise("regime.active", "regime.signals", "regime.confidence", "regime.history", "regime.as-of")
@pytest.mark.parametrize(
    ("action", "symbol", "fields", "rows"),
    [
        (
            "active",
            None,
            ["market", "positions", "meta"],
            ["symbol", "regime", "direction", "conviction", "entryPrice", "currentPrice", "entryDate", "holdDays"],
        ),
        (
            "signals",
            None,
            ["signals", "meta"],
            ["symbol", "regime", "direction", "conviction", "firedAt", "reasons"],
        ),
        ("confidence", None, ["source", "generated", "summary", "coins"], ["symbol", "regime", "confidence"]),
        (
            "history",
            "PEPE",
            ["symbol", "trades", "summary", "currentPosition", "meta"],
            [
                "direction",
                "entryDate",
                "entryPrice",
                "exitDate",
                "exitPrice",
                "returnPct",
                "fundingPct",
                "costPct",
                "holdDays",
                "exitReason",
            ],
        ),
    ],
)
async def test_a_client_reads_every_field_of_each_action(
    tmp_path: Path, clock: FakeClock, action: RegimeAction, symbol: str | None, fields: list[str], rows: list[str]
) -> None:
    async with open_leader(tmp_path, clock) as leader:
        read = body(regime(leader.regimes, ask(RegimeQuery(action, symbol))), clock)
    listed = next(value for value in read["data"].values() if isinstance(value, list))
    assert list(read["data"]) == fields
    assert listed
    assert all(list(row) == rows for row in listed)
    assert read["meta"]["as_of"] == iso((TODAY + 1) * DAY_MS)
    if action == "active":
        assert list(read["data"]["market"]) == ["regime", "since", "age_days", "conviction"]
        assert read["data"]["meta"] == {
            "universe": len(COINS),
            "through": iso((TODAY + 1) * DAY_MS),
            "ruleset": "regime-rules/1",
        }
    if action == "history":
        assert list(read["data"]["summary"]) == ["total", "wins", "losses", "winRate", "meanReturnPct", "fundingKnown"]
        meta = read["data"]["meta"]
        assert list(meta) == ["through", "ruleset", "standard", "missing"]
        assert list(meta["standard"]) == ["fills", "fee_bps", "slippage", "volume", "funding"]


async def test_an_unknown_symbol_is_refused_with_the_closest_one(tmp_path: Path, clock: FakeClock) -> None:
    async with open_leader(tmp_path, clock) as leader:
        with pytest.raises(ServiceError) as caught:
            regime(leader.regimes, ask(RegimeQuery("history", "PEP")))
    assert caught.value.code == "UNKNOWN_SYMBOL"
    assert caught.value.details == {"candidates": ["PEPE"]}
