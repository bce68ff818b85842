"""Whatever happens in whatever order, the meter counts what a model of a few lines counts.

Two processes charge, reserve, commit and release for three users and some devices; they end, die between any two steps
and start again; leases run out, days pass, and the clock is set back.
"""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec import Struct

from service.access.anonymous import AnonymousCaller
from service.access.audit import audit_counters, audit_devices
from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.access.usage_ledger import LEASE_MS
from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.storage.database import Database, open_database
from service.storage.engine import connect
from service.wire.access import Tier
from tests.fakes.clock import START_MS, FakeClock
from tests.soak.machine import Machine, run_machine

T = TypeVar("T")

PROCESSES = st.integers(0, 1)
USERS = st.integers(1, 3)
TIERS: st.SearchStrategy[Tier] = st.sampled_from(["free", "free", "access", "pro"])
ANY = st.integers(0, 9)
PER_DAY: dict[Tier, int | None] = {"free": 1, "access": 50, "pro": None}


class Event(Struct):
    """A question as the model has it."""

    id: int
    life: int
    user_id: int
    device: int
    starter: bool
    day: int
    lease_until_ms: int
    state: str
    left: bool = False


class Process:
    """A process that meters."""

    database: Database
    meter: Meter

    def __init__(self, path: Path, clock: FakeClock, life: int) -> None:
        self.life = life
        self._clock = clock
        self._opened: Any = open_database(path, clock)
        self._metering: Any = None

    async def open(self) -> "Process":
        self.database = await self._opened.__aenter__()
        self._metering = open_meter(self.database, self._clock)
        self.meter = await self._metering.__aenter__()
        return self

    async def end(self, *, in_order: bool) -> None:
        """Sign out; or have the store gone before that can be written."""
        for opened in (self._metering, self._opened) if in_order else (self._opened, self._metering):
            await opened.__aexit__(None, None, None)


