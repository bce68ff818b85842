"""What a reader is told, and in which order."""

import pytest

from service.streams.state import SubscriptionOptions
from tests.streams.stage import Stage, arrives, events, read, state, states, ticks, told, types

DIFF = SubscriptionOptions(interval_s=10, diff=True, max=0)


async def test_a_reader_has_the_newest_state_at_once_and_then_what_its_interval_lets_through() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 7))
    reader = stage.join(terms=SubscriptionOptions(interval_s=15, diff=False, max=0))
    opened, first = read(reader)
    assert opened == {
        "type": "open",
        "stream": "prices",
        "interval": 15,
        "source": "live",
        "cursor": stage.cursor(7, 1),
    }
    assert first["data"] == {"n": 7}
    assert first["meta"] == {
        "ts": "2025-07-25T12:00:35.000Z",
        "as_of": "2025-07-25T12:00:33.000Z",
        "data_age_seconds": 2,
        "tick": 7,
        "cursor": stage.cursor(7),
    }
    stage.hub.show("prices", states(8, 16))
    assert ticks(read(reader)) == [9, 12, 15]


async def test_where_nothing_is_known_yet_the_first_state_is_told_when_it_comes() -> None:
    stage = Stage()
    reader = stage.join(terms=SubscriptionOptions(interval_s=300, diff=False, max=0))
    (opened,) = read(reader)
    assert opened["cursor"] is None
    stage.hub.show("prices", states(56, 57))
    assert ticks(await arrives(reader)) == [57]


async def test_happenings_are_told_all_and_whole_but_none_of_before() -> None:
    stage = Stage()
    stage.hub.show("alerts", states(1, 3))
    reader = stage.join("alerts", SubscriptionOptions(interval_s=300, diff=True, max=0))
    (opened,) = read(reader)
    assert (opened["interval"], opened["cursor"]) == (300, stage.cursor(3, stream="alerts"))
    stage.hub.show("alerts", states(4, 6))
    assert events(read(reader)) == [(4, {"n": 4}), (5, {"n": 5}), (6, {"n": 6})]


async def test_a_cursor_from_before_the_first_happening_resumes_with_it() -> None:
    stage = Stage()
    cursor = read(stage.join("alerts"))[0]["cursor"]
    stage.hub.show("alerts", states(1, 2))
    assert ticks(read(stage.join("alerts", cursor=cursor))) == [1, 2]


async def test_a_diff_begins_whole_and_then_holds_only_what_changed() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1, {"a": 1, "b": 1})])
    reader = stage.join(terms=DIFF)
    assert events(read(reader)) == [(1, {"a": 1, "b": 1})]
    stage.hub.show("prices", [state(2, {"a": 2, "b": 1}), state(3, {"a": 3, "b": 1}), state(4, {"a": 2, "b": 1})])
    stage.hub.show("prices", [state(5, {"a": 9, "b": 9}), state(6, {"a": 2, "b": 3})])
    assert events(read(reader)) == [(2, {"a": 2}), (6, {"b": 3})]


async def test_the_first_diff_is_against_what_this_reader_saw_not_what_others_did() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(2, {"a": 1}), state(3, {"a": 2})])
    reader = stage.join(terms=DIFF)  # sees state 3, which the interval lets nobody else see
    stage.hub.show("prices", [state(4, {"a": 1})])
    assert events(read(reader)) == [(3, {"a": 2}), (4, {"a": 1})]


async def test_a_state_that_does_not_compare_with_the_one_before_is_told_whole() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1, ["as another version wrote it"])])
    reader = stage.join(terms=DIFF)
    stage.hub.show("prices", [state(2, {"a": 1, "b": 1})])
    assert events(read(reader)) == [(1, ["as another version wrote it"]), (2, {"a": 1, "b": 1})]


async def test_changes_are_not_asked_for_where_the_bytes_are_the_same() -> None:
    stage = Stage()
    stage.hub.show("prices", [state(1, ["would not compare"])])
    reader = stage.join(terms=DIFF)
    read(reader)
    stage.hub.show("prices", [state(2, ["would not compare"])])
    assert read(reader) == []


@pytest.mark.promise("watch.parameters")
async def test_max_counts_events_and_ends_the_stream() -> None:
    stage = Stage()
    stage.hub.show("prices", states(1, 1))
    reader = stage.join(terms=SubscriptionOptions(interval_s=10, diff=False, max=3))
    stage.hub.show("prices", states(2, 20))
    lines = told(reader.take())
    assert types(lines) == ["open", "event", "event", "event", "close"]
    assert ticks(lines) == [1, 2, 4]
    assert lines[-1] == {"type": "close", "reason": "end", "cursor": stage.cursor(4)}
    assert reader.ended
    assert reader.take() == b""


async def test_max_ends_also_a_reader_that_has_less_before_it_than_it_wants() -> None:
    stage = Stage()
    stage.hub.show("alerts", states(1, 1))
    reader = stage.join(
        "alerts", SubscriptionOptions(interval_s=10, diff=False, max=2), stage.cursor(0, stream="alerts")
    )
    assert types(read(reader)) == ["open", "event"]
    stage.hub.show("alerts", states(2, 3))
    assert types(read(reader)) == ["event", "close"]
