"""Cursors: going on after a line, and what is said where that cannot be."""

import pytest

from service.errors import ServiceError
from service.streams.state import SubscriptionOptions
from service.streams.subscriber import AHEAD_S
from service.wire.streams import StreamName
from tests.streams.stage import ALL, Stage, arrives, events, read, state, states, ticks, types

DIFF = SubscriptionOptions(interval_s=10, diff=True, max=0)


async def test_a_reader_goes_on_after_the_cursor_of_any_event() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 10))
    opened, *lines = read(stage.join(cursor=stage.cursor(3)))
    assert opened["cursor"] == stage.cursor(3)
    assert ticks(lines) == [4, 6, 8, 10]
    stage.hub.show("alerts", states(1, 10))
    assert ticks(read(stage.join("alerts", cursor=stage.cursor(3, stream="alerts")))) == [4, 5, 6, 7, 8, 9, 10]


async def test_the_cursor_of_an_open_line_resumes_with_the_state_that_should_have_come_next() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 5))
    cursor = read(stage.join())[0]["cursor"]
    stage.hub.show("prices", states(6, 8))
    assert ticks(read(stage.join(cursor=cursor))) == [5, 6, 8]


async def test_a_diff_is_taken_against_the_state_of_the_cursor() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1, {"a": 1, "b": 1}), state(2, {"a": 2, "b": 1}), state(3, {"a": 1, "b": 2})])
    stage.hub.show("prices", [state(4, {"a": 1, "b": 3})])
    assert events(read(stage.join(terms=DIFF, cursor=stage.cursor(1)))) == [(2, {"a": 2}), (4, {"a": 1, "b": 3})]
    assert events(read(stage.join(terms=DIFF, cursor=stage.cursor(3)))) == [(4, {"b": 3})]


async def test_a_close_tells_where_to_go_on_also_where_nothing_was_new_for_long() -> None:
    stage = Stage(kept=70)
    stage.hub.show("prices", [state(1, {"a": 1})])
    reader = stage.join(terms=DIFF)
    read(reader)
    for seq in range(2, 202):
        stage.hub.show("prices", [state(seq, {"a": 1})])
        assert read(reader) == []
    reader.end("revoked")
    (close,) = read(reader)
    assert close["cursor"] == stage.cursor(200)
    stage.hub.show("prices", [state(202, {"a": 2})])
    assert events(read(stage.join(terms=DIFF, cursor=close["cursor"]))) == [(202, {"a": 2})]


@pytest.mark.promise("watch.gap")
async def test_a_cursor_that_is_too_old_gives_a_gap_and_then_the_newest_state() -> None:
    stage = Stage(kept=5)
    stage.hub.show("prices", states(1, 20))
    assert ticks(read(stage.join(cursor=stage.cursor(15)))) == [16, 18, 20]
    opened, gap, event = read(stage.join(cursor=stage.cursor(14)))
    assert opened["type"] == "open"
    assert gap == {"type": "gap", "reason": "too-old", "cursor": stage.cursor(20, 1)}
    assert event["meta"]["tick"] == 20
    assert types(read(stage.join(cursor=stage.cursor(15, 1)))) == ["open", "gap", "event"]


async def test_a_gap_in_happenings_goes_on_with_the_oldest_that_is_kept() -> None:
    stage = Stage(kept=3)
    stage.hub.show("alerts", states(1, 9))
    _, gap, *lines = read(stage.join("alerts", cursor=stage.cursor(5, stream="alerts")))
    assert gap == {"type": "gap", "reason": "too-old", "cursor": stage.cursor(6, stream="alerts")}
    assert ticks(lines) == [7, 8, 9]
    assert types(read(stage.join("alerts", cursor=stage.cursor(6, stream="alerts")))) == ["open"] + 3 * ["event"]


async def test_with_diff_a_cursor_is_too_old_once_its_own_state_is_gone() -> None:
    stage = Stage(kept=5)
    stage.hub.show("prices", states(1, 20))
    assert types(read(stage.join(terms=DIFF, cursor=stage.cursor(15)))) == ["open", "gap", "event"]
    assert ticks(read(stage.join(terms=DIFF, cursor=stage.cursor(16)))) == [18, 20]


async def test_a_reader_that_falls_behind_what_is_kept_is_told_so() -> None:
    stage = Stage(kept=5)
    stage.hub.show("prices", states(1, 1))
    reader = stage.join()
    read(reader)
    stage.hub.show("prices", states(2, 7))
    gap, event = read(reader)
    assert gap == {"type": "gap", "reason": "too-slow", "cursor": stage.cursor(7, 1)}
    assert event["meta"]["tick"] == 7


async def test_states_before_a_hole_are_forgotten() -> None:
    stage = Stage()
    stage.hub.show("alerts", states(1, 3))
    reader = stage.join("alerts")
    read(reader)
    stage.hub.show("alerts", states(5, 6))
    gap, *lines = read(reader)
    assert gap["reason"] == "too-slow"
    assert ticks(lines) == [5, 6]
    stage.hub.show("alerts", states(1, 7))
    assert ticks(read(reader)) == [7]


async def test_a_cursor_that_another_process_wrote_a_moment_ago_is_waited_for() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 5))
    async with stage.watched():
        reader = stage.join(terms=DIFF, cursor=stage.cursor(6))
        assert types(read(reader)) == ["open"]
        await stage.clock.advance(AHEAD_S - 1)
        stage.hub.show("prices", states(6, 8))
        assert ticks(await arrives(reader)) == [8]
        await stage.clock.advance(AHEAD_S)
        assert read(reader) == []


@pytest.mark.parametrize(("stream", "beyond"), [("prices", [5, 6]), ("alerts", [6])])
async def test_a_cursor_ahead_of_what_comes_is_unknown(stream: StreamName, beyond: list[int]) -> None:
    stage = Stage()
    stage.hub.show(stream, states(1, 5))
    async with stage.watched():
        reader = stage.join(stream, cursor=stage.cursor(50, stream=stream))
        assert types(read(reader)) == ["open"]
        await stage.clock.advance(AHEAD_S + 1)
        gap, *lines = read(reader)
        assert gap == {"type": "gap", "reason": "unknown", "cursor": stage.cursor(5, stream == "prices", stream)}
        stage.hub.show(stream, states(6, 6))
        assert ticks([*lines, *read(reader)]) == beyond


async def test_a_cursor_of_something_else_is_refused() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 5))
    foreign = [stage.cursor(3, stream="alerts"), "x", stage.cursors.write("rwa", {"stream": "prices"}, (3, 0))]
    for text in foreign:
        with pytest.raises(ServiceError) as refused:
            stage.hub.read_cursor("prices", text)
        assert refused.value.code == "BAD_REQUEST"
        with pytest.raises(ServiceError):
            stage.join(terms=ALL, cursor=text)
    assert stage.hub.read_cursor("prices", stage.cursor(3)) == (3, 0)
