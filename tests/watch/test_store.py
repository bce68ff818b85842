"""The one source of order: states are numbered, kept and read as they were told, whoever appends."""

from collections.abc import Sequence
from typing import cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.storage.database import Database
from service.streams.state import StreamState
from service.watch import store as stores
from service.watch.store import KEPT, WRITTEN_EVERY, SentEvents, StreamSample, StreamStore
from service.wire.streams import StreamName
from tests.fakes.clock import START_MS
from tests.watch.streaming import ORIGIN, Process


def taken(data: str, stream: StreamName = "prices", as_of_ms: int = 7, name: str | None = None) -> StreamSample:
    return StreamSample(stream, as_of_ms, data.encode(), name)


async def states(store: StreamStore, seq: int = 0, stream: StreamName = "prices") -> list[StreamState]:
    return [state for _, state in await store.after({stream: seq})]


@pytest.fixture
async def store(database: Database, leader: Process) -> StreamStore:
    """A store without states, of the history that the market's store holds."""
    await database.write(lambda connection: connection.execute("DELETE FROM stream_states").rowcount)
    await database.write(lambda connection: connection.execute("DELETE FROM stream_heads").rowcount)
    return StreamStore(database)


async def test_states_are_numbered_from_one_each_stream_by_itself_and_read_from_any_number_on(
    store: StreamStore,
) -> None:
    await store.append(ORIGIN, 100, 0, [taken("a"), taken("x", "regime"), taken("b", as_of_ms=8)])
    await store.append(ORIGIN, 200, 0, [taken("c")])
    first, second, third = StreamState(1, 100, 7, b"a"), StreamState(2, 100, 8, b"b"), StreamState(3, 200, 7, b"c")
    assert await states(store) == [first, second, third]
    assert await states(store, 2) == [third]
    assert await states(store, 3) == await states(store, 9) == []
    assert await store.after({"regime": 0, "prices": 2}) == [
        ("prices", third),
        ("regime", StreamState(1, 100, 7, b"x")),
    ]


async def test_what_stays_the_same_is_written_once_in_a_while_and_told_each_time(
    store: StreamStore, database: Database
) -> None:
    for _ in range(WRITTEN_EVERY + 1):
        await store.append(ORIGIN, 1, 0, [taken("same")])
    assert {state.data for state in await states(store)} == {b"same"}
    rows = await database.read("SELECT seq FROM stream_states WHERE stream = 'prices' AND data IS NOT NULL")
    assert rows == [(1,), (WRITTEN_EVERY,)]


@pytest.mark.parametrize("changes", [False, True])
async def test_the_newest_states_are_kept_and_the_oldest_of_them_still_says_what_it_said(
    store: StreamStore, database: Database, monkeypatch: pytest.MonkeyPatch, *, changes: bool
) -> None:
    monkeypatch.setattr(stores, "KEPT", 20)
    monkeypatch.setattr(stores, "WRITTEN_EVERY", 7)
    for number in range(1, 61):
        await store.append(ORIGIN, 1, 0, [taken(str(number) if changes else "same")])
    kept = await states(store)
    assert [state.seq for state in kept][-20:] == list(range(41, 61))
    assert len(kept) == (20 if changes else 60 - 35 + 1)
    assert [state.data for state in kept] == [str(state.seq).encode() if changes else b"same" for state in kept]
    rows = await database.read("SELECT data IS NULL FROM stream_states WHERE stream = 'prices' ORDER BY seq LIMIT 1")
    assert rows == [(0,)]
    assert KEPT == 360


STREAM_NAMES = iter(range(10**9))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(batches=st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=12), seq=st.integers(0, 30))
async def test_what_is_read_is_what_was_appended(
    store: StreamStore, batches: Sequence[Sequence[str]], seq: int
) -> None:
    stream = cast("StreamName", f"stream {next(STREAM_NAMES)}")
    told: list[StreamState] = []
    for at_ms, batch in enumerate(batches):
        await store.append(ORIGIN, at_ms, 0, [taken(data, stream) for data in batch])
        told += [StreamState(len(told) + place + 1, at_ms, 7, data.encode()) for place, data in enumerate(batch)]
    assert await states(store, seq, stream) == told[seq:]


async def test_another_history_clears_what_was_kept_and_numbers_go_on(leader: Process, database: Database) -> None:
    store = StreamStore(database)
    await store.append(ORIGIN, 1, 0, [taken("a", as_of_ms=5, name="told"), taken("same", "sentiment")])
    ((newest,),) = await database.read("SELECT seq FROM stream_heads WHERE stream = 'prices'")
    await leader.series.claim("two")
    assert await store.sent_events("two") == SentEvents(None, set())
    await store.append("two", 2, 0, [taken("b"), taken("same", "sentiment")])
    assert await states(store) == [StreamState(newest + 1, 2, 7, b"b")]
    assert await states(store, stream="sentiment") == [StreamState(2, 2, 7, b"same")]
    assert await store.sent_events("two") == SentEvents(0, set())
    assert await store.sent_events(ORIGIN) == SentEvents(None, set())


async def test_what_was_taken_of_a_history_that_is_no_more_is_dropped_whole(
    store: StreamStore, leader: Process
) -> None:
    before = await store.sent_events(ORIGIN)
    await leader.series.claim(f"{ORIGIN}:next")
    await store.append(ORIGIN, 2, 99, [taken("late", as_of_ms=100, name="late")])
    assert await states(store) == []
    assert await store.sent_events(ORIGIN) == before


async def test_a_happening_is_remembered_until_it_is_past(store: StreamStore) -> None:
    happened = [taken("a", "alerts", 10, "x"), taken("b", "crossings", 20, "x"), taken("c", "alerts", 30, "y")]
    await store.append(ORIGIN, 1, 5, happened)
    assert await store.sent_events(ORIGIN) == SentEvents(5, {("alerts", "x"), ("crossings", "x"), ("alerts", "y")})
    await store.append(ORIGIN, 1, 20, [])
    assert await store.sent_events(ORIGIN) == SentEvents(20, {("alerts", "y")})


async def test_one_happening_that_was_told_already_takes_all_that_was_taken_with_it_back(store: StreamStore) -> None:
    await store.append(ORIGIN, 1, 5, [taken("a", "alerts", 10, "x")])
    with pytest.raises(Exception, match="UNIQUE"):
        await store.append(ORIGIN, 2, 5, [taken("p"), taken("a", "alerts", 10, "x")])
    assert await states(store) == []
    assert [state.seq for state in await states(store, stream="alerts")] == [1]


async def test_states_of_before_a_restart_are_there_and_the_next_has_the_next_number(leader: Process) -> None:
    await leader.round()
    reopened = Process(leader.database, leader.clock)
    await reopened.hear()
    await reopened.round()
    assert [state.seq for state in await states(reopened.store)] == [1, 2, 3]
    assert msgspec.json.decode((await states(reopened.store))[0].data)["prices"]["BTC"]["ts"].startswith("2025-07-25")
    assert (await states(reopened.store))[0].at_ms == START_MS
