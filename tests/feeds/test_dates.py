"""Dates of feeds and HTTP headers: the right instant, or none."""

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import HOUR_MS, LATEST_MS, MINUTE_MS, SECOND_MS, iso, parse_iso
from service.feeds.dates import AHEAD_MS, parse_feed_date, parse_http_date, past_date

NOON_MS = 1_753_444_800_000


@pytest.mark.parametrize(
    "text",
    [
        "Fri, 25 Jul 2025 12:00:00 GMT",
        "Fri, 25 Jul 2025 14:00:00 +0200",
        "Fri, 25 Jul 2025 14:00:00 +02:00",
        "Fri, 25 Jul 2025 14:00:00 +02",
        "Fri, 25 Jul 2025 14:00:00 GMT+2",
        "Fri, 25 Jul 2025 14:00:00 +0200 (CEST)",
        "Fri, 25 Jul 2025 14:00:00 CEST +0200",
        "Fri, 25 Jul 2025 17:30:00 IST (+05:30)",
        "Fri, 25 Jul 2025 14:00:00 Europe/Berlin +02:00",
        "Fri, 25 Jul 2025 12:00:00 -0000",
        "Fri, 25 Jul 2025 07:00:00 -0500",
        "Fri, 25 Jul 2025 08:00:00 EDT",
        "Fri, 25 Jul 2025 07:00:00 EST",
        "Fri, 25 Jul 2025 06:00:00 CST",
        "Fri, 25 Jul 2025 04:00:00 PST",
        "Fri, 25 Jul 2025 05:00 AM PDT",
        "Fri, 25 Jul 2025 02:00 PM +0200",
        "Fri, 25 Jul 2025 2:00:00 p.m. +02:00",
        "Friday, 25-Jul-25 12:00:00 GMT",
        "25 July 2025 12:00 UT",
        "July 25, 2025 10:00 PM +1000",
        "Jul 25, 2025, 12:00 pm UTC",
        "2025-07-25T12:00:00Z",
        "2025-07-25T14:00:00+0200",
        "2025-07-25T14:00:00.000+02:00",
        "2025-07-25T14:00:00+02:00[Europe/Berlin]",
        "2025-07-25 12:00 UTC",
        "  2025-07-25t12:00:00z\n",
    ],
)
def test_a_date_with_a_certain_offset_is_that_instant(text: str) -> None:
    assert parse_feed_date(text) == NOON_MS
    assert parse_http_date(text) == NOON_MS


@pytest.mark.parametrize(
    "text",
    [
        "Fri, 25 Jul 2025 14:00:00 CEST",
        "Fri, 25 Jul 2025 17:30:00 IST",
        "Fri, 25 Jul 2025 13:00:00 BST",
        "Fri, 25 Jul 2025 14:00:00 Europe/Berlin",
        "Fri, 25 Jul 2025 12:00:00 A",
        "Fri, 25 Jul 2025 12:00:00",
        "2025-07-25T12:00:00",
        "2025-07-25T06:00:00 CST",
        "July 25, 2025 06:00 AM CST",
        "2025-07-25",
        "Fri, 25 Jul 2025",
        "Fri, 25 Jul 2025 12:00:00 +2500",
        "Fri, 25 Jul 2025 12:00:00 +0260",
        "Fri, 25 Jul 2025 12:00:00 +02000",
        "Fri, 25 Jul 2025 13:00 PM GMT",
        "Fri, 25 Jul 2025 00:30 AM GMT",
        "Fri, 31 Jun 2025 12:00:00 GMT",
        "Fri, 25 Jul 2025 24:00:00 GMT",
        "Fri, 25 juillet 2025 12:00:00 GMT",
        "07/08/2025 12:00:00 GMT",
        "1753444800",
        "yesterday",
        "",
        "1" * 1_000_000,
    ],
)
def test_a_date_without_a_certain_instant_is_none(text: str) -> None:
    assert parse_feed_date(text) is None
    assert parse_http_date(text) is None


