"""The lines of a stream as bytes, each with its newline."""

from typing import Final, Literal

import msgspec

from service.clock import SECOND_MS, iso
from service.streams.state import StreamState
from service.wire.envelope import ErrorBody
from service.wire.streams import (
    Beat,
    CloseLine,
    Ending,
    ErrorLine,
    EventLine,
    EventMeta,
    GapLine,
    HeartbeatLine,
    Line,
    OpenLine,
    StreamName,
)

Source = Literal["fixtures", "live"]
GapReason = Literal["too-old", "too-slow", "unknown"]

_encode: Final = msgspec.json.Encoder().encode


def opened(stream: StreamName, interval_s: int, source: Source, cursor: str | None) -> bytes:
    """The first line."""
    return _line(OpenLine(stream, interval_s, source, cursor))


def event(stream: StreamName, state: StreamState, data: bytes, cursor: str) -> bytes:
    """A state, or its difference to an earlier one.

    Args:
        stream: The stream.
        state: Gives time, age and number.
        data: The encoded content to send.
        cursor: Resumes after it.
    """
    age_s = max(0, (state.at_ms - state.as_of_ms) // SECOND_MS)
    meta = EventMeta(iso(state.at_ms), iso(state.as_of_ms), age_s, state.seq, cursor)
    return _line(EventLine(stream, msgspec.Raw(data), meta))


def heartbeat(now_ms: int, *, live: bool) -> bytes:
    """A heartbeat: whether the upstream delivers data."""
    return _line(HeartbeatLine(Beat(iso(now_ms), live)))


def gap(reason: GapReason, cursor: str | None) -> bytes:
    """States are missing here."""
    return _line(GapLine(reason, cursor))


def closed(reason: Ending, cursor: str | None, error: ErrorBody | None) -> bytes:
    """The last line, after that of an error if there is one."""
    last = _line(CloseLine(reason, cursor))
    return last if error is None else _line(ErrorLine(error)) + last


def _line(line: Line) -> bytes:
    return _encode(line) + b"\n"
