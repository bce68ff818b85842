"""Conversions, ratios, holdings and profits, by hand."""

from typing import Any

import pytest

from service.ask.planner.result import Result
from service.ask.query import Between, Convert, Holding, Measure, Portfolio, Profit, Query, Ratio, ValueOf, Window
from service.clock import DAY_MS
from tests.ask.planner.asked import PRICE, TREND, change, coins, day, days, instant, of
from tests.ask.planner.world import NEW, TODAY_MS, World

WORLD = World(BTC={"price": 100_000.0}, ETH={"price": 4_000.0}, SOL={"price": None}, PEPE={"price": 0.01})


async def figures(query: Query) -> dict[str, Any]:
    result: Result = await WORLD.ask(query)
    assert result.refusal is None, result.kind
    return {name: figure.value for name, figure in result.figures.items()} | {"kind": result.kind}


async def kind(query: Query) -> str:
    result = await WORLD.ask(query)
    assert result.refusal is not None
    return result.kind


def close(symbol: str, ago: int) -> float:
    return WORLD.history.days.bars(symbol, TODAY_MS - ago * DAY_MS)[0].close


async def test_an_amount_in_other_units() -> None:
    found = await figures(of(coins("BTC", "ETH"), operation=Convert(Holding(2.0, "BTC"), ("ETH",))))
    assert (found["value"], found["worth"]) == (50.0, 200_000.0)
    found = await figures(of(coins("BTC"), operation=Convert(Holding(0.5, "BTC"), ())))
    assert (found["value"], found["unit"]) == (50_000.0, "")
    found = await figures(of(coins("ETH"), operation=Convert(Holding(6_000.0, "USD"), ("ETH",))))
    assert (found["value"], found["worth"]) == (1.5, "")
    several = await WORLD.ask(
        of(coins("BTC", "ETH"), operation=Convert(Holding(4_000.0, "USD"), ("BTC", "ETH", "USD")))
    )
    assert [(row.subject, row.values[0]) for row in several.rows] == [("BTC", 0.04), ("ETH", 1.0), ("USD", 4_000.0)]


async def test_an_amount_at_a_past_price() -> None:
    found = await figures(of(coins("ETH"), operation=Convert(Holding(2.0, "ETH"), ("USD",)), time=day(30)))
    assert found["value"] == pytest.approx(2 * close("ETH", 30))
    assert await kind(of(coins("SOL"), operation=Convert(Holding(2.0, "SOL"), ("USD",)))) == "unknown-value"


async def test_the_ratio_of_two_prices_or_other_measures() -> None:
    assert (await figures(of(coins("BTC", "ETH"), operation=Ratio())))["value"] == 25.0
    world = World(BTC={"volume_24h_usd": 9.0}, ETH={"volume_24h_usd": 3.0})
    result = await world.ask(of(coins("BTC", "ETH"), Measure("volume"), operation=Ratio()))
    assert result.figures["value"].value == 3.0
    assert await kind(of(coins("BTC"), operation=Ratio())) == "no-pair"
    assert await kind(of(coins("BTC", "SOL"), operation=Ratio())) == "unknown-value"
    assert await kind(of(coins("BTC", "ETH"), TREND, operation=Ratio())) == "unknown-value"


async def test_what_holdings_are_worth_together() -> None:
    held = (Holding(2.0, "BTC"), Holding(10.0, "ETH"), Holding(500.0, "USD"))
    found = await figures(of(coins("BTC", "ETH"), operation=ValueOf(held)))
    assert (found["value"], found["kind"]) == (240_500.0, "worth")
    found = await figures(of(coins("BTC"), operation=ValueOf((Holding(2.0, "BTC"),)), time=day(9)))
    assert (found["value"], found["kind"]) == (pytest.approx(2 * close("BTC", 9)), "worth_one")
    assert await kind(of(coins("SOL"), operation=ValueOf((Holding(2.0, "SOL"),)))) == "unknown-value"


async def test_holdings_are_listed_with_their_shares_the_largest_first() -> None:
    held = (Holding(10.0, "ETH"), Holding(2.0, "BTC"), Holding(500.0, "USD"))
    result = await WORLD.ask(of(coins("BTC", "ETH"), operation=ValueOf(held)))
    assert [row.subject for row in result.rows] == ["BTC", "ETH", "USD"]
    assert [row.values[3] for row in result.rows] == pytest.approx([
        200_000 / 240_500 * 100, 40_000 / 240_500 * 100, 500 / 240_500 * 100
    ])  # fmt: skip
    assert result.figures["subject"].value == "BTC"


