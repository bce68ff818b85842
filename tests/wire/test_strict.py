"""JSON from strangers: read alike by every parser, or not at all."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.wire.strict import DEEPEST, StrictError, check_depth, parse, refuse_nul, refuse_repeats

ANY = msgspec.json.Decoder(Any)
NESTING = st.recursive(
    st.none() | st.text(st.sampled_from('[]{}\\"a')),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from('[]{}\\"a')), inner, max_size=3)
    ),
    max_leaves=20,
)


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"\\"[":', "}]")])
def test_thirty_two_levels_are_read_and_thirty_three_are_not(opening: str, closing: str) -> None:
    levels = DEEPEST // len(closing)
    check_depth(f"{opening * levels}0{closing * levels}".encode())
    with pytest.raises(StrictError, match="32 deep"):
        check_depth(f"[{opening * levels}0{closing * levels}]".encode())


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    check_depth(json.dumps([[], {}] * 99).encode())


def test_brackets_inside_strings_are_not_brackets() -> None:
    check_depth(json.dumps(["[" * 99, '"' + "{" * 99, "\\" * 3 + '"[' * 99]).encode())


@given(NESTING, st.integers(0, 40))
def test_the_depth_is_what_it_is_once_parsed(value: object, levels: int) -> None:
    for _ in range(levels):
        value = [value]
    raw = json.dumps(value).encode()
    try:
        check_depth(raw)
    except StrictError:
        assert depth(value) > DEEPEST
    else:
        assert depth(value) <= DEEPEST


def test_brackets_without_end_are_refused_without_being_parsed() -> None:
    with pytest.raises(StrictError, match="deep"):
        check_depth(b"[" * 1_000_000)


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark: send UTF-8 without one"),
        ("\ufeff{}".encode("utf-16-le"), "begins with a byte order mark: send UTF-8 without one"),
        ("\ufeff[1]".encode("utf-16-be"), "begins with a byte order mark: send UTF-8 without one"),
        (b'"\\ud800"', r"holds \ud800, which is no character, at line 1, column 2"),
        (b'["\\udc00"]', r"holds \udc00, which is no character, at line 1, column 3"),
        (b'{"\\uD83D\\u0041": 1}', r"holds \uD83D, which is no character, at line 1, column 3"),
        (b'["\\ud83d\\ude00",\n "\\ude00\\ud83d"]', r"holds \ude00, which is no character, at line 2, column 3"),
        (b'["\\\\ud800", "\\n\\udfff"]', r"holds \udfff, which is no character, at line 1, column 16"),
        (b'{"a\\"":"\\\\\\ud800x"}', r"holds \ud800, which is no character, at line 1, column 11"),
        (b'{"a":NaN}', "is not valid JSON: NaN is no number, at line 1, column 6"),
        (b'{"NaN":\n-Infinity}', "is not valid JSON: -Infinity is no number, at line 2, column 1"),
        (b'["NaN\\"", [Infinity]]', "is not valid JSON: Infinity is no number, at line 1, column 12"),
        (b"NaN", "is not valid JSON: NaN is no number, at line 1, column 1"),
        (b'["\xc3\xa9", NaN]', "is not valid JSON: NaN is no number, at line 1, column 7"),
        (b"[nan]", "is not valid JSON: a value is expected, at line 1, column 2"),
        (b"[+1]", "is not valid JSON: a value is expected, at line 1, column 2"),
        (b"[01]", "is not valid JSON: a comma or a closing bracket is expected, at line 1, column 3"),
        (b"{", "is not valid JSON: it ends too early"),
        (b'{"a": "b', "is not valid JSON: it ends too early"),
        (b"[1, \n", "is not valid JSON: it ends too early"),
        (b"{]", "is not valid JSON: a name in double quotes is expected, at line 1, column 2"),
        (b"{'a':1}", "is not valid JSON: a name in double quotes is expected, at line 1, column 2"),
        (b'{"a" 1}', "is not valid JSON: a colon is expected, at line 1, column 6"),
        (b'"a\nb"', "is not valid JSON: a control character must be escaped, at line 1, column 3"),
        (b'"\\x"', "is not valid JSON: JSON has no such escape, at line 1, column 2"),
        (b"{} {}", "is not valid JSON: its end is expected, at line 1, column 4"),
    ],
)
def test_what_is_not_json_is_refused_with_what_is_wrong_and_where(raw: bytes, fault: str) -> None:
    with pytest.raises(StrictError) as caught:
        parse(ANY, raw)
    assert caught.value.reason == fault


def test_what_is_not_utf_8_is_refused() -> None:
    with pytest.raises(StrictError, match="is not UTF-8"):
        parse(ANY, b'"\xff"')
    with pytest.raises(StrictError, match="is not UTF-8"):
        refuse_repeats(b'"\xff"')


def test_json_of_another_shape_is_said_to_be_of_another_shape() -> None:
    with pytest.raises(msgspec.ValidationError):
        parse(msgspec.json.Decoder(int), b'"1"')


@pytest.mark.parametrize("raw", [b'{"a":1,"a":1}', b'[{"b":[{"a":1,"\\u0061":2}]}]', b'{"a":{"x":1},"b":2,"a":{}}'])
def test_a_member_named_twice_is_refused_by_its_name(raw: bytes) -> None:
    with pytest.raises(StrictError, match="more than once") as caught:
        refuse_repeats(raw)
    assert caught.value.name == "a"


def test_the_same_name_in_different_objects_is_no_repeat() -> None:
    refuse_repeats(b'[{"a":1},{"a":{"a":1}}]')


def test_an_integer_of_any_length_is_not_the_concern_of_the_search_for_repeats() -> None:
    refuse_repeats(b'{"a":' + b"9" * 9_999 + b"}")


@given(st.text(st.sampled_from('\0\\"u0')))
def test_nul_is_refused_however_it_is_escaped_and_nothing_else(text: str) -> None:
    raw = json.dumps(text).encode()
    if "\0" not in text:
        refuse_nul(raw)
        return
    with pytest.raises(StrictError, match="U\\+0000"):
        refuse_nul(raw)
