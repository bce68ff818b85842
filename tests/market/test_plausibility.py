"""The plausibility check: each rule at its limit, what clears it, and properties that hold for any numbers."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.market.models import Quote
from service.market.plausibility.quotes import (
    BarReference,
    CoinBaseline,
    FieldReasons,
    SecondQuote,
    are_many,
    judge,
    judge_universe,
    largest_move,
    owner_of,
    scale_of,
)
from service.market.plausibility.rules import (
    HIGHEST_FUNDING,
    HIGHEST_PRICE,
    LOWEST_PRICE,
    RULES,
    SCALES,
    SECOND_AGE_MS,
    USUAL_SCALE,
    RejectReason,
)
from tests.fakes.clock import START_MS

NOW = START_MS + 15 * SECOND_MS


def quote(price: float | None = 100.0, funding: float | None = 0.0000125, **fields: Any) -> Quote:
    shown = Quote(
        "SOL",
        "SOL",
        volume_usd=5e6,
        price=price,
        price_ms=None if price is None else NOW,
        funding=funding,
        funding_ms=None if funding is None else NOW,
        open_interest=1e5,
        prev_price=97.0,
    )
    return replace(shown, **fields)


ACCEPTED = quote(price_ms=START_MS, funding_ms=START_MS)
BAR = BarReference(100.0, START_MS - 12 * HOUR_MS, 0.04)


def reasons(shown: Quote, **known: Any) -> FieldReasons:
    return judge(shown, CoinBaseline(**known), NOW)


def test_a_value_like_the_last_accepted_one_is_accepted() -> None:
    assert reasons(quote(101.0, 0.00002), accepted=ACCEPTED, bar=BAR) == FieldReasons()


def test_the_previous_day_is_compared_with_that_of_either_venue() -> None:
    forged = quote(prev_price=970.0, venue="binance", volume_usd=1.0)
    assert reasons(forged, accepted=ACCEPTED) == FieldReasons(previous=RejectReason.PREVIOUS_MOVED)


def test_what_is_not_shown_is_not_judged() -> None:
    assert reasons(quote(None, None, open_interest=None, prev_price=None), accepted=ACCEPTED) == FieldReasons()
    assert reasons(quote(None, None)) == FieldReasons()


@pytest.mark.parametrize(
    ("second", "agreed", "is_held"), [(98.9, 99.0, True), (99.1, 99.0, False), (98.9, None, False), (98.9, 80.0, False)]
)
def test_a_price_that_drifts_from_where_both_venues_agreed_is_held_back(
    second: float, agreed: float | None, *, is_held: bool
) -> None:
    before = None if agreed is None else SecondQuote(agreed, None, START_MS)
    found = reasons(quote(103.0), accepted=ACCEPTED, bar=BAR, second=SecondQuote(second, None, NOW), agreed=before)
    assert found.price is (RejectReason.PRICE_SECOND_VENUE if is_held else None)


@pytest.mark.parametrize("price", [0.0, -1.0, math.nan, math.inf, 1e99, LOWEST_PRICE / 2, HIGHEST_PRICE * 2], ids=str)
@pytest.mark.parametrize("second", [None, 1.0])
def test_an_impossible_price_is_never_a_price(price: float, second: float | None) -> None:
    confirming = None if second is None else SecondQuote(price, None, NOW)
    for accepted in (None, ACCEPTED):
        found = reasons(quote(price), accepted=accepted, bar=BAR, second=confirming)
        assert found.price is RejectReason.PRICE_IMPOSSIBLE
        assert found.funding is not None


@pytest.mark.parametrize(
    ("price", "reason"),
    [
        (104.0, None),
        (96.5, None),
        (105.0, RejectReason.PRICE_MOVED),
        (95.0, RejectReason.PRICE_MOVED),
        (399.0, RejectReason.PRICE_MOVED),
        (401.0, RejectReason.PRICE_MAGNITUDE),
        (24.9, RejectReason.PRICE_MAGNITUDE),
        (1000.0, RejectReason.PRICE_MAGNITUDE),
    ],
)
def test_a_price_may_move_by_the_coins_own_scale(price: float, reason: RejectReason | None) -> None:
    found = reasons(quote(price), accepted=ACCEPTED, bar=BAR)
    assert (found.price, found.funding) == (reason, reason)


def test_a_price_may_move_farther_the_longer_ago_the_last_one_was_accepted() -> None:
    old = quote(price_ms=NOW - DAY_MS, funding_ms=NOW - DAY_MS)
    assert reasons(quote(120.0), accepted=old, bar=BAR).price is None
    assert reasons(quote(120.0), accepted=ACCEPTED, bar=BAR).price is RejectReason.PRICE_MOVED


def test_a_coin_without_bars_moves_by_the_usual_scale() -> None:
    edge = math.exp(largest_move(USUAL_SCALE, 15 * SECOND_MS)) * 100.0
    assert reasons(quote(edge * 0.999), accepted=ACCEPTED).price is None
    assert reasons(quote(edge * 1.001), accepted=ACCEPTED).price is RejectReason.PRICE_MOVED


def test_an_accepted_price_and_a_bar_of_last_week_are_no_reference() -> None:
    old = quote(price_ms=NOW - 3 * DAY_MS - 1)
    assert reasons(quote(), accepted=old, bar=None).price is RejectReason.PRICE_UNCONFIRMED
    assert reasons(quote(), bar=BAR._replace(close_ms=NOW - 3 * DAY_MS)).price is None
    last_week = BAR._replace(close_ms=NOW - 7 * DAY_MS)
    assert reasons(quote(130.0), bar=last_week).price is RejectReason.PRICE_UNCONFIRMED


@pytest.mark.promise("quarantine.cold-start")
def test_an_old_bar_confirms_a_first_price_near_it_that_the_second_venue_does_not_know() -> None:
    old = BAR._replace(close_ms=NOW - 90 * DAY_MS)
    assert reasons(quote(), bar=old) == FieldReasons()
    assert reasons(quote(125.0), bar=old).price is None
    for price in (70.0, 130.0, 1000.0):
        assert reasons(quote(price), bar=old).price is RejectReason.PRICE_UNCONFIRMED
    assert reasons(quote(), bar=old, second=SecondQuote(90.0, None, NOW)).price is RejectReason.PRICE_UNCONFIRMED
    assert reasons(quote(), bar=old, second=SecondQuote(100.5, None, NOW)).price is None


def test_an_old_bar_is_no_reference_for_later_prices() -> None:
    old = BAR._replace(close_ms=NOW - 90 * DAY_MS, scale=0.15)
    assert reasons(quote(110.0), accepted=ACCEPTED, bar=old).price is RejectReason.PRICE_MOVED


def test_the_second_venue_confirms_a_move_within_the_scale_while_it_is_fresh() -> None:
    for price in (60.0, 1000.0):
        assert reasons(quote(price), accepted=ACCEPTED, second=SecondQuote(price * 1.02, None, NOW)).price is None
        assert reasons(quote(price), accepted=ACCEPTED, second=SecondQuote(price * 1.03, None, NOW)).price is not None
        late = SecondQuote(price, None, NOW - SECOND_AGE_MS - 1)
        assert reasons(quote(price), accepted=ACCEPTED, second=late).price is not None


def test_a_price_that_leaves_the_last_bars_range_is_asked_about_once() -> None:
    before, beyond = quote(124.0, price_ms=START_MS), quote(131.0, price_ms=START_MS)
    assert reasons(quote(130.0), accepted=before, bar=BAR).price is RejectReason.PRICE_MOVED
    near = quote(127.5, price_ms=START_MS)
    assert reasons(quote(130.0), accepted=near, bar=BAR).price is RejectReason.PRICE_OFF_BAR
    assert reasons(quote(132.0), accepted=beyond, bar=BAR).price is None


def test_the_first_price_of_a_coin_needs_a_bar_or_the_second_venue() -> None:
    assert reasons(quote()) == FieldReasons(RejectReason.PRICE_UNCONFIRMED, RejectReason.FUNDING_UNCONFIRMED)
    assert reasons(quote(), bar=BAR) == FieldReasons()
    assert reasons(quote(140.0), bar=BAR).price is RejectReason.PRICE_OFF_BAR
    assert reasons(quote(1000.0), bar=BAR).price is RejectReason.PRICE_MAGNITUDE
    assert reasons(quote(), second=SecondQuote(100.5, None, NOW)) == FieldReasons()
    assert reasons(quote(), second=SecondQuote(50.0, None, NOW)).price is RejectReason.PRICE_UNCONFIRMED


def test_the_second_venue_contradicts_a_first_price_only_where_the_bar_says_that_it_is_the_same_asset() -> None:
    assert reasons(quote(115.0), bar=BAR, second=SecondQuote(100.0, None, NOW)).price is RejectReason.PRICE_SECOND_VENUE
    assert reasons(quote(103.0), bar=BAR, second=SecondQuote(100.0, None, NOW)).price is None
    assert reasons(quote(100.0), bar=BAR, second=SecondQuote(3.5, None, NOW)).price is None
    assert reasons(quote(100.0), bar=BAR, second=SecondQuote(math.nan, None, NOW)).price is None


def test_a_coin_of_which_only_funding_was_accepted_has_no_price_yet() -> None:
    funded = quote(None, price_ms=None)
    assert reasons(quote(), accepted=funded).price is RejectReason.PRICE_UNCONFIRMED


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"prev_price": 90.0}, False),
        ({"volume_usd": 9e6}, False),
        ({"open_interest": 2e5}, False),
        ({"prev_price": 90.0, "volume_usd": 9e6}, True),
        ({"prev_price": 90.0, "open_interest": 2e5}, True),
        ({"volume_usd": 3e6, "open_interest": 0.0}, True),
        ({"volume_usd": 6e6, "open_interest": 1.2e5, "prev_price": 98.0}, False),
        ({"volume_usd": 9e6, "open_interest": None, "prev_price": None}, False),
    ],
)
def test_fields_that_leap_together_are_those_of_another_row(fields: dict[str, Any], *, changed: bool) -> None:
    expected = RejectReason.ROW_CHANGED if changed else None
    found = reasons(quote(**fields), accepted=ACCEPTED, bar=BAR)
    assert (found.price, found.funding) == (expected, expected)
    assert reasons(quote(None, **fields), accepted=ACCEPTED).price is expected


def test_a_changed_row_needs_a_close_agreement_of_the_second_venue() -> None:
    swapped = quote(101.0, volume_usd=9e6, open_interest=2e5)
    assert reasons(swapped, accepted=ACCEPTED, second=SecondQuote(101.4, None, NOW)).price is None
    assert reasons(swapped, accepted=ACCEPTED, second=SecondQuote(100.0, None, NOW)).price is RejectReason.ROW_CHANGED


def test_rows_of_two_venues_or_of_two_times_are_not_compared() -> None:
    changed = {"volume_usd": 9e6, "open_interest": 2e5}
    assert reasons(quote(**changed), accepted=replace(ACCEPTED, venue="binance")).price is None
    assert reasons(quote(**changed), accepted=quote(price_ms=NOW - 10 * MINUTE_MS - 1)).price is None
    assert reasons(quote(**changed), accepted=quote(price_ms=NOW - 10 * MINUTE_MS)).price is RejectReason.ROW_CHANGED


def test_a_row_that_equals_another_coins_belongs_to_that_coin() -> None:
    other = quote(101.0, volume_usd=9e6, open_interest=2e5, prev_price=99.0, venue_symbol="AVAX", symbol="AVAX")
    accepted = {"SOL": ACCEPTED, "AVAX": other}
    assert owner_of(quote(101.0, volume_usd=9.1e6, open_interest=2e5, prev_price=99.1), accepted) == "AVAX"
    assert owner_of(quote(101.0, volume_usd=9.5e6, open_interest=2e5, prev_price=99.1), accepted) is None
    assert owner_of(quote(101.0, volume_usd=9e6, open_interest=None, prev_price=99.0), accepted) is None
    assert owner_of(quote(), accepted) is None
    alike = {"SOL": ACCEPTED, "AVAX": quote(venue_symbol="AVAX", symbol="AVAX")}
    assert owner_of(quote(), alike) is None
    assert owner_of(quote(), {"AVAX": alike["AVAX"]}) == "AVAX"
    assert owner_of(quote(), {"AVAX": quote(None, venue_symbol="AVAX", symbol="AVAX")}) is None
    own = {"SOL": quote(volume_usd=9e6), "AVAX": quote(volume_usd=9e6, venue_symbol="AVAX", symbol="AVAX")}
    assert owner_of(quote(volume_usd=9.3e6), own) is None


@pytest.mark.parametrize(
    ("funding", "reason"),
    [
        (0.0003, None),
        (-0.00028, None),
        (0.0004, RejectReason.FUNDING_MOVED),
        (-0.0003, RejectReason.FUNDING_MOVED),
        (HIGHEST_FUNDING, RejectReason.FUNDING_MOVED),
        (HIGHEST_FUNDING * 1.01, RejectReason.FUNDING_CAP),
        (-5.0, RejectReason.FUNDING_CAP),
        (math.nan, RejectReason.FUNDING_CAP),
    ],
)
def test_funding_may_change_as_an_hours_average_does(funding: float, reason: RejectReason | None) -> None:
    assert reasons(quote(funding=funding), accepted=ACCEPTED) == FieldReasons(None, reason)


def test_extraordinary_funding_may_change_by_its_own_size() -> None:
    extraordinary = quote(funding=0.002, price_ms=START_MS)
    assert reasons(quote(funding=0.0035), accepted=extraordinary).funding is None
    assert reasons(quote(funding=0.0041), accepted=extraordinary).funding is RejectReason.FUNDING_MOVED


def test_the_first_funding_must_be_ordinary_or_confirmed() -> None:
    assert reasons(quote(funding=0.0003), bar=BAR).funding is None
    assert reasons(quote(funding=0.0005), bar=BAR).funding is RejectReason.FUNDING_UNCONFIRMED
    assert reasons(quote(funding=0.0005), bar=BAR, second=SecondQuote(100.0, 0.0003, NOW)).funding is None
    assert reasons(quote(funding=0.0005), bar=BAR, second=SecondQuote(100.0, 0.0001, NOW)).funding is not None
    assert (
        reasons(quote(funding=0.05), bar=BAR, second=SecondQuote(100.0, 0.05, NOW)).funding is RejectReason.FUNDING_CAP
    )


@pytest.mark.parametrize("volume", [-1.0, math.nan, 1e13])
def test_an_impossible_volume_is_not_accepted(volume: float) -> None:
    assert reasons(quote(volume_usd=volume), bar=BAR) == FieldReasons(volume=RejectReason.VOLUME_IMPOSSIBLE)


@pytest.mark.parametrize(("price", "interest"), [(100.0, 1.1e10), (100.0, -1.0), (None, 1.1e10), (100.0, math.nan)])
def test_an_impossible_open_interest_is_not_accepted(price: float | None, interest: float) -> None:
    assert reasons(quote(price, open_interest=interest), bar=BAR).interest is RejectReason.INTEREST_IMPOSSIBLE


def test_open_interest_without_a_price_is_valued_at_the_last_known_one() -> None:
    billions = quote(None, open_interest=2e12)
    accepted = quote(4e-6, price_ms=START_MS)
    assert reasons(billions, accepted=accepted, bar=BAR).interest is None
    assert reasons(billions, bar=BAR._replace(close=4e-6)).interest is None
    assert reasons(billions).interest is None
    assert reasons(quote(None, open_interest=2e22)).interest is RejectReason.INTEREST_IMPOSSIBLE


COINS = [f"C{number}" for number in range(100)]


@pytest.mark.parametrize(
    ("shown", "flagged", "reason"),
    [
        (COINS, [], None),
        (COINS[5:], [], None),
        (COINS[6:], [], RejectReason.COINS_MISSING),
        (COINS[:1], [], RejectReason.COINS_MISSING),
        (COINS[20:], COINS[:20], None),
        (COINS[21:], COINS[:21], RejectReason.COINS_DELISTED),
        (COINS, ["OLD"] * 50, None),
        ([*COINS, "NEW"], [], None),
    ],
)
def test_an_answer_must_name_nearly_all_known_coins(
    shown: list[str], flagged: list[str], reason: RejectReason | None
) -> None:
    assert judge_universe(shown, flagged, COINS) is reason


def test_a_first_answer_may_not_call_more_coins_delisted_than_it_lists() -> None:
    assert judge_universe(COINS[:5], COINS[5:10], []) is None
    assert judge_universe(COINS[:5], COINS[5:11], []) is RejectReason.COINS_DELISTED


def test_an_answer_of_a_small_market_may_lack_two_coins() -> None:
    assert judge_universe([], [], COINS[:2]) is None
    assert judge_universe([], [], COINS[:3]) is RejectReason.COINS_MISSING
    assert judge_universe([], COINS[:5], COINS[:5]) is None
    assert judge_universe([], COINS[:6], COINS[:6]) is RejectReason.COINS_DELISTED


@pytest.mark.parametrize(("leaping", "shown", "many"), [(2, 2, False), (3, 3, True), (10, 100, False), (11, 100, True)])
def test_many_leaping_coins_are_three_and_a_tenth(leaping: int, shown: int, *, many: bool) -> None:
    assert are_many(leaping, shown) is many


def test_the_scale_of_a_coin_is_robust_against_one_crash() -> None:
    closes = [100.0 * math.exp(0.03 * (number % 2)) for number in range(40)]
    calm = scale_of(closes)
    closes[35] = 10.0
    assert 0.03 < calm < 0.05
    assert scale_of(closes) == pytest.approx(calm, rel=0.2)


def test_the_scale_is_bounded_and_usual_without_enough_bars() -> None:
    assert scale_of([]) == scale_of([1.0, 2.0] * 5) == USUAL_SCALE
    assert scale_of([1.0] * 40) == SCALES[0]
    assert scale_of([1.0, 3.0] * 20) == SCALES[1]


def test_the_table_has_one_row_for_each_reason() -> None:
    assert [rule.id for rule in RULES] == list(RejectReason)


prices = st.floats(min_value=1e-9, max_value=1e6)
rates = st.floats(min_value=-0.0001, max_value=0.0001)


@given(prices, st.floats(min_value=10.0, max_value=1e12), st.floats(min_value=0.005, max_value=0.2))
def test_ten_times_a_price_is_accepted_from_nobody_alone(price: float, factor: float, scale: float) -> None:
    accepted = quote(price, price_ms=START_MS)
    bar = BarReference(price, START_MS - HOUR_MS, min(max(scale, SCALES[0]), SCALES[1]))
    for forged in (price * factor, price / factor):
        for known in (
            CoinBaseline(accepted),
            CoinBaseline(accepted, bar),
            CoinBaseline(None, bar),
            CoinBaseline(accepted, bar, SecondQuote(price, None, NOW)),
        ):
            assert judge(quote(forged), known, NOW).price is not None


@given(prices, rates, st.floats(min_value=-0.02, max_value=0.02))
def test_a_small_move_is_accepted_whatever_the_price(price: float, funding: float, move: float) -> None:
    accepted = quote(price, funding, price_ms=START_MS, open_interest=1.0)
    shown = quote(price * math.exp(move), funding, open_interest=1.0)
    assert judge(shown, CoinBaseline(accepted), NOW) == FieldReasons()


@given(prices, prices, rates, rates)
def test_when_two_venues_agree_a_possible_price_is_accepted_whatever_was_known(
    price: float, last: float, funding: float, rate: float
) -> None:
    accepted = quote(last, rate, price_ms=START_MS, open_interest=1.0)
    shown = quote(price, funding, open_interest=1.0)
    assert judge(shown, CoinBaseline(accepted, None, SecondQuote(price, funding, NOW)), NOW).price is None


@given(st.floats(), st.floats(), st.floats(), st.floats(), st.floats())
def test_no_number_breaks_the_check(price: float, funding: float, volume: float, interest: float, prev: float) -> None:
    shown = quote(price, funding, volume_usd=volume, open_interest=interest, prev_price=prev)
    for known in (
        CoinBaseline(),
        CoinBaseline(ACCEPTED, BAR, SecondQuote(price, funding, NOW)),
        CoinBaseline(ACCEPTED),
    ):
        found = judge(shown, known, NOW)
        assert found.price is None or found.funding is not None
        if found.price is None:
            assert LOWEST_PRICE <= price <= HIGHEST_PRICE
        if found.funding is None:
            assert abs(funding) <= HIGHEST_FUNDING
