"""What is said of breadth: fields, ages, and what is said where there is nothing to say."""

import re
from itertools import pairwise

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, iso
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.documents import FetchFailure
from service.wire.envelope import encode
from service.wire.market import Crossings, MarketHealth
from tests.fakes.clock import FakeClock
from tests.market.concluding import Leader, read, wave

TODAY = 20_300
CLOSE_MS = (TODAY + 1) * DAY_MS
COINS = ("BTC", "ETH", "SOL", "XRP", "kPEPE", "ADA", "DOT")
RICH = {"velocity", "regime", "regime_age_days", "leadership", "laggards", "divergences", "interpretation"}


@pytest.fixture
async def leader(database: Database, clock: FakeClock) -> Leader:
    made = Leader(database, clock)
    made.at(TODAY, 60)
    await made.store.claim("test")
    await made.list_coins(*COINS)
    for place, coin in enumerate(COINS):
        await made.give(coin, wave(range(TODAY - 299, TODAY + 1), 13.0 + place / 4, place / 9, 0.001))
    return made


@pytest.fixture
async def told(leader: Leader) -> Leader:
    await leader.round(asked=True)
    return leader


@pytest.mark.promise("health.payload", "health.flag", "health.as-of")
async def test_health_is_the_raw_breadth_of_the_last_closed_day(told: Leader) -> None:
    answer = told.breadth.health(0)
    health = read(answer, MarketHealth)
    assert answer.as_of_ms == CLOSE_MS
    assert health.date == "2025-07-31"
    assert health.universe == len(COINS) == health.trends.UP + health.trends.HODL + health.trends.DOWN
    for state in ("UP", "HODL", "DOWN"):
        assert getattr(health.breadth_pct, state) == pytest.approx(100 * getattr(health.trends, state) / 7, abs=1e-4)
    assert all(getattr(health, field) is UNSET for field in RICH)


@pytest.mark.promise("health.payload", "health.flag")
async def test_context_adds_what_the_figures_mean_and_changes_none(told: Leader) -> None:
    plain, rich = read(told.breadth.health(0), MarketHealth), read(told.breadth.health(1), MarketHealth)
    for field in MarketHealth.__struct_fields__:
        if field in RICH:
            assert getattr(rich, field) is not UNSET
        else:
            assert getattr(rich, field) == getattr(plain, field)
    assert told.told.regime is not None
    assert (rich.regime, rich.regime_age_days) == (told.told.regime.regime, told.told.regime.age_days)
    assert isinstance(rich.leadership, list)
    assert isinstance(rich.laggards, list)
    gains = [mover.relative_pct for mover in rich.leadership]
    losses = [mover.relative_pct for mover in rich.laggards]
    assert gains == sorted(gains, reverse=True)
    assert losses == sorted(losses)
    assert min(gains) > 0 > max(losses)


async def test_velocity_is_the_change_of_the_net_share_a_day_over_five_days(told: Leader) -> None:
    now, then = told.told.breadth[-1], told.told.breadth[-6]
    net = [100 * (day.up - day.down) / (day.up + day.hodl + day.down) for day in (now, then)]
    assert read(told.breadth.health(1), MarketHealth).velocity == pytest.approx((net[0] - net[1]) / 5, abs=1e-4)


@pytest.mark.slow
@pytest.mark.promise("health.extreme")
@pytest.mark.parametrize(
    ("counts", "extremes"),
    [
        ((3, 1, 1), [("UP", 60.0, 3)]),
        ((59, 21, 20), []),
        ((0, 4, 6), [("DOWN", 60.0, 6)]),
        ((0, 5, 0), [("HODL", 100.0, 5)]),
    ],
)
async def test_an_extreme_is_three_fifths_of_the_universe_in_one_state(
    told: Leader, counts: tuple[int, int, int], extremes: list[tuple[str, float, int]]
) -> None:
    last = replace(told.told.breadth[-1], up=counts[0], hodl=counts[1], down=counts[2])
    await told.document.put("test", replace(told.told, breadth=[*told.told.breadth[:-1], last]), CLOSE_MS)
    again = Leader(told.store._database, told.clock)
    await again.follow()
    await again.round(asked=True)
    health = read(again.breadth.health(1), MarketHealth)
    assert [(found.state, found.share_pct, found.count) for found in health.extremes] == extremes
    assert health.hasExtremes == bool(extremes)
    assert isinstance(health.interpretation, str)
    assert ("That is an extreme" in health.interpretation) == bool(extremes)


