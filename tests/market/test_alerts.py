"""Watching the funding of all coins: what was paid before the first start, then what runs, whatever interrupts it."""

import asyncio
from pathlib import Path

import pytest

from service.clock import HOUR_MS, MINUTE_MS, iso
from service.errors import ServiceError
from service.market.alerts import store as alerts_store
from service.market.alerts.store import KEEP_MS
from service.storage.database import Database, open_database
from service.storage.engine import Connection
from service.wire.market import FundingAlert
from service.wire.queries import AlertsQuery
from tests.fakes.clock import FakeClock
from tests.market.watching import CALM, COLD, HOT, VERY_HOT, WARM, Watching, calm

MONTH = 45 * 24


@pytest.fixture
def watching(database: Database, clock: FakeClock) -> Watching:
    return Watching(database, clock)


async def begin(watching: Watching, *coins: str) -> None:
    """Coins with a calm past, watched."""
    await watching.show(dict.fromkeys(coins, CALM))
    for coin in coins:
        await watching.pay(coin, calm(MONTH))
    await watching.refresh.round()


@pytest.mark.promise("alerts.payload", "alerts.hysteresis")
async def test_a_rate_that_runs_hot_fires_once_and_is_cleared_when_it_has_cooled(watching: Watching) -> None:
    await begin(watching, "BTC", "kPEPE")
    assert await watching.events() == []
    await watching.look({"BTC": CALM, "kPEPE": HOT}, price=0.5)
    fired_ms = watching.clock.now_ms()
    await watching.look({"BTC": CALM, "kPEPE": HOT * 1.01})
    assert await watching.events() == [
        FundingAlert(
            f"PEPE-hot-{fired_ms}", "PEPE", "hot", 26.28, 100.0, 1.0, iso(fired_ms), None, 0.5
        )
    ]  # fmt: skip
    await watching.look({"BTC": CALM, "kPEPE": CALM})
    assert [event.clearedAt for event in await watching.events()] == [iso(watching.clock.now_ms())]


