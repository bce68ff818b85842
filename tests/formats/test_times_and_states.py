"""Dates, durations and words for states."""

import pytest

from service import formats


def test_instants_are_written_as_iso_dates_in_utc() -> None:
    assert formats.day("2025-07-25") == formats.day("2025-07-25T23:59:59.999Z") == "2025-07-25"
    assert formats.moment("2025-07-25T23:59:59.999Z") == "2025-07-25 23:59 UTC"
    assert formats.short_moment("2025-12-24T09:05:00.000Z") == "12-24 09:05"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (345_599.999, "3 days"),
        (172_800, "2 days"),
        (172_799, "47 h"),
        (3_600, "1 h"),
        (3_599, "59 min"),
        (60, "1 min"),
        (59.9, "59 s"),
        (0, "0 s"),
        (-5, "0 s"),
    ],
)
def test_a_duration_has_its_largest_whole_unit(seconds: float, text: str) -> None:
    assert formats.duration(seconds) == text


def test_a_trend_has_a_sign_that_needs_no_color() -> None:
    assert [formats.trend(state) for state in ("UP", "HODL", "DOWN", "SIDEWAYS")] == [
        "\u25b2 UP", "\u25c6 HODL", "\u25bc DOWN", "SIDEWAYS",
    ]  # fmt: skip


def test_labels_have_no_hyphens() -> None:
    assert formats.label("strong-bull") == "strong bull"


def test_trends_are_states_and_moves_are_counted_apart() -> None:
    assert formats.breadth(33, 80) == "33 of 80 coins are in a daily uptrend"
    assert formats.moves(25, 53) == "25 are up, 53 down over 24 h"
    assert formats.moves(1, 0) == "1 is up, 0 down over 24 h"