async def test_the_interpretation_says_the_figures_of_the_answer_and_no_others(told: Leader) -> None:
    health = read(told.breadth.health(1), MarketHealth)
    text = health.interpretation
    assert isinstance(text, str)
    for state in ("UP", "HODL", "DOWN"):
        assert f"{getattr(health.trends, state)} {state} ({getattr(health.breadth_pct, state):.1f} %)" in text
    assert f"{health.universe} coins" in text
    assert health.date in text
    assert f"moved by {health.velocity:+.1f} percentage points" in text
    assert f"regime has been {health.regime} since " in text
    assert isinstance(health.leadership, list)
    assert isinstance(health.laggards, list)
    assert isinstance(health.divergences, list)
    for mover in [*health.leadership, *health.laggards]:
        assert f"{mover.symbol} {mover.relative_pct:+.1f}" in text
    for divergence in health.divergences:
        assert divergence.detail in text
    assert not re.search(r"\b(strong|weak|sharp|healthy|broad|narrow|nan|inf|None)\b", text)


@pytest.mark.promise("crossing.payload", "crossing.definition", "crossing.as-of", "crossing.array")
async def test_crossings_are_the_changes_of_sign_of_the_last_ninety_days_newest_first(told: Leader) -> None:
    answer = told.breadth.crossing()
    crossings = read(answer, Crossings)
    signed = [(day.day, day.up - day.down, day) for day in told.told.breadth if day.up != day.down]
    expected = [
        (
            iso((day + 1) * DAY_MS),
            "UP over DOWN" if net > 0 else "DOWN over UP",
            (before.up, before.down),
            (now.up, now.down),
        )
        for (_, last, before), (day, net, now) in pairwise(signed)
        if (last > 0) != (net > 0) and day > TODAY - 90
    ]
    assert expected
    assert answer.as_of_ms == CLOSE_MS
    assert [
        (one.at, one.direction, (one.previous.UP, one.previous.DOWN), (one.current.UP, one.current.DOWN))
        for one in crossings.crossings
    ] == expected[::-1]
    assert all((one.up, one.down) == (one.current.UP, one.current.DOWN) for one in crossings.crossings)
    assert all(one.universe == len(COINS) for one in crossings.crossings)
    assert len({one.id for one in crossings.crossings}) == len(expected)
    assert crossings.message is UNSET


@pytest.mark.promise("crossing.array")
async def test_where_nothing_crossed_the_list_is_empty_and_a_message_says_so(told: Leader) -> None:
    last = told.told.breadth[-1]
    await told.document.put("test", replace(told.told, crossings=[]), CLOSE_MS)
    crossings = read(told.breadth.crossing(), Crossings)
    assert crossings.crossings == []
    assert isinstance(crossings.message, str)
    assert "90 closed days" in crossings.message
    assert f"{last.up - last.down:+d} ({last.up} UP, {last.down} DOWN)" in crossings.message
    await told.document.put("test", replace(told.told, crossings=[], breadth=[last]), CLOSE_MS)
    message = read(told.breadth.crossing(), Crossings).message
    assert isinstance(message, str)
    assert message.startswith("UP less DOWN has not changed its sign on the last closed day; on 2025-07-31 it was ")


async def test_an_answer_is_encoded_once_a_day(told: Leader) -> None:
    before = [told.breadth.health(0), told.breadth.health(1), told.breadth.crossing()]
    again = [told.breadth.health(0), told.breadth.health(1), told.breadth.crossing()]
    assert all(one is other for one, other in zip(before, again, strict=True))
    await told.document.put("test", replace(told.told, crossings=[]), CLOSE_MS)
    assert told.breadth.crossing() != before[2]


async def test_before_anything_was_concluded_it_is_worth_another_try(leader: Leader) -> None:
    with pytest.raises(ServiceError) as caught:
        leader.breadth.health(0)
    assert caught.value.code == "UNAVAILABLE"
    with pytest.raises(ServiceError, match=r"^Breadth crossings are not available yet"):
        leader.breadth.crossing()


