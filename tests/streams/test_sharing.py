"""What many readers share, and what none of them can take from the others."""

import asyncio
import gc

from service.streams.broker import SLICE, StreamBroker
from service.streams.selection import PIECE_BYTES
from service.streams.state import StreamKind, StreamState, SubscriptionOptions
from service.wire.cursor import Cursors
from tests.fakes.clock import FakeClock
from tests.streams.stage import ALL, Stage, arrives, differing, everything, read, state, states, ticks, told, types

DIFF = SubscriptionOptions(interval_s=10, diff=True, max=0)


async def test_what_lies_before_readers_at_the_same_place_is_joined_once() -> None:
    stage = Stage()
    readers = [stage.join("alerts") for _ in range(100)]
    for reader in readers:
        read(reader)
    stage.hub.show("alerts", states(1, 50))
    first, *others = [reader.take() for reader in readers]
    assert first.count(b"\n") == 50
    assert all(piece is first for piece in others)


async def test_a_diff_is_taken_once_for_all_readers_who_know_the_same_whatever_their_intervals() -> None:
    asked: list[tuple[bytes, bytes]] = []

    def counted(old: bytes, new: bytes) -> bytes | None:
        asked.append((old, new))
        return differing(old, new)

    clock = FakeClock()
    hub = StreamBroker(clock, Cursors(b"k" * 32), [StreamKind("prices", snapshot=True, changes=counted)], lambda: True)
    hub.show("prices", [state(12)])
    terms = [SubscriptionOptions(interval_s=interval, diff=True, max=0) for interval in (10, 12, 14)]
    readers = [hub.join("prices", each, None, "live") for each in terms for _ in range(10)]
    for reader in readers:
        read(reader)
    hub.show("prices", states(13, 60))
    for reader in readers:
        assert ticks(read(reader))[-1] >= 58
    assert len(asked) == len(set(asked))


async def test_all_that_comes_within_a_turn_wakes_a_reader_once() -> None:
    stage = Stage()
    reader = stage.join("alerts")
    read(reader)
    waiting = asyncio.create_task(arrives(reader))
    await stage.clock.settle()
    for seq in range(1, 11):
        stage.hub.show("alerts", [state(seq)])
    assert ticks(await waiting) == list(range(1, 11))


async def test_a_crowd_is_woken_in_slices_and_everybody_is() -> None:
    stage = Stage()
    crowd = 3 * SLICE + 1
    readers = [stage.join("alerts") for _ in range(crowd)]
    for reader in readers:
        read(reader)
    waiting = [asyncio.create_task(arrives(reader)) for reader in readers]
    await stage.clock.settle()
    for seq in (1, 2, 3):
        stage.hub.show("alerts", [state(seq)])
    done = []
    for _ in range(10):
        await asyncio.sleep(0)
        done.append(sum(task.done() for task in waiting))
    assert max(after - before for before, after in zip([0, *done], done, strict=False)) <= SLICE
    assert done[-1] == crowd
    assert all(ticks(task.result()) == [1, 2, 3] for task in waiting)


async def test_a_heartbeat_wakes_a_crowd_in_slices_too() -> None:
    stage = Stage()
    async with stage.watched():
        readers = [stage.join("alerts") for _ in range(2 * SLICE)]
        for reader in readers:
            read(reader)
        waiting = [asyncio.create_task(arrives(reader)) for reader in readers]
        await stage.clock.settle()
        stage.live = False
        watch = asyncio.create_task(stage.clock.advance(1))
        done = []
        while not watch.done():
            await asyncio.sleep(0)
            done.append(sum(task.done() for task in waiting))
        assert max(after - before for before, after in zip([0, *done], done, strict=False)) <= SLICE
        assert [types(task.result()) for task in waiting] == [["heartbeat"]] * len(readers)


async def test_a_hub_wakes_again_and_again_and_rests_in_between() -> None:
    stage = Stage()
    async with stage.watched():
        reader = stage.join("alerts")
        read(reader)
        for seq in range(1, 4):
            for happen in ("event", "heartbeat"):
                waiting = asyncio.create_task(arrives(reader))
                await stage.clock.settle()
                if happen == "event":
                    stage.hub.show("alerts", [state(seq)])
                else:
                    await stage.clock.advance(15)
                assert types(await waiting) == [happen]
                await stage.clock.settle()
                assert not stage.hub._turning


def test_states_can_be_shown_before_anybody_reads_and_any_loop_runs() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 3))
    assert ticks(read(stage.join())) == [3]


