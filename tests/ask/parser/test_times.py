"""Windows, instants, days and calendar time, on Monday, 2026-11-23."""

from collections.abc import Mapping

import pytest

from service.ask import query as q
from service.ask.parser.windows import span_since
from service.clock import HOUR_MS, MINUTE_MS
from tests.ask.parser import reading as r


def _days(count: int) -> q.Window:
    return q.Window(count, "d", f"{count} days" if count > 1 else "1 day")


def _hours(count: int) -> q.Window:
    return q.Window(count, "h", f"{count} hours" if count > 1 else "1 hour")


_LAST_MONTH = r.between("2026-10-01", "2026-11-01", "last month")

_MINUTE_MS = r.NOW_MS // MINUTE_MS * MINUTE_MS

_WINDOWS: Mapping[str, q.Span] = {
    "change of SOL over a 60-day horizon": _days(60),
    "24h change of SOL": _hours(24),
    "change of SOL in the last 24 hours": _hours(24),
    "change of SOL in the past hour": _hours(1),
    "change of SOL in the last hour": _hours(1),
    "change of SOL in the last day": _hours(24),
    "SOL change overnight": _hours(12),
    "7d change of SOL": _days(7),
    "7-day return of SOL": _days(7),
    "change of SOL over seven days": _days(7),
    "change of SOL over a week": _days(7),
    "SOL change in the past week": _days(7),
    "SOL change over the last week": _days(7),
    "change of SOL over two weeks": _days(14),
    "change of SOL over a fortnight": _days(14),
    "change of SOL in the past fortnight": _days(14),
    "change of SOL over the last few days": _days(3),
    "change of SOL over the last couple of weeks": _days(14),
    "change of SOL over the last few weeks": _days(21),
    "change of SOL over the last couple days": _days(2),
    "change of SOL over a couple of days": _days(2),
    "change of SOL over the last 7": _days(7),
    "change of SOL over the last 48": _hours(48),
    "change of SOL over the last 5 trading days": _days(5),
    "SOL change over the month": _days(30),
    "3m change of SOL": _days(90),
    "change of SOL over the past quarter": _days(90),
    "1y return of SOL": _days(365),
    "change of SOL over the past year": _days(365),
    "change of SOL from 3 days ago": _days(3),
    "change of SOL since 5 days ago": _days(5),
    "change of SOL since 6 hours ago": _hours(6),
    "weekly change of SOL": _days(7),
    "hourly change of SOL": _hours(1),
    "SOL change in the last 30 days (last month)": _days(30),
}

