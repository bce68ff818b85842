"""Times of a day are read in the time zone that is named; one that is unclear refuses the question."""

from datetime import UTC, datetime

import pytest

from service.ask import query as q
from tests.ask.parser.reading import read


def _price_at(question: str) -> str:
    """The UTC minute of the price that a question asks for."""
    understood = read(question)
    assert understood.refusal is None, understood.refusal
    assert understood.unknown == understood.ignored == ()
    (query,) = understood.queries
    assert query.measures == (q.Measure("price"),)
    assert isinstance(query.time, q.At)
    assert not query.time.whole_day
    return f"{datetime.fromtimestamp(query.time.at_ms / 1_000, UTC):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("question", "minute"),
    [
        ("BTC price yesterday at 14:00 PST", "2026-11-22 22:00"),
        ("price of sol yesterday at 9am EST", "2026-11-22 14:00"),
        ("eth price on 2026-07-01 at 9:30 PDT", "2026-07-01 16:30"),
        ("what was eth's price at 18:00 cet on friday?", "2026-11-20 17:00"),
        ("price of xrp on 3 July 2026 at 8 p.m. CEST", "2026-07-03 18:00"),
        ("price of btc on 1 November at 9:00 JST", "2026-11-01 00:00"),
        ("price of btc at 1am KST on 2026-11-20", "2026-11-19 16:00"),
        ("btc price yesterday at 14:00 GMT", "2026-11-22 14:00"),
        ("btc price yesterday 14:00Z", "2026-11-22 14:00"),
        ("price of btc at 9:00 yesterday MST", "2026-11-22 16:00"),
        ("eth price yesterday at 14h CET", "2026-11-22 13:00"),
    ],
)
def test_an_abbreviation_of_a_zone_is_its_offset(question: str, minute: str) -> None:
    assert _price_at(question) == minute


@pytest.mark.parametrize(
    ("question", "minute"),
    [
        ("price of btc yesterday at 14:00 UTC+2", "2026-11-22 12:00"),
        ("price of btc yesterday at 14:00 UTC +5:30", "2026-11-22 08:30"),
        ("price of sol yesterday at 02:00 GMT-3", "2026-11-22 05:00"),
        ("price of sol yesterday at 14:00+02:00", "2026-11-22 12:00"),
        ("eth price at 2026-11-20 22:00 -08:00", "2026-11-21 06:00"),
        ("eth price 2026-11-20T14:00:00+0530", "2026-11-20 08:30"),
        ("eth price at 2026-11-20T14:00Z", "2026-11-20 14:00"),
    ],
)
def test_an_offset_is_taken_from_what_the_clock_shows(question: str, minute: str) -> None:
    assert _price_at(question) == minute


@pytest.mark.parametrize(
    ("question", "minute"),
    [
        ("price of btc at 14:00 Europe/Berlin yesterday", "2026-11-22 13:00"),
        ("price of btc at 14:00 America/New_York on 2026-07-01", "2026-07-01 18:00"),
        ("price of btc yesterday at 2pm ET", "2026-11-22 19:00"),
        ("what did btc trade at yesterday at 4pm Pacific Time?", "2026-11-23 00:00"),
        ("price of eth at 9am Tokyo time yesterday", "2026-11-22 00:00"),
        ("price of eth at 9am in Sydney on 2026-11-20", "2026-11-19 22:00"),
        ("price of eth at 9am yesterday Berlin time", "2026-11-22 08:00"),
        ("eth price at noon New York time on Nov 3", "2026-11-03 17:00"),
        ("eth price at noon London time on July 3", "2026-07-03 11:00"),
    ],
)
def test_a_named_zone_follows_its_daylight_saving(question: str, minute: str) -> None:
    assert _price_at(question) == minute


