"""What a model's text may not say though no figure of it is wrong."""

import pytest

from service.ask.manners import LONGEST, PLAIN, offence

DRAFT = ("**BTC: +10.95 %** a year of funding: longs pay it.", "The trend is UP \u2192 `K\u00e4se`.")
STRANGE = (
    "hacked buy will should better not no never more less higher lower stronger because likely sure sorry rules der "
    "los ETH receive down \u0442\u0435\u0441\u0442 \u6f32 k"
)


@pytest.mark.parametrize(
    "text",
    [
        "Funding of BTC was +10.95 %, and longs pay it.",
        "BTC's trend is UP \u2014 that is what BTC\u2019s data shows\u2026",
        "- BTC: UP\n- \u201cfunding\u201d",
        "| Name | Trend |\n| --- | --- |\n| BTC | UP |",
        "k\u00e4se \u2192",
        "",
    ],
)
def test_the_words_of_the_draft_and_plain_ones_are_no_offence(text: str) -> None:
    assert offence(text, DRAFT) is None


@pytest.mark.parametrize("word", STRANGE.split())
def test_any_other_word_is_one(word: str) -> None:
    assert offence(f"BTC is {word}", DRAFT) is not None
    assert word.lower() not in PLAIN


@pytest.mark.parametrize("character", "\u200b\u202e\ufeff\t\r\x00\x7f\u00a0\U0001f680\u2160\u00e9\uff11")
def test_a_character_that_nobody_needs_is_one(character: str) -> None:
    assert offence(f"BTC is UP {character}", DRAFT) == "its text has characters that nobody needs"


def test_a_text_is_no_longer_than_it_may_be() -> None:
    assert offence(" " * LONGEST, DRAFT) is None
    assert offence(" " * (LONGEST + 1), DRAFT) == "its text is too long"


def test_what_is_logged_of_a_word_is_short() -> None:
    assert offence("x" * 500, DRAFT) == f"its text has a word that the draft does not have: {'x' * 20}"