_CALENDAR: Mapping[str, q.Span] = {
    "change of SOL yesterday": r.YESTERDAY,
    "change of SOL since yesterday": r.between("2026-11-22", None, "since yesterday"),
    "change of SOL last week": r.between("2026-11-16", "2026-11-23", "last week"),
    "change of SOL this month": r.between("2026-11-01", None, "this month"),
    "change of SOL last month": r.between("2026-10-01", "2026-11-01", "last month"),
    "change of SOL in the previous month": r.between("2026-10-01", "2026-11-01", "last month"),
    "change of SOL this quarter": r.between("2026-10-01", None, "this quarter"),
    "change of SOL last quarter": r.between("2026-07-01", "2026-10-01", "last quarter"),
    "change of SOL this year": r.between("2026-01-01", None, "this year"),
    "change of SOL last year": r.between("2025-01-01", "2026-01-01", "last year"),
    "change of SOL in 2025": r.between("2025-01-01", "2026-01-01", "2025"),
    "change of SOL since 2025": r.between("2025-01-01", None, "since 2025"),
    "change of SOL in June": r.between("2026-06-01", "2026-07-01", "June 2026"),
    "change of SOL in december": r.between("2025-12-01", "2026-01-01", "December 2025"),
    "change of SOL in May": r.between("2026-05-01", "2026-06-01", "May 2026"),
    "change of SOL last October": r.between("2026-10-01", "2026-11-01", "October 2026"),
    "change of SOL in June 2025": r.between("2025-06-01", "2025-07-01", "June 2025"),
    "change of SOL since June": r.between("2026-06-01", None, "since June 2026"),
    "change of SOL in Q3": r.between("2026-07-01", "2026-10-01", "the quarter from 2026-07-01"),
    "change of SOL in Q3 2025": r.between("2025-07-01", "2025-10-01", "the quarter from 2025-07-01"),
    "change of SOL since october 5": r.between("2026-10-05", None, "since 2026-10-05"),
    "change of SOL since last Monday": r.between("2026-11-16", None, "since 2026-11-16"),
    "change of SOL since Friday": r.between("2026-11-20", None, "since 2026-11-20"),
    "change of SOL last friday": r.between("2026-11-20", "2026-11-21", "2026-11-20"),
    "change of SOL on monday": r.between("2026-11-16", "2026-11-17", "2026-11-16"),
    "change of SOL from october 5 to today": r.between("2026-10-05", None, "since 2026-10-05"),
    "change of SOL from october 5 until now": r.between("2026-10-05", None, "since 2026-10-05"),
    "change of SOL since listing": q.Between(0, None, "all recorded days"),
    "change of SOL in your history": q.Between(0, None, "all recorded days"),
    "change of SOL this month so far": r.between("2026-11-01", None, "this month"),
    "change of SOL month to date": r.between("2026-11-01", None, "this month"),
    "change of SOL qtd": r.between("2026-10-01", None, "this quarter"),
    "change of SOL year to date": r.between("2026-01-01", None, "this year"),
    "change of SOL since the start of the year": r.between("2026-01-01", None, "this year"),
    "change of SOL today": r.DAY,
    "change of SOL this week": r.WEEK,
    "SOL's change since midnight": r.between("2026-11-23", None, "today so far"),
    "change of SOL wtd": r.between("2026-11-23", None, "this week so far"),
    "change of SOL since the start of this week": r.between("2026-11-23", None, "this week so far"),
    "change of SOL since last month": r.between("2026-10-01", None, "since last month"),
    "change of SOL between october 5 and october 10": r.between("2026-10-06", "2026-10-11", "2026-10-05 to 2026-10-10"),
    "change of SOL from 2026-10-05 to 2026-10-10": r.between("2026-10-06", "2026-10-11", "2026-10-05 to 2026-10-10"),
    "change of SOL from november 20 to yesterday": r.between("2026-11-21", "2026-11-23", "2026-11-20 to 2026-11-22"),
    "change of SOL between the 10th and the 20th of this month": r.between(
        "2026-11-11", "2026-11-21", "2026-11-10 to 2026-11-20"
    ),
    "change of SOL between the 10th and 20th of October": r.between(
        "2026-10-11", "2026-10-21", "2026-10-10 to 2026-10-20"
    ),
    "change of SOL from the 5th of October to the 9th of October": r.between(
        "2026-10-06", "2026-10-10", "2026-10-05 to 2026-10-09"
    ),
    "today, change of SOL since midnight": r.between("2026-11-23", None, "today so far"),
    "change of SOL so far this month": r.between("2026-11-01", None, "this month so far"),
    "change of SOL since the beginning of the month": r.between("2026-11-01", None, "this month"),
}

_SPANS: Mapping[str, q.Span] = {**_WINDOWS, **_CALENDAR}


def _ago(first: int, last: int, words: str) -> q.Between:
    """Between two instants so many hours ago."""
    return q.Between(_MINUTE_MS - first * HOUR_MS, _MINUTE_MS - last * HOUR_MS, words)


