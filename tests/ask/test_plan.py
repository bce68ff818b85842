from typing import get_args

import pytest

from service.ask.plan import plan
from service.wire.ask import Amount, Classification, Entities, Intent, Period, Refusal
from tests.ask.asking import planned, steps_of

NOON = 1_753_444_800_000
"""2025-07-25 12:00 UTC."""


def tools(intent: Intent, refusal: Refusal | None = None, **named: object) -> list[tuple[str, dict[str, object]]]:
    asked = Classification(intent=intent, entities=Entities(**named), refusal=refusal)  # type: ignore[arg-type] # as named
    return [(step.tool, dict(step.args)) for step in plan(asked, NOON).steps]


def test_a_state_is_looked_up_of_each_coin_and_asset_five_at_most() -> None:
    assert tools("price", coins=("BTC",), assets=("xyz:GOLD",)) == [
        ("coin.risk", {"symbol": "BTC"}),
        ("rwa.symbol", {"symbol": "xyz:GOLD"}),
    ]
    assert len(tools("funding", coins=tuple("ABCDEFG"))) == 5


def test_an_overview_is_the_states_and_as_many_verdicts_as_fit() -> None:
    assert tools("overview", coins=("BTC",)) == [("coin.risk", {"symbol": "BTC"}), ("signal", {"symbol": "BTC"})]
    assert len(tools("overview", coins=tuple("ABCDE"))) == 8


def test_a_comparison_looks_verdicts_up_only_where_it_is_asked_which_to_take() -> None:
    assert [tool for tool, _ in tools("comparison", coins=("BTC", "ETH"))] == ["coin.risk"] * 2
    preferring = tools("comparison", coins=("BTC", "ETH"), action="prefer")
    assert [tool for tool, _ in preferring] == ["coin.risk"] * 2 + ["signal"] * 2


def test_a_carry_is_worked_out_from_the_state_of_the_coin_and_what_was_said_of_the_position() -> None:
    asked = tools("carry", coins=("ETH",), amount=Amount(2_500.0, "USD"), side="long", days=1.5)
    worked_out = {"symbol": "ETH", "notional_usd": 2_500, "side": "long", "days": 1.5}
    assert asked == [("coin.risk", {"symbol": "ETH"}), ("compute.carry", worked_out)]
    assert tools("carry", coins=("ETH",))[1][1] == {"symbol": "ETH", "notional_usd": 10_000, "side": "both", "days": 1}


def test_a_computation_needs_the_states_of_the_coins_that_it_names() -> None:
    steps = steps_of("how much is 2 ETH in BTC")
    assert {step.args["symbol"] for step in steps if step.tool == "coin.risk"} == {"ETH", "BTC"}
    computed = steps[-1]
    assert dict(computed.args) == {"symbol": "BTC", "amount": 2, "unit": "ETH"}
    assert set(computed.needs) == {"s1", "s2"}
    assert [step.id for step in steps] == ["s1", "s2", "s3"]


def test_each_of_several_computations_needs_its_own_coin() -> None:
    steps = steps_of("carry of ETH and SOL for $1000 held 2 days")
    assert [(step.tool, step.needs) for step in steps] == [
        ("coin.risk", ()),
        ("compute.carry", ("s1",)),
        ("coin.risk", ()),
        ("compute.carry", ("s3",)),
    ]


def test_money_is_worth_coins_and_coins_are_worth_money() -> None:
    assert tools("convert", coins=("SOL",), amount=Amount(500.0, "USD"))[1] == (
        "compute.value",
        {"symbol": "SOL", "amount": 500, "unit": "USD"},
    )
    for unit in ("SOL", None):
        assert tools("convert", coins=("SOL",), amount=Amount(2.5, unit))[1] == (
            "compute.value",
            {"symbol": "SOL", "amount": 2.5, "unit": "SOL"},
        )
    assert tools("convert", coins=("SOL",)) == [("coin.risk", {"symbol": "SOL"})]


