"""Reads new states from the store and shows them to the readers of this process."""

from typing import Final

from msgspec.structs import replace

from service.streams.broker import StreamBroker
from service.streams.state import StreamState
from service.watch.store import StreamStore
from service.wire.streams import STREAMS, StreamName

FOLLOW_EVERY_S: Final = 1.0


class StreamFollower:
    """Copies new states from the store to the hub.

    Args:
        store: The stored states.
        hub: Serves readers.
    """

    def __init__(self, store: StreamStore, hub: StreamBroker) -> None:
        self._store = store
        self._hub = hub
        self._newest: dict[StreamName, StreamState] = {}

    async def follow(self) -> None:
        """Show the states since the last call. Concurrent calls are safe.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        known = {stream: self._seq(stream) for stream in STREAMS}
        fresh: dict[StreamName, list[StreamState]] = {}
        for stream, state in await self._store.after(known):
            if state.seq > self._seq(stream):  # a concurrent call may have shown it
                fresh.setdefault(stream, []).append(self._take(stream, state))
        for stream, states in fresh.items():
            self._hub.show(stream, states)

    def newest(self) -> dict[StreamName, StreamState]:
        """The newest state of each stream that has one."""
        return dict(self._newest)

    def _seq(self, stream: StreamName) -> int:
        newest = self._newest.get(stream)
        return 0 if newest is None else newest.seq

    def _take(self, stream: StreamName, state: StreamState) -> StreamState:
        """Remember the newest state; equal states share their bytes."""
        newest = self._newest.get(stream)
        if newest is not None and newest.data == state.data:
            state = replace(state, data=newest.data)
        self._newest[stream] = state
        return state