async def test_several_positions_have_a_profit_each_and_one_together() -> None:
    bought = (Profit(Holding(2.0, "BTC"), 80_000.0), Profit(Holding(5_000.0, "USD"), 5_000.0, side="short"))
    result = await WORLD.ask(of(coins("BTC", "ETH"), operation=Portfolio(bought)))
    assert [row.subject for row in result.rows] == ["BTC long", "ETH short"]
    assert result.rows[0].values == pytest.approx((80_000.0, 100_000.0, 40_000.0, 25.0, 200_000.0))
    assert result.rows[1].values == pytest.approx((5_000.0, 4_000.0, 1_000.0, 20.0, 6_000.0))
    assert result.figures["gain"].value == pytest.approx(41_000.0)
    assert result.figures["percent"].value == pytest.approx(41_000 / 165_000 * 100)
    assert result.figures["worth"].value == pytest.approx(206_000.0)
    assert result.figures["outcome"].value == "profit"
    since = (Profit(Holding(100.0, "USD"), since=day(30)), Profit(Holding(100.0, "USD"), since=day(30)))
    opened = await WORLD.ask(of(coins("BTC", "ETH"), operation=Portfolio(since)))
    worth = 100 * 100_000 / close("BTC", 30) + 100 * 4_000 / close("ETH", 30)
    assert opened.figures["worth"].value == pytest.approx(worth)
    assert opened.figures["opened"].value == TODAY_MS - 30 * DAY_MS + DAY_MS - 1


async def test_amounts_and_entries_of_zero_are_refused_instead_of_divided_by() -> None:
    nothing = Holding(0.0, "BTC")
    assert await kind(of(coins("BTC"), operation=ValueOf((nothing, Holding(0.0, "ETH"))))) == "no-amount"
    assert await kind(of(coins("BTC"), operation=Portfolio((Profit(nothing, 5.0),)))) == "no-amount"
    assert await kind(of(coins("BTC"), operation=Profit(None, 0.0))) == "no-entry"
    some = await WORLD.ask(of(coins("BTC"), operation=ValueOf((nothing, Holding(1.0, "ETH")))))
    assert [row.values[-1] for row in some.rows] == [100.0, 0.0]


async def test_what_funding_brings_a_holding() -> None:
    world = World(BTC={"price": 100_000.0, "funding_apr": 36.5}, ETH={"funding_apr": None, "price": 1.0})
    carry = Measure("carry", days(10), side="short")
    result = await world.ask(of(coins("BTC"), carry, operation=ValueOf((Holding(2.0, "BTC"),))))
    assert result.figures["value"].value == pytest.approx(2_000.0)
    both = await world.ask(of(coins("BTC"), Measure("carry"), operation=ValueOf((Holding(2.0, "BTC"),))))
    assert [row.subject for row in both.rows] == ["long", "short"]
    assert [row.values[0] for row in both.rows] == pytest.approx([-200.0, 200.0])
    unknown = await world.ask(of(coins("ETH"), Measure("carry"), operation=ValueOf((Holding(2.0, "ETH"),))))
    assert unknown.kind == "unknown-value"


@pytest.mark.parametrize(
    ("side", "entry", "percent", "outcome"),
    [("long", 80_000.0, 25.0, "profit"), ("short", 80_000.0, -25.0, "loss"), ("long", 200_000.0, -50.0, "loss"),
     ("short", 200_000.0, 50.0, "profit"), ("long", 100_000.0, 0.0, "result")],
)  # fmt: skip
async def test_profit_and_loss_of_both_sides(side: Any, entry: float, percent: float, outcome: str) -> None:
    found = await figures(of(coins("BTC"), operation=Profit(None, entry, side=side)))
    assert (found["percent"], found["outcome"], found["kind"]) == (pytest.approx(percent), outcome, "profit_percent")
    found = await figures(of(coins("BTC"), operation=Profit(Holding(2.0, "BTC"), entry, side=side)))
    assert found["gain"] == pytest.approx(2 * entry * percent / 100)
    found = await figures(of(coins("BTC"), operation=Profit(Holding(500.0, "USD"), entry, side=side)))
    assert found["gain"] == pytest.approx(5 * percent)


@pytest.mark.parametrize(
    ("since", "ago"),
    [(day(30), 30), (Window(30, "d", "30 days"), 31), (Between(TODAY_MS - 30 * DAY_MS, None, "since then"), 31)],
)
async def test_profit_since_a_day(since: Any, ago: int) -> None:
    found = await figures(of(coins("BTC"), operation=Profit(None, since=since)))
    assert found["entry"] == close("BTC", ago)
    assert found["percent"] == pytest.approx((100_000 / close("BTC", ago) - 1) * 100)


async def test_the_day_of_an_entry_is_said() -> None:
    found = await figures(of(coins("BTC"), operation=Profit(None, since=day(30))))
    assert found["opened"] // DAY_MS * DAY_MS == TODAY_MS - 30 * DAY_MS
    hourly = await figures(of(coins("BTC"), operation=Profit(None, since=instant(5))))
    assert hourly["opened"] == TODAY_MS - 5 * 3_600_000


async def test_profits_that_cannot_be_computed_are_refused() -> None:
    assert await kind(of(coins("BTC", "ETH"), operation=Profit(None, 5.0))) == "one-coin"
    assert await kind(of(coins("BTC"), operation=Profit(Holding(5.0, "ETH"), 5.0))) == "one-coin"
    assert await kind(of(coins("BTC"), operation=Profit(None))) == "no-entry"
    assert await kind(of(coins(NEW), operation=Profit(None, since=day(60)))) == "before-history"
    gone = World(BTC={"price": 5.0})
    gone.history.coins.pop("BTC")
    assert (await gone.ask(of(coins("BTC"), operation=Profit(None, since=day(60))))).kind == "unknown-value"
    assert (await gone.ask(of(coins("BTC"), PRICE, change(days(14))))).unknown == ("14-day change",)
