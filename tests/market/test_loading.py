"""How long the rest of a series takes to load: by what is missing before it, the budget, and the pace so far."""

import pytest

from service.market.categories.refresh import FIRST, calls_until
from service.market.loading import LoadEstimator, LoadPace
from tests.fakes.clock import FakeClock
from tests.market.parts import Parts


@pytest.fixture
def loading(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> LoadEstimator:
    """With a second for each unit of weight."""
    monkeypatch.setattr(parts.source, "wait_s", float)
    return LoadEstimator(parts.clock, parts.store, parts.source, parts.told, parts.hours.pace)


async def wait_s(loading: LoadEstimator, coin: str, interval: str) -> float:
    return (await loading.bars(coin, "1h" if interval == "1h" else "1d")).remaining_s or 0.0


async def test_daily_bars_of_the_majors_come_first_then_those_of_the_coins_before_it(
    parts: Parts, loading: LoadEstimator
) -> None:
    parts.list_market("SOL", "XRP")
    await parts.quotes.round()
    order = sorted(["BTC", "ETH", "SOL", "XRP"], key=lambda coin: parts.desk.view()[coin].volume_usd, reverse=True)
    later = [coin for coin in order if coin not in {"BTC", "ETH"}]
    one = loading.daily_wait_s(1)
    assert sorted([await wait_s(loading, coin, "1d") for coin in ("BTC", "ETH")]) == [one, 2 * one]
    assert [await wait_s(loading, coin, "1d") for coin in later] == [3 * one, 4 * one]
    assert await wait_s(loading, "NOBODY", "1d") == 4 * one
    assert str(await loading.bars("BTC", "1d")) == "0 of 4 coins"


async def test_hours_come_after_all_days_and_take_turns_with_payments(parts: Parts, loading: LoadEstimator) -> None:
    parts.list_market()
    await parts.quotes.round()
    first, second = sorted([await wait_s(loading, coin, "1h") for coin in ("BTC", "ETH")])
    turn = second - first
    assert first == loading.daily_wait_s(2) + turn
    assert (await loading.payments()).remaining_s == loading.daily_wait_s(2) + 5 * turn
    await parts.keep_history()
    assert sorted([await wait_s(loading, coin, "1h") for coin in ("BTC", "ETH")]) == [turn, 2 * turn]


async def test_once_a_coins_payments_are_there_nothing_is_waited_for(parts: Parts, loading: LoadEstimator) -> None:
    parts.list_market()
    await parts.rounds()
    await parts.store.put_payments("test", "BTC", [(parts.clock.now_ms(), 0.0001, 1.0)])
    filling = await loading.payments()
    assert (str(filling), filling.remaining_s) == ("1 of 2 coins", 0.0)


async def test_where_coins_take_longer_than_the_budget_allows_for_their_pace_counts(
    parts: Parts, loading: LoadEstimator
) -> None:
    parts.list_market()
    await parts.rounds()
    parts.hours.pace.begin()
    for _ in range(3):
        await parts.clock.advance(1_000)
        parts.hours.pace.note()
    assert sorted([await wait_s(loading, coin, "1h") for coin in ("BTC", "ETH")]) == [1_000, 2_000]


async def test_a_pace_is_that_of_the_last_eight_pieces_and_begins_anew(clock: FakeClock) -> None:
    pace = LoadPace(clock)
    pace.begin()
    for seconds in (100, 2, 2):
        assert pace.piece_s() == 0.0, "less than three pieces tell nothing"
        await clock.advance(seconds)
        pace.note()
    assert pace.piece_s() == 104 / 3
    for _ in range(8):
        await clock.advance(2)
        pace.note()
    assert pace.piece_s() == 2.0
    pace.begin()
    assert pace.piece_s() == 0.0


def test_a_category_waits_for_those_before_it_and_the_smaller_ones_for_the_coins_pasts() -> None:
    assert calls_until(0, [], 80) == 3, "the lists come first"
    assert calls_until(2, [True, False, False, False], 80) == 2
    assert calls_until(0, [True, False], 80) == 0
    few = [True] * FIRST
    assert calls_until(FIRST + 1, [*few, False, False], 80) == 2 + 160
    assert calls_until(FIRST + 1, [*few, True, False], 80) == 1
