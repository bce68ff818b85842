"""When a day may be published."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, MINUTE_MS
from service.market.daily_report.refresh import GRACE_MS, LONGEST_WAIT_MS, newest_publishable
from service.market.models import SETTLE_MS

DAY = 20_000
CLOSE_MS = (DAY + 1) * DAY_MS
LONG_AGO_MS = CLOSE_MS - 400 * DAY_MS
TEN = ["BTC", "ETH", *(f"C{number}" for number in range(8))]


def lasts(have: int, lack: int = 0) -> dict[str, int]:
    """Ten coins that got as far as the day before; the first `have` of them, BTC and ETH among them, a day further."""
    return {coin: DAY - (place >= have) for place, coin in enumerate(TEN[: have + lack])}


def publishable(days: dict[str, int], after_ms: int, asked_after_ms: int | None, listed: list[str] = TEN) -> int | None:
    asked_ms = None if asked_after_ms is None else CLOSE_MS + asked_after_ms
    return newest_publishable(days, listed, CLOSE_MS + after_ms, asked_ms)


def test_nothing_is_published_before_everybody_was_asked_once() -> None:
    assert publishable(lasts(10), 400 * DAY_MS, None) is None


def test_a_day_is_published_as_soon_as_every_listed_coin_has_its_bar() -> None:
    assert publishable(lasts(10), 0, -DAY_MS) == DAY
    assert publishable(lasts(9, 1), 0, -DAY_MS) == DAY - 1


def test_coins_that_are_not_listed_are_not_waited_for() -> None:
    assert publishable(lasts(10) | {"GONE": DAY - 90}, 0, -DAY_MS) == DAY


def test_a_quarter_of_an_hour_after_the_close_a_coin_is_not_waited_for_any_longer() -> None:
    assert publishable(lasts(9, 1), GRACE_MS - 1, SETTLE_MS) == DAY - 1
    assert publishable(lasts(9, 1), GRACE_MS, SETTLE_MS) == DAY


def test_it_is_if_it_was_not_asked_since_the_close() -> None:
    assert publishable(lasts(9, 1), GRACE_MS, SETTLE_MS - 1) == DAY - 1


def test_a_day_that_more_than_one_in_ten_coins_lack_waits_for_a_day() -> None:
    assert publishable(lasts(8, 2), GRACE_MS, GRACE_MS) == DAY - 1
    assert publishable(lasts(8, 2), LONGEST_WAIT_MS - 1, GRACE_MS) == DAY - 1
    assert publishable(lasts(8, 2), LONGEST_WAIT_MS, GRACE_MS) == DAY


def test_coins_that_had_no_bar_the_day_before_do_not_count_as_lacking_one() -> None:
    halted = lasts(9, 1) | {"C7": DAY - 30}
    listed = [*TEN, "NEW1", "NEW2"]
    assert publishable(halted, GRACE_MS, SETTLE_MS, listed) == DAY


@pytest.mark.parametrize("major", ["BTC", "ETH"])
def test_without_the_bars_that_every_chart_needs_no_day_is_known(major: str) -> None:
    behind = lasts(10) | {major: DAY - 1}
    assert publishable(behind, LONGEST_WAIT_MS, LONGEST_WAIT_MS) == DAY - 1
    assert (
        publishable({coin: last for coin, last in behind.items() if coin != major}, LONGEST_WAIT_MS, LONGEST_WAIT_MS)
        is None
    )


def test_after_days_off_the_first_bars_alone_publish_nothing() -> None:
    """BTC and ETH are fetched first: for a moment they are all there is of three days."""
    days = {coin: DAY if coin in {"BTC", "ETH"} else DAY - 3 for coin in TEN}
    assert publishable(days, 6 * 3_600_000, LONG_AGO_MS - CLOSE_MS) == DAY - 3
    assert publishable(days, 6 * 3_600_000, -3 * DAY_MS) == DAY - 3


@given(
    st.dictionaries(st.sampled_from(TEN), st.integers(DAY - 5, DAY), min_size=2),
    st.integers(-6, 6 * 24),
    st.integers(-6, 6 * 24),
    st.integers(1, 1_000),
)
def test_what_could_be_published_once_can_be_published_later(
    days: dict[str, int], hours: int, asked_hours: int, minutes: int
) -> None:
    now_ms, asked_ms = CLOSE_MS + hours * 60 * MINUTE_MS, CLOSE_MS + asked_hours * 60 * MINUTE_MS
    before = newest_publishable(days, TEN, now_ms, asked_ms)
    after = newest_publishable(days, TEN, now_ms + minutes * MINUTE_MS, asked_ms + minutes * MINUTE_MS)
    assert before is None or (after is not None and before <= after <= min(days["BTC"], days["ETH"]))
