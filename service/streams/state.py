"""What a stream is made of, and what a reader asks of it."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from service.wire.streams import StreamName

SAMPLE_S: Final = 5
"""Seconds between two states of a stream of states: what intervals are counted in."""


class State(Struct, frozen=True):
    """One state of a stream, or one happening.

    Attributes:
        seq: Its number: one more than that of the state before it, from 1 on, for ever.
        at_ms: When it was taken, epoch milliseconds.
        as_of_ms: Observation time of the oldest of its inputs, epoch milliseconds.
        data: What it says, as encoded JSON without a line break.
    """

    seq: int
    at_ms: int
    as_of_ms: int
    data: bytes


class Shape(Struct, frozen=True):
    """How a stream is told.

    Attributes:
        name: Its name.
        snapshot: Whether each state says everything, so that only the newest matters; else each is something that
            happened, and all are told.
        changes: Takes what a reader knows and what is new, both as a state's `data`; gives what of the new one differs,
            null where nothing does. Asked only for snapshots, and only where the bytes differ.
    """

    name: StreamName
    snapshot: bool
    changes: Callable[[bytes, bytes], bytes | None]


class Terms(Struct, frozen=True):
    """What a reader asks for: seconds between events, only what changed, and how many events (0: no end).

    Happenings are told all and whole, whatever the first two are.
    """

    interval_s: int
    diff: bool
    max: int