_PARTS: Mapping[str, q.Span] = {
    "change of SOL last week, Monday to Sunday": r.between("2026-11-16", "2026-11-23", "last week"),
    "change of SOL over the last calendar week": r.between("2026-11-16", "2026-11-23", "last week"),
    "change of SOL in the third quarter of 2026": r.between(
        "2026-07-01", "2026-10-01", "from 2026-07-01 until 2026-09-30"
    ),
    "change of SOL in the 1st quarter": r.between("2026-01-01", "2026-04-01", "from 2026-01-01 until 2026-03-31"),
    "change of SOL in the first half of November": r.between(
        "2026-11-01", "2026-11-16", "from 2026-11-01 until 2026-11-15"
    ),
    "change of SOL in the second half of last month": r.between(
        "2026-10-16", "2026-11-01", "from 2026-10-16 until 2026-10-31"
    ),
    "change of SOL in the first half of 2026": r.between(
        "2026-01-01", "2026-07-01", "from 2026-01-01 until 2026-06-30"
    ),
    "change of SOL in the second half of last year": r.between(
        "2025-07-01", "2026-01-01", "from 2025-07-01 until 2025-12-31"
    ),
    "change of SOL in the first week of November (1st to 7th inclusive)": r.between(
        "2026-11-01", "2026-11-08", "from 2026-11-01 until 2026-11-07"
    ),
    "change of SOL in the last week of October": r.between(
        "2026-10-25", "2026-11-01", "from 2026-10-25 until 2026-10-31"
    ),
    "change of SOL from the start of October till the end of October": r.between(
        "2026-10-01", "2026-11-01", "from 2026-10-01 until 2026-10-31"
    ),
    "change of SOL since the start of October": r.between("2026-10-01", None, "since 2026-10-01"),
    "change of SOL between 30 and 7 days ago": _ago(30 * 24, 7 * 24, "30 days ago to 7 days ago"),
    "change of SOL between 30 days ago and 7 days ago": _ago(30 * 24, 7 * 24, "30 days ago to 7 days ago"),
    "change of SOL from a month ago to a week ago": _ago(30 * 24, 7 * 24, "30 days ago to 7 days ago"),
    "change of SOL between 2 weeks and 3 days ago": _ago(14 * 24, 3 * 24, "14 days ago to 3 days ago"),
    "change of SOL between 48 and 12 hours ago": _ago(48, 12, "48 hours ago to 12 hours ago"),
    "change of SOL in October 2026, whole month": r.between("2026-10-01", "2026-11-01", "October 2026"),
    "change of SOL in calendar year 2025": r.between("2025-01-01", "2026-01-01", "2025"),
    "change of SOL between 1 and 20 November": r.between("2026-11-02", "2026-11-21", "2026-11-01 to 2026-11-20"),
}


def _hour(day: str, hour: str) -> q.At:
    hours, minutes = map(int, hour.split(":"))
    at_ms = r.day(day).at_ms + (hours * 60 + minutes) * 60_000
    return q.At(at_ms, whole_day=False, words=f"at {hour} UTC on {day}")


"""The close of the hour under way."""

_INSTANTS: Mapping[str, q.Time] = {
    "price of SOL at 14:00 UTC yesterday": _hour("2026-11-22", "14:00"),
    "price of SOL at 2pm on 2026-11-20": _hour("2026-11-20", "14:00"),
    "price of SOL on 2026-11-20 at 9:30": _hour("2026-11-20", "09:30"),
    "price of SOL at noon today": _hour("2026-11-23", "12:00"),
    "price of SOL at the end of October": r.day("2026-10-31"),
    "price of SOL at the start of last month": r.day("2026-10-01"),
    "price of SOL a month (30 days) ago": r.day("2026-10-24", "30 days ago"),
    "price of SOL on the UTC day of 18 November 2026": r.day("2026-11-18"),
    "price of SOL yesterday": r.day("2026-11-22", "yesterday"),
    "price of SOL the day before yesterday": r.day("2026-11-21", "day before yesterday"),
    "price of SOL 7 days ago": r.day("2026-11-16", "7 days ago"),
    "price of SOL a week ago": r.day("2026-11-16", "7 days ago"),
    "price of SOL two weeks ago": r.day("2026-11-09", "14 days ago"),
    "price of SOL a couple of days ago": r.day("2026-11-21", "2 days ago"),
    "price of SOL a month back": r.day("2026-10-24", "30 days ago"),
    "price of SOL 1 day ago": r.day("2026-11-22", "1 day ago"),
    "price of SOL 3 hours ago": q.At(_MINUTE_MS - 3 * HOUR_MS, whole_day=False, words="3 hours ago"),
    "price of SOL an hour ago": q.At(_MINUTE_MS - HOUR_MS, whole_day=False, words="1 hour ago"),
    "price of SOL on October 5": r.day("2026-10-05"),
    "price of SOL on 2026-10-05": r.day("2026-10-05"),
    "price of SOL on 2026/10/05": r.day("2026-10-05"),
    "price of SOL on the 5th of October": r.day("2026-10-05"),
    "price of SOL on 5 oct 2025": r.day("2025-10-05"),
    "price of SOL on October 5th 2025": r.day("2025-10-05"),
    "price of SOL on december 24": r.day("2025-12-24"),
    "price of SOL on 3 apr": r.day("2026-04-03"),
    "price of SOL on tuesday": r.day("2026-11-17"),
    "price of SOL on sun": r.day("2026-11-22"),
    "price of SOL on the 10th of this month": r.day("2026-11-10"),
    "price of SOL on the 1st of last month": r.day("2026-10-01"),
}


