"""States and kinds of streams, and the options of a subscription."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from service.wire.streams import StreamName

SAMPLE_S: Final = 5
"""Seconds between two states of a stream of states: what intervals are counted in."""


class StreamState(Struct, frozen=True):
    """One state of a stream, or one event.

    Attributes:
        seq: Its number, consecutive from 1.
        at_ms: When it was taken, epoch milliseconds.
        as_of_ms: Observation time of the oldest of its inputs, epoch milliseconds.
        data: Its content, encoded JSON without a line break.
    """

    seq: int
    at_ms: int
    as_of_ms: int
    data: bytes


class StreamKind(Struct, frozen=True):
    """Properties of a stream.

    Attributes:
        name: Its name.
        snapshot: Whether each state is complete, so that only the newest matters; otherwise each is an event, and all
            are sent.
        changes: Takes the known and the new state's `data` and returns the difference, None if there is none. Called
            for snapshots only, and only if the bytes differ.
    """

    name: StreamName
    snapshot: bool
    changes: Callable[[bytes, bytes], bytes | None]


class SubscriptionOptions(Struct, frozen=True):
    """Seconds between states, differences only, and maximum number of events (0: no limit).

    Events are all sent, whole, whatever the first two are.
    """

    interval_s: int
    diff: bool
    max: int
