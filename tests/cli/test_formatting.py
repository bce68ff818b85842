"""Figures as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.cli import formatting
from service.cli.formatting import (
    change,
    day,
    direction,
    elapsed_s,
    footer,
    instant,
    moment,
    money,
    percent,
    price,
    share,
    signed,
    span,
    trend,
    usd,
)
from service.cli.terminal import Display


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (117_700.0, "117,700"),
        (3_895.3, "3,895.3"),
        (0.002197, "0.002197"),
        (1e-12, "0.000000000001"),
        (123_456_789_012_345.0, "123,456,789,012,345"),
        (0.0, "0"),
        (-1.5, "-1.5"),
        (123_456.123456, "123,456.123456"),
        (1_234_567.123456, "1,234,567.12"),
        (0.1 + 0.2, "0.300000"),
        (-2 / 3, "-0.666667"),
        (200_000 / 3, "66,666.67"),
        (1.23456789e-13, "0.000000000000123456789"),
        (1e-13 / 3, "0.0000000000000333333"),
    ],
)
def test_a_price_has_the_venues_precision_and_a_mean_six_digits(value: float, written: str) -> None:
    assert price(value) == written


@given(st.decimals(0, 10**6, places=6).map(float))
def test_a_price_is_written_whole(value: float) -> None:
    assert float(price(value).replace(",", "")) == value


def test_money_says_what_it_is() -> None:
    assert [usd(117_700.0), usd(-0.5), usd(0.0)] == ["$117,700", "-$0.5", "$0"]
    told = [
        money(value) for value in (2.341175e12, 4_902_505_922.0, 28_740_449.0, 812_400.0, 1_000.0, 12.3, 0.0, -1_500.0)
    ]
    assert told == ["$2.34 T", "$4.90 B", "$28.74 M", "$812.4 K", "$1.00 K", "$12.30", "$0.00", "-$1.50 K"]


def test_a_change_says_its_sign_and_nothing_has_none() -> None:
    assert [signed(value) for value in (10.95, -101.0685, 0.0, -0.001, 1_234.5)] == [
        "+10.95 %", "-101.07 %", "0.00 %", "0.00 %", "+1,234.50 %",
    ]  # fmt: skip
    assert signed(0.5, 1, unit="") == "+0.5"


def test_shares_and_percentages_have_no_sign() -> None:
    assert [share(0.2314), share(0.65, 0), percent(41.25), percent(100.0, 0)] == ["23.1 %", "65 %", "41.2 %", "100 %"]


def test_what_is_not_known_is_a_dash() -> None:
    shown = [write(None) for write in (price, usd, money, signed, share, percent, moment, day, span)]
    assert {*shown, change(None).text, trend(None).text} == {formatting.UNKNOWN}


def test_a_change_is_painted_by_its_sign() -> None:
    assert [direction(value) for value in (1.0, -1.0, 0.0, None)] == ["good", "bad", None, None]
    assert (change(-1.5, 1, " points").text, change(-1.5).style) == ("-1.5 points", "bad")


def test_a_trend_has_a_sign_that_needs_no_colour() -> None:
    told = [(trend(state).text, trend(state).style) for state in ("UP", "DOWN", "HODL", "SIDEWAYS")]
    assert told == [("▲ UP", "good"), ("▼ DOWN", "bad"), ("◆ HODL", "warn"), ("SIDEWAYS", None)]


def test_instants_are_told_in_utc() -> None:
    assert moment("2025-07-25T23:59:59.999Z") == "2025-07-25 23:59 UTC"
    assert moment("2025-07-26T01:59:59+02:00") == "2025-07-25 23:59 UTC"
    assert moment("soon\x07") == "soon�"
    assert day("2025-07-25T23:59:59.999Z") == "2025-07-25"
    # 2025-07-25 is 20,294 days after the epoch (date -u -d 2025-07-25 +%s).
    assert instant("2025-07-25") == instant("2025-07-25T00:00:00.000Z") == 1_753_401_600_000
    assert instant("soon") is None


def test_what_passed_is_told_in_days_hours_minutes_or_seconds() -> None:
    assert elapsed_s("2025-07-22", "2025-07-25T23:59:59.999Z") == 345_599.999
    assert elapsed_s(None, "2025-07-25") is None
    assert elapsed_s("2025-07-25", "never") is None
    told = [span(seconds) for seconds in (345_599.999, 172_800, 172_799, 3_600, 3_599, 60, 59, 0, -5)]
    assert told == ["3 days", "2 days", "47 h", "1 h", "59 min", "1 min", "59 s", "0 s", "0 s"]


def test_the_last_line_says_whence_from_when_and_how_old() -> None:
    meta = {"as_of": "2025-07-25T23:33:00.000Z", "data_age_seconds": 1_619}
    assert list(footer(Display(80, colour=False), meta, "hyper\x07liquid")) == [
        "hyper\N{REPLACEMENT CHARACTER}liquid · as of 2025-07-25 23:33 UTC · 26 min old"
    ]
    assert list(footer(Display(30, colour=False), meta)) == ["as of 2025-07-25 23:33 UTC ·", "26 min old"]
    assert next(footer(Display(80, colour=True), meta)).startswith("\x1b[2mas of")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_price_of_any_size_can_be_written(value: float) -> None:
    assert math.isclose(float(price(value).replace(",", "")), value, rel_tol=1e-5)
