"""How far back, how much, how many: read as the calendar and arithmetic have it."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.ask.reading.reader import Reader, Reading
from service.wire.ask import Amount, Period, Unit
from tests.ask.universe import known, reader
from tests.fakes.clock import START_MS, FakeClock

TODAY = datetime.fromtimestamp(START_MS / 1000, UTC).date()


def read(text: str) -> Reading:
    return reader().read(text)


@pytest.mark.parametrize(
    ("text", "count", "unit"),
    [
        ("btc 7 days ago", 7, "d"),
        ("btc a week ago", 7, "d"),
        ("btc last week", 7, "d"),
        ("btc past week", 7, "d"),
        ("sol this month", 30, "d"),
        ("how did eth do over the past 24 hours", 24, "h"),
        ("24h change of btc", 24, "h"),
        ("eth change 24hr", 24, "h"),
        ("btc last hour", 1, "h"),
        ("btc yesterday", 1, "d"),
        ("btc in the last 2 weeks", 14, "d"),
        ("eth a couple of days ago", 2, "d"),
        ("eth a few days ago", 3, "d"),
        ("eth couple days ago", 2, "d"),
        ("eth three months ago", 90, "d"),
        ("btc a year ago", 365, "d"),
        ("btc 1y", 365, "d"),
        ("btc 6mo ago", 180, "d"),
        ("btc 3w", 21, "d"),
        ("btc last quarter", 90, "d"),
        ("btc half a year ago", 182, "d"),
        ("btc 36 hours ago", 36, "h"),
        ("btc 1.5 days ago", 36, "h"),
        ("btc two and a half days ago", 60, "h"),
        ("btc overnight", 12, "h"),
        ("how much did eth move in 3 days", 3, "d"),
        ("eth half a day ago", 12, "h"),
        ("1,000 hours of btc", 1000, "h"),
        ("twenty days of btc", 20, "d"),
        ("sol past 0.25h", 1, "h"),
    ],
)
def test_a_period_is_so_many_hours_or_days(text: str, count: int, unit: Unit) -> None:
    assert read(text).entities.period == Period(count, unit)
    assert "PERIOD" in read(text).masked


@pytest.mark.parametrize(
    "text",
    [
        "will btc hit 100k next year",
        "where will btc be in 5 years",
        "btc 5 days from now",
        "how much does it cost per day",
        "how much per 2 days",
        "50 day moving average of btc",
        "btc is 15 years old",
        "how many times a day do you update",
        "0 days ago",
        "0h",
        "the last",
        "last of all",
        "this coin",
        "a",
        "h d w",
        "a d of btc",
        "$5 days",
        "99999999999999999999999 days ago",
    ],
)
def test_what_only_looks_like_a_period_is_none(text: str) -> None:
    assert read(text).entities.period is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("btc since monday", date(2025, 7, 21)),
        ("alerts since Friday", date(2025, 7, 18)),
        ("alerts since thu", date(2025, 7, 24)),
        ("btc last sunday", date(2025, 7, 20)),
        ("btc on july 1", date(2025, 7, 1)),
        ("btc on 1st of july", date(2025, 7, 1)),
        ("btc on 1 july", date(2025, 7, 1)),
        ("btc on July 20th, 2025", date(2025, 7, 20)),
        ("btc on june 30 2024", date(2024, 6, 30)),
        ("btc on 3rd of march 2024", date(2024, 3, 3)),
        ("btc on feb 29 2024", date(2024, 2, 29)),
        ("btc on december 24", date(2024, 12, 24)),
        ("btc on july 26", date(2024, 7, 26)),
        ("btc on 2025-07-01", date(2025, 7, 1)),
    ],
)
def test_a_date_is_so_many_days_back(text: str, day: date) -> None:
    assert read(text).entities.period == Period((TODAY - day).days, "d")


@given(st.dates(date(2000, 1, 1), TODAY - timedelta(days=1)), st.sampled_from(["%Y-%m-%d", "%B %d %Y", "%d %b %Y"]))
def test_any_date_of_this_century_is_counted_as_the_calendar_counts_it(day: date, form: str) -> None:
    assert read(f"btc on {day.strftime(form)}").entities.period == Period((TODAY - day).days, "d")


@settings(max_examples=25)
@given(st.integers(0, 2_000))
def test_a_weekday_is_the_last_day_of_that_name_before_today(days: int) -> None:
    today = TODAY + timedelta(days=days)
    at_noon = Reader(known(), FakeClock(START_MS + days * 86_400_000))
    for back in range(1, 8):
        named = (today - timedelta(days=back)).strftime("%A")
        assert at_noon.read(f"alerts since {named}").entities.period == Period(back, "d")


@pytest.mark.parametrize(
    "text",
    ["btc on 2025-13-01", "btc on 2025-02-30", "btc on feb 30",
     "btc on 30 feb", "btc on 2026-01-01", "btc on july 99999", "in march",
     "thu", "btc on july 20 2099", "2025-07", "on may the 4th be with you", "july", "5", "1 of", "btc on feb 29 2023"],
)  # fmt: skip
def test_a_date_that_is_none_or_still_to_come_is_no_period(text: str) -> None:
    assert read(text).entities.period is None


def test_without_a_clock_a_weekday_stands_for_nothing() -> None:
    timeless = Reader(known())
    assert timeless.read("alerts since monday").entities.period is None
    assert timeless.read("btc last monday").entities.period is None
    assert timeless.read("btc last week").entities.period == Period(7, "d")


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("hold $10k long eth for 3 days", 10_000, "USD"),
        ("10k usd long btc for 12 hours", 10_000, "USD"),
        ("cost of shorting 50k of SOL for a week", 50_000, None),
        ("cost of shorting 5000 of SOL", 5_000, None),
        ("holding 2m short btc for one week", 2_000_000, None),
        ("long 10k btc", 10_000, None),
        ("what would I pay on a 5 ETH long over 2 days", 5, "ETH"),
        ("long 2.5 btc for a month", 2.5, "BTC"),
        ("25,000 dollars short doge", 25_000, "USD"),
        ("10 grand long sol", 10_000, None),
        ("$1,000.50 in eth", 1_000.5, "USD"),
        ("2.5 eth in dollars", 2.5, "ETH"),
        ("how much is half a bitcoin", 0.5, "BTC"),
        ("one btc in dollars", 1, "BTC"),
        ("two hundred dollars of eth", 200, "USD"),
        ("fifty bucks of doge", 50, "USD"),
        ("1.5 million dollars in sol", 1_500_000, "USD"),
        ("5k$ in btc", 5_000, "USD"),
        ("convert 100 usdt to btc", 100, "USD"),
        ("how much doge can i get for 1k", 1_000, None),
        ("1bn of btc", 1e9, None),
        ("10k doge in usd", 10_000, "DOGE"),
        ("5k of sol for $7", 7, "USD"),
    ],
)
def test_an_amount_has_a_value_and_what_it_is_of(text: str, value: float, unit: str | None) -> None:
    assert read(text).entities.amount == Amount(value, unit)
    assert "AMOUNT" in read(text).masked


@pytest.mark.parametrize("text", ["top 5 coins", "2 of them", "a btc", "half of it", "btc 7 days ago", "x 5", "5, btc"])
def test_a_count_is_no_amount(text: str) -> None:
    assert read(text).entities.amount is None


@given(st.floats(0.001, 1e9).map(lambda value: round(value, 3)), st.sampled_from(["{:,.3f}", "{:.3f}"]))
def test_any_amount_of_dollars_keeps_its_value(value: float, form: str) -> None:
    assert read(f"${form.format(value)} in eth").entities.amount == Amount(value, "USD")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("hold $10k long eth for 3 days", 3),
        ("short sol for a week", 7),
        ("10k long btc for 12 hours", 0.5),
        ("what do i pay on btc over 2 days", 2),
        ("hold eth overnight", 0.5),
        ("hold eth", None),
        ("what did btc cost 3 days ago", None),
        ("btc 3 days", None),
    ],
)
def test_what_is_held_is_held_for_days(text: str, days: float | None) -> None:
    assert read(text).entities.days == days


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("top 5 coins", 5),
        ("top five gainers", 5),
        ("10 biggest losers", 10),
        ("show 3 coins with highest funding", 3),
        ("best 3 memes", 3),
        ("3 memes", 3),
        ("last 10 walkforward signals", 10),
        ("three weakest L2s", 3),
        ("top 5 of l2", 5),
        ("gainers and only the top two", 2),
        ("top gainers", None),
        ("top 0 coins", None),
        ("top 5000 coins", None),
        ("top 2.5 coins", None),
        ("5 of them", None),
        ("the first one is best", None),
        ("top 5k coins", None),
        ("layer 2 coins", None),
    ],
)
def test_a_limit_is_a_count_of_things(text: str, limit: int | None) -> None:
    assert read(text).entities.limit == limit