class Meters(Machine):
    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.path = Path(tempfile.mkdtemp(dir=self.folder)) / "verdict.db"
        self.clock = FakeClock()
        self.processes: dict[int, Process] = {}
        self.lives = 0
        self.events: list[Event] = []
        self.seen: dict[int, int] = {}
        self.last_starter: dict[int, int] = {}
        self.looking: Any = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    @initialize()
    def start(self) -> None:
        shutil.copy(self.folder / "empty.db", self.path)
        self.looking = connect(self.path, query_only=True)

    # The model.

    def live(self, user_id: int) -> list[Event]:
        return [event for event in self.events if event.user_id == user_id and event.state != "released"]

    def grant(self, user_id: int, tier: Tier) -> tuple[bool, int] | None:
        """Whether from the starter, and of which day; nothing where there is no question left."""
        day = max(self.clock.now_ms() // DAY_MS, self.seen.get(user_id, 0))
        mine = self.live(user_id)
        if tier == "free" and sum(event.starter for event in mine) < 10:
            self.last_starter[user_id] = day
            return True, day
        limit = PER_DAY[tier]
        if tier == "free" and self.last_starter.get(user_id, 0) >= day:
            return None
        used = sum(not event.starter and event.day == day for event in mine)
        return None if limit is not None and used >= limit else (False, day)

    def enter(
        self, event_id: int, life: int, granted: tuple[int, tuple[bool, int]], state: str, device: int = 0
    ) -> None:
        user_id, (starter, day) = granted
        until_ms = self.clock.now_ms() + LEASE_MS
        self.events.append(Event(event_id, life, user_id, device, starter, day, until_ms, state))

    def grants(self, user_id: int, tier: Tier, calls: int) -> int:
        """How many of so many calls are granted; the model has them then, with numbers to be told."""
        granted = 0
        for _ in range(calls):
            found = self.grant(user_id, tier)
            if found is None:
                break
            self.seen[user_id] = found[1]
            self.enter(0, 0, (user_id, found), "committed")
            granted += 1
        return granted

    def bury(self) -> None:
        """What a start concludes: whoever is dead has not answered what it did not mark."""
        lives = {process.life for process in self.processes.values()}
        for event in self.events:
            if event.life not in lives and not event.left and event.state != "released":
                event.state = "released"

    # What happens.

    def process(self, number: int) -> Process:
        if number not in self.processes:
            self.lives += 1
            self.processes[number] = self.run(Process(self.path, self.clock, self.lives).open())
            self.bury()
        return self.processes[number]

    @rule(number=PROCESSES, user_id=USERS, tier=TIERS, calls=st.integers(1, 12), leave=st.booleans())
    def ask(self, number: int, user_id: int, tier: Tier, calls: int, leave: bool) -> None:
        self.charge([number], user_id, tier, calls, leave=leave)

    @rule(user_id=USERS, tier=TIERS, calls=st.integers(1, 8))
    def ask_both(self, user_id: int, tier: Tier, calls: int) -> None:
        """Ask both at once. Whose calls are granted is theirs to decide, so that nothing later may hang on it."""
        self.charge([0, 1], user_id, tier, calls, leave=True)

    def charge(self, numbers: list[int], user_id: int, tier: Tier, calls: int, *, leave: bool) -> None:
        asked = [self.process(number) for number in numbers for _ in range(calls)]
        caller = Caller(user_id, "api_key", 1, tier)
        decisions = self.run(together([process.meter.charge(caller, "coin.risk") for process in asked]))
        granted = [(process, each.event_id) for process, each in zip(asked, decisions, strict=True) if each.event_id]
        known = len(self.events)
        assert len(granted) == self.grants(user_id, tier, len(asked))
        for event, (process, event_id) in zip(self.events[known:], sorted(granted, key=by_id), strict=True):
            event.id, event.life, event.left = event_id, process.life, leave
            if leave:
                process.meter.delivered(event_id)

    @rule(number=PROCESSES, user_id=USERS, tier=TIERS)
    def reserve(self, number: int, user_id: int, tier: Tier) -> None:
        process = self.process(number)
        decision = self.run(process.meter.reserve(Caller(user_id, "api_key", 1, tier), "question"))
        found = self.grant(user_id, tier)
        assert (decision.event_id is None) is (found is None)
        if found is not None and decision.event_id is not None:
            self.seen[user_id] = found[1]
            self.enter(decision.event_id, process.life, (user_id, found), "reserved")

    @rule(number=PROCESSES, device=st.integers(1, 4))
    def visit(self, number: int, device: int) -> None:
        process = self.process(number)
        visitor = AnonymousCaller(bytes([device]) * 32, bytes([device]) * 32)
        try:
            event_id = self.run(process.meter.anonymous.reserve(visitor, "question"))
        except ServiceError as error:
            assert device in self.visited(), error  # noqa: PT017 - whether there is one is the model's to say
        else:
            assert device not in self.visited()
            self.enter(event_id, process.life, (0, (False, 0)), "reserved", device)

    def visited(self) -> set[int]:
        return {event.device for event in self.events if event.device and event.state != "released"}

    def held(self) -> list[Event]:
        """Reserved once, in the hands of a process that lives."""
        lives = {process.life for process in self.processes.values()}
        return [event for event in self.events if event.life in lives and event.lease_until_ms and not event.left]

    @precondition(lambda self: self.held())
    @rule(which=ANY, leave=st.booleans())
    def commit(self, which: int, leave: bool) -> None:
        event = chosen(self.held(), which)
        process = self.of(event)
        if event.state == "released":
            with pytest.raises(ServiceError):
                self.run(process.meter.commit(event.id))
            return
        self.run(process.meter.commit(event.id))
        event.state, event.left = "committed", leave
        if leave:
            process.meter.delivered(event.id)

    @precondition(lambda self: self.held())
    @rule(which=ANY)
    def release(self, which: int) -> None:
        event = chosen(self.held(), which)
        self.run(self.of(event).meter.release(event.id))
        if event.state == "reserved":
            event.state = "released"

    def of(self, event: Event) -> Process:
        return next(process for process in self.processes.values() if process.life == event.life)

    @rule(number=PROCESSES)
    def sweep(self, number: int) -> None:
        """What the watch does each minute."""
        process = self.process(number)
        self.run(process.database.write(process.meter._ledger.expire))
        for event in self.events:
            if event.state == "reserved" and event.lease_until_ms < self.clock.now_ms():
                event.state = "released"

    @precondition(lambda self: self.processes)
    @rule(number=PROCESSES, in_order=st.booleans())
    def end(self, number: int, in_order: bool) -> None:
        process = self.processes.pop(number, None)
        if process is None:
            return
        self.run(process.end(in_order=in_order))
        for event in self.events:
            if in_order and event.life == process.life:
                event.left = event.left or event.state == "committed"
                event.state = "released" if event.state == "reserved" else event.state

    @rule(seconds=st.sampled_from([1, 60, LEASE_MS // SECOND_MS + 1, 3_600, 40_000, 90_000]))
    def wait(self, seconds: int) -> None:
        self.run(self.clock.advance(seconds))

    @rule(back_ms=st.sampled_from([SECOND_MS, HOUR_MS, DAY_MS, 40 * DAY_MS]))
    def set_back(self, back_ms: int) -> None:
        self.clock.set_wall(max(START_MS - 400 * DAY_MS, self.clock.at_ms - back_ms))

    # What has to be so after each step.

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        if self.looking is None:
            return
        assert audit_counters(self.looking) + audit_devices(self.looking) == []
        rows = self.looking.execute("SELECT id, state FROM usage_events").fetchall()
        states = {"reserved": 0, "committed": 1, "released": 2}
        assert dict(rows) == {event.id: states[event.state] for event in self.events}
        counted = dict(self.looking.execute("SELECT user_id, counted FROM quota WHERE counted > 0").fetchall())
        assert counted == {user_id: count for user_id in (1, 2, 3) if (count := len(self.live(user_id)))}

    def teardown(self) -> None:
        for process in self.processes.values():
            self.run(process.end(in_order=True))
        if self.looking is not None:
            self.looking.close()
        self.runner.close()
        shutil.rmtree(self.path.parent)


def by_id(granted: tuple[Process, int]) -> int:
    return granted[1]


def chosen(among: list[Event], which: int) -> Event:
    return among[which % len(among)]


async def together(asked: list[Coroutine[Any, Any, T]]) -> list[T]:
    return await asyncio.gather(*asked)


def hold(folder: Path, seed: int, histories: int) -> int:
    async def make() -> None:
        async with open_database(folder / "empty.db", FakeClock()):
            pass

    asyncio.run(make())
    Meters.folder = folder
    return run_machine(Meters, seed, histories)


@pytest.mark.slow
@pytest.mark.promise("meter.once", "meter.lease", "meter.clock-back", "meter.processes")
def test_what_is_counted_is_what_was_granted_whatever_happens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    caplog.set_level(logging.CRITICAL)
    assert hold(tmp_path, seed, 8) > 0


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_thousand_histories_of_metering_count_nothing_twice_and_lose_nothing(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    seed: int,
    patience: int,
    record_property: Callable[[str, object], None],
) -> None:
    caplog.set_level(logging.CRITICAL)
    record_property("histories", 10 * patience)
    record_property("steps", hold(tmp_path, seed, 10 * patience))
