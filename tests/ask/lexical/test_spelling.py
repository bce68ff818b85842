"""Typos."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.parser.language import KEYWORDS, Speller, near

SPELLER = Speller({word: word for word in KEYWORDS})


def distance(one: str, other: str) -> int:
    """Optimal string alignment, the textbook's whole table."""
    table = {(row, 0): row for row in range(len(one) + 1)} | {(0, column): column for column in range(len(other) + 1)}
    for row in range(1, len(one) + 1):
        for column in range(1, len(other) + 1):
            differs = one[row - 1] != other[column - 1]
            best = min(table[row - 1, column] + 1, table[row, column - 1] + 1, table[row - 1, column - 1] + differs)
            if row > 1 and column > 1 and one[row - 1] == other[column - 2] and one[row - 2] == other[column - 1]:
                best = min(best, table[row - 2, column - 2] + 1)
            table[row, column] = best
    return table[len(one), len(other)]


@given(st.text("abc", min_size=1, max_size=7), st.text("abc", max_size=7), st.integers(0, 3))
def test_mistakes_are_counted_as_the_textbook_counts_them(one: str, other: str, most: int) -> None:
    assert near(one, [other], most) == ([other] if distance(one, other) <= most else [])


@given(st.sampled_from(sorted(KEYWORDS)), st.data())
def test_a_corrected_word_is_never_far_from_what_was_written(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 1))
    written = word[:at] + data.draw(st.sampled_from("abcdez")) + word[at + data.draw(st.integers(0, 1)) :]
    mended = SPELLER.correct(written)
    assert mended is None or distance(written, mended) <= (2 if len(written) >= 7 else 1)


@pytest.mark.parametrize(
    ("words", "written", "mended"),
    [
        (("bitcoin", "solana"), "bitcon", "bitcoin"),
        (("bitcoin", "solana"), "sol", None),
        (("bitcoin", "solana"), "s0lana", None),
        (("cardano",), "cardona", "cardano"),
        (("cardano",), "dardona", None),
        (("horse", "house"), "hoese", None),
        (("crate", "grate"), "frate", None),
        (("price", "prices"), "pricee", "price"),
        (("price", "prices"), "pricess", "prices"),
        (("tron",), "torn", "tron"),
        (("tron",), "trom", None),
        (("apple",), "aple", "apple"),
        (("bittensor",), "x" * 30, None),
    ],
)
def test_a_typo_is_corrected_where_one_word_alone_is_meant(
    words: tuple[str, ...], written: str, mended: str | None
) -> None:
    assert Speller({word: word for word in words}).correct(written) == mended


def test_of_two_names_of_one_thing_either_corrects_a_typo() -> None:
    same: Mapping[str, object] = {"amazon": "xyz:AMZN", "amzn": "xyz:AMZN"}
    assert Speller(same).correct("amazn") in same