@pytest.mark.parametrize(("question", "span"), _PARTS.items(), ids=_PARTS)
def test_a_change_is_over_the_part_of_a_calendar_span_asked_for(question: str, span: q.Span) -> None:
    r.assert_reads(question, [r.value("SOL", r.change(span))])


@pytest.mark.parametrize(("question", "span"), _SPANS.items(), ids=_SPANS)
def test_a_change_is_over_the_span_asked_for(question: str, span: q.Span) -> None:
    r.assert_reads(question, [r.value("SOL", r.change(span))])


@pytest.mark.parametrize(("question", "time"), _INSTANTS.items(), ids=_INSTANTS)
def test_a_price_is_of_the_instant_asked_for(question: str, time: q.Time) -> None:
    r.assert_reads(question, [r.value("SOL", "price", time=time)])


@pytest.mark.parametrize("now", ["right now", "currently", "at the moment", "rn", "at present"])
def test_the_present_in_any_words_is_the_usual_time(now: str) -> None:
    r.assert_reads(f"price of SOL {now}", [r.value("SOL", "price")])


_SPREAD: r.Rows = {
    "change of BTC last week, last month and this year": r.value(
        "BTC",
        r.change(r.between("2026-11-16", "2026-11-23", "last week")),
        r.change(r.between("2026-10-01", "2026-11-01", "last month")),
        r.change(r.between("2026-01-01", None, "this year")),
    ),
    "price and 7d change of BTC": r.value("BTC", "price", r.change(r.WEEK)),
    "7d change and 30d volatility of BTC": r.value("BTC", r.change(r.WEEK), q.Measure("volatility", over=r.MONTH)),
    "change and volatility of BTC over 7 days": r.value("BTC", r.change(r.WEEK), q.Measure("volatility", over=r.WEEK)),
    "average funding of BTC over the last 7 days": r.value(
        "BTC", q.Measure("funding", over=r.WEEK, mean=True), time=r.WEEK
    ),
    "funding of BTC this month": r.value("BTC", q.Measure("funding", over=r.THIS_MONTH, mean=True), time=r.THIS_MONTH),
    "how did BTC do last month (30d)?": r.value("BTC", r.change(r.MONTH)),
    "how did BTC do in the last 7 days?": r.value("BTC", r.change(r.WEEK)),
    "BTC this month": r.value("BTC", r.change(r.THIS_MONTH)),
    "BTC by 7 days": r.value("BTC", r.change(r.WEEK)),
    "price of SOL 7 days ago vs today": (
        r.value("SOL", "price", time=r.day("2026-11-16", "7 days ago")),
        r.value("SOL", "price", r.change(r.WEEK)),
    ),
    "compare the price of SOL 7 days ago with now": (
        r.value("SOL", "price", time=r.day("2026-11-16", "7 days ago")),
        r.value("SOL", "price", r.change(r.WEEK)),
    ),
    "trend of SOL yesterday and a week ago": (
        r.value("SOL", "trend", time=r.day("2026-11-22", "yesterday")),
        r.value("SOL", "trend", time=r.day("2026-11-16", "7 days ago")),
    ),
    "change since october 5 and price of SOL": r.value(
        "SOL", r.change(r.between("2026-10-05", None, "since 2026-10-05")), "price"
    ),
    "funding of BTC this month and last month": r.value(
        "BTC",
        q.Measure("funding", over=r.THIS_MONTH, mean=True),
        q.Measure("funding", over=_LAST_MONTH, mean=True),
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_SPREAD))
def test_every_time_goes_to_what_it_is_said_of(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "price of btc on february 30",
        "price of BTC in 2031",
        "change of SOL in the last minute",
        "price of SOL on 31.12",
        "change of SOL in the last blah 5",
        "change of SOL between the 10th and the day",
        "price of SOL on 2026-13-45",
        "weekly funding of BTC",
        "change of SOL over $5 days",
        "change of SOL over 9000 days",
        "change of SOL over 2.5 days",
        "price of SOL on the 10th of",
        "price of SOL on the 31st of this month",
        "price of SOL on the 12th",
        "change of SOL over the last 17",
        "change of SOL 3 hours ago",
        "price of SOL at 25:00 yesterday",
        "change of SOL since week 54",
        "change of SOL on H1",
        "price of SOL at 14:00",
        "change of SOL since 14:00 yesterday",
        "change of SOL over the last 7 days at 14:00",
        "change of SOL between 7 and 30 days ago",
        "change of SOL between 30 and 7 days",
        "change of SOL in the third half of October",
        "change of SOL in the first week of 2025",
        "change of SOL in the first half of the day",
        "change of SOL in the fifth quarter of 2025",
        "change of SOL in the first week of October (2nd to 7th)",
        "price of SOL on October 5. 2025 was worse",
    ],
)
def test_a_time_that_cannot_be_read_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None