async def test_getting_very_hot_is_an_event_of_its_own_and_falling_back_is_not(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.look({"BTC": HOT})
    await watching.look({"BTC": VERY_HOT})
    assert await watching.zones() == [("BTC", "very-hot", True), ("BTC", "hot", True)]
    await watching.look({"BTC": WARM})
    assert await watching.zones() == [("BTC", "very-hot", False), ("BTC", "hot", True)]
    await watching.look({"BTC": CALM})
    assert await watching.zones() == [("BTC", "very-hot", False), ("BTC", "hot", False)]


async def test_passing_from_one_side_to_the_other_clears_the_one_and_fires_the_other(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.look({"BTC": VERY_HOT})
    await watching.look({"BTC": COLD})
    first, second = await watching.events()
    assert (first.triggerZone, first.clearedAt) == ("cold", None)
    assert (second.triggerZone, second.clearedAt) == ("very-hot", first.firedAt)


async def test_what_happened_in_the_week_before_the_first_start_is_known_from_the_beginning(watching: Watching) -> None:
    rates = calm(MONTH)
    rates[-30] = VERY_HOT
    rates[-9 * 24] = VERY_HOT
    await watching.show({"BTC": CALM})
    await watching.pay("BTC", rates)
    fired_ms = watching.hour_ms - 29 * HOUR_MS
    await watching.close("BTC", 42.5, fired_ms)
    await watching.refresh.round()
    (event,) = await watching.events()
    assert event == FundingAlert(
        f"BTC-very-hot-{fired_ms}", "BTC", "very-hot", 87.6, 99.9305, 1.0, iso(fired_ms), iso(fired_ms + HOUR_MS), 42.5
    )


async def test_an_event_that_began_before_that_week_and_lasts_is_there(watching: Watching) -> None:
    rates = calm(MONTH)
    rates[-10 * 24 :] = [0.0001 + hour * 1e-7 for hour in range(240)]
    await watching.show({"BTC": 0.000_13})
    await watching.pay("BTC", rates)
    await watching.refresh.round()
    assert await watching.zones() == [("BTC", "very-hot", True)]


async def test_the_price_of_a_past_event_comes_with_the_bar_of_its_hour(watching: Watching) -> None:
    rates = calm(MONTH)
    rates[-30] = VERY_HOT
    await watching.show({"BTC": CALM})
    await watching.pay("BTC", rates)
    await watching.refresh.round()
    assert [event.price for event in await watching.events()] == [None]
    await watching.close("BTC", 42.5, watching.hour_ms - 29 * HOUR_MS)
    await watching.look({"BTC": CALM})
    assert [event.price for event in await watching.events()] == [42.5]


async def test_a_first_look_is_taken_before_the_service_is_ready(watching: Watching) -> None:
    watching.ready.clear()
    await begin(watching, "BTC")
    assert (await watching.desk.alerts(AlertsQuery())).as_of_ms == watching.clock.now_ms()


async def test_a_look_waits_until_the_service_is_ready_where_past_events_are_stored(watching: Watching) -> None:
    rates = calm(MONTH)
    rates[-30] = VERY_HOT
    await watching.show({"BTC": CALM})
    await watching.pay("BTC", rates)
    await watching.refresh.round()
    looked_ms = watching.clock.now_ms()
    await watching.close("BTC", 42.5, watching.hour_ms - 29 * HOUR_MS)
    watching.ready.clear()
    watching.refresh = watching.new_refresh()
    async with asyncio.timeout(20):
        looking = asyncio.ensure_future(watching.look({"BTC": HOT}))
        await watching.refresh.tried.wait()
        assert [event.price for event in await watching.events()] == [42.5]
        assert (await watching.desk.alerts(AlertsQuery())).as_of_ms == looked_ms
        watching.ready.set()
        await looking
    assert await watching.zones() == [("BTC", "hot", True), ("BTC", "very-hot", False)]


async def test_a_coin_that_has_paid_for_less_than_a_week_has_no_events(watching: Watching) -> None:
    await watching.show({"BTC": VERY_HOT, "ETH": VERY_HOT})
    await watching.pay("BTC", calm(167))
    await watching.refresh.round()
    assert await watching.events() == []


async def test_a_coin_whose_history_is_still_being_fetched_waits_for_it(watching: Watching) -> None:
    await watching.show({"BTC": VERY_HOT, "ETH": CALM})
    await watching.pay("ETH", calm(MONTH))
    await watching.pay("BTC", calm(500), watching.hour_ms - 300 * HOUR_MS)
    await watching.refresh.round()
    assert await watching.events() == []
    rates = calm(300)
    rates[-9 * 24] = VERY_HOT  # over for more than a week: history, and no recent event
    await watching.pay("BTC", rates)
    await watching.look({"BTC": VERY_HOT, "ETH": CALM})
    assert await watching.zones() == [("BTC", "very-hot", True)]


@pytest.mark.promise("alerts.as-of")
async def test_as_of_is_the_last_look_and_stays_there_while_rates_are_stale(watching: Watching) -> None:
    await begin(watching, "BTC")
    looked_ms = watching.clock.now_ms()
    await watching.clock.advance(120)
    await watching.refresh.round()
    assert (await watching.desk.alerts(AlertsQuery())).as_of_ms == looked_ms
    await watching.look({"BTC": CALM})
    assert (await watching.desk.alerts(AlertsQuery())).as_of_ms == watching.clock.now_ms()


async def test_a_stale_rate_is_never_judged(watching: Watching) -> None:
    await begin(watching, "BTC", "ETH")
    await watching.show({"BTC": VERY_HOT, "ETH": None})
    await watching.clock.advance(46)
    await watching.refresh.round()
    assert await watching.events() == []
    await watching.look({"BTC": None, "ETH": VERY_HOT})
    assert await watching.zones() == [("ETH", "very-hot", True)]


async def test_another_venues_rate_is_not_ranked_among_this_ones(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.clock.advance(60)
    await watching.show({"BTC": VERY_HOT}, venue="binance")
    await watching.refresh.round()
    assert await watching.events() == []


async def test_an_older_answer_than_the_last_one_is_passed_over(watching: Watching) -> None:
    await begin(watching, "BTC")
    looked_ms = watching.clock.now_ms()
    watching.clock.set_wall(looked_ms - MINUTE_MS // 2)
    await watching.show({"BTC": VERY_HOT})
    watching.clock.set_wall(looked_ms)
    await watching.refresh.round()
    assert await watching.events() == []


async def test_looking_goes_on_after_the_clock_was_set_back(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.look({"BTC": CALM})
    watching.clock.set_wall(watching.clock.now_ms() - HOUR_MS // 2)
    await watching.look({"BTC": HOT})
    assert await watching.zones() == [("BTC", "hot", True)]
    assert (await watching.desk.alerts(AlertsQuery())).as_of_ms == watching.clock.now_ms()


async def test_a_new_process_goes_on_where_the_last_one_stopped(watching: Watching) -> None:
    await begin(watching, "BTC", "ETH")
    await watching.look({"BTC": HOT, "ETH": CALM})
    before = await watching.events()
    watching.refresh = watching.new_refresh()
    await watching.look({"BTC": HOT, "ETH": CALM})
    assert await watching.events() == before
    watching.refresh = watching.new_refresh()
    await watching.look({"BTC": CALM, "ETH": VERY_HOT})
    assert await watching.zones() == [("ETH", "very-hot", True), ("BTC", "hot", False)]


async def test_a_process_that_leads_again_goes_on_where_the_one_between_stopped(watching: Watching) -> None:
    await begin(watching, "BTC", "ETH")
    first, watching.refresh = watching.refresh, watching.new_refresh()
    await watching.look({"BTC": HOT, "ETH": CALM}, minutes=10)
    before = await watching.events()
    assert [event.triggerZone for event in before] == ["hot"]
    watching.refresh = first
    await watching.look({"BTC": HOT, "ETH": CALM})
    assert await watching.events() == before
    await watching.look({"BTC": CALM, "ETH": VERY_HOT})
    assert await watching.zones() == [("ETH", "very-hot", True), ("BTC", "hot", False)]


async def test_a_coin_whose_payments_come_late_is_judged_from_where_the_process_began(watching: Watching) -> None:
    """Its own looks at other coins since then are no looks at this one."""
    await begin(watching, "BTC", "ETH")
    await watching.clock.advance(5 * 3600)
    watching.refresh = watching.new_refresh()
    await watching.pay("ETH", [CALM] * 5)
    for _ in range(3):
        await watching.look({"BTC": CALM, "ETH": CALM})
    await watching.pay("BTC", [CALM, VERY_HOT, VERY_HOT, CALM, CALM])
    await watching.look({"BTC": CALM, "ETH": CALM})
    assert await watching.zones() == [("BTC", "very-hot", False)]


async def test_what_was_paid_while_nobody_looked_is_judged_before_the_present(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.clock.advance(5 * 3600)
    watching.refresh = watching.new_refresh()
    await watching.look({"BTC": CALM})
    assert await watching.events() == []
    await watching.pay("BTC", [CALM, VERY_HOT, VERY_HOT, CALM, CALM])
    await watching.look({"BTC": CALM})
    (event,) = await watching.events()
    assert (event.firedAt, event.clearedAt) == (
        iso(watching.hour_ms - 3 * HOUR_MS),
        iso(watching.hour_ms - HOUR_MS),
    )


async def test_a_coin_that_was_stale_for_hours_catches_up_too(watching: Watching) -> None:
    await begin(watching, "BTC", "ETH")
    for _ in range(5):
        await watching.look({"BTC": None, "ETH": CALM}, minutes=60)
    await watching.look({"BTC": CALM, "ETH": CALM})
    assert await watching.events() == []
    await watching.pay("BTC", [CALM, VERY_HOT, VERY_HOT, CALM, CALM])
    await watching.look({"BTC": CALM, "ETH": CALM})
    assert await watching.zones() == [("BTC", "very-hot", False)]


async def test_the_payment_of_an_hour_that_was_watched_is_not_judged_again(watching: Watching) -> None:
    await begin(watching, "BTC")
    for _ in range(61):
        await watching.look({"BTC": CALM})
    await watching.pay("BTC", [VERY_HOT])
    await watching.look({"BTC": CALM})
    assert await watching.events() == []


async def test_nothing_stays_open_of_a_coin_that_is_no_longer_listed(watching: Watching) -> None:
    await begin(watching, "BTC", "ETH")
    await watching.look({"BTC": CALM, "ETH": VERY_HOT})
    await watching.look({"BTC": CALM})
    (event,) = await watching.events()
    assert event.clearedAt == iso(watching.clock.now_ms())
    watching.refresh = watching.new_refresh()
    await watching.look({"BTC": CALM})
    assert len(await watching.events()) == 1


async def test_a_store_that_fails_loses_nothing(watching: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    await begin(watching, "BTC")

    def fail(connection: Connection, finding: object) -> None:
        raise ServiceError("UNAVAILABLE", "the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(alerts_store, "_keep", fail)
        with pytest.raises(ServiceError):
            await watching.look({"BTC": VERY_HOT})
    assert await watching.events() == []
    await watching.look({"BTC": VERY_HOT})
    assert await watching.zones() == [("BTC", "very-hot", True)]


async def test_events_of_another_history_are_cleared_with_the_first_of_the_new_one(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.look({"BTC": VERY_HOT})
    watching.origin = "two"
    await watching.refresh.round()
    assert len(await watching.events()) == 1
    await begin(watching, "BTC")
    assert await watching.events() == []
    await watching.look({"BTC": COLD})
    assert await watching.zones() == [("BTC", "cold", True)]


async def test_nothing_that_was_paid_in_another_history_is_ranked_within(watching: Watching) -> None:
    await begin(watching, "BTC")
    watching.origin = "two"
    await watching.refresh.round()
    await watching.show({"BTC": CALM})
    await watching.pay("BTC", calm(100))
    await watching.look({"BTC": VERY_HOT})
    assert await watching.events() == []


async def test_what_was_found_while_the_history_changed_is_dropped(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.clock.advance(60)
    await watching.show({"BTC": VERY_HOT})
    await watching.store.claim(f"{watching.origin}:next")
    await watching.refresh.round()
    assert await watching.events() == []


async def test_events_are_forgotten_after_four_hundred_days(watching: Watching) -> None:
    await begin(watching, "BTC")
    await watching.look({"BTC": VERY_HOT})
    await watching.look({"BTC": CALM})
    await watching.clock.advance(KEEP_MS / 1000 - 60)
    await watching.pay("BTC", calm(MONTH))
    await watching.look({"BTC": CALM}, minutes=0)
    assert len(await watching.events()) == 1
    await watching.look({"BTC": CALM})
    assert await watching.events() == []


async def test_every_process_answers_the_same(watching: Watching, tmp_path: Path, clock: FakeClock) -> None:
    await begin(watching, "BTC")
    await watching.look({"BTC": VERY_HOT})
    async with open_database(tmp_path / "verdict.db", clock) as other:
        follower = Watching(other, clock)
        follower.market.show(await follower.store.snapshot())
        assert await follower.said() == await watching.said()


async def test_many_coins_are_begun_in_batches(watching: Watching) -> None:
    coins = [f"C{number}" for number in range(40)]
    await begin(watching, *coins)
    await watching.look(dict.fromkeys(coins, VERY_HOT))
    assert len(await watching.events()) == 40
    assert await watching.database.read("SELECT count(*) FROM funding_watch") == [(40,)]
