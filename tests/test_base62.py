import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import base62


@given(st.integers(0, 62**8 - 1))
def test_a_number_is_read_as_it_was_written(number: int) -> None:
    text = base62.encode(number, 8)
    assert len(text) == 8
    assert base62.decode(text) == number


def test_digits_come_before_capitals_and_capitals_before_small_letters() -> None:
    assert [base62.encode(number, 2) for number in (0, 9, 10, 35, 36, 61, 62)] == [
        "00", "09", "0A", "0Z", "0a", "0z", "10",
    ]  # fmt: skip


def test_what_does_not_fit_is_cut_off_in_front() -> None:
    assert base62.encode(62**3 + 1, 3) == "001"


def test_a_foreign_character_is_refused() -> None:
    with pytest.raises(ValueError, match="substring not found"):
        base62.decode("0-0")


def test_drawn_text_is_of_the_alphabet_and_never_the_same() -> None:
    drawn = {base62.random_text(30) for _ in range(100)}
    assert len(drawn) == 100
    assert all(re.fullmatch(r"[0-9A-Za-z]{30}", text) for text in drawn)
