"""What a reader hears when nothing happens, and the last thing it hears."""

import asyncio

import pytest

from service.streams.subscriber import LIFETIME_S, SILENCE_S
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending
from tests.streams.stage import ALL, Stage, arrives, read, state, states, ticks, types


@pytest.mark.promise("watch.heartbeat")
async def test_a_heartbeat_comes_after_fifteen_seconds_without_a_line() -> None:
    stage = Stage()
    async with stage.watched():
        reader = stage.join()
        read(reader)
        await stage.clock.advance(SILENCE_S - 1)
        assert read(reader) == []
        await stage.clock.advance(1)
        assert await arrives(reader) == [
            {"type": "heartbeat", "meta": {"ts": "2025-07-25T12:00:15.000Z", "live": True}}
        ]
        await stage.clock.advance(10)
        stage.hub.show("prices", [state(1)])
        assert ticks(await arrives(reader)) == [1]
        await stage.clock.advance(SILENCE_S - 1)
        assert read(reader) == []
        await stage.clock.advance(1)
        assert types(read(reader)) == ["heartbeat"]


@pytest.mark.promise("watch.heartbeat")
async def test_a_feed_that_goes_and_comes_back_is_told_within_a_second() -> None:
    stage = Stage()
    async with stage.watched():
        reader = stage.join("alerts")
        read(reader)
        for live in (False, True):
            stage.live = live
            await stage.clock.advance(1)
            (beat,) = await arrives(reader)
            assert beat["meta"]["live"] is live
            await stage.clock.advance(2)
            assert read(reader) == []


async def test_who_joins_while_nothing_feeds_is_told_so_at_once() -> None:
    stage = Stage()
    stage.live = False
    stage.hub.show("prices", [state(1)])
    opened, beat, event = read(stage.join())
    assert (opened["type"], beat["meta"]["live"], event["type"]) == ("open", False, "event")


async def test_heartbeats_that_nobody_takes_do_not_pile_up() -> None:
    stage = Stage()
    async with stage.watched():
        reader = stage.join()
        await stage.clock.advance(40)
        _, beat = read(reader)
        assert beat["meta"]["ts"] == "2025-07-25T12:00:40.000Z"


async def test_a_defect_in_what_tells_liveness_does_not_end_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    broken = [True]

    def live() -> bool:
        if broken[0]:
            raise RuntimeError("no idea")
        return True

    reader = stage.join()
    read(reader)
    stage.hub._live = live
    async with stage.watched():
        await stage.clock.advance(20)
        assert read(reader) == []
        broken.clear()
        broken.append(False)
        await stage.clock.advance(1)
        assert types(read(reader)) == ["heartbeat"]
    assert "Unexpected exception while checking streams." in caplog.text


@pytest.mark.promise("watch.limits")
async def test_a_stream_ends_after_an_hour() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1)])
    async with stage.watched():
        reader = stage.join()
        read(reader)
        await stage.clock.advance(LIFETIME_S - 1)
        assert types(read(reader)) == ["heartbeat"]
        stage.clock.set_wall(0)
        await stage.clock.advance(1)
        assert await arrives(reader) == [{"type": "close", "reason": "limit", "cursor": stage.cursor(1)}]
        assert reader.ended
        await stage.clock.advance(20)
        assert read(reader) == []


async def test_an_ending_that_nobody_took_stays_what_it_is() -> None:
    stage = Stage()
    async with stage.watched():
        reader = stage.join()
        read(reader)
        reader.end("revoked")
        await stage.clock.advance(LIFETIME_S + 1)
        assert read(reader) == [{"type": "close", "reason": "revoked", "cursor": None}]


@pytest.mark.promise("watch.close")
@pytest.mark.parametrize("reason", ["revoked", "quota", "slow-reader", "end", "shutdown", "limit"])
async def test_an_ending_says_why_and_where_to_go_on_and_nothing_new_comes_before_it(reason: Ending) -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 2))
    reader = stage.join()
    read(reader)
    stage.hub.show("prices", states(3, 8))
    error = ErrorBody("AUTH_INVALID", "the key was revoked") if reason == "revoked" else None
    reader.end(reason, error)
    reader.end("shutdown")
    told = read(reader)
    assert told[-1] == {"type": "close", "reason": reason, "cursor": stage.cursor(2)}
    assert told[:-1] == (
        [{"type": "error", "error": {"code": "AUTH_INVALID", "message": "the key was revoked"}}] if error else []
    )
    assert reader.ended


async def test_an_ending_wakes_its_reader() -> None:
    stage = Stage()
    reader = stage.join()
    read(reader)
    waiting = asyncio.create_task(arrives(reader))
    await stage.clock.settle()
    reader.end("quota")
    assert types(await waiting) == ["close"]


async def test_a_reader_that_was_ended_before_it_read_has_the_open_line_first() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1)])
    reader = stage.join()
    reader.end("revoked")
    assert types(read(reader)) == ["open", "close"]


@pytest.mark.promise("watch.close")
async def test_when_the_service_stops_every_reader_ends_and_so_does_who_joins_after() -> None:
    stage = Stage()
    readers = [stage.join("alerts"), stage.join()]
    for reader in readers:
        read(reader)
    waiting = [asyncio.create_task(arrives(reader)) for reader in readers]
    await stage.clock.settle()
    stage.hub.stop()
    for lines in await asyncio.gather(*waiting):
        assert [line["reason"] for line in lines] == ["shutdown"]
    late = read(stage.join())
    assert types(late) == ["open", "close"]


async def test_a_reader_that_left_is_not_looked_at_any_more() -> None:
    stage = Stage()
    reader = stage.join(terms=ALL)
    read(reader)
    reader.close()
    reader.close()
    stage.hub.stop()
    assert not reader.ended
    assert read(reader) == []
