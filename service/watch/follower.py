"""From the store to this process's readers."""

from typing import Final

from msgspec.structs import replace

from service.streams.hub import Hub
from service.streams.state import State
from service.watch.store import StreamStore
from service.wire.streams import STREAMS, StreamName

FOLLOW_EVERY_S: Final = 1.0


class Follower:
    """Shows readers what comes into the store.

    Args:
        store: Where states are kept.
        hub: Where they are shown.
    """

    def __init__(self, store: StreamStore, hub: Hub) -> None:
        self._store = store
        self._hub = hub
        self._newest: dict[StreamName, State] = {}

    async def follow(self) -> None:
        """Show what came since the last time. May be called by several at once.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        known = {stream: self._seq(stream) for stream in STREAMS}
        fresh: dict[StreamName, list[State]] = {}
        for stream, state in await self._store.after(known):
            if state.seq > self._seq(stream):  # somebody else may have shown it while this was read
                fresh.setdefault(stream, []).append(self._take(stream, state))
        for stream, states in fresh.items():
            self._hub.show(stream, states)

    def newest(self) -> dict[StreamName, State]:
        """The newest state of each stream that has one."""
        return dict(self._newest)

    def _seq(self, stream: StreamName) -> int:
        newest = self._newest.get(stream)
        return 0 if newest is None else newest.seq

    def _take(self, stream: StreamName, state: State) -> State:
        """Let states that say the same share its bytes."""
        newest = self._newest.get(stream)
        if newest is not None and newest.data == state.data:
            state = replace(state, data=newest.data)
        self._newest[stream] = state
        return state
