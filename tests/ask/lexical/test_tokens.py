"""Texts cut into words, and numbers in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.parser.tokens import LONGEST, number_at, tidy, tokenise


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's the funding on DOGE & SOL?", "whats the funding on doge and sol"),
        ("btc's price, don't you know?", "btcs price dont you know"),
        ("walk-forward on ETH/BTC", "walk forward on eth btc"),
        ("top 5 by 24h change > 10%", "top 5 by 24h change gt 10%"),
        ("rsi >= 5 and x != 2", "rsi gte 5 and x not 2"),
        ("hold $10k long", "hold 10k long"),
        ("it's +5% and 1,000.50 up", "its 5% and 1,000.50 up"),
        ("caf\u00e9 \u0142\u00f3d\u017a", "cafe lodz"),
        ("\uff22\uff34\uff23 price\u200b", "btc price"),
        ("fetch.ai or pump.fun", "fetch.ai or pump.fun"),
        ("S&P 500", "s&p 500"),
        ("at 14:00, 2 p.m. or 2:30 PM", "at 14:00 2pm or 2:30pm"),
        ("14:00+02:00 or 14:00 -0530 or 14:00Z", "14:00 +02:00 or 14:00 -0530 or 14:00 z"),
        ("UTC+2, GMT -3 and utc-5:30", "utc+2 gmt -3 and utc-5:30"),
        ("2026-11-20T14:00:30Z", "2026 11 20 14:00:30 z"),
        ("10:5 or 1:2:3", "10 5 or 1 2 3"),
        ("", ""),
        ("?!", ""),
    ],
)
def test_a_text_is_cut_into_plain_words(text: str, words: str) -> None:
    assert " ".join(token.word for token in tokenise(tidy(text))) == words


def test_a_word_knows_its_sign_its_owner_and_what_stands_before_it() -> None:
    btc, price, eth, five = tokenise("$BTC's price. ETH -5")
    assert (btc.text, btc.sigil, btc.owns) == ("BTC", "$", True)
    assert (price.gap, price.opens) == ("", False)
    assert (eth.gap, eth.opens) == (".", True)
    assert five.minus
    assert five.is_number


def test_the_point_of_a_short_form_ends_no_sentence() -> None:
    assert [token.opens for token in tokenise("btc vs. eth")] == [False, False, False]


@pytest.mark.parametrize("text", ["5-10", "up -3%", "(-3)", "-3", "x-3"])
def test_a_minus_stands_before_a_number_and_not_between_two(text: str) -> None:
    assert any(token.minus for token in tokenise(text)) is (text not in {"5-10", "x-3"})


def test_lines_and_arrows_separate_clauses() -> None:
    assert tidy("price of btc\nfunding -> eth") == "price of btc ; funding : eth"


@given(st.text(max_size=200))
def test_a_tidy_text_stays_as_it_is_and_is_no_longer_than_allowed(text: str) -> None:
    assert len(tidy(text * 100)) <= 2 * LONGEST
    assert all(token.text for token in tokenise(tidy(text)))


@pytest.mark.parametrize(
    ("text", "value", "size"),
    [
        ("10k", 10_000, 1),
        ("1,000.50", 1_000.5, 1),
        ("2.5 million", 2_500_000, 2),
        ("three hundred", 300, 2),
        ("twenty", 20, 1),
        ("dozen", 12, 1),
        ("two and a half", 2.5, 4),
        ("2 and a half", 2.5, 4),
        ("5 coins", 5, 1),
        ("24h", None, 0),
        ("coin", None, 0),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text: str, value: float | None, size: int) -> None:
    number = number_at(tokenise(text), 0)
    assert (None if number is None else number.value) == value
    assert number is None or number.size == size


@pytest.mark.parametrize(
    ("text", "value", "scaled"),
    [
        ("between 10 and 50 billion", 10e9, True),
        ("from 1 to 5k", 1e3, True),
        ("between ten and fifty thousand", 10e3, True),
        ("between 500 and 2 thousand", 500.0, False),
        ("between 1 and 2", 1.0, False),
        ("between 5% and 10k", 5.0, False),
        ("between 1k and 2 million", 1e3, True),
        ("between 1 and them", 1.0, False),
        ("between 1 or 2k", 1.0, False),
        ("between 1 and", 1.0, False),
        ("until 1 and 2k", 1.0, False),
    ],
)
def test_the_scale_of_a_range_holds_for_both_ends(text: str, value: float, scaled: bool) -> None:
    number = number_at(tokenise(text), 1)
    assert number is not None
    assert (number.value, number.scaled) == (value, scaled)


@pytest.mark.parametrize(("text", "scaled"), [("10k", True), ("10 thousand", True), ("10", False), ("ten", False)])
def test_a_suffix_or_a_word_of_scale_is_told(text: str, scaled: bool) -> None:
    number = number_at(tokenise(text), 0)
    assert number is not None
    assert number.scaled is scaled
