"""Whatever is shown, in whatever order readers come, lag, leave and resume: each is told what a model tells.

States come singly, in crowds and with holes; readers of every interval, whole or by differences, read at their own pace
and go on elsewhere with any cursor they were given. A hub that starts anew knows only what came last.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec import Struct

from service.streams.state import SAMPLE_S, StreamState, SubscriptionOptions
from service.streams.subscriber import StreamSubscriber
from service.wire.streams import StreamName
from tests.soak.machine import Machine, run_machine
from tests.streams.stage import Stage, read, state

ANY = st.integers(0, 19)
STREAMS: st.SearchStrategy[StreamName] = st.sampled_from(["prices", "alerts"])
TERMS = st.builds(
    SubscriptionOptions,
    interval_s=st.sampled_from([5, 10, 60]),
    diff=st.booleans(),
    max=st.sampled_from([0, 0, 0, 1, 7]),
)
KEPT = 40
CROWD = 8


class Reading(Struct):
    """What a reader was told, and where it may go on.

    Attributes:
        first: The lowest number it may be told; 0 where it has no cursor.
        told: Numbers of the events it was told.
        gaps: How many numbers it had been told when it was told of each gap.
        known: What it knows by what it was told.
    """

    stream: StreamName
    terms: SubscriptionOptions
    reader: StreamSubscriber
    first: int
    known: dict[str, Any]
    told: list[int]
    gaps: list[int]
    cursors: list[tuple[str, int, dict[str, Any]]]
    left: bool = False


def data(seq: int) -> dict[str, Any]:
    """What a state says: some of it changes seldom, some of it never."""
    return {"n": seq // 3, "slow": seq // 25, "never": "x"}


class Hubs(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.newest: dict[StreamName, int] = {"prices": 0, "alerts": 0}
        self.shown: dict[StreamName, list[StreamState]] = {"prices": [], "alerts": []}
        self.readings: list[Reading] = []

    @initialize()
    def start(self) -> None:
        self.stage = self.runner.run(self.make())

    async def make(self) -> Stage:
        return Stage(KEPT)

    @rule(
        stream=STREAMS,
        count=st.integers(1, 15),
        hole=st.sampled_from([0, 0, 0, 0, 0, 2]),
        again=st.booleans(),
        lagging=st.sets(ANY, max_size=3),
    )
    def show(self, stream: StreamName, count: int, hole: int, again: bool, lagging: set[int]) -> None:
        """New states, perhaps behind a hole, perhaps with some that are known; most readers read them."""
        first = self.newest[stream] + 1 + hole
        fresh = [state(seq, data(seq)) for seq in range(first, first + count)]
        known = self.shown[stream][-3:] if again and not hole else []
        if hole:
            self.shown[stream].clear()
        self.newest[stream] = fresh[-1].seq
        self.shown[stream] = [*self.shown[stream], *fresh][-KEPT:]
        self.runner.run(self.showing(stream, [*known, *fresh]))
        for number, reading in enumerate(self.those()):
            if number not in lagging:
                self.read(reading)

    async def showing(self, stream: StreamName, states: list[StreamState]) -> None:
        self.stage.hub.show(stream, states)
        await asyncio.sleep(0)

    @rule(stream=STREAMS, all_terms=st.lists(TERMS, min_size=1, max_size=5))
    def join(self, stream: StreamName, all_terms: list[SubscriptionOptions]) -> None:
        for terms in all_terms:
            self.enter(stream, terms, None, 0, {})

    @precondition(lambda self: self.cursors())
    @rule(which=ANY, back=ANY)
    def resume(self, which: int, back: int) -> None:
        """Go on after any event that anybody was told, on the terms it was told."""
        origin = [reading for reading in self.readings if reading.cursors]
        reading = origin[which % len(origin)]
        cursor, seq, known = reading.cursors[-1 - back % len(reading.cursors)]
        self.enter(reading.stream, reading.terms, cursor, seq + 1, dict(known))

    def cursors(self) -> bool:
        return any(reading.cursors for reading in self.readings)

    def enter(
        self, stream: StreamName, terms: SubscriptionOptions, cursor: str | None, first: int, known: dict[str, Any]
    ) -> None:
        async def join() -> StreamSubscriber:
            return self.stage.join(stream, terms, cursor)

        reader = self.runner.run(join())
        self.readings.append(Reading(stream, terms, reader, first, known, [], [], []))

    def those(self) -> list[Reading]:
        return [reading for reading in self.readings if not reading.left and not reading.reader.ended]

    @precondition(lambda self: self.those())
    @rule(which=ANY)
    def take(self, which: int) -> None:
        self.read(self.those()[which % len(self.those())])

    def read(self, reading: Reading) -> None:
        """Read everything that waits, and hold it to the model."""
        for line in read(reading.reader):
            self.hear(reading, line)
        self.is_complete(reading)

    def hear(self, reading: Reading, line: dict[str, Any]) -> None:
        if line["type"] == "gap":
            reading.gaps.append(len(reading.told))
        if line["type"] != "event":
            assert line["type"] in {"open", "gap", "heartbeat", "close"}
            return
        seq, cursor = line["meta"]["tick"], line["meta"]["cursor"]
        assert seq > max([reading.first - 1, *reading.told]), "in order, and none twice"
        whole = data(seq)
        reading.known = reading.known | line["data"] if self.by_difference(reading) else line["data"]
        assert reading.known == whole, "what it knows by what it was told is what is"
        reading.told.append(seq)
        reading.cursors.append((cursor, seq, dict(reading.known)))

    def by_difference(self, reading: Reading) -> bool:
        return reading.terms.diff and reading.stream == "prices"

    def is_complete(self, reading: Reading) -> None:
        """Nothing that its terms let through is missing, but before a gap that it was told of."""
        assert not reading.terms.max or len(reading.told) <= reading.terms.max
        if reading.reader.ended:
            return
        told = reading.told[reading.gaps[-1] if reading.gaps else 0 :]
        if reading.first and not reading.gaps:
            told = [reading.first - 1, *told]
        if not told:
            return
        begun = told[0]
        step = reading.terms.interval_s if reading.stream == "prices" else 0
        wanted = [
            seq
            for seq in range(begun + 1, self.newest[reading.stream] + 1)
            if not step or seq * SAMPLE_S // step != (seq - 1) * SAMPLE_S // step
        ]
        if self.by_difference(reading):
            wanted = [seq for last, seq in zip([begun, *wanted], wanted, strict=False) if data(last) != data(seq)]
        assert told[1:] == wanted

    @precondition(lambda self: len(self.those()) > CROWD)
    @rule(which=ANY)
    def leave(self, which: int) -> None:
        reading = self.those()[which % len(self.those())]
        reading.reader.close()
        reading.left = True

    @rule(seconds=st.sampled_from([1, 6, 16, 16, 600]))
    def wait(self, seconds: int) -> None:
        self.runner.run(self.waiting(seconds))

    async def waiting(self, seconds: int) -> None:
        async with self.stage.watched():
            await self.stage.clock.advance(seconds)

    @rule(live=st.booleans())
    def feed(self, live: bool) -> None:
        self.stage.live = live

    @precondition(lambda self: len(self.those()) > CROWD)
    @rule()
    def restart(self) -> None:
        """Another process, which has read from the store what was kept; whoever read is gone."""
        before = self.stage.clock
        self.stage = self.runner.run(self.make())
        self.stage.clock.at_ms, self.stage.clock.elapsed_s = before.at_ms, before.elapsed_s
        for reading in self.readings:
            reading.left = True
        for stream, states in self.shown.items():
            if states:
                self.runner.run(self.showing(stream, states))

    @invariant()
    def readers_are_those_that_have_not_left(self) -> None:
        if hasattr(self, "stage"):
            here = [reading for reading in self.readings if not reading.left]
            counts = {stream: sum(reading.stream == stream for reading in here) for stream in self.newest}
            assert self.stage.hub.readers() == counts

    def teardown(self) -> None:
        self.runner.close()


@pytest.mark.slow
@pytest.mark.promise("watch.gap")
def test_readers_are_told_everything_once_and_in_order_whatever_happens(seed: int) -> None:
    assert run_machine(Hubs, seed, 10) > 0


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_thousand_histories_of_streams_lose_and_repeat_nothing(
    seed: int, patience: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("histories", 10 * patience)
    record_property("steps", run_machine(Hubs, seed, 10 * patience))