async def test_two_days_after_the_last_close_nothing_is_said_rather_than_something_old(told: Leader) -> None:
    told.clock.set_wall(CLOSE_MS + 48 * HOUR_MS)
    assert told.breadth.health(0).as_of_ms == CLOSE_MS
    told.clock.set_wall(CLOSE_MS + 48 * HOUR_MS + 1)
    with pytest.raises(ServiceError) as caught:
        told.breadth.health(0)
    assert caught.value.code == "UNAVAILABLE"
    await told.store.put_failure(FetchFailure(told.clock.now_ms(), 503, "maintenance"))
    await told.follow()
    with pytest.raises(ServiceError) as caught:
        told.breadth.crossing()
    assert (caught.value.code, caught.value.details) == (
        "UPSTREAM_5XX",
        {"upstream": "hyperliquid", "upstreamStatus": 503, "upstreamBody": "maintenance"},
    )


async def test_no_number_is_a_negative_zero_or_not_a_number(told: Leader) -> None:
    assert not re.search(rb"-0\.0+[,}\]]|NaN|Infinity", encode(told.told))


async def test_a_coin_that_goes_against_bitcoin_though_it_usually_goes_with_it_is_told(leader: Leader) -> None:
    """Of ninety days the coin copies sixty and turns in the last thirty; another never had anything to do with BTC."""
    rally = wave(range(TODAY - 299, TODAY + 1), 1e9, 0.0, 0.02)
    jitter = [1 + 0.05 * ((row[0] // DAY_MS * 7919) % 13 - 6) / 6 for row in rally]
    btc = [(at, o * j, h * j, lo * j, c * j) for (at, o, h, lo, c), j in zip(rally, jitter, strict=True)]
    fall = [1.0] * 270 + [0.955 ** (day + 1) for day in range(30)]
    against = [(at, o * f, h * f, lo * f, c * f) for (at, o, h, lo, c), f in zip(btc, fall, strict=True)]
    slide = wave(range(TODAY - 299, TODAY + 1), 1e9, 0.0, -0.02)
    alone = [(row, 1 + 0.05 * ((row[0] // DAY_MS * 104_729) % 17 - 8) / 8) for row in slide]
    other = Leader(leader.store._database, leader.clock)
    other.origin = "another"
    await other.list_coins("BTC", "ETH", "kFALL", "ALONE")
    await other.give("BTC", btc)
    await other.give("ETH", btc)
    await other.give("kFALL", against)
    await other.give("ALONE", [(at, o * j, h * j, lo * j, c * j) for (at, o, h, lo, c), j in alone])
    await other.round(asked=True)
    health = read(other.breadth.health(1), MarketHealth)
    assert isinstance(health.divergences, list)
    assert other.coins.view()["ALONE"].trend_daily == "DOWN"
    told = [found for found in health.divergences if found.kind == "against-btc"]
    assert [found.symbol for found in told] == ["FALL"]
    assert told[0].detail.startswith("FALL is DOWN while BTC is UP, with a correlation of 0.")


async def test_a_high_of_bitcoin_that_the_many_do_not_carry_is_told_with_its_figures(leader: Leader) -> None:
    rally = wave(range(TODAY - 299, TODAY + 1), 1e9, 0.0, 0.02)
    factors = [1.0] * 293 + [0.85 ** (day + 1) for day in range(7)]
    fall = [(at, o * f, h * f, lo * f, c * f) for (at, o, h, lo, c), f in zip(rally, factors, strict=True)]
    other = Leader(leader.store._database, leader.clock)
    other.origin = "another"
    await other.list_coins("BTC", "ETH", "ONE", "TWO", "THREE")
    for coin, rows in (("BTC", rally), ("ETH", rally), ("ONE", fall), ("TWO", fall), ("THREE", fall)):
        await other.give(coin, rows)
    await other.round(asked=True)
    health = read(other.breadth.health(1), MarketHealth)
    assert isinstance(health.divergences, list)
    assert isinstance(health.interpretation, str)
    told = next(found for found in health.divergences if found.kind == "bearish-breadth")
    assert told.symbol is None
    assert told.detail.startswith(
        "BTC's close of 2025-07-31 is its highest of 20 days, with a net breadth of -20.0 %; on "
    )
    assert told.detail.endswith(" that was +100.0 %.")
    assert told.detail in health.interpretation
