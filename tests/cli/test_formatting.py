"""Figures as people read them."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.cli.formatting import (
    change,
    day,
    direction,
    elapsed_s,
    footer,
    instant,
    moment,
    money,
    number,
    percent,
    price,
    share,
    signed,
    span,
    trend,
    usd,
)
from service.cli.terminal import Display, age


@pytest.mark.parametrize(
    ("write", "value", "written"),
    [
        (price, 117_700.0, "117,700"),
        (price, 3_895.3, "3,895.3"),
        (price, 0.002197, "0.002197"),
        (price, 1e-12, "0.000000000001"),
        (price, 123_456_789_012_345.0, "123,456,789,012,345"),
        (price, 0.0, "0"),
        (price, 123_456.123456, "123,456.123456"),
        (price, 1_234_567.123456, "1,234,567.12"),
        (price, 0.1 + 0.2, "0.300000"),  # computed, so with six significant digits
        (price, -2 / 3, "-0.666667"),
        (price, 1.23456789e-13, "0.000000000000123456789"),
        (price, 1e-13 / 3, "0.0000000000000333333"),
        (usd, -0.5, "-$0.5"),
        (usd, 0.0, "$0"),
        (money, 2.341175e12, "$2.34 T"),
        (money, 4_902_505_922.0, "$4.90 B"),
        (money, 812_400.0, "$812.4 K"),
        (money, 12.3, "$12.30"),
        (money, -1_500.0, "-$1.50 K"),
        (signed, 10.95, "+10.95 %"),
        (signed, -0.001, "0.00 %"),
        (signed, 1_234.5, "+1,234.50 %"),
        (share, 0.2314, "23.1 %"),
        (percent, 41.25, "41.2 %"),
        (number, 0.4768, "0.48"),
        (span, 172_800, "2 days"),
        (span, 172_799, "47 h"),
        (span, 3_599, "59 min"),
        (span, -5, "0 s"),
        (age, 59, "59 s old"),
        (moment, "2025-07-25T23:59:59.999Z", "2025-07-25 23:59 UTC"),
        (moment, "2025-07-26T01:59:59+02:00", "2025-07-25 23:59 UTC"),
        (moment, "soon\x07", "soon�"),
        (day, "2025-07-25T23:59:59.999Z", "2025-07-25"),
        *((write, None, "-") for write in (price, usd, money, signed, share, percent, number, moment, day, span)),
    ],
)
def test_a_figure_is_written(write: Callable[[Any], str], value: Any, written: str) -> None:
    assert write(value) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_price_of_any_size_can_be_written(value: float) -> None:
    assert math.isclose(float(price(value).replace(",", "")), value, rel_tol=1e-5)


@given(st.decimals(0, 10**6, places=6).map(float))
def test_a_price_is_written_whole(value: float) -> None:
    assert float(price(value).replace(",", "")) == value


def test_a_change_and_a_trend_have_a_colour_and_a_sign_that_needs_none() -> None:
    assert [direction(value) for value in (1.0, -1.0, 0.0, None)] == ["good", "bad", None, None]
    told = [
        (cell.text, cell.style) for cell in (change(-1.5, 1, " points"), change(None), *map(trend, ("UP", "X", None)))
    ]
    assert told == [("-1.5 points", "bad"), ("-", None), ("▲ UP", "good"), ("X", None), ("-", None)]


def test_instants_are_read_in_utc() -> None:
    # 2025-07-25 is 20,294 days after the epoch (date -u -d 2025-07-25 +%s).
    assert instant("2025-07-25") == instant("2025-07-25T00:00:00.000Z") == 1_753_401_600_000
    assert elapsed_s("2025-07-22", "2025-07-25T23:59:59.999Z") == 345_599.999
    assert [instant("soon"), elapsed_s(None, "2025-07-25"), elapsed_s("2025-07-25", "never")] == [None] * 3


def test_the_last_line_says_whence_from_when_and_how_old() -> None:
    meta = {"as_of": "2025-07-25T23:33:00.000Z", "data_age_seconds": 1_619}
    assert list(footer(Display(80, colour=False), meta, "hyper\x07liquid")) == [
        "hyper\N{REPLACEMENT CHARACTER}liquid · as of 2025-07-25 23:33 UTC · 26 min old"
    ]
    assert list(footer(Display(30, colour=False), meta)) == ["as of 2025-07-25 23:33 UTC ·", "26 min old"]
    assert next(footer(Display(80, colour=True), meta)).startswith("\x1b[2mas of")
