"""All streams of a process and their subscribers."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final
from weakref import WeakValueDictionary

from service.clock import Clock
from service.streams import lines
from service.streams.buffer import EventBuffer
from service.streams.selection import StreamSelection
from service.streams.state import StreamKind, StreamState, SubscriptionOptions
from service.streams.subscriber import StreamSubscriber
from service.wire.cursor import Cursors, Position
from service.wire.streams import StreamName

SLICE: Final = 64
"""Subscribers woken in one turn of the loop; each then writes for about 40 µs."""

_log: Final = logging.getLogger("verdict.streams")


class _Channel:
    """A stream, its subscribers and their selections."""

    def __init__(self, buffer: EventBuffer) -> None:
        self.ring = buffer
        self.readers: dict[StreamSubscriber, None] = {}
        self.selections: WeakValueDictionary[tuple[int, bool], StreamSelection] = WeakValueDictionary()

    def leave(self, reader: StreamSubscriber) -> None:
        self.readers.pop(reader, None)

    def selection(self, terms: SubscriptionOptions) -> StreamSelection:
        key = (terms.interval_s, terms.diff) if self.ring.shape.snapshot else (0, False)
        found = self.selections.get(key)
        if found is None:
            found = self.selections[key] = StreamSelection(self.ring, key[0], diff=key[1])
        return found


class StreamBroker:
    """Distributes states to subscribers.

    Args:
        clock: The clock.
        cursors: Signs and checks cursors.
        shapes: The streams.
        live: Whether the upstream delivers data; called each second and for each new subscriber.
        kept: Number of states stored per stream for subscribers that resume or lag.
    """

    def __init__(
        self, clock: Clock, cursors: Cursors, shapes: Sequence[StreamKind], live: Callable[[], bool], kept: int = 360
    ) -> None:
        self._clock = clock
        self._live = live
        self._channels = {shape.name: _Channel(EventBuffer(shape, cursors, kept)) for shape in shapes}
        self._stopped = False
        self._stirred: set[_Channel] = set()
        self._heard: list[StreamSubscriber] = []
        self._round: Iterator[StreamSubscriber] = iter(())
        self._turning = False

    def show(self, stream: StreamName, states: Sequence[StreamState]) -> None:
        """Add new states and wake subscribers; known states are ignored.

        Args:
            stream: The stream.
            states: In order of their numbers.
        """
        channel = self._channels[stream]
        if channel.ring.append(states) and channel.readers:
            self._stirred.add(channel)
            self._stir()

    def read_cursor(self, stream: StreamName, text: str) -> Position:
        """Check a cursor before the call is counted.

        Raises:
            ServiceError: BAD_REQUEST where it was not written for this stream.
        """
        return self._channels[stream].ring.read(text)

    def join(
        self, stream: StreamName, terms: SubscriptionOptions, cursor: str | None, source: lines.Source
    ) -> StreamSubscriber:
        """Add a subscriber; its open line is ready to be taken.

        Args:
            stream: The stream.
            terms: Options of the subscription.
            cursor: Where to resume; None to start now.
            source: Data source named in the open line.

        Raises:
            ServiceError: BAD_REQUEST for a cursor that was not written for this stream.
        """
        channel = self._channels[stream]
        reader = StreamSubscriber(channel.ring, channel.selection(terms), self._clock, terms.max, channel.leave)
        reader.open(terms.interval_s, source, cursor)
        channel.readers[reader] = None
        self._tell([reader])
        if self._stopped:
            reader.end("shutdown")
        return reader

    def readers(self) -> dict[StreamName, int]:
        """Number of subscribers of each stream."""
        return {name: len(channel.readers) for name, channel in self._channels.items()}

    def stop(self) -> None:
        """End all subscriptions, later ones too: the service stops."""
        self._stopped = True
        for reader in self._everybody():
            reader.end("shutdown")

    async def watch(self) -> None:
        """Send heartbeats and end old subscriptions, once a second until cancelled."""
        while True:
            await self._clock.sleep(1.0)
            try:
                self._heard += self._tell(self._everybody())
                self._stir()
            except Exception:  # noqa: BLE001 - a loop outlives every defect; the log has its trace
                _log.exception("Unexpected exception while checking streams.")

    def _everybody(self) -> list[StreamSubscriber]:
        return [reader for channel in self._channels.values() for reader in channel.readers]

    def _tell(self, readers: Sequence[StreamSubscriber]) -> list[StreamSubscriber]:
        """Return the subscribers that have a heartbeat or an end to send at this time."""
        live, now_s = self._live(), self._clock.monotonic()
        beat = lines.heartbeat(self._clock.now_ms(), live=live)
        return [reader for reader in readers if reader.hear(beat, now_s, live=live)]

    def _stir(self) -> None:
        if not self._turning and (self._stirred or self._heard):
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Wake one slice of subscribers and schedule the next slice."""
        due = list(islice(self._round, SLICE))
        if not due:
            shown = (reader for channel in self._stirred for reader in channel.readers)
            self._round = iter([*self._heard, *shown])
            self._stirred.clear()
            self._heard.clear()
            due = list(islice(self._round, SLICE))
        for reader in due:
            reader.wake()
        self._turning = bool(due)
        if due:
            asyncio.get_running_loop().call_soon(self._turn)
