"""Kinds of parameters that several routes take."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import iso
from service.errors import ServiceError
from service.wire.parameters import Instant, instant_ms

END_MS = 253_370_764_800_000


@given(st.integers(0, END_MS - 1))
def test_an_instant_is_read_to_the_millisecond(at_ms: int) -> None:
    assert instant_ms(msgspec.convert(iso(at_ms), Instant), "since") == at_ms


def test_an_instant_is_read_in_its_zone() -> None:
    assert instant_ms("2026-01-31T01:30:00+01:30", "since") == instant_ms("2026-01-31T00:00:00Z", "since")


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31", "2026-01-31T00:00:00", "2026-01-31 00:00:00Z", "2026-01-31T00:00:00 02:00", "20260131T000000Z",
        "1769817600", "1769817600000", "nan", "inf", "-1", "1e400", "now", "10000-01-01T00:00:00Z",
        "\u0662\u0660\u0662\u0666-01-31T00:00:00Z", "2026-01-31T00:00:00Z\n", "",
    ],
)  # fmt: skip
def test_what_does_not_look_like_an_instant_with_its_zone_is_refused_by_its_type(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(text, Instant)


@pytest.mark.parametrize(
    "text",
    [
        "9999-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-23:59", "1969-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-31T25:00:00Z", "2026-01-31T23:59:60Z",
        "2026-01-31T00:00:00+99:00",
    ],
)  # fmt: skip
def test_what_only_looks_like_an_instant_is_refused_by_name(text: str) -> None:
    assert re.match(r"\d{4}-", msgspec.convert(text, Instant))
    with pytest.raises(ServiceError) as caught:
        instant_ms(text, "since")
    assert caught.value.code == "BAD_REQUEST"
    assert caught.value.details == {"parameter": "since"}
    assert caught.value.message.startswith("since is not an instant")