def test_noon_and_midnight_are_read_in_twelve_hours() -> None:
    assert parse_feed_date("25 Jul 2025 12:30 AM GMT") == NOON_MS - 12 * HOUR_MS + 30 * MINUTE_MS
    assert parse_feed_date("25 Jul 2025 12:30 PM GMT") == NOON_MS + 30 * MINUTE_MS


def test_a_date_without_a_zone_is_of_utc_only_in_the_form_that_http_defines() -> None:
    text = "Fri Jul 25 12:00:00 2025"
    assert (parse_http_date(text), parse_feed_date(text)) == (NOON_MS, None)


@given(st.integers(0, LATEST_MS // SECOND_MS), st.integers(-14 * 60, 14 * 60))
def test_every_instant_comes_back_from_both_forms(at_s: int, offset: int) -> None:
    assert parse_http_date(formatdate(at_s, usegmt=True)) == at_s * SECOND_MS
    assert parse_feed_date(iso(at_s * SECOND_MS)) == at_s * SECOND_MS
    local_s = at_s + offset * 60
    if 0 <= local_s <= LATEST_MS // SECOND_MS:
        sign = "-" if offset < 0 else "+"
        zone = f"{sign}{abs(offset) // 60:02d}{abs(offset) % 60:02d}"
        assert parse_feed_date(formatdate(local_s, usegmt=True).replace("GMT", zone)) == at_s * SECOND_MS
        assert parse_feed_date(iso(local_s * SECOND_MS).replace("Z", zone)) == at_s * SECOND_MS


@pytest.mark.parametrize(
    ("published_ms", "date_ms"),
    [
        (None, None),
        (NOON_MS + AHEAD_MS + 1, None),
        (NOON_MS + HOUR_MS, None),
        (LATEST_MS, None),
        (NOON_MS + AHEAD_MS, NOON_MS),
        (NOON_MS, NOON_MS),
        (NOON_MS - HOUR_MS, NOON_MS - HOUR_MS),
        (0, 0),
    ],
)
def test_an_item_is_dated_in_the_past_or_not_at_all(published_ms: int | None, date_ms: int | None) -> None:
    assert past_date(published_ms, NOON_MS) == date_ms


@pytest.mark.parametrize(
    "text",
    [
        "25 Jul 2025 10:00PMGMT+2",
        "25 Jul 2025 10:00 p +0200",
        "25 Jul 2025 10:00:00 +0200 PM",
        "25 Jul 2025 10:00 +0200 (PM)",
        "25 Jul 2025 10:00:00 Etc/GMT+5",
        "25 Jul 2025 10:00:00 CET-1CEST",
        "25 Jul 2025 10:00:00 EST+5",
        "25 Jul 2025 10:00:00 PST+0200",
        "25 Jul 2025 10:00:00 -0500 UTC",
        "25 Jul 2025 10:00:00 +0000 EST",
        "25 Jul 0025 10:00 GMT",
        "until 25 Jul 2025 10:00 GMT",
        "25 Jul 2025 10:00 noon +0200",
    ],
)
def test_a_date_that_contradicts_itself_or_has_unknown_words_is_none(text: str) -> None:
    assert parse_feed_date(text) is None


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("25 Jul 2025 10:00:00 +0200 (Central European Summer Time)", "2025-07-25T08:00:00Z"),
        ("Fri,25 Jul 2025 10:00:00 GMT", "2025-07-25T10:00:00Z"),
        ("25 Jul 2025 10:00:00 UTC\u22123", "2025-07-25T13:00:00Z"),
        ("25 Jul\xa02025 10:00:00 GMT", "2025-07-25T10:00:00Z"),
        ("25 Jul 2025 10:00:00 EST -0500", "2025-07-25T15:00:00Z"),
        ("25 Jul 2025 10:00:00 UTC (Coordinated Universal Time)", "2025-07-25T10:00:00Z"),
    ],
)
def test_comments_spaces_and_minus_signs_of_publishers_are_read(text: str, instant: str) -> None:
    assert parse_feed_date(text) == parse_iso(instant)
