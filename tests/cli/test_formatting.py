"""Figures as people read them."""

from collections.abc import Callable
from typing import Any

import pytest

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
from service.cli.terminal import Display


@pytest.mark.parametrize(
    ("write", "value", "written"),
    [
        (price, 0.002197, "0.002197"),
        (span, 172_800, "2 days"),
        (signed, 10.95, "+10.95 %"),
        (moment, "2025-07-25T23:59:59.999Z", "2025-07-25 23:59 UTC"),
        (moment, "2025-07-26T01:59:59+02:00", "2025-07-25 23:59 UTC"),
        (moment, "soon\x07", "soon�"),
        (day, "2025-07-25T23:59:59.999Z", "2025-07-25"),
        *((write, None, "-") for write in (price, usd, money, signed, share, percent, number, moment, day, span)),
    ],
)
def test_a_figure_is_written(write: Callable[[Any], str], value: Any, written: str) -> None:
    assert write(value) == written


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