def test_history_goes_back_as_far_as_was_said_a_day_where_nothing_was_and_no_further_than_the_route() -> None:
    assert tools("history", coins=("SOL",), period=Period(7, "d")) == [
        ("coin.historical", {"symbol": "SOL", "count": 7, "unit": "d"})
    ]
    assert tools("history", coins=("SOL",)) == [("coin.historical", {"symbol": "SOL", "count": 24, "unit": "h"})]
    assert tools("history", coins=("SOL",), period=Period(9_999, "d"))[0][1]["count"] == 1_000


def test_a_ranking_says_by_what_and_leaves_out_what_nothing_was_said_of() -> None:
    assert tools("ranking") == [("scan", {"by": "change_24h", "order": "most", "limit": 10})]
    assert tools("ranking", trend="DOWN")[0][1]["order"] == "least"
    everything = tools(
        "ranking",
        metric="funding_apr",
        order="least",
        trend="UP",
        timeframe="weekly",
        categories=("Meme",),
        excluded=("BTC",),
        limit=999,
    )
    assert list(everything[0][1].items()) == [
        ("by", "funding_apr"),
        ("order", "least"),
        ("trend", "UP"),
        ("timeframe", "weekly"),
        ("category", "Meme"),
        ("exclude", ["BTC"]),
        ("limit", 50),
    ]


def test_alerts_are_those_since_a_period_began_of_days_with_the_first_of_them() -> None:
    assert tools("alerts", coins=("DOGE", "SOL"), period=Period(2, "d")) == [
        ("funding.alerts", {"symbol": "DOGE", "since": "2025-07-23T00:00:00.000Z", "limit": 10}),
        ("funding.alerts", {"symbol": "SOL", "since": "2025-07-23T00:00:00.000Z", "limit": 10}),
    ]
    assert tools("alerts", period=Period(6, "h"))[0][1]["since"] == "2025-07-25T06:00:00.000Z"
    assert tools("alerts", limit=3) == [("funding.alerts", {"limit": 3})]


def test_what_the_whole_market_is_asked_needs_nobody_named() -> None:
    assert tools("breadth") == [("market.health", {"context": 1})]
    assert tools("crossings") == [("market.crossing", {})]
    assert tools("regime") == [("regime", {"action": "active"})]
    assert tools("regime", action="history", coins=("BTC",)) == [("regime", {"action": "history", "symbol": "BTC"})]
    assert tools("walkforward", limit=3) == [("walkforward", {"action": "outcomes", "limit": 3})]
    assert tools("track-record") == [("signal", {"symbol": "BTC"})]
    assert tools("verdict", coins=("ETH",)) == [("signal", {"symbol": "ETH"})]
    assert tools("rwa-list", type="metal") == [("rwa.assets", {"type": "metal", "top": 50})]


def test_categories_are_looked_up_by_name() -> None:
    assert tools("category", categories=("Meme", "NFT")) == [
        ("category.info", {"name": "Meme"}),
        ("category.info", {"name": "NFT"}),
    ]
    assert tools("category-sentiment", categories=("Meme",)) == [("category.sentiment", {"name": "Meme"})]


def test_questions_about_the_service_ask_the_service() -> None:
    assert tools("definition", term="funding") == [("glossary", {"term": "funding"})]
    assert tools("account") == [("billing.tier", {}), ("billing.quota", {})]
    assert tools("pricing") == [("manifest", {})]
    assert tools("help") == []


@pytest.mark.promise("question.honest")
@pytest.mark.parametrize("reason", get_args(Refusal))
def test_what_is_refused_looks_nothing_up(reason: Refusal) -> None:
    assert tools("price", refusal=reason, coins=("BTC",)) == []


def test_the_plan_of_a_question_is_always_the_same() -> None:
    asked = [planned("top 5 meme coins by 24h change except DOGE and WIF") for _ in range(3)]
    assert len({repr(steps) for steps in asked}) == 1
    assert asked[0][0][1]["exclude"] == ["DOGE", "WIF"]