@pytest.mark.parametrize(
    ("question", "minute"),
    [
        ("btc price yesterday at 23:00 in Auckland", "2026-11-23 10:00"),
        ("btc price yesterday at 23:00 UTC+14", "2026-11-23 09:00"),
        ("btc price today at 1am Tokyo time", "2026-11-22 16:00"),
    ],
)
def test_a_day_is_one_of_the_calendar_of_the_zone(question: str, minute: str) -> None:
    assert _price_at(question) == minute


@pytest.mark.parametrize(
    ("question", "minute"),
    [
        ("btc price at midnight UTC+3", "2026-11-22 21:00"),
        ("btc price at midnight", "2026-11-23 00:00"),
        ("price of eth at midnight UTC", "2026-11-23 00:00"),
        ("sol price at midnight Tokyo time", "2026-11-22 15:00"),
        ("btc price at midnight EST", "2026-11-23 05:00"),
        ("eth price at midnight in New York", "2026-11-23 05:00"),
        ("btc price at midnight UTC-12", "2026-11-22 12:00"),
        ("price of xrp at midnight UTC +5:30", "2026-11-22 18:30"),
    ],
)
def test_midnight_is_the_last_one_of_the_zone(question: str, minute: str) -> None:
    assert _price_at(question) == minute


@pytest.mark.parametrize(
    ("question", "word", "readings"),
    [
        ("btc price at midnight yesterday", "midnight", ("2026-11-22 00:00 UTC", "2026-11-23 00:00 UTC")),
        ("eth price on 12 March at midnight UTC+3", "midnight", ("2026-03-11 21:00 UTC", "2026-03-12 21:00 UTC")),
        ("btc price at 9:00 CST yesterday", "CST", ("UTC-6 (US Central)", "UTC+8 (China)")),
        ("price of sol yesterday at 9am IST", "IST", ("UTC+5:30 (India)", "UTC+2 (Israel)")),
        ("price of eth yesterday at 14:30 bst", "BST", ("UTC+1 (British Summer)", "UTC+6 (Bangladesh)")),
        ("price of eth at 3pm AST on Nov 3", "AST", ("UTC-4 (Atlantic)", "UTC+3 (Arabia)")),
        ("price of eth at 3pm yesterday GST", "GST", ("UTC+4 (Gulf)", "UTC-2 (South Georgia)")),
        ("btc price yesterday at 9:00 local time", "local time", ()),
        (
            "btc price at 1:30am New York time on 1 November",
            "2026-11-01 01:30 America/New_York",
            ("2026-11-01 05:30 UTC", "2026-11-01 06:30 UTC"),
        ),
        ("btc price at 2:30 Europe/Berlin on 2026-03-29", "2026-03-29 02:30 Europe/Berlin", ()),
    ],
)
def test_a_time_that_is_unclear_refuses_the_question_with_its_readings(
    question: str, word: str, readings: tuple[str, ...]
) -> None:
    refusal = read(question).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.words, refusal.candidates) == ("unread", (word,), readings)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("btc price yesterday at 9:00 XQT", "XQT"),
        ("sol price on 2026-11-01 at 9:00 ZZT", "ZZT"),
        ("btc price yesterday PST", "PST"),
        ("eth change in the last 24 hours EST", "EST"),
        ("btc close on 3 November Berlin time", "Berlin"),
        ("btc price yesterday at 14:00 mars time", "mars"),
        ("price of btc at 14:00 UTC+19 yesterday", "UTC+19"),
    ],
)
def test_a_word_behind_a_time_is_no_filler_and_no_coin(question: str, word: str) -> None:
    refusal = read(question).refusal
    assert refusal is not None
    assert refusal.reason == "unread"
    assert word in " ".join(refusal.words)


def test_an_answer_names_the_instant_in_utc_and_as_it_was_asked() -> None:
    (query,) = read("btc price yesterday at 20:00 PST").queries
    assert isinstance(query.time, q.At)
    assert query.time.words == "at 04:00 UTC on 2026-11-23 (20:00 PST)"
