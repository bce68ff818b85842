"""All streams of a process, and everybody who reads along."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final
from weakref import WeakValueDictionary

from service.clock import Clock
from service.streams import lines
from service.streams.lens import Lens
from service.streams.reader import Reader
from service.streams.ring import Ring
from service.streams.state import Shape, State, Terms
from service.wire.cursor import Cursors, Position
from service.wire.streams import StreamName

SLICE: Final = 64
"""Readers woken in one turn of the loop: each then writes, some 40 microseconds."""

_log: Final = logging.getLogger("verdict.streams")


class _Channel:
    """A stream, those who read it, and the lenses they see it through."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.readers: dict[Reader, None] = {}
        self.lenses: WeakValueDictionary[tuple[int, bool], Lens] = WeakValueDictionary()

    def leave(self, reader: Reader) -> None:
        self.readers.pop(reader, None)

    def lens(self, terms: Terms) -> Lens:
        key = (terms.interval_s, terms.diff) if self.ring.shape.snapshot else (0, False)
        found = self.lenses.get(key)
        if found is None:
            found = self.lenses[key] = Lens(self.ring, key[0], diff=key[1])
        return found


class Hub:
    """Shows states to readers.

    Args:
        clock: What tells time.
        cursors: What writes and reads cursors.
        shapes: The streams there are.
        live: Whether the upstream behind them feeds; asked each second, and when somebody joins.
        kept: How many states of each are kept for readers that resume or lag.
    """

    def __init__(
        self, clock: Clock, cursors: Cursors, shapes: Sequence[Shape], live: Callable[[], bool], kept: int = 360
    ) -> None:
        self._clock = clock
        self._live = live
        self._channels = {shape.name: _Channel(Ring(shape, cursors, kept)) for shape in shapes}
        self._stopped = False
        self._stirred: set[_Channel] = set()
        self._heard: list[Reader] = []
        self._round: Iterator[Reader] = iter(())
        self._turning = False

    def show(self, stream: StreamName, states: Sequence[State]) -> None:
        """Take new states and wake the readers; those known already are passed over.

        Args:
            stream: Whose.
            states: In order of their numbers.
        """
        channel = self._channels[stream]
        if channel.ring.append(states) and channel.readers:
            self._stirred.add(channel)
            self._stir()

    def read_cursor(self, stream: StreamName, text: str) -> Position:
        """Read a cursor, to refuse it before anything is counted.

        Raises:
            ServiceError: BAD_REQUEST where it was not written for this stream.
        """
        return self._channels[stream].ring.read(text)

    def join(self, stream: StreamName, terms: Terms, cursor: str | None, source: lines.Source) -> Reader:
        """Let somebody read along; the open line waits.

        Args:
            stream: What is read.
            terms: What is asked of it.
            cursor: After what; None for from now on.
            source: What the open line says of where data comes from.

        Raises:
            ServiceError: BAD_REQUEST for a cursor that was not written for this stream.
        """
        channel = self._channels[stream]
        reader = Reader(channel.ring, channel.lens(terms), self._clock, terms.max, channel.leave)
        reader.open(terms.interval_s, source, cursor)
        channel.readers[reader] = None
        self._tell([reader])
        if self._stopped:
            reader.end("shutdown")
        return reader

    def readers(self) -> dict[StreamName, int]:
        """How many read each stream at this moment."""
        return {name: len(channel.readers) for name, channel in self._channels.items()}

    def stop(self) -> None:
        """End every reader, those to come too: the service stops."""
        self._stopped = True
        for reader in self._everybody():
            reader.end("shutdown")

    async def watch(self) -> None:
        """Look at the time each second, until cancelled: silence, liveness, age."""
        while True:
            await self._clock.sleep(1.0)
            try:
                self._heard += self._tell(self._everybody())
                self._stir()
            except Exception:  # noqa: BLE001 - a loop outlives every defect; the log has its trace
                _log.exception("a look at the streams is defective")

    def _everybody(self) -> list[Reader]:
        return [reader for channel in self._channels.values() for reader in channel.readers]

    def _tell(self, readers: Sequence[Reader]) -> list[Reader]:
        """Tell readers the time; those that have something to take because of it."""
        live, now_s = self._live(), self._clock.monotonic()
        beat = lines.heartbeat(self._clock.now_ms(), live=live)
        return [reader for reader in readers if reader.hear(beat, now_s, live=live)]

    def _stir(self) -> None:
        if not self._turning and (self._stirred or self._heard):
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Wake a slice of those who may have something to read, and come again in the next turn for the others."""
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
