"""Whether the upstream feeds: told at its first failure, or when its quotes stay away."""

import pytest

from service.market.models import MarketState
from service.watch.factory import is_live
from tests.fakes.clock import START_MS
from tests.watch.streaming import Process


@pytest.mark.parametrize(("age_s", "live"), [(0, True), (30, True), (30.001, False), (-30, True), (-30.001, False)])
def test_quotes_of_the_last_half_minute_are_live(age_s: float, live: bool) -> None:
    state = MarketState("one", 1, START_MS, venue="hyperliquid")
    assert is_live(state, START_MS + round(age_s * 1_000)) is live


def test_without_any_quotes_nothing_is_live() -> None:
    assert not is_live(MarketState("one", 1), START_MS)


async def test_a_venue_that_fails_is_told_at_once_also_on_a_clock_that_stands_still(leader: Process) -> None:
    assert is_live(leader.coins.state, START_MS)
    await leader.fail()
    assert not is_live(leader.coins.state, START_MS)
    await leader.quote({"BTC": 100.0})
    assert is_live(leader.coins.state, START_MS)


async def test_a_venue_that_fails_while_another_stands_in_is_live(leader: Process) -> None:
    await leader.fail()
    now_ms = leader.clock.now_ms()
    state = leader.coins.state
    await leader.series.put_failure(state.failure, venue="binance")  # type: ignore[arg-type] # it has one
    await leader.hear()
    assert is_live(leader.coins.state, now_ms)


async def test_readers_hear_that_the_venue_went_and_that_it_came(leader: Process) -> None:
    ear = leader.join("alerts")
    assert [line["type"] for line in ear.lines()] == ["open"]
    await leader.fail()
    leader.hub._tell([ear.reader])
    assert [line["meta"]["live"] for line in ear.lines()] == [False]
    await leader.quote({"BTC": 100.0})
    leader.hub._tell([ear.reader])
    assert [line["meta"]["live"] for line in ear.lines()] == [True]
