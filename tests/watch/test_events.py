"""What happens is told once, when it is found, and what was before anybody looked is never told as new."""

import pytest
from msgspec import to_builtins

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.storage.database import Database
from service.watch.sampler import NEWS_MS
from tests.fakes.clock import START_MS, FakeClock
from tests.watch.streaming import Ear, Process, concluded, crossing


def told(ear: Ear) -> list[tuple[str, str, bool]]:
    """Asset, zone, and whether it was cleared, of every alert that was told since the last time."""
    return [(alert["asset"], alert["triggerZone"], alert["clearedAt"] is not None) for alert in ear.events()]


async def test_an_alert_is_told_when_it_fires_and_again_when_it_clears(leader: Process) -> None:
    ear = leader.join("alerts")
    await leader.clock.advance(60)
    fired_ms = leader.clock.now_ms()
    await leader.turn("BTC", None, "hot")
    await leader.round()
    await leader.round()
    line = ear.lines()[1]
    assert line["data"] == {
        "id": f"BTC-hot-{fired_ms}", "asset": "BTC", "triggerZone": "hot", "fundingAtTrigger": 30.0,
        "percentile": 99.0, "interval_hours": 1.0, "firedAt": iso(fired_ms), "clearedAt": None, "price": 100.0,
    }  # fmt: skip
    assert line["meta"] == {
        "ts": iso(fired_ms + 5_000), "as_of": iso(fired_ms), "data_age_seconds": 5, "tick": 1,
        "cursor": line["meta"]["cursor"],
    }  # fmt: skip
    await leader.turn("BTC", "hot", None)
    cleared_ms = leader.clock.now_ms()
    await leader.round()
    await leader.round()
    (cleared,) = ear.events()
    assert cleared == line["data"] | {"clearedAt": iso(cleared_ms)}


async def test_what_fired_and_cleared_between_two_looks_is_told_twice_in_the_order_of_time(leader: Process) -> None:
    ear = leader.join("alerts")
    await leader.clock.advance(60)
    now_ms = leader.clock.now_ms()
    await leader.turn("BTC", None, "hot", now_ms - 30_000)
    await leader.turn("ETH", None, "cold", now_ms - 20_000)
    await leader.turn("BTC", "hot", None, now_ms - 10_000)
    await leader.turn("BTC", None, "cold", now_ms - 5_000)
    await leader.turn("BTC", "cold", None, now_ms - 5_000)
    await leader.round()
    assert told(ear) == [
        ("BTC", "hot", False), ("ETH", "cold", False), ("BTC", "hot", True), ("BTC", "cold", False),
        ("BTC", "cold", True),
    ]  # fmt: skip


async def test_alerts_of_before_the_first_look_are_past_but_that_they_clear_is_news(
    database: Database, clock: FakeClock
) -> None:
    process = Process(database, clock)
    await process.series.claim(process.origin)
    await process.quote({"BTC": 1.0})
    await process.turn("BTC", None, "hot", START_MS - HOUR_MS)
    await process.turn("ETH", None, "hot", START_MS)
    ear = process.join("alerts")
    await process.sampler.round()
    await process.turn("SOL", None, "cold", START_MS - 1)  # its history came later than that of the others
    await process.round()
    assert told(ear) == []
    await process.turn("BTC", "hot", None)
    await process.round()
    assert told(ear) == [("BTC", "hot", True)]


async def test_what_happened_while_nobody_looked_is_told_late_unless_it_is_old_by_then(leader: Process) -> None:
    await leader.clock.advance(NEWS_MS / 1_000 + 3_600)
    restarted = Process(leader.database, leader.clock)
    await restarted.hear()
    ear = restarted.join("alerts")
    await restarted.turn("BTC", None, "hot", START_MS + 1)
    await restarted.turn("ETH", None, "hot", START_MS + HOUR_MS + MINUTE_MS)
    await restarted.sampler.round()
    assert told(ear) == [("ETH", "hot", False)]


