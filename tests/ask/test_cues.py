import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.intents.cues import Cues, words_of
from service.ask.intents.row import CLASSES, Row
from service.ask.intents.table import TABLE


def says(phrases: str, text: str, unless: str = "") -> bool:
    row = Row("price", 50, phrases, unless=unless)
    return bool(Cues((row,)).matching(words_of(text, 100)))


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("price", "the price of COIN"),
        ("price|quote of", "a quote of COIN"),
        ("the? price", "price"),
        ("how .. price", "how is the COIN price"),
        ("how .. .. price", "how on earth is the current COIN price"),
        ("<up> coins", "rising coins"),
        ("^ price $", "price"),
        ("top #", "top 5"),
        ("in YEAR", "in 2031"),
    ],
)
def test_a_phrase_is_found_in_words_that_say_it(phrase: str, text: str) -> None:
    assert says(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("price", "prices"),
        ("price of", "price for of"),
        ("how .. price", "how is it that the price"),
        ("^ price", "the price"),
        ("price $", "price now"),
        ("price now", "price"),
        ("in YEAR", "in 2029"),
        ("in YEAR", "in 20311"),
    ],
)
def test_a_phrase_is_not_found_in_other_words(phrase: str, text: str) -> None:
    assert not says(phrase, text)


def test_a_forbidden_word_rules_a_row_out() -> None:
    assert says("what is", "what is funding", unless="the|your")
    assert not says("what is", "what is the funding", unless="the|your")


def test_words_that_are_to_be_left_out_begin_no_phrase() -> None:
    cues = Cues((Row("price", 50, "price"), Row("funding", 50, "funding")))
    words = words_of("not the price the funding", 100)
    assert cues.matching(words, frozenset({1, 2, 3})) == {1}


def test_of_a_long_text_the_beginning_and_the_end_are_looked_at() -> None:
    words = words_of(" ".join(["first", *["filler"] * 500, "last"]), 90)
    assert len(words) == 92
    assert words[1] == "first"
    assert words[-2] == "last"


SMALL = ("a", "b", "c", "d")


def regex_of(phrase: str) -> re.Pattern[str]:
    """The same phrase as a regular expression over words that each begin with a blank."""
    parts = []
    for slot in phrase.split():
        if slot == "..":
            parts.append(r"(?: \S+){0,3}")
        else:
            one = "|".join(re.escape(word) for word in slot.removesuffix("?").split("|"))
            parts.append(f"(?: (?:{one}))" + ("?" if slot.endswith("?") else ""))
    return re.compile("".join(parts) + r"(?= |$)")


slots = st.sampled_from(["a", "b", "a|b", "c?", "..", "d"])


@given(st.sampled_from(SMALL), st.lists(slots, max_size=5), st.lists(st.sampled_from([*SMALL, "e"]), max_size=12))
def test_phrases_mean_what_a_regular_expression_would(first: str, rest: list[str], words: list[str]) -> None:
    phrase = " ".join([first, *rest])
    text = "".join(f" {word}" for word in ["^", *words, "$"])
    assert says(phrase, " ".join(words)) == bool(regex_of(phrase).search(text))


def test_every_phrase_of_the_table_begins_with_a_word_and_every_class_exists() -> None:
    for row in TABLE:
        lines = [line.split() for line in row.phrases.splitlines() if line.strip()]
        assert lines, row
        for slots_ in lines:
            assert slots_[0] != "..", slots_
            assert not all(slot.endswith("?") or slot == ".." for slot in slots_), slots_
            named = re.findall(r"<([^>]*)>", " ".join(slots_))
            assert set(named) <= CLASSES.keys(), slots_


def test_no_phrase_of_the_table_is_written_twice_in_a_row() -> None:
    for row in TABLE:
        lines = [" ".join(line.split()) for line in row.phrases.splitlines() if line.strip()]
        assert len(lines) == len(set(lines)), row.intent
