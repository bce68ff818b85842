"""What travels: NDJSON as `wire.streams` lays it down."""

import msgspec
import pytest

from service.streams import lines
from service.streams.state import StreamState
from service.wire.envelope import ErrorBody
from service.wire.streams import CloseLine, ErrorLine, EventLine, GapLine, HeartbeatLine, Line, OpenLine

AT_MS = 1_753_444_800_000


def line_of(text: bytes) -> Line:
    assert text.endswith(b"\n")
    assert text.count(b"\n") == 1
    decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(
        OpenLine | EventLine | HeartbeatLine | GapLine | ErrorLine | CloseLine
    )
    return decoder.decode(text)


@pytest.mark.promise("watch.ndjson")
def test_every_line_says_its_type_first_and_ends_with_a_newline() -> None:
    told = {
        "open": lines.opened("prices", 30, "live", None),
        "event": lines.event("prices", StreamState(7, AT_MS, AT_MS, b"{}"), b"{}", "c"),
        "heartbeat": lines.heartbeat(AT_MS, live=True),
        "gap": lines.gap("too-old", None),
        "error": lines.closed("revoked", None, ErrorBody("AUTH_INVALID", "it was revoked")).splitlines(keepends=True)[
            0
        ],
        "close": lines.closed("end", None, None),
    }
    for kind, text in told.items():
        assert text.startswith(b'{"type":"%b",' % kind.encode())
        line_of(text)


def test_an_event_holds_the_data_as_it_is_and_when_it_was_and_how_old() -> None:
    text = lines.event("regime", StreamState(7, AT_MS, AT_MS - 3_999, b"never told"), b'[1.50,"\xc3\xa4"]', "abc")
    assert (
        text
        == (
            '{"type":"event","stream":"regime","data":[1.50,"ä"],"meta":{"ts":"2025-07-25T12:00:00.000Z",'
            '"as_of":"2025-07-25T11:59:56.001Z","data_age_seconds":3,"tick":7,"cursor":"abc"}}\n'
        ).encode()
    )


def test_data_that_is_dated_ahead_has_no_negative_age() -> None:
    line = line_of(lines.event("prices", StreamState(1, AT_MS, AT_MS + 5_000, b"{}"), b"{}", "c"))
    assert isinstance(line, EventLine)
    assert line.meta.data_age_seconds == 0


def test_an_error_stands_before_its_close() -> None:
    error, close = lines.closed("quota", "c", ErrorBody("RATE_LIMITED", "the tier ended")).splitlines(keepends=True)
    assert line_of(error) == ErrorLine(ErrorBody("RATE_LIMITED", "the tier ended"))
    assert line_of(close) == CloseLine("quota", "c")
    assert b"details" not in error