async def test_nothing_is_told_twice_by_another_leader_or_after_a_restart(leader: Process) -> None:
    await leader.clock.advance(60)
    await leader.turn("BTC", None, "hot")
    await leader.conclude(concluded(crossing(START_MS + 30_000)))
    await leader.round()
    restarted = Process(leader.database, leader.clock)
    await restarted.hear()
    await restarted.follower.follow()
    await restarted.round()
    assert restarted.seen("alerts")[0] == restarted.seen("crossings")[0] == 1
    assert restarted.seen("prices")[0] == 3


async def test_of_a_new_history_what_is_found_at_first_is_past(leader: Process) -> None:
    await leader.clock.advance(60)
    await leader.turn("BTC", None, "hot")
    await leader.round()
    ear = leader.join("alerts")
    leader.origin = "two"
    await leader.conclude(concluded(crossing(leader.clock.now_ms())))
    await leader.quote({"BTC": 50.0})
    await leader.turn("BTC", None, "hot", leader.clock.now_ms() - HOUR_MS)
    await leader.sampler.round()
    await leader.turn("ETH", None, "cold", leader.clock.now_ms() - HOUR_MS)
    await leader.round()
    assert told(ear) == []
    assert "crossings" not in leader.follower.newest()
    await leader.turn("ETH", "cold", None)
    await leader.round()
    assert told(ear) == [("ETH", "cold", True)]
    assert leader.seen("alerts")[0] == 2


async def test_events_and_conclusions_of_the_history_before_are_not_told_of_the_new_one(leader: Process) -> None:
    later_ms = START_MS + HOUR_MS
    await leader.turn("BTC", None, "hot", later_ms)
    await leader.conclude(concluded(crossing(later_ms)))
    leader.origin = "two"
    await leader.quote({"BTC": 50.0})
    await leader.round()
    assert leader.follower.newest().keys() & {"alerts", "crossings"} == set()


async def test_crossings_are_told_when_they_are_concluded_the_oldest_first(leader: Process) -> None:
    before = crossing(START_MS - DAY_MS // 2, "before")
    await leader.conclude(concluded(before))
    await leader.round()
    ear = leader.join("crossings")
    first, second = crossing(START_MS + DAY_MS // 2, "first"), crossing(START_MS + 3 * DAY_MS // 2, "second")
    await leader.clock.advance(2 * 86_400)
    await leader.conclude(concluded(second, first, before))
    await leader.round()
    await leader.round()
    assert ear.events() == [to_builtins(first), to_builtins(second)]
    assert leader.seen("crossings")[2] == START_MS + 3 * DAY_MS // 2


@pytest.mark.parametrize("hours", [-1, -24 * 365, 24 * 365 * 10])
async def test_a_clock_that_was_set_tells_nothing_twice_and_goes_on_telling(leader: Process, hours: int) -> None:
    ear = leader.join("alerts")
    await leader.clock.advance(60)
    await leader.turn("BTC", None, "hot")
    await leader.round()
    before_ms = leader.clock.now_ms()
    leader.clock.set_wall(before_ms + hours * HOUR_MS)
    await leader.round()
    leader.clock.set_wall(before_ms + 10_000)
    await leader.round()
    await leader.clock.advance(1)
    await leader.turn("ETH", None, "cold")
    await leader.round()
    await leader.round()
    assert told(ear) == [("BTC", "hot", False), ("ETH", "cold", False)]


async def test_what_was_past_is_past_after_a_clock_was_set_back_before_it(leader: Process) -> None:
    ear = leader.join("alerts")
    await leader.turn("BTC", None, "hot", START_MS)
    await leader.conclude(concluded(crossing(START_MS)))
    leader.clock.set_wall(START_MS - HOUR_MS)
    await leader.round()
    await leader.clock.advance(3_600)
    await leader.turn("ETH", None, "cold")
    await leader.round()
    assert told(ear) == [("ETH", "cold", False)]
    leader.clock.set_wall(START_MS - HOUR_MS)
    await leader.round()
    assert told(ear) == []
