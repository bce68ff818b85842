"""One asset's payload: what is stale is named, what is past its limit is null, as of the price."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, iso
from service.market.models import CoinChart, Quote
from service.market.past_prices import PastPrice, PastPrices, instant_before
from service.rwa.asset import TimedAsset, assess_asset
from service.rwa.documents import ListedAsset
from service.wire.rwa import RwaAsset, RwaFunding
from tests.fakes.clock import START_MS

AAPL = ListedAsset("xyz:AAPL", "AAPL", "Apple", "equity")
CHART = CoinChart(START_MS - HOUR_MS, "UP", START_MS - DAY_MS, "DOWN", START_MS - DAY_MS)
TRENDS = ["trend_daily", "trend_weekly"]
WITH_PRICE = ["price", "change_24h"]


def past_of(now_ms: int) -> PastPrices:
    """A price of 210 a day before an instant, accepted 40 seconds earlier."""
    at_ms = instant_before(now_ms, DAY_MS)
    return PastPrices({"xyz:AAPL": {at_ms: PastPrice(210.0, at_ms - 40_000)}})


def quote(at_ms: int | None = START_MS, funding_ms: int | None = START_MS, **fields: object) -> Quote:
    said: dict[str, object] = {
        "venue_symbol": "xyz:AAPL", "symbol": "AAPL", "volume_usd": 1_234.567, "open_interest": 1_000.0,
        "price": None if at_ms is None else 213.9, "price_ms": at_ms,
        "funding": None if funding_ms is None else 0.00000625, "funding_ms": funding_ms,
    }  # fmt: skip
    return Quote(**said | fields)  # type: ignore[arg-type]


def told(seen: Quote, now_ms: int = START_MS, newest_ms: int | None = START_MS, chart: CoinChart = CHART) -> TimedAsset:
    return assess_asset(AAPL, seen, chart, past_of(now_ms), newest_ms, now_ms)


def asset(seen: Quote, now_ms: int = START_MS, newest_ms: int | None = START_MS, chart: CoinChart = CHART) -> RwaAsset:
    found = told(seen, now_ms, newest_ms, chart).asset
    assert found is not None
    return found


@pytest.mark.promise("rwa.symbol-payload")
def test_everything_known_is_told() -> None:
    assert asset(quote()) == RwaAsset(
        id="xyz:AAPL",
        symbol="AAPL",
        name="Apple",
        assetType="equity",
        venue="hyperliquid",
        price=213.9,
        change_24h=1.8571,
        trend_daily="UP",
        trend_weekly="DOWN",
        funding=RwaFunding(rate=0.00000625, interval_hours=1.0, apr=5.475, belongs_to="perpetual"),
        open_interest_usd=213_900.0,
        volume_24h_usd=1_234.57,
        changes_from={"24h": iso(START_MS - DAY_MS - 40_000)},
        _stale_fields=[],
    )


def test_funding_is_told_by_the_interval_in_which_it_is_paid() -> None:
    funding = asset(quote(funding=0.0001 / 4, interval_hours=4.0, venue="binance")).funding
    assert funding == RwaFunding(rate=0.0001, interval_hours=4.0, apr=21.9)


def test_a_rate_of_minus_zero_is_zero() -> None:
    funding = asset(quote(funding=-0.0)).funding
    assert [math.copysign(1, value or 0.0) for value in (funding.rate, funding.apr)] == [1, 1]


@pytest.mark.promise("rwa.symbol-as-of")
def test_it_is_as_of_its_price() -> None:
    earlier = START_MS - 5 * SECOND_MS
    assert told(quote(earlier)).as_of_ms == earlier
    assert told(quote(START_MS, earlier)).as_of_ms == START_MS
    assert told(quote(None, earlier)).as_of_ms == earlier


@pytest.mark.parametrize(
    ("age_ms", "price", "stale"),
    [
        (0, 213.9, []),
        (90 * SECOND_MS, 213.9, []),
        (90 * SECOND_MS + 1, 213.9, [*WITH_PRICE, "open_interest_usd"]),
        (10 * MINUTE_MS, 213.9, [*WITH_PRICE, "open_interest_usd"]),
        (10 * MINUTE_MS + 1, None, [*WITH_PRICE, "open_interest_usd"]),
    ],
)
def test_a_price_is_named_after_three_missed_rounds_and_null_after_ten_minutes(
    age_ms: int, price: float | None, stale: list[str]
) -> None:
    at_ms = START_MS - age_ms
    seen = assess_asset(AAPL, quote(at_ms, START_MS, funding=0.0), CHART, past_of(START_MS), at_ms, START_MS).asset
    assert seen is not None
    assert seen.price == price
    assert [field for field in seen._stale_fields if field not in {"funding", "volume_24h_usd"}] == stale
    assert (seen.change_24h is None) is (seen.open_interest_usd is None) is (price is None)


@pytest.mark.parametrize(("age_ms", "rate"), [(10 * MINUTE_MS, 0.00000625), (10 * MINUTE_MS + 1, None)])
def test_funding_is_null_after_ten_minutes(age_ms: int, rate: float | None) -> None:
    seen = asset(quote(START_MS, START_MS - age_ms))
    assert (seen.funding.rate, seen.funding.apr) == (rate, None if rate is None else 5.475)
    assert seen._stale_fields == ["funding"]


def test_what_the_newest_round_did_not_bring_is_named_at_once() -> None:
    assert asset(quote(START_MS - 1), newest_ms=START_MS)._stale_fields == [*WITH_PRICE, "open_interest_usd"]
    everything = [*WITH_PRICE, "funding", "open_interest_usd", "volume_24h_usd"]
    assert asset(quote(), newest_ms=None)._stale_fields == everything


@pytest.mark.parametrize(
    ("age_ms", "state", "stale"),
    [
        (DAY_MS + 15 * MINUTE_MS, "UP", []),
        (DAY_MS + 15 * MINUTE_MS + 1, "UP", TRENDS),
        (2 * DAY_MS, "UP", TRENDS),
        (2 * DAY_MS + 1, None, TRENDS),
    ],
)
def test_trends_are_named_when_a_day_was_missed_and_null_after_two(
    age_ms: int, state: str | None, stale: list[str]
) -> None:
    chart = CoinChart(START_MS - age_ms, "UP", 0, "DOWN", 0)
    seen = asset(quote(), chart=chart)
    assert (seen.trend_daily, seen._stale_fields) == (state, stale)


def test_what_is_not_known_is_null_and_named() -> None:
    seen = asset(quote(None, open_interest=None), chart=CoinChart())
    assert seen._stale_fields == ["price", "change_24h", *TRENDS, "open_interest_usd"]


def test_nothing_is_told_without_price_and_funding() -> None:
    late_ms = START_MS + 10 * MINUTE_MS + 1
    assert told(quote(None, None)).asset is None
    assert told(quote(), late_ms).asset is None


@given(st.integers(0, 3 * DAY_MS), st.integers(0, 3 * DAY_MS), st.integers(0, 4 * DAY_MS), st.integers(0, 4 * DAY_MS))
def test_an_answer_holds_exactly_as_long_as_it_says(price_age: int, funding_age: int, chart_age: int, on: int) -> None:
    seen = quote(START_MS - price_age, START_MS - funding_age)
    chart = CoinChart(START_MS - chart_age, "UP", 0, "UP", 0)
    first = told(seen, START_MS, None, chart)
    later = told(seen, START_MS + on, None, chart)
    if START_MS + on < first.until_ms:
        assert later.asset == first.asset
    else:
        assert later.since_ms >= first.until_ms
