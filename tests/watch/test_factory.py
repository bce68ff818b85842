"""The room with its loops: one process takes, all tell, and nothing ends a loop."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from service.errors import ServiceError
from service.scheduler import Leadership
from service.storage.database import Database
from service.streams.state import SubscriptionOptions
from service.watch.factory import StreamFeed, open_stream_feed
from service.watch.store import StreamStore
from tests.fakes.clock import FakeClock
from tests.market.parts import until
from tests.watch.streaming import CURSORS, Ear, Process


class Room:
    """A process with its room.

    Attributes:
        watch: The room, once it has been opened.
    """

    watch: StreamFeed

    def __init__(self, database: Database, clock: FakeClock, *, leads: bool = True) -> None:
        self.process = Process(database, clock)
        self.leads = leads

    @asynccontextmanager
    async def open(self) -> AsyncIterator[StreamFeed]:
        rooms, clock = self.process, self.process.clock
        async with open_stream_feed(
            rooms.database, CURSORS, rooms.market, rooms.sentiment, clock, Leadership(lambda: self.leads)
        ) as self.watch:
            yield self.watch

    def number(self) -> Any:
        said: Any = self.watch.readiness().get("prices", {})
        return said.get("number")


@pytest.fixture
async def room(database: Database, clock: FakeClock) -> Room:
    made = Room(database, clock)
    await made.process.series.claim(made.process.origin)
    await made.process.quote({"BTC": 100.0})
    return made


async def test_states_are_taken_every_five_seconds_and_readers_are_woken(room: Room) -> None:
    async with room.open() as watch:
        await until(lambda: room.number() == 1)
        ear = Ear(watch.hub.join("prices", SubscriptionOptions(10, diff=False, max=0), None, "fixtures"))
        assert [line["type"] for line in ear.lines()] == ["open", "event"]
        await room.process.clock.advance(4.9)
        assert room.number() == 1
        await room.process.clock.advance(0.1)
        await until(lambda: room.number() == 2)
        await ear.reader.wait()
        assert [line["meta"]["tick"] for line in ear.lines()] == [2]
        assert room.watch.readiness() == {
            "funding": {"number": 2, "age_seconds": 0}, "prices": {"number": 2, "age_seconds": 0}
        }  # fmt: skip


async def test_who_only_answers_tells_a_second_later_what_the_leader_took_and_takes_over_when_it_leads(
    room: Room,
) -> None:
    clock = room.process.clock
    other = Room(room.process.database, clock, leads=False)
    await other.process.hear()
    async with other.open():
        async with room.open():
            await until(lambda: room.number() == 1)
            await clock.advance(1)
            await until(lambda: other.number() == 1)
        await clock.advance(10)
        assert other.number() == 1
        other.leads = True
        await clock.advance(5)
        await until(lambda: other.number() == 2)
        assert room.number() == 1


async def test_readers_resume_at_once_in_a_room_that_was_opened_anew(room: Room) -> None:
    async with room.open():
        await until(lambda: room.number() == 1)
    again = Room(room.process.database, room.process.clock, leads=False)
    await again.process.hear()
    async with again.open() as watch:
        ear = Ear(watch.hub.join("prices", SubscriptionOptions(10, diff=False, max=0), None, "fixtures"))
        assert [line["type"] for line in ear.lines()] == ["open", "event"]


async def test_silence_is_broken_by_a_heartbeat(room: Room) -> None:
    async with room.open() as watch:
        await until(lambda: room.number() == 1)
        ear = Ear(watch.hub.join("alerts", SubscriptionOptions(10, diff=False, max=0), None, "fixtures"))
        ear.lines()
        await room.process.clock.advance(16)
        assert [line["type"] for line in ear.lines()] == ["heartbeat"]


async def test_a_store_that_fails_for_a_while_ends_nothing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []

    def refuse(name: str) -> Callable[..., Awaitable[None]]:
        async def refusing(*_: object) -> None:
            refused.append(name)
            raise ServiceError("UNAVAILABLE", "busy")

        return refusing

    async with room.open():
        await until(lambda: room.number() == 1)
        for name in ("append", "after"):
            with monkeypatch.context() as patched:
                patched.setattr(StreamStore, name, refuse(name))
                await room.process.clock.advance(6)
                await until(lambda name=name: name in refused)  # type: ignore[misc] # the lambda is a condition
        before = room.number()
        await room.process.clock.advance(70)
        await until(lambda: room.number() > before)


async def test_a_closed_room_takes_no_more(room: Room) -> None:
    async with room.open():
        await until(lambda: room.number() == 1)
    await room.process.clock.advance(30)
    assert room.number() == 1
