"""What is computed from risk contexts, held against sums done by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.ask.compute import convert_value, estimate_carry
from service.wire.market import RiskContext
from service.wire.tools import CarryQuery, ValueQuery


def risk(symbol: str, price: float | None, apr: float | None, stale: tuple[str, ...] = ()) -> RiskContext:
    return RiskContext(
        symbol=symbol,
        price=price,
        funding_apr=apr,
        trend_daily=None,
        trend_weekly=None,
        sentiment_stance=None,
        btc_correlation=None,
        _stale_fields=list(stale),
        trend_daily_since=None,
        trend_weekly_since=None,
        funding_paying_side=None,
        funding_receiving_side=None,
        carry_if_long=None if apr is None else 0.0 - apr,
        carry_if_short=apr,
        sentiment_summary=None,
        venue="hyperliquid",
    )


ETH = risk("ETH", 2_500.0, 10.95)
SOL = risk("SOL", 125.0, -36.5)


def test_a_long_pays_what_a_short_receives() -> None:
    # 10,000 USD at 10.95 % a year are 1,095 USD a year: 3 USD a day.
    told = estimate_carry(CarryQuery("ETH", 10_000.0, "long", 3.0), {"ETH": ETH})
    assert (told.long_usd, told.short_usd, told.quantity) == (-9.0, 9.0, 4.0)
    assert (told.side, told.notional_usd, told.days, told.price, told.funding_apr) == ("long", 10_000, 3, 2_500, 10.95)


def test_a_position_of_so_many_coins_is_worth_what_they_are() -> None:
    # 4 ETH are 10,000 USD.
    told = estimate_carry(CarryQuery("ETH", side="long", days=3.0, quantity=4.0), {"ETH": ETH})
    assert (told.notional_usd, told.quantity, told.long_usd, told.short_usd) == (10_000.0, 4.0, -9.0, 9.0)
    unpriced = estimate_carry(CarryQuery("ETH", quantity=4.0), {"ETH": risk("ETH", None, 10.95)})
    assert (unpriced.notional_usd, unpriced.quantity, unpriced.long_usd) == (None, 4.0, None)


def test_negative_funding_pays_longs() -> None:
    told = estimate_carry(CarryQuery("sol", 1_000.0), {"SOL": SOL})
    assert (told.long_usd, told.short_usd, told.side, told.days) == (1.0, -1.0, "both", 1.0)


def test_what_is_not_known_is_null_and_named() -> None:
    bare = risk("ETH", None, None, ("price", "funding_apr", "trend_daily"))
    told = estimate_carry(CarryQuery("ETH"), {"ETH": bare})
    assert (told.long_usd, told.short_usd, told.quantity) == (None, None, None)
    assert told._stale_fields == ["price", "funding_apr"]


def test_a_carry_of_nothing_is_zero_and_not_minus_zero() -> None:
    told = estimate_carry(CarryQuery("ETH"), {"ETH": risk("ETH", 2_500.0, 0.0)})
    assert [str(told.long_usd), str(told.short_usd)] == ["0.0", "0.0"]


def test_less_than_a_dollar_keeps_the_digits_that_tell_it_from_nothing() -> None:
    told = estimate_carry(CarryQuery("ETH", 1.0, "short", 1.0), {"ETH": ETH})
    assert told.short_usd == 0.0003


def test_less_than_a_coin_keeps_six_digits_and_more_four_decimals() -> None:
    assert convert_value(ValueQuery("ETH", 1.0), {"ETH": risk("ETH", 3.0, None)}).quantity == 0.333333
    assert convert_value(ValueQuery("ETH", 5.0), {"ETH": risk("ETH", 3.0, None)}).quantity == 1.6667


def test_an_amount_of_a_coin_is_worth_its_price() -> None:
    told = convert_value(ValueQuery("ETH", 2.5, "eth"), {"ETH": ETH})
    assert (told.usd, told.quantity, told.unit, told.unit_price) == (6_250.0, 2.5, "ETH", 2_500.0)


def test_dollars_buy_what_they_are_worth() -> None:
    told = convert_value(ValueQuery("SOL", 500.0, "USD"), {"SOL": SOL})
    assert (told.usd, told.quantity, told.unit, told.unit_price) == (500.0, 4.0, "USD", None)


def test_one_coin_is_told_in_another() -> None:
    told = convert_value(ValueQuery("SOL", 2.0, "ETH"), {"SOL": SOL, "ETH": ETH})
    assert (told.usd, told.quantity, told.price, told.unit_price) == (5_000.0, 40.0, 125.0, 2_500.0)


def test_without_a_price_an_amount_is_worth_nothing_that_could_be_said() -> None:
    priceless = replace(ETH, price=None, _stale_fields=["price"])
    told = convert_value(ValueQuery("ETH", 2.0, "ETH"), {"ETH": priceless})
    assert (told.usd, told.quantity, told._stale_fields) == (None, 2.0, ["price"])
    in_another = convert_value(ValueQuery("SOL", 2.0, "ETH"), {"SOL": SOL, "ETH": priceless})
    assert (in_another.usd, in_another.quantity, in_another._stale_fields) == (None, None, ["price"])
    unbought = convert_value(ValueQuery("ETH", 2.0, "USD"), {"ETH": priceless})
    assert (unbought.usd, unbought.quantity) == (2.0, None)


@pytest.mark.parametrize("compute", [estimate_carry, convert_value])
def test_a_coin_that_was_not_looked_up_is_a_defect(compute: object) -> None:
    query = CarryQuery("BTC") if compute is estimate_carry else ValueQuery("BTC", 1.0)
    with pytest.raises(KeyError):
        compute(query, {"ETH": ETH})  # type: ignore[operator]


@given(st.floats(1e-3, 1e9), st.floats(-500, 500), st.floats(0.01, 3_650))
def test_both_sides_of_a_carry_cancel(notional: float, apr: float, days: float) -> None:
    told = estimate_carry(CarryQuery("ETH", notional, "both", days), {"ETH": risk("ETH", 1.0, apr)})
    assert told.long_usd is not None
    assert told.short_usd is not None
    assert told.long_usd == -told.short_usd
    exact = notional * apr / 100 * days / 365
    assert told.short_usd == pytest.approx(exact, rel=5e-4, abs=0.006 if abs(exact) >= 1 else 0.0)
