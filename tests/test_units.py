from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.units import INTERVAL_MS, MicroUsd, apr_pct, change_pct, usdc


@pytest.mark.parametrize(
    ("amount", "written"),
    [(0, "0"), (1, "0.000001"), (5_000, "0.005"), (50_000, "0.05"), (1_000_000, "1"), (12_340_000, "12.34")],
)
def test_an_amount_is_written_in_usdc_without_trailing_zeros(amount: int, written: str) -> None:
    assert usdc(MicroUsd(amount)) == written


@given(st.integers(0, 10**15))
def test_a_written_amount_loses_nothing_and_never_uses_an_exponent(amount: int) -> None:
    written = usdc(MicroUsd(amount))
    assert Decimal(written) * 1_000_000 == amount
    assert set(written) <= set("0123456789.")


@pytest.mark.promise("risk.apr-formula", "numbers.percent", "risk.funding-apr")
def test_the_venues_default_hourly_rate_is_10_95_percent_a_year() -> None:
    assert apr_pct(0.0000125) == 10.95


@pytest.mark.promise("numbers.precision")
def test_a_rate_is_rounded_to_four_decimals() -> None:
    assert apr_pct(0.00000123456789) == 1.0815


def test_an_interval_is_known_in_milliseconds() -> None:
    assert INTERVAL_MS == {"1h": 3_600_000, "1d": 86_400_000}


def test_a_change_is_told_in_percent_to_four_decimals() -> None:
    assert change_pct(110.0, 100.0) == 10
    assert change_pct(2.0, 3.0) == -33.3333


def test_no_change_is_never_a_negative_zero() -> None:
    assert str(change_pct(99.999_999_9, 100.0)) == "0.0"


@pytest.mark.parametrize(("now", "before"), [(None, 1.0), (1.0, None), (1.0, 0.0), (1e300, 1e-300)])
def test_a_change_against_what_is_not_known_or_as_good_as_nothing_is_not_known(
    now: float | None, before: float | None
) -> None:
    assert change_pct(now, before) is None
