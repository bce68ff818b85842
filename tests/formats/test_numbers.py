"""Prices, sums of money, changes and shares as text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats import amount, change, count, money, number, percent, price, rate, scaled, share, usd, usd_amount


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (117_700.0, "117,700"),
        (187.27, "187.27"),
        (3_895.3, "3,895.3"),
        (0.002197, "0.002197"),
        (1e-12, "0.000000000001"),
        (123_456_789_012_345.0, "123,456,789,012,345"),
        (0.0, "0"),
        (-1.5, "-1.5"),
        (1_234_567.123456, "1,234,567.12"),
        (0.1 + 0.2, "0.300000"),
        (-2 / 3, "-0.666667"),
        (200_000 / 3, "66,666.67"),
    ],
)
def test_a_price_has_the_precision_of_the_venue_and_a_computed_one_six_digits(value: float, text: str) -> None:
    assert price(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_price_of_any_size_is_written(value: float) -> None:
    assert math.isclose(float(price(value).replace(",", "")), value, rel_tol=1e-5)


@given(st.decimals(0, 10**6, places=6).map(float))
def test_a_price_of_six_decimals_is_exact(value: float) -> None:
    assert float(price(value).replace(",", "")) == value


def test_a_price_in_dollars_has_its_sign_first() -> None:
    assert [usd(value) for value in (117_700.0, -0.5, 0.0)] == ["$117,700", "-$0.5", "$0"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00125, "+0.00125 %"),
        (-0.00556841, "-0.005568 %"),
        (0.03, "+0.03 %"),
        (-1.2, "-1.20 %"),
        (12.345678, "+12.35 %"),
        (1_234.5, "+1,234.50 %"),
        (0.0, "0.00 %"),
    ],
)
def test_a_small_rate_has_four_significant_digits(value: float, text: str) -> None:
    assert rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.341175e12, "$2.34 T"),
        (4_902_505_922.0, "$4.90 B"),
        (28_740_449.0, "$28.74 M"),
        (812_400.0, "$812.4 K"),
        (99_996.0, "$100.0 K"),
        (999_996.0, "$1.00 M"),
        (1_000.0, "$1.00 K"),
        (999.99, "$999.99"),
        (12.3, "$12.30"),
        (0.0, "$0.00"),
        (-1_500.0, "-$1.50 K"),
        (5e15, "$5,000.0 T"),
        (999_994.0, "$1.00 M"),
        (999_950.0, "$1.00 M"),
        (999_949.9, "$999.9 K"),
        (-999_960_000.0, "-$1.00 B"),
        (999_949_999_999.0, "$999.9 B"),
        (999.994, "$999.99"),
        (999.995, "$1.00 K"),
        (99_994.9, "$99.99 K"),
        (-0.001, "$0.00"),
        (-0.006, "-$0.01"),
    ],
)
def test_a_sum_of_money_has_a_magnitude(value: float, text: str) -> None:
    assert money(value) == text


@given(st.floats(1, 1e15))
def test_a_scaled_number_is_within_half_a_unit_of_its_last_digit(value: float) -> None:
    digits, _, unit = scaled(value).partition(" ")
    size = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[unit]
    assert math.isclose(float(digits.replace(",", "")) * size, value, rel_tol=5.1e-3)


def test_a_change_has_its_sign_and_zero_has_none() -> None:
    assert [change(value) for value in (10.95, -101.0685, 0.0, -0.001, 1_234.5)] == [
        "+10.95 %", "-101.07 %", "0.00 %", "0.00 %", "+1,234.50 %",
    ]  # fmt: skip
    assert change(0.5, 1, unit="") == "+0.5"


def test_shares_and_percentages_have_no_plus() -> None:
    assert [share(0.2314), share(0.65, 0), percent(41.25), percent(100.0, 0)] == ["23.1 %", "65 %", "41.2 %", "100 %"]


def test_a_plain_number_has_separators_and_no_negative_zero() -> None:
    assert [number(value) for value in (-0.605, 1_234.5, -0.001)] == ["-0.60", "1,234.50", "0.00"]


def test_a_count_agrees_with_its_noun() -> None:
    assert [count(amount, "wallet") for amount in (0, 1, 1_428)] == ["0 wallets", "1 wallet", "1,428 wallets"]


@given(st.floats(-1e15, 1e15))
def test_no_magnitude_is_left_at_a_thousand_and_no_zero_has_a_sign(value: float) -> None:
    digits, _, unit = scaled(value).partition(" ")
    assert unit == "T" or abs(float(digits.replace(",", ""))) < 1_000
    for text in (
        scaled(value),
        money(value),
        change(value),
        number(value, 0),
        percent(value),
        rate(value),
        amount(value),
    ):
        figure = text.replace("$", "").replace(",", "").split(" ")[0]
        assert float(figure) or not text.startswith(("-", "+"))


@pytest.mark.parametrize("value", [-0.04, -0.049, -0.0, -1e-300, 0.0, 0.0499])
def test_a_percentage_that_rounds_to_zero_has_no_sign(value: float) -> None:
    assert [change(value, 1), percent(value), share(value / 100)] == ["0.0 %"] * 3
    assert usd(value * 0) == "$0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999_999.4, "999,999"),
        (999_999.6, "1.00 M"),
        (-999_999.6, "-1.00 M"),
        (27_714.3456, "27,714.3"),
        (187.27, "187.27"),
        (0.00219712349, "0.00219712"),
        (4_530_000.0, "4.53 M"),
    ],
)
def test_an_amount_has_its_unit_by_the_rounded_value(value: float, text: str) -> None:
    assert amount(value) == text
    assert usd_amount(value) == (f"-${text[1:]}" if value < 0 else f"${text}")


@given(st.integers(1, 10**11), st.integers(0, 9))
def test_a_price_shows_every_digit_of_the_venue(units: int, decimals: int) -> None:
    value = float(f"{units}e-{decimals}")
    assert float(price(value).replace(",", "")) == value
    assert not (("." in price(value)) and price(value).endswith("0"))
