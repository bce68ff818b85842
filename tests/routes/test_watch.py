"""GET watch/{stream}: which streams there are, what is refused before anything is counted, and how one is joined."""

import json
from typing import Any

import pytest

from service.access.caller import Caller
from service.errors import ServiceError
from service.http.gates.parameters import ParameterDecoder
from service.routes.call import Call
from service.routes.streaming import watch
from service.streams.broker import StreamBroker
from service.streams.state import StreamKind, StreamState
from service.wire.cursor import Cursors
from service.wire.offers import WATCH
from service.wire.streams import STREAMS, WatchQuery
from tests.fakes.clock import FakeClock

CURSORS = Cursors(bytes(32))


def changes(_: bytes, new: bytes) -> bytes:
    return b"[" + new + b"]"


@pytest.fixture
def hub() -> StreamBroker:
    snapshots = {"funding", "regime", "sentiment", "prices"}
    shapes = [StreamKind(name, name in snapshots, changes) for name in STREAMS]
    return StreamBroker(FakeClock(), CURSORS, shapes, lambda: True)


def states(*numbers: int) -> list[StreamState]:
    return [StreamState(number, 1_753_444_800_000, 1_753_444_790_000, b"%d" % number) for number in numbers]


def query(stream: str, text: str = "") -> WatchQuery:
    decoded = ParameterDecoder(WATCH).decode({"stream": stream}, text.encode())
    assert isinstance(decoded, WatchQuery)
    return decoded


def lines(hub: StreamBroker, stream: str, text: str = "") -> list[Any]:
    """What a reader finds waiting."""
    bound, asked = watch(hub, "fixtures"), query(stream, text)
    bound.known(asked)
    following = bound.join(Call(asked, None, Caller(1, "api_key", 1)))
    taken = following.take()
    assert taken.endswith(b"\n")
    return [json.loads(line) for line in taken.splitlines()]


@pytest.mark.promise("watch.streams")
def test_there_are_six_streams_and_each_can_be_followed(hub: StreamBroker) -> None:
    assert STREAMS == ("funding", "regime", "sentiment", "prices", "alerts", "crossings")
    for name in STREAMS:
        (opened,) = lines(hub, name)
        assert opened == {
            "type": "open",
            "stream": name,
            "interval": 30,
            "source": "fixtures",
            "cursor": opened["cursor"],
        }


@pytest.mark.promise("errors.unknown-stream")
@pytest.mark.parametrize(
    ("asked", "candidates"),
    [
        ("price", ["prices"]),
        ("alert", ["alerts"]),
        ("crosings", ["crossings"]),
        ("founding", ["funding"]),
        ("x", list(STREAMS)),
    ],
)
def test_an_unknown_stream_is_refused_with_the_closest(hub: StreamBroker, asked: str, candidates: list[str]) -> None:
    with pytest.raises(ServiceError) as refused:
        watch(hub, "live").known(query(asked))
    assert (refused.value.code, refused.value.status) == ("UNKNOWN_STREAM", 404)
    assert refused.value.details == {"candidates": candidates}
    for name in STREAMS:
        assert name in refused.value.message


@pytest.mark.promise("watch.parameters")
def test_interval_diff_and_most_are_those_that_were_asked_for(hub: StreamBroker) -> None:
    hub.show("prices", states(*range(1, 13)))
    opened, first = lines(hub, "prices", "interval=10&max=2&diff=1")
    assert opened["interval"] == 10
    assert (first["data"], first["meta"]["tick"]) == (12, 12)
    told = lines(hub, "prices", f"interval=10&max=2&diff=1&cursor={cursor('prices', 5)}")
    assert [line["type"] for line in told] == ["open", "event", "event", "close"]
    assert [line["data"] for line in told[1:3]] == [[6], [8]]
    assert told[-1]["reason"] == "end"
    whole = lines(hub, "prices", f"interval=10&max=2&cursor={cursor('prices', 5)}")
    assert [line["data"] for line in whole[1:3]] == [6, 8]


def cursor(stream: str, seq: int) -> str:
    return CURSORS.write("watch", {"stream": stream}, (seq, 0))


@pytest.mark.promise("watch.parameters")
def test_a_cursor_goes_on_after_what_was_read(hub: StreamBroker) -> None:
    hub.show("alerts", states(1, 2, 3, 4))
    _, third, fourth = lines(hub, "alerts", f"cursor={cursor('alerts', 2)}")
    assert (third["data"], fourth["data"]) == (3, 4)
    assert fourth["meta"]["cursor"] == cursor("alerts", 4)


@pytest.mark.parametrize("foreign", [cursor("alerts", 2), "x" * 43, cursor("prices", 2)[:-1] + "!"])
def test_a_cursor_of_anything_else_is_refused_by_name(hub: StreamBroker, foreign: str) -> None:
    hub.show("prices", states(1, 2, 3))
    with pytest.raises(ServiceError) as refused:
        watch(hub, "live").known(WatchQuery("prices", cursor=foreign))
    assert (refused.value.code, refused.value.details) == ("BAD_REQUEST", {"parameter": "cursor"})
