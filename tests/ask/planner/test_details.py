"""What is said beside the value of one thing."""

from typing import Any

from service.ask.query import At, Check, Measure, Query, Subject
from service.clock import DAY_MS
from service.wire.offers import OFFERS
from tests.ask.planner.asked import FUNDING, JUNE, MARKET, PRICE, TREND, UP, coins, day, days, instant, of
from tests.ask.planner.world import NOW_MS, TODAY_MS, World, tool

HEALTH = {"universe": 80, "trends": {"UP": 40, "HODL": 16, "DOWN": 24}, "breadth_pct": {"UP": 50.0}}
_PARAMETERS = {offer.id: offer.parameters for offer in OFFERS}


async def cells(query: Query, world: World | None = None) -> list[tuple[str, Any]]:
    result = await (world or World()).ask(query)
    return [(column.label, value) for column, value in zip(result.columns, result.rows[0].values, strict=True)]


async def test_a_high_and_a_low_are_told_with_their_days() -> None:
    bars = World().history.days.bars("ETH", JUNE.start_ms, JUNE.end_ms or 0)
    high, low = max(bars, key=lambda bar: bar.high), min(bars, key=lambda bar: bar.low)
    assert await cells(of(coins("ETH"), Measure("high", JUNE), Measure("low", JUNE))) == [
        ("high in June 2025", high.high),
        ("on", high.open_ms),
        ("low in June 2025", low.low),
        ("on", low.open_ms),
    ]


async def test_a_state_is_told_with_the_day_it_began() -> None:
    world = World()
    known = world.history.days.trend_daily("ETH", NOW_MS)
    assert known is not None
    world.table["ETH"].trend_daily = known.state
    assert await cells(of(coins("ETH"), TREND), world) == [("daily trend", known.state), ("since", known.since_ms)]
    world.table["ETH"].trend_daily = "UP" if known.state != "UP" else "DOWN"
    assert [label for label, _ in await cells(of(coins("ETH"), TREND), world)] == ["daily trend"]
    regime = world.history.days.regime("ETH", TODAY_MS - 2 * DAY_MS)
    assert regime is not None
    assert await cells(of(coins("ETH"), Measure("regime"), time=day(3))) == [
        ("regime", regime.state),
        ("since", regime.since_ms),
    ]
    market = world.history.days.market_regime(NOW_MS)
    assert market is not None
    assert await cells(of(MARKET, Measure("market_regime"))) == [
        ("market regime", market.state),
        ("since", market.since_ms),
    ]


async def test_a_yes_or_no_is_told_with_the_day_the_state_began() -> None:
    world = World()
    known = world.history.days.trend_daily("ETH", NOW_MS)
    assert known is not None
    world.table["ETH"].trend_daily = known.state
    assert [label for label, _ in await cells(of(coins("ETH"), where=UP, operation=Check()), world)] == [
        "holds",
        "daily trend",
        "since",
    ]


async def test_real_world_assets_have_states_without_a_day() -> None:
    asset = {"trend_daily": "UP", "funding": {"apr": None}}
    world = World([tool("rwa.symbol", _PARAMETERS["rwa.symbol"], lambda _: asset)])
    gold = Subject(scope="assets", assets=("xyz:GOLD",))
    assert await cells(of(gold, TREND), world) == [("daily trend", "UP")]


async def test_funding_says_who_pays() -> None:
    for rate, said in ((10.0, "So longs pay shorts."), (-10.0, "So shorts pay longs.")):
        assert said in await World(ETH={"funding_apr": rate}).say(of(coins("ETH"), FUNDING))
    assert "pay" not in await World(ETH={"funding_apr": 0.0}).say(of(coins("ETH"), FUNDING))
    assert "pay" not in await World(ETH={"funding_apr": 10.0}).say(of(coins("ETH"), FUNDING, PRICE))


async def test_strength_is_told_with_both_changes() -> None:
    world = World(ETH={"change_7d": 5.0}, BTC={"change_7d": 2.0})
    said = await world.say(of(coins("ETH"), Measure("strength", days(7))))
    assert said.startswith("ETH's 7-day return against BTC is +3.00 points. ETH +5.00 %, BTC +2.00 %.")


async def test_breadth_is_told_with_its_counts() -> None:
    world = World([tool("market.health", _PARAMETERS["market.health"], lambda _: HEALTH)])
    said = await world.say(of(MARKET, Measure("breadth")))
    assert "40 of 80 coins are in an uptrend, 16 in no trend and 24 in a downtrend." in said


async def test_times_ago_are_told_with_their_date() -> None:
    assert " 3 days ago (2025-07-22) was " in await World().say(of(coins("ETH"), PRICE, time=day(3)))
    assert " 3 hours ago (2025-07-24 21:00 UTC) was " in await World().say(of(coins("ETH"), PRICE, time=instant(3)))
    dated = At(TODAY_MS - 3 * DAY_MS, whole_day=True, words="2025-07-22")
    assert " on 2025-07-22 was " in await World().say(of(coins("ETH"), PRICE, time=dated))


async def test_a_value_over_a_past_span_is_told_in_the_past() -> None:
    assert "'s change in June 2025 was " in await World().say(of(coins("ETH"), Measure("change", JUNE)))
