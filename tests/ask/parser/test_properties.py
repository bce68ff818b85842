"""What holds for every text: it is read or refused, the same each time, and nothing that changes it is ignored."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ask.parser import reading as r

_SAID = """
    BTC sol memes coins top 5 20% $100 funding trend price volume 7d today yesterday above below between and or not
    uptrend bullish highest lowest how many which is are why when since ratio convert to of in the it up down 2 last
    week June weekly daily verdict except compare rank average profit bought at long short within high , ? . :
"""
_WORDS = st.sampled_from(_SAID.split())
_ANSWERED = [
    "price of BTC",
    "funding and open interest of HYPE",
    "7d change of SUI",
    "price of ETH yesterday",
    "which L1s are in a weekly uptrend?",
    "coins with funding above 20%",
    "top 5 memes by volume",
    "how many coins are in an uptrend?",
    "is BTC above 100k?",
    "compare BTC and ETH",
    "average funding of L1s",
    "market regime",
]


@pytest.mark.parametrize("question", _ANSWERED)
@pytest.mark.parametrize("added", ["not", "4711"])
def test_a_number_or_a_negation_that_is_added_is_never_ignored(question: str, added: str) -> None:
    plain = r.read(question)
    assert plain.refusal is None
    words = question.split()
    for at in range(len(words) + 1):
        changed = " ".join([*words[:at], added, *words[at:]])
        understood = r.read(changed)
        assert understood.refusal is not None or understood.queries != plain.queries, changed


@pytest.mark.parametrize("question", _ANSWERED)
def test_a_measure_that_is_added_is_answered_or_refused(question: str) -> None:
    plain = r.read(question)
    understood = r.read(f"{question.rstrip('?')} and 30d volatility")
    assert understood.refusal is not None or understood.queries != plain.queries


@pytest.mark.parametrize("question", _ANSWERED)
def test_an_exception_that_names_nothing_is_never_ignored(question: str) -> None:
    assert r.read(f"{question} except").refusal is not None


@given(st.text(max_size=200))
def test_no_text_fails_to_be_read(text: str) -> None:
    understood = r.parser().read([text], r.NOW_MS)
    assert understood.queries or understood.refusal is not None or understood.courtesy is not None


@given(st.text(alphabet=string.printable, max_size=60), st.sampled_from(_ANSWERED))
def test_an_earlier_turn_never_makes_a_question_fail(text: str, question: str) -> None:
    understood = r.parser().read([text, question], r.NOW_MS)
    assert understood.queries or understood.refusal is not None


@pytest.mark.slow
@given(st.lists(_WORDS, min_size=1, max_size=14), st.lists(_WORDS, max_size=8))
def test_no_order_of_words_fails_to_be_read_and_it_is_read_the_same_again(words: list[str], after: list[str]) -> None:
    turns = [" ".join(words), *([" ".join(after)] if after else [])]
    understood = r.parser().read(turns, r.NOW_MS)
    assert understood.queries or understood.refusal is not None or understood.courtesy is not None
    assert r.parser().read(turns, r.NOW_MS) == understood
