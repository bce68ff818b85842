"""Readers that are cut anywhere and resume, with any terms, held against two slow and obvious accounts of a stream.

The first tells what one reader that was never cut is told, from the whole history. The second is a client: it puts
together what it is told, and looks whether that is the state of the tick, and whether anything was left out unsaid.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from service.streams.broker import StreamBroker
from service.streams.state import SAMPLE_S, StreamKind, SubscriptionOptions
from service.streams.subscriber import StreamSubscriber
from service.wire.cursor import Cursors
from service.wire.streams import StreamName
from tests.fakes.clock import FakeClock
from tests.streams.stage import differing, events, state, told

Data = dict[str, int]


class Show(NamedTuple):
    """So many states come."""

    states: int


class Read(NamedTuple):
    """A piece is read."""


class Cut(NamedTuple):
    """The connection breaks while a piece is under way: so many of its lines arrived. A new one is made, to a process
    that has run all the time or to one that was started a moment ago.
    """

    arrived: int
    restarted: bool


Act = Show | Read | Cut

acts = st.lists(
    st.one_of(
        st.builds(Show, st.integers(1, 7)),
        st.builds(Read),
        st.builds(Cut, st.integers(0, 4), st.booleans()),
    ),
    max_size=30,
)
histories = st.lists(st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.integers(0, 1)}), min_size=1, max_size=9)
streams = st.sampled_from(["prices", "alerts"])
terms = st.builds(SubscriptionOptions, st.sampled_from([10, 12, 15, 20]), st.booleans(), st.just(0))


class Client:
    """Reads a stream as a client does, over as many connections as it takes.

    Attributes:
        lines: All that arrived, the open lines left out.
        began: The newest state when it joined without a cursor, for the last time.
    """

    def __init__(self, stream: StreamName, terms: SubscriptionOptions, history: Sequence[Data], kept: int) -> None:
        self.lines: list[dict[str, Any]] = []
        self.newest = 1
        self.began = 1
        self._stream = stream
        self._terms = terms
        self._history = history
        self._kept = kept
        self._cursor: str | None = None
        self._hub = self._process()
        self._reader = self._join()

    def data(self, seq: int) -> Data:
        return dict(self._history[seq % len(self._history)])

    def run(self, acts: Sequence[Act]) -> None:
        for act in acts:
            match act:
                case Show(states):
                    self._show(self._hub, self.newest + 1, self.newest + states)
                    self.newest += states
                case Read():
                    self._arrive(told(self._reader.take()))
                case Cut(arrived, restarted):
                    self._arrive(told(self._reader.take())[:arrived])
                    self._reader.close()
                    self._hub = self._process() if restarted else self._hub
                    self._reader = self._join()
        while lines := told(self._reader.take()):
            self._arrive(lines)

    def _process(self) -> StreamBroker:
        shape = StreamKind(self._stream, snapshot=self._stream == "prices", changes=differing)
        hub = StreamBroker(FakeClock(), Cursors(b"k" * 32), [shape], lambda: True, self._kept)
        self._show(hub, max(1, self.newest - self._kept + 1), self.newest)
        return hub

    def _show(self, hub: StreamBroker, first: int, last: int) -> None:
        hub.show(self._stream, [state(seq, self.data(seq)) for seq in range(first, last + 1)])

    def _join(self) -> StreamSubscriber:
        if self._cursor is None:
            self.began = self.newest
        return self._hub.join(self._stream, self._terms, self._cursor, "live")

    def _arrive(self, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["type"] != "open":
                self.lines.append(line | {"oldest": self.newest - self._kept + 1})
            self._cursor = line["meta"]["cursor"] if line["type"] == "event" else line["cursor"]


def lets_through(seq: int, terms: SubscriptionOptions, stream: str) -> bool:
    """Whether a multiple of the interval lies between the time of the state before and that of this one."""
    before_s, now_s = SAMPLE_S * (seq - 1), SAMPLE_S * seq
    return stream == "alerts" or any(before_s < mark <= now_s for mark in range(0, now_s + 1, terms.interval_s))


def uncut(client: Client, terms: SubscriptionOptions, stream: str) -> list[tuple[int, Data]]:
    """What a reader is told that joined when the client did, was never cut, and from whom no state was ever lost."""
    if stream == "alerts":
        return [(seq, client.data(seq)) for seq in range(client.began + 1, client.newest + 1)]
    known = client.data(client.began)
    lines = [(client.began, dict(known))]
    for seq in range(client.began + 1, client.newest + 1):
        if lets_through(seq, terms, stream):
            now = client.data(seq)
            new = {name: now[name] for name in now if now[name] != known[name]} if terms.diff else now
            if new:
                lines.append((seq, new))
            known = now
    return lines


@given(acts, histories, streams, terms)
def test_a_reader_cut_anywhere_is_told_what_it_would_have_been_told_uncut(
    acts: list[Act], history: list[Data], stream: StreamName, terms: SubscriptionOptions
) -> None:
    async def follow() -> Client:
        client = Client(stream, terms, history, kept=1_000)
        client.run(acts)
        return client

    client = asyncio.run(follow())
    assert events(client.lines) == uncut(client, terms, stream)
    assert len(events(client.lines)) == len(client.lines)


@given(acts, histories, streams, terms)
def test_whatever_is_lost_is_lost_behind_a_gap_and_nothing_is_told_twice(
    acts: list[Act], history: list[Data], stream: StreamName, terms: SubscriptionOptions
) -> None:
    async def follow() -> Client:
        client = Client(stream, terms, history, kept=8)
        client.run(acts)
        return client

    client = asyncio.run(follow())
    diff = terms.diff and stream == "prices"
    known: Data | None = None
    last = 0 if stream == "prices" else client.began
    sound = stream == "alerts"  # whether the client knows where it stands: nothing can be missing before that
    for line in client.lines:
        if line["type"] == "gap":
            assert line["reason"] in {"too-old", "too-slow"}
            assert last < line["oldest"] - 1 + diff
            known, sound = None, False
            continue
        seq = line["meta"]["tick"]
        now = client.data(seq)
        assert seq > last
        if sound:
            assert_nothing_left_out(client, range(last + 1, seq), terms, stream, known if diff else None)
            assert lets_through(seq, terms, stream)
        if diff and known is not None:
            assert line["data"] == {name: now[name] for name in now if now[name] != known[name]} != {}
        else:
            assert line["data"] == now
        last, known, sound = seq, now, True
    if sound:
        assert_nothing_left_out(client, range(last + 1, client.newest + 1), terms, stream, known if diff else None)


def assert_nothing_left_out(
    client: Client, between: range, terms: SubscriptionOptions, stream: str, known: Data | None
) -> None:
    for seq in between:
        assert client.data(seq) == known or not lets_through(seq, terms, stream)
