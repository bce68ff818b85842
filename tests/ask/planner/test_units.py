"""Amounts in coins and rates per another time than a year, recounted from values in dollars and percent a year."""

from typing import Any

import pytest

from service.ask.measure_table import Unit
from service.ask.query import Aggregate, Extreme, List, Measure, Now, Query, Rank
from service.clock import DAY_MS
from tests.ask.planner.asked import ALL, coins, day, days, of, where
from tests.ask.planner.world import COINS, TODAY_MS, World

_HOURS_A_YEAR = 365 * 24


async def _value(query: Query, **changed: Any) -> Any:
    result = await World(**changed).ask(query)
    assert result.refusal is None, result.kind
    return result.figures["value"].value


@pytest.mark.parametrize(
    ("name", "column", "usd"),
    [
        ("volume", "volume_24h_usd", 3e9),
        ("open_interest", "open_interest_usd", 1.2e9),
        ("market_cap", "market_cap", 2.4e12),
    ],
)
@pytest.mark.parametrize(("unit", "price"), [("BTC", 120_000.0), ("ETH", 4_000.0), ("coins", 200.0)])
async def test_an_amount_in_coins_is_that_in_dollars_by_the_price(
    name: str, column: str, usd: float, unit: str, price: float
) -> None:
    known = {"BTC": {"price": 120_000.0}, "ETH": {"price": 4_000.0}, "SOL": {column: usd, "price": 200.0}}
    found = await _value(of(coins("SOL"), Measure(name, counted_in=unit)), **known)
    assert found == pytest.approx(usd / price)


async def test_a_past_amount_is_counted_at_the_close_of_its_day() -> None:
    ago = 30
    bars = {bar.open_ms: bar for bar in World().history.days.bars("ETH")}
    bar = bars[TODAY_MS - ago * DAY_MS]
    btc = next(one for one in World().history.days.bars("BTC") if one.open_ms == bar.open_ms)
    own = await _value(of(coins("ETH"), Measure("volume", counted_in="coins"), time=day(ago)))
    assert own == pytest.approx(bar.volume_usd / bar.close)
    other = await _value(of(coins("ETH"), Measure("volume", counted_in="BTC"), time=day(ago)))
    assert other == pytest.approx(bar.volume_usd / btc.close)


async def test_an_amount_in_coins_is_not_known_without_a_price() -> None:
    world = World(BTC={"price": None}, SOL={"volume_24h_usd": 3e9})
    result = await world.ask(of(coins("SOL"), Measure("volume", counted_in="BTC")))
    assert result.kind == "unknown-value"


@pytest.mark.parametrize(
    ("measure", "time"),
    [
        (Measure("volume", counted_in="BTC"), days(7)),
        (Measure("volume", days(7), counted_in="coins"), Now()),
        (Measure("volume", days(7), mean=True, counted_in="coins"), Now()),
    ],
)
async def test_an_amount_of_a_span_is_given_in_dollars_alone(measure: Measure, time: Any) -> None:
    result = await World().ask(of(coins("ETH"), measure, time=time))
    assert result.kind == "not-over"
    assert result.refusal is not None


async def test_the_highest_volume_of_a_span_in_coins_is_that_of_its_days() -> None:
    bars = [bar for bar in World().history.days.bars("ETH") if bar.open_ms >= TODAY_MS - 30 * DAY_MS]
    query = of(coins("ETH"), Measure("volume", counted_in="ETH"), time=days(30), operation=Extreme("max"))
    assert await _value(query) == pytest.approx(max(bar.volume_usd / bar.close for bar in bars))
    other = of(coins("ETH"), Measure("volume", counted_in="BTC"), time=days(30), operation=Extreme("max"))
    assert (await World().ask(other)).kind == "not-over"


@pytest.mark.parametrize("hours", [1, 4, 8, 24, 7 * 24, 30 * 24])
@pytest.mark.parametrize("apr", [10.95, -48.78])
async def test_funding_per_a_time_is_its_part_of_a_year(hours: int, apr: float) -> None:
    found = await _value(of(coins("SOL"), Measure("funding", per_hours=hours)), SOL={"funding_apr": apr})
    assert found == pytest.approx(apr * hours / _HOURS_A_YEAR)


async def test_mean_funding_is_given_per_day() -> None:
    yearly = await _value(of(coins("SOL"), Measure("funding", days(7), mean=True)))
    daily = await _value(of(coins("SOL"), Measure("funding", days(7), mean=True, per_hours=24)))
    assert daily == pytest.approx(yearly / 365)


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        (of(coins("SOL"), Measure("funding", per_hours=8)), ["funding per 8 hours is +0.01 %", "longs pay shorts"]),
        (of(coins("SOL"), Measure("funding", per_hours=1)), ["funding per hour is +0.00125 %"]),
        (of(coins("SOL"), Measure("funding", per_hours=24)), ["funding per day is +0.03 %"]),
        (of(coins("SOL"), Measure("carry", side="long", per_hours=24)), ["long in SOL pays 0.03 % in funding per day"]),
        (of(coins("SOL"), Measure("carry", side="short", per_hours=8)), ["SOL receives 0.01 % in funding per 8 hours"]),
        (of(coins("SOL"), Measure("volume", counted_in="coins")), ["24-hour volume in coins is 15.00 M", "in coins."]),
        (of(coins("SOL"), Measure("volume", counted_in="BTC")), ["24-hour volume in BTC is 25,000."]),
    ],
)  # fmt: skip
async def test_an_answer_names_its_unit(query: Query, texts: list[str]) -> None:
    world = World(BTC={"price": 120_000.0}, SOL={"funding_apr": 10.95, "volume_24h_usd": 3e9, "price": 200.0})
    said = await world.say(query)
    assert all(text in said for text in texts), said


async def test_a_bound_is_one_of_the_same_unit() -> None:
    rates = {"BTC": 36.5, "ETH": 3.65, "SOL": -73.0}
    world = World(**{symbol: {"funding_apr": rates.get(symbol, 0.0)} for symbol in COINS})
    above = where(Measure("funding", per_hours=24), "gt", 0.05)
    result = await world.ask(Query(subject=ALL, where=above, operation=List()))
    assert [row.subject for row in result.rows] == ["BTC"]
    said = await world.say(Query(subject=ALL, where=above, operation=List()))
    assert "funding per day above 0.05 %" in said


async def test_ranks_and_means_are_of_the_unit() -> None:
    rates = {symbol: float(place) for place, symbol in enumerate(COINS)}
    world = World(**{symbol: {"funding_apr": rate} for symbol, rate in rates.items()})
    ranked = await world.ask(of(ALL, Measure("funding", per_hours=8), operation=Rank("most", 3)))
    assert [row.values[0] for row in ranked.rows] == pytest.approx(
        [(23 - place) * 8 / _HOURS_A_YEAR for place in range(3)]
    )
    assert ranked.columns[0].unit is Unit.RATE
    mean = await world.ask(of(ALL, Measure("funding", per_hours=24), operation=Aggregate("mean")))
    assert mean.figures["value"].value == pytest.approx(sum(rates.values()) / len(rates) / 365)
