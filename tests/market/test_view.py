"""A coin as the other desks see it."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.coin_state import view_coin
from service.market.models import CoinChart, CoinView, Quote
from service.market.past_prices import PastPrice, PastPrices, instant_before

NOW = 1_753_444_800_000
QUOTE = Quote("kPEPE", "PEPE", 9.5, 110.0, NOW, -0.0000125, NOW, 3.0, 100.0, "binance", 8.0)
AT = instant_before(NOW, DAY_MS)
PAST = PastPrices({"kPEPE": {AT: PastPrice(100.0, AT)}})
CHART = CoinChart(NOW - 12 * HOUR_MS, "UP", NOW - 5 * DAY_MS, "DOWN", NOW - 30 * DAY_MS, 0.75)


def test_what_is_known_is_in_public_units() -> None:
    assert view_coin(QUOTE, CHART, PAST, NOW).coin == CoinView(
        symbol="PEPE",
        venue_symbol="kPEPE",
        venue="binance",
        price=110.0,
        price_ms=NOW,
        volume_usd=9.5,
        open_interest_usd=330.0,
        funding_apr=-10.95,
        funding_ms=NOW,
        interval_hours=8.0,
        trend_daily="UP",
        trend_daily_since_ms=NOW - 5 * DAY_MS,
        trend_weekly="DOWN",
        trend_weekly_since_ms=NOW - 30 * DAY_MS,
        btc_correlation=0.75,
        through_ms=NOW - 12 * HOUR_MS,
        change_24h=10.0,
        changes_from={"24h": AT},
    )


def test_what_is_past_its_limit_is_null_with_its_time() -> None:
    coin = view_coin(QUOTE, CHART, PAST, NOW + 10 * MINUTE_MS + 1).coin
    assert (coin.price, coin.price_ms, coin.change_24h, coin.open_interest_usd) == (None, None, None, None)
    assert (coin.funding_apr, coin.funding_ms) == (None, None)
    assert coin.trend_daily == "UP"
    coin = view_coin(
        msgspec.structs.replace(QUOTE, price_ms=NOW + 36 * HOUR_MS), CHART, PAST, NOW + 36 * HOUR_MS + 1
    ).coin
    assert (coin.price, coin.trend_daily, coin.trend_weekly, coin.btc_correlation) == (110.0, None, None, None)
    assert (coin.trend_daily_since_ms, coin.trend_weekly_since_ms, coin.through_ms) == (None, None, None)


@pytest.mark.parametrize("before", [0.0, 5e-324])
def test_a_change_from_nothing_is_unknown(before: float) -> None:
    assert view_coin(QUOTE, CHART, PastPrices({"kPEPE": {AT: PastPrice(before, AT)}}), NOW).coin.change_24h is None


def test_what_is_held_is_unknown_where_no_venue_says_it() -> None:
    assert (
        view_coin(msgspec.structs.replace(QUOTE, open_interest=None), CHART, PAST, NOW).coin.open_interest_usd is None
    )


@given(
    st.tuples(*[st.none() | st.integers(NOW - 3 * DAY_MS, NOW)] * 3),
    st.integers(NOW - 3 * DAY_MS, NOW + 3 * DAY_MS),
    st.integers(NOW - 3 * DAY_MS, NOW + 3 * DAY_MS),
    st.floats(1e-9, 1e100),
    st.floats(1e-300, 1e100),
)
def test_a_view_is_the_same_throughout_its_span_and_finite(
    times: tuple[int | None, int | None, int | None], one_ms: int, other_ms: int, price: float, before: float
) -> None:
    price_ms, funding_ms, through_ms = times
    quote = Quote("X", "X", 1.0, price if price_ms else None, price_ms, 0.1 if funding_ms else None, funding_ms, 1e99)
    past = PastPrices({"X": {instant_before(at_ms, DAY_MS): PastPrice(before, NOW) for at_ms in (one_ms, other_ms)}})
    chart = CHART if through_ms is None else msgspec.structs.replace(CHART, through_ms=through_ms)
    seen = view_coin(quote, chart, past, one_ms)
    assert seen.since_ms <= one_ms < seen.until_ms
    if seen.since_ms <= other_ms < seen.until_ms:
        assert view_coin(quote, chart, past, other_ms) == seen
    numbers = [value for value in msgspec.structs.astuple(seen.coin) if isinstance(value, float)]
    assert all(map(math.isfinite, numbers))
