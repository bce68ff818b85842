"""Values as people write them, and tables."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.answers import cell, formatted, table
from service.ask.measure_table import Unit
from service.ask.planner.result import Column, Figure, Row
from tests.ask.planner.world import NOW_MS, TODAY_MS


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (118_234.5, Unit.USD, "$118,234"),
        (3_811.27, Unit.USD, "$3,811.27"),
        (1.0, Unit.USD, "$1"),
        (0.0123, Unit.USD, "$0.0123"),
        (0.00001234567, Unit.USD, "$0.0000123457"),
        (0.0, Unit.USD, "$0"),
        (-42.5, Unit.USD, "-$42.5"),
        (2.36e12, Unit.USD, "$2.36 T"),
        (6.35e6, Unit.USD, "$6.35 M"),
        (115.36e9, Unit.USD, "$115.4 B"),
        (289.27, Unit.USD_CHANGE, "+$289.27"),
        (-289.27, Unit.USD_CHANGE, "-$289.27"),
        (0.0, Unit.USD_CHANGE, "$0"),
        (3.254, Unit.PERCENT, "+3.25 %"),
        (-0.5, Unit.PERCENT, "-0.50 %"),
        (-0.0001, Unit.PERCENT, "0.00 %"),
        (2_691.07, Unit.PERCENT, "+2,691.07 %"),
        (10.95, Unit.PERCENT_A_YEAR, "+10.95 % a year"),
        (61.25, Unit.SPREAD, "61.2 % a year"),
        (50.0, Unit.SHARE, "50.0 %"),
        (-3.5, Unit.POINTS, "-3.50 points"),
        (0.596, Unit.FRACTION, "59.6 %"),
        (0.47, Unit.RATIO, "0.47"),
        (2.0, Unit.RATIO, "2.00"),
        (54, Unit.RATIO, "54"),
        (1.0, Unit.DAYS, "1 day"),
        (12, Unit.DAYS, "12 days"),
        (1_234, Unit.COUNT, "1,234"),
        (394.9171231, Unit.AMOUNT, "394.917"),
        (10.0, Unit.AMOUNT, "10"),
        (0.000123456789, Unit.AMOUNT, "0.000123457"),
        (0.0, Unit.AMOUNT, "0"),
        (123456789.123456789, Unit.AMOUNT, "123.5 M"),
        (TODAY_MS, Unit.DATE, "2025-07-25"),
        (NOW_MS, Unit.INSTANT, "2025-07-25 12:00 UTC"),
        ("strong-bull", Unit.STATE, "strong-bull"),
        ("Layer 1", Unit.TEXT, "Layer 1"),
        (None, Unit.USD, "not known"),
    ],
)
def test_values_as_people_write_them(value: Any, unit: Unit, said: str) -> None:
    assert formatted(Figure(value, unit)) == said


@given(st.floats(1e-12, 1e15))
def test_prices_are_written_within_a_thousandth_and_never_with_an_exponent(price: float) -> None:
    said = cell(price, Unit.USD)
    scale = {"T": 1e12, "B": 1e9, "M": 1e6}
    number, _, word = said.removeprefix("$").partition(" ")
    assert re.fullmatch(r"[\d,]+(\.\d+)?", number)
    assert float(number.replace(",", "")) * scale.get(word, 1.0) == pytest.approx(price, rel=0.006)


@given(st.floats(-1e6, 1e6))
def test_changes_have_a_sign_unless_they_round_to_zero(change: float) -> None:
    said = cell(change, Unit.PERCENT)
    assert said[0] == ("+" if change > 0 else "-") or said == "0.00 %"


def test_columns_that_do_not_fit_are_left_out_from_the_right() -> None:
    columns = tuple(Column(f"a column of text {letter}", Unit.TEXT) for letter in "abcdef")
    lines = table(columns, (Row("BTC", ("some longer words",) * 6),)).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "|  | a column of text a | a column of text b | a column of text c |"


def test_words_of_others_stay_in_one_cell() -> None:
    quote = f"a | b\nc {'x' * 60}"
    line = table((Column("quote", Unit.TEXT),), (Row("show", (quote,)),)).splitlines()[-1]
    assert line.count("|") == 3
    assert line.endswith("… |")


def test_a_row_may_have_its_own_units() -> None:
    row = Row("funding", (10.5,), (Unit.PERCENT_A_YEAR,))
    assert "| funding | +10.50 % a year |" in table((Column("value", Unit.TEXT),), (row,))