async def test_what_comes_while_a_crowd_is_woken_reaches_everybody_too() -> None:
    stage = Stage()
    readers = [stage.join("alerts") for _ in range(2 * SLICE)]
    for reader in readers:
        read(reader)

    async def two_events(number: int) -> list[int]:
        seen: list[int] = []
        while len(seen) < 2:
            seen += ticks(await arrives(readers[number]))
        return seen

    waiting = [asyncio.create_task(two_events(number)) for number in range(len(readers))]
    await stage.clock.settle()
    stage.hub.show("alerts", [state(1)])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    stage.hub.show("alerts", [state(2)])
    assert await asyncio.gather(*waiting) == [[1, 2]] * len(readers)


async def test_a_reader_that_takes_nothing_holds_nothing() -> None:
    stage = Stage(kept=100)
    stalled = stage.join("alerts")
    reader = stage.join("alerts")
    read(reader)
    read(stalled)
    for seq in range(1, 301):
        stage.hub.show("alerts", [state(seq)])
        assert ticks(read(reader)) == [seq]
    assert types(read(stalled))[0] == "gap"
    assert len(stage.hub._channels["alerts"].ring._states) == 100
    assert len(stage.hub._channels["alerts"].ring._lines) == 100


async def test_a_piece_is_bounded_and_the_rest_comes_with_the_next() -> None:
    stage = Stage()
    wide = {"wide": "x" * 10_000}
    stage.hub.show("alerts", [state(seq, wide) for seq in range(1, 31)])
    reader = stage.join("alerts", cursor=stage.cursor(0, stream="alerts"))
    pieces = []
    while piece := reader.take():
        pieces.append(piece)
    assert ticks([line for piece in pieces for line in told(piece)]) == list(range(1, 31))
    assert max(map(len, pieces)) < PIECE_BYTES + 11_000
    assert len(pieces) == 5


async def test_readers_far_behind_at_places_of_their_own_do_not_keep_a_piece_each() -> None:
    stage = Stage()
    stage.hub.show("alerts", states(1, 300))
    readers = [stage.join("alerts", cursor=stage.cursor(seq, stream="alerts")) for seq in range(100)]
    for seq, reader in enumerate(readers):
        assert ticks(read(reader)) == list(range(seq + 1, 301))
    (selection,) = stage.hub._channels["alerts"].selections.values()
    assert len(selection._known) <= 8


async def test_a_long_way_without_a_difference_is_gone_in_steps_that_let_others_run() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1, {"n": 1, "t": 0})])
    stage.hub.show(
        "prices", [StreamState(seq, 0, 0, b'{"n":1,"t":0%b}' % (b" " * (seq % 2 + seq % 3))) for seq in range(2, 300)]
    )
    reader = stage.join(terms=DIFF, cursor=stage.cursor(1))
    assert types(read(reader)) == ["open"]
    turns = 0
    waiting = asyncio.create_task(reader.wait())
    place = -1
    while (now := reader._place.through if reader._place else 0) != place:
        place, turns = now, turns + 1
        await asyncio.sleep(0)
    assert place == 299
    assert turns > 3
    stage.hub.show("prices", [state(300, {"n": 2, "t": 0})])
    await asyncio.wait_for(waiting, 20)
    assert everything(reader).count(b"\n") == 1


async def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    stage = Stage()
    reader = stage.join(terms=ALL)
    read(reader)
    waiting = asyncio.create_task(reader.wait())
    await stage.clock.settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    stage.hub.show("prices", [state(1)])
    await stage.clock.settle()
    assert ticks(await arrives(reader)) == [1]


async def test_lenses_go_with_their_last_reader() -> None:
    stage = Stage()
    readers = [
        stage.join(terms=SubscriptionOptions(interval_s=interval, diff=False, max=0)) for interval in range(10, 300)
    ]
    for reader in readers:
        reader.close()
    del readers, reader
    gc.collect()
    assert not stage.hub._channels["prices"].selections
    assert not stage.hub._channels["prices"].readers


async def test_it_is_known_how_many_read_each_stream() -> None:
    stage = Stage()
    first, second = stage.join("alerts"), stage.join("alerts")
    assert stage.hub.readers() == {"prices": 0, "alerts": 2}
    first.close()
    first.close()
    assert stage.hub.readers() == {"prices": 0, "alerts": 1}
    second.close()
    assert stage.hub.readers() == {"prices": 0, "alerts": 0}
