"""From the store to readers: the same on every process, whoever leads, whatever was cut off between."""

import asyncio
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.storage.database import open_database
from service.streams.state import StreamState
from service.wire.streams import STREAMS, StreamName
from tests.fakes.clock import START_MS, FakeClock
from tests.watch.streaming import Process, concluded


async def test_every_process_tells_the_same_lines_and_a_cursor_of_one_is_good_on_the_other(leader: Process) -> None:
    other = Process(leader.database, leader.clock)
    await other.hear()
    await other.follower.follow()
    ears = [process.join("prices") for process in (leader, other)]
    for price in (101.0, 102.0, 103.0, 104.0):
        await leader.quote({"BTC": price, "ETH": 10.0})
        await leader.round()
    await other.follower.follow()
    here, there = (ear.lines()[1:] for ear in ears)
    assert here == there
    assert [line["data"]["prices"]["BTC"]["price"] for line in here] == [100.0, 101.0, 103.0]
    resumed = other.join("prices", here[1]["meta"]["cursor"])
    assert [line for line in resumed.lines() if line["type"] == "event"] == here[2:]


async def test_what_was_appended_before_a_process_was_killed_is_told_by_the_next(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "verdict.db"
    async with open_database(path, clock) as database:
        process = Process(database, clock)
        await process.series.claim(process.origin)
        await process.quote({"BTC": 100.0})
        await process.sampler.round()
        cursor = process.join("prices").lines()[-1]["meta"]["cursor"]
        process.sampler._follow = killed
        with pytest.raises(KilledError):
            await process.round()
        assert process.seen("prices")[0] == 1
    async with open_database(path, clock) as database:
        restarted = Process(database, clock)
        await restarted.hear()
        await restarted.follower.follow()
        await restarted.round()
        assert [line["meta"]["tick"] for line in restarted.join("prices", cursor, interval=10).lines()[1:]] == [2]
        assert restarted.seen("prices")[0] == 3


class KilledError(Exception):
    pass


async def killed() -> None:
    raise KilledError


async def test_several_may_follow_at_once(leader: Process) -> None:
    other = Process(leader.database, leader.clock)
    await other.follower.follow()
    ear = other.join("prices", interval=10)
    for _ in range(3):
        await leader.round()
        await asyncio.gather(*(other.follower.follow() for _ in range(5)))
    assert [line["meta"]["tick"] for line in ear.lines() if line["type"] == "event"] == [1, 2, 4]
    assert other.seen("prices")[0] == 4


async def test_who_is_slow_to_read_shows_nothing_that_was_shown_meanwhile(
    leader: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Process(leader.database, leader.clock)
    read = other.store.after
    early = await read(dict.fromkeys(STREAMS, 0))
    for _ in range(2):
        await leader.round()
    await other.follower.follow()

    async def slow(_: object) -> list[tuple[StreamName, StreamState]]:
        return early

    monkeypatch.setattr(other.store, "after", slow)
    await other.follower.follow()
    assert other.seen("prices")[0] == 3


async def test_states_that_say_the_same_share_their_bytes(leader: Process) -> None:
    await leader.conclude(concluded())
    await leader.round()
    first = leader.follower.newest()["regime"]
    await leader.round()
    second = leader.follower.newest()["regime"]
    assert second.seq == first.seq + 1
    assert second.data is first.data


async def test_a_store_that_cannot_be_used_leaves_everything_as_it_was_and_the_next_look_tells_it(
    leader: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "busy")

    await leader.clock.advance(60)
    await leader.turn("BTC", None, "hot")
    with monkeypatch.context() as patched:
        patched.setattr(leader.store, "append", refuse)
        with pytest.raises(ServiceError):
            await leader.round()
    assert (leader.seen("prices")[:2], "alerts" in leader.follower.newest()) == ((1, START_MS), False)
    await leader.round()
    assert (leader.seen("prices")[0], leader.seen("alerts")[0]) == (2, 1)


async def test_on_a_wall_clock_that_stands_still_states_are_numbered_on(leader: Process) -> None:
    for _ in range(3):
        await leader.clock.advance(5)
        leader.clock.set_wall(START_MS)
        await leader.sampler.round()
    assert leader.seen("prices")[:3] == (4, START_MS, START_MS)
