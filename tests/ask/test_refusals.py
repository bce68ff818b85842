"""What is said where a question is not answered with figures."""

import re
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.ask.writing import refusals
from service.ask.writing.languages import ENGLISH, SENTENCES
from service.ask.writing.refusals import unknown_names
from service.wire.ask import Entities, Intent, Refusal
from tests.ask.telling import tell

LANGUAGES = ["es", "fr", "de", "pt", "it", "nl", "tr", "ru", "uk", "pl", "zh", "ja", "ko", "ar", "hi", "vi", "id"]
NUMBER_WORDS = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b")
INTENTS = get_args(Intent)


def refuse(refusal: Refusal | None, intent: Intent = "price", language: str = "en", **entities: Any) -> str:
    return tell(refusals, intent=intent, refusal=refusal, language=language, **entities).text


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_asks_in_another_language_is_told_in_it_and_in_english_that_answers_are_in_english(language: str) -> None:
    own, english = refuse("language", language=language).split("\n\n")
    assert own == SENTENCES[language]
    assert english == ENGLISH
    assert "funding on ETH" in own


def test_every_language_that_is_spoken_to_has_a_sentence_of_its_own() -> None:
    assert sorted(SENTENCES) == sorted(LANGUAGES)
    assert len(set(SENTENCES.values())) == len(LANGUAGES)


@pytest.mark.parametrize("language", ["und", "fi", "en"])
def test_a_language_without_a_sentence_is_answered_in_english_alone(language: str) -> None:
    assert refuse("language", language=language) == ENGLISH


@pytest.mark.promise("question.honest")
@pytest.mark.parametrize("refusal", get_args(Refusal))
def test_no_refusal_holds_a_number_and_each_is_short_and_says_what_to_ask(refusal: Refusal) -> None:
    for intent in INTENTS:
        for language in ("en", *LANGUAGES):
            text = refuse(refusal, intent, language, unknown=["FOO"])
            assert not any(character.isnumeric() for character in text)
            assert not NUMBER_WORDS.search(text.lower())
            assert 1 <= len(re.findall(r"[.?!。]", text)) <= 4
            assert "funding on" in text or "“" in text


@pytest.mark.promise("question.honest")
def test_an_unknown_name_is_repeated_and_what_may_have_been_meant_is_offered() -> None:
    text = refuse("unknown-symbol", unknown=["bitcon"], candidates={"bitcon": ["BTC", "BCH", "BSV"]})
    assert text == "I know no coin, asset or category called `bitcon`. Did you mean `BTC`, `BCH` or `BSV`?"


@pytest.mark.promise("question.honest")
def test_an_unknown_name_without_anything_like_it_is_not_answered_about() -> None:
    told = tell(refusals, intent="funding", refusal="unknown-symbol", unknown=["FOO9"])
    assert "`FOO9`" in told.text
    assert "making it up" in told.text
    assert "“funding on BTC”" in told.text
    assert told.unbound == ()


def test_a_coin_that_is_quoted_by_the_thousand_is_not_taken_for_a_single_one() -> None:
    text = refuse("unknown-symbol", unknown=["pepe"], candidates={"pepe": ["KPEPE"]})
    assert "Did you mean `KPEPE`?" in text
    assert "its price is of a whole lot, not of one `pepe`" in text


def test_of_many_unknown_names_and_candidates_a_few_are_said() -> None:
    text = refuse("unknown-symbol", unknown=list("abcdefgh"), candidates={"a": list("STUVWXYZ")})
    assert "`e`" in text
    assert "`f`" not in text
    assert "`S`, `T`, `U`, `V` or `W`?" in text


def test_what_is_unknown_beside_what_is_answered_can_be_said_by_itself() -> None:
    assert unknown_names(Entities(coins=("BTC",))) == ()
    assert len(unknown_names(Entities(unknown=("FOO", "BAR")))) == 3


def test_a_spelling_of_several_coins_is_asked_back() -> None:
    text = refuse("ambiguous", candidates={"gold": ["xyz:GOLD", "PAXG"], "none": []})
    assert text == "`gold` may be `xyz:GOLD` or `PAXG`: which do you mean?"


@pytest.mark.parametrize(
    ("intent", "example"),
    [
        ("funding", "funding on BTC"),
        ("overview", "how is BTC doing"),
        ("category", "how are meme coins doing"),
        ("correlation", "how correlated is BTC with ETH"),
    ],
)
def test_a_question_that_names_nothing_is_asked_back_with_an_example_of_its_kind(intent: Intent, example: str) -> None:
    text = refuse("ambiguous", intent)
    assert text == f"Which coin, asset or category do you mean? Name it, for example: “{example}”."


@pytest.mark.promise("question.honest")
def test_no_future_price_is_said_and_what_is_known_now_is_offered() -> None:
    text = refuse("forecast", "forecast", coins=["ETH"])
    assert "I do not forecast prices: any figure for ETH to come would be made up." in text
    assert "“verdict on ETH”" in text
    assert "any figure to come" in refuse("forecast", "forecast")


def test_a_ticker_that_reads_like_a_figure_stands_apart() -> None:
    assert "“verdict on `XYZ100`”" in refuse("forecast", "forecast", coins=["XYZ100"])


@pytest.mark.promise("question.honest")
def test_what_is_not_followed_is_said_to_be_so() -> None:
    coin = refuse("not-available", "wallets", coins=["SOL"])
    assert "know no token of SOL there" in coin
    assert "“what are whales doing”" in coin
    assert "What anybody holds" in refuse("not-available", "wallets")
    assert "What anybody holds" in refuse("not-available", "wallets", coins=["LINK"], action="not-followed")


def test_what_nobody_has_is_said_with_what_there_is() -> None:
    assert refuse("not-available") == "I do not have that. Ask “help” for what I can look up, or “price of BTC”."


def test_nobody_is_advised_or_acted_for() -> None:
    assert "I do not trade, advise, or act for anybody" in refuse(None, "out-of-scope")


@pytest.mark.promise("question.data-is-data")
@settings(max_examples=50)
@given(st.text(min_size=1, max_size=200))
def test_a_name_comes_back_without_markup_and_not_by_the_page(name: str) -> None:
    text = refuse("unknown-symbol", unknown=[name])
    echoed = text.removeprefix("I know no coin, asset or category called `").split("`. ")[0]
    echoed = echoed.split("`.\n")[0]
    assert len(echoed) <= 41
    assert not set("<>[]`*|\n\\~") & set(echoed)


def test_names_of_fifty_letters_are_cut() -> None:
    assert f"`{'x' * 40}…`" in refuse("unknown-symbol", unknown=["x" * 50])
