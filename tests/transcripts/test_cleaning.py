"""Other people's text as a reader sees it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.transcripts.cleaning import escaped, plain


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("  plain \t words\r\nstay  ", "plain words stay"),
        ("Bit\u200bcoin and E\u00adther", "Bitcoin and Ether"),
        ("\u202egnp.exe\u202c and \u2066isolated\u2069", "gnp.exe and isolated"),
        ("\x1b[31mred\x1b[0m and \x1b[2J\x1b[1;1Hcleared", "red and cleared"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred\x9d0;title\x9cafter", "redafter"),
        ("\x1b]never ended", "never ended"),
        ("\x1bPdevice\x1b\\text \x1b(Bhere", "text here"),
        ("a\u2028b\u2029c\u00a0d\x85e", "a b c d e"),
        ("\ufeffmark", "mark"),
        ("tag\U000e0041s \U000e0100and \ufe0fselectors\u3164", "tags and selectors"),
        ("private \ue000 and unassigned \U000e0fff", "private and unassigned"),
        ("\u00c9t\u00e9, \u4f60\u597d, \U0001f680!", "\u00c9t\u00e9, \u4f60\u597d, \U0001f680!"),
        ("\x00\x07\x08", ""),
    ],
)
def test_a_text_is_what_a_reader_sees(text: str, seen: str) -> None:
    assert plain(text) == seen


@given(st.text())
def test_nothing_hidden_is_left_and_reading_twice_changes_nothing(text: str) -> None:
    seen = plain(text)
    assert not [letter for letter in seen if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}]
    assert seen == seen.strip()
    assert "  " not in seen
    assert plain(seen) == seen


def test_markup_is_escaped_where_a_text_leaves() -> None:
    assert escaped("<b>AT&T</b> \"says\" 'so'") == "&lt;b&gt;AT&amp;T&lt;/b&gt; \"says\" 'so'"