def test_windows_in_a_row_are_one_measure_each() -> None:
    (query,) = r.read("24h, 7d and 30d change of BTC").queries
    assert query.subject == r.coins("BTC")
    assert set(query.measures) == {r.change(r.DAY), r.change(r.WEEK), r.change(r.MONTH)}


def test_the_span_since_an_hour_of_a_day_begins_at_that_hour() -> None:
    then = q.At(at_ms=1_790_000_000_000, whole_day=False, words="8:00 on 2026-09-21")
    assert span_since(then) == q.Between(1_790_000_000_000, None, "since 8:00 on 2026-09-21")


@pytest.mark.parametrize(
    ("since", "first"),
    [
        ("since Q2 2026", "2026-04-01"),
        ("since Q3", "2026-07-01"),
        ("since Q4", "2026-10-01"),
        ("from Q2 until now", "2026-04-01"),
        ("from Q1 to date", "2026-01-01"),
        ("since the second quarter of 2026", "2026-04-01"),
        ("since the start of Q3", "2026-07-01"),
        ("starting Q3", "2026-07-01"),
        ("since H1", "2026-01-01"),
        ("since H2 2025", "2025-07-01"),
        ("since week 12", "2026-03-16"),
        ("since week 50", "2025-12-08"),
        ("from week 3 of 2025 to today", "2025-01-13"),
        ("since the first half of 2026", "2026-01-01"),
    ],
)
def test_a_time_since_a_part_of_a_year_lasts_from_its_first_day_until_now(since: str, first: str) -> None:
    r.assert_reads(f"btc change {since}", [r.value("BTC", r.change(r.between(first, None, f"since {first}")))])


@pytest.mark.parametrize(
    ("time", "first", "after", "words"),
    [
        ("in Q2", "2026-04-01", "2026-07-01", "the quarter from 2026-04-01"),
        ("in H1 2026", "2026-01-01", "2026-07-01", "the half-year from 2026-01-01"),
        ("in week 12", "2026-03-16", "2026-03-23", "the week from 2026-03-16"),
        ("in week 1 of 2026", "2025-12-29", "2026-01-05", "the week from 2025-12-29"),
        ("from Q1 to Q2", "2026-01-01", "2026-07-01", "from 2026-01-01 until 2026-06-30"),
        ("from March to June", "2026-03-01", "2026-07-01", "from 2026-03-01 until 2026-06-30"),
        ("from 2024 to 2025", "2024-01-01", "2026-01-01", "from 2024-01-01 until 2025-12-31"),
        ("from March until now", "2026-03-01", None, "since March 2026"),
        ("since 2025 until now", "2025-01-01", None, "since 2025"),
        ("since 2025", "2025-01-01", None, "since 2025"),
    ],
)
def test_a_span_of_calendar_parts_has_both_of_its_ends(time: str, first: str, after: str | None, words: str) -> None:
    r.assert_reads(f"btc change {time}", [r.value("BTC", r.change(r.between(first, after, words)))])
