"""Figures as people read them."""

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.pages import wording

N = "\u202f"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (117_700.4, "117,700"),
        (1_000.0, "1,000"),
        (999.96, "1,000"),
        (999.94, "999.90"),
        (187.6, "187.60"),
        (3.15, "3.15"),
        (0.0176, "0.0176"),
        (0.0000069, "0.0000069"),
        (5.0, "5.00"),
        (0.0, "0"),
        (-0.5, "\u22120.50"),
        (None, "\u2013"),
    ],
)
def test_a_price_is_whole_from_a_thousand_on_and_else_has_four_digits(value: float | None, written: str) -> None:
    assert wording.price(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.24, f"+1.2{N}%"), (-0.06, f"\u22120.1{N}%"), (0.04, f"0.0{N}%"), (-0.04, f"0.0{N}%"), (None, "\u2013")],
)
def test_a_change_has_its_sign_unless_it_rounds_to_nothing(value: float | None, written: str) -> None:
    assert wording.percent(value) == written


def test_points_have_their_sign() -> None:
    assert [wording.points(value) for value in (0.5, -0.25, 0.0, None)] == ["+0.50", "\u22120.25", "0.00", "\u2013"]


@pytest.mark.parametrize(
    ("value", "written"),
    [(2.3411e12, f"2.34{N}T"), (46e6, f"46.0{N}M"), (855.4e6, f"855{N}M"), (999_999.0, f"1000{N}K"), (12.0, "12.0"),
     (-4.5e9, f"\u22124.50{N}B"), (None, "\u2013")],
)  # fmt: skip
def test_a_large_sum_has_three_digits(value: float | None, written: str) -> None:
    assert wording.money(value) == written


def test_shares_and_plain_figures_are_rounded() -> None:
    assert wording.share(0.4125, 1) == f"41.2{N}%"
    assert wording.share(None) == wording.figure(None) == "\u2013"
    assert wording.figure(-0.605) == "\u22120.60"


@pytest.mark.parametrize(
    ("value", "written"), [("HODL", "HODL"), (-61.93490, "\u221261.9349"), (10.0, "10"), (0.0, "0"), (None, "\u2013")]
)
def test_what_a_rule_looked_at_is_a_name_or_a_figure(value: object, written: str) -> None:
    assert wording.datum(value) == written


def test_days_and_instants_are_written_with_the_name_of_their_month() -> None:
    assert wording.day("2025-07-04") == wording.day("2025-07-04T23:00:00.000Z") == "4 Jul 2025"
    assert wording.clock_time("2025-12-24T09:05:00.000Z") == "24 Dec 09:05"
    assert wording.seconds("1970-01-02T00:00:01.000Z") == 86_401


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(12_999, f"12{N}s"), (MINUTE_MS, f"1{N}min"), (5 * HOUR_MS, f"5{N}h"), (9 * DAY_MS, f"9{N}d"), (-1, f"0{N}s"),
     (None, "\u2013")],
)  # fmt: skip
def test_an_age_has_its_largest_whole_unit(milliseconds: int | None, written: str) -> None:
    assert wording.age(milliseconds) == written
