"""Cursors can be read only where they were written, and only as they were written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ServiceError
from service.wire.cursor import Cursors, Filters, Position

KEY = bytes(range(32))
CURSORS = Cursors(KEY)
ROUTE = "funding.alerts"
FILTERS: Filters = {"symbol": "BTC", "since": None}
POSITION = (1_753_444_800_000, 42)

whole_numbers = st.integers(-(2**63), 2**63 - 1)
positions = st.tuples(whole_numbers, whole_numbers)
filters = st.dictionaries(st.text(max_size=20), st.none() | st.text(max_size=40) | st.integers(-(2**63), 2**63))


def refused(text: str, cursors: Cursors = CURSORS, route: str = ROUTE, of: Filters = FILTERS) -> None:
    with pytest.raises(ServiceError) as caught:
        cursors.read(text, route, of)
    assert caught.value.code == "BAD_REQUEST"
    assert caught.value.details == {"parameter": "cursor"}
    assert "Start again without a cursor." in caught.value.message


@given(st.text(max_size=40), filters, positions)
def test_what_is_written_is_read(route: str, of: Filters, position: Position) -> None:
    text = CURSORS.write(route, of, position)
    assert Cursors(KEY).read(text, route, dict(reversed(list(of.items())))) == position


@given(positions)
def test_a_cursor_is_short_and_needs_no_escaping_in_a_url(position: Position) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", CURSORS.write(ROUTE, FILTERS, position))


@pytest.mark.promise("cursors.foreign")
@given(positions, st.data())
def test_any_flipped_bit_is_refused(position: Position, data: st.DataObject) -> None:
    text = CURSORS.write(ROUTE, FILTERS, position)
    place, bit = data.draw(st.integers(0, len(text) - 1)), data.draw(st.integers(0, 6))
    refused(text[:place] + chr(ord(text[place]) ^ (1 << bit)) + text[place + 1 :])


@pytest.mark.promise("cursors.foreign")
def test_every_other_last_character_is_refused() -> None:
    text = CURSORS.write(ROUTE, FILTERS, POSITION)
    for last in {chr(code) for code in range(256)} - {text[-1]}:
        refused(text[:-1] + last)


@pytest.mark.promise("cursors.foreign")
@pytest.mark.parametrize(
    ("route", "of"),
    [
        ("wallets", FILTERS),
        (ROUTE, {"symbol": "ETH", "since": None}),
        (ROUTE, {"symbol": "BTC", "since": 0}),
        (ROUTE, {"symbol": "BTC"}),
        (ROUTE, {"symbol": None, "since": "BTC"}),
        (ROUTE, {}),
    ],
)
def test_a_cursor_of_another_route_or_other_filters_is_refused(route: str, of: Filters) -> None:
    refused(CURSORS.write(route, of, POSITION))


@pytest.mark.promise("cursors.foreign")
def test_a_cursor_of_another_service_is_refused() -> None:
    refused(Cursors(bytes(32)).write(ROUTE, FILTERS, POSITION))


@given(st.text(max_size=210) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_whatever_else_is_sent_is_refused(text: str) -> None:
    refused(text)


@pytest.mark.parametrize("more", ["=", "==", "\n", "A", "AAAA", " ", "+", "/"])
def test_a_cursor_with_something_added_is_refused(more: str) -> None:
    text = CURSORS.write(ROUTE, FILTERS, POSITION)
    refused(text + more)
    refused(more + text)
