"""JSON from untrusted senders, read strictly: what two parsers might read differently is refused."""

import codecs
import json
import re
from typing import Final, TypeVar

import msgspec

DEEPEST: Final = 32

_T = TypeVar("_T")
_NO_BRACKETS: Final = bytes(sorted(set(range(256)) - set(b"{}[]")))
_TO_BRACES: Final = bytes.maketrans(b"[]", b"{}")


_LENIENT: Final = json.JSONDecoder(parse_int=str, parse_float=str)
_UNTERMINATED: Final = "Unterminated string"
_FAULTS: Final = {
    "Expecting value": "a value is expected",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected",
    "Expecting ':' delimiter": "a colon is expected",
    "Expecting ',' delimiter": "a comma or a closing bracket is expected",
    "Extra data": "its end is expected",
    "Invalid control character at": "a control character must be escaped",
    "Invalid \\escape": "JSON has no such escape",
    "Invalid \\uXXXX escape": "JSON has no such escape",
    "Illegal trailing comma before end of object": "a comma stands before the end",
    "Illegal trailing comma before end of array": "a comma stands before the end",
}
"""What Python's parser says → what is said here."""

_HIGH: Final = r"\\u[Dd][89ABab][0-9A-Fa-f]{2}"
_LOW: Final = r"\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}"
_NO_NUMBER: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)
_NO_CHARACTER: Final = re.compile(rf"\\[^u]|{_HIGH}{_LOW}|({_HIGH}|{_LOW})", re.DOTALL)


class StrictError(ValueError):
    """A text that is refused.

    Args:
        reason: What is wrong, as it goes on after the name of the text.
        name: The member it is about, if it is about one.
    """

    def __init__(self, reason: str, name: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.name = name


def check_depth(raw: bytes) -> None:
    """Refuse a text that is nested deeper than `DEEPEST`, before a parser descends into it.

    Raises:
        StrictError: If it is, or if it has so many brackets and they do not match.
    """
    if raw.count(b"[") + raw.count(b"{") <= DEEPEST:
        return
    if b"\\" in raw:
        # Left to right, so that every quotation mark that stays opens or closes a string.
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(raw.split(b'"')[::2]).translate(_TO_BRACES, _NO_BRACKETS)
    for _ in range(DEEPEST):
        if not brackets:
            return
        brackets = brackets.replace(b"{}", b"")  # The innermost level.
    if brackets:
        raise StrictError(f"is nested more than {DEEPEST} deep, or its brackets do not match")


def parse(decoder: "msgspec.json.Decoder[_T]", raw: bytes) -> _T:
    """Decode a JSON text whose depth was checked.

    Args:
        decoder: Of the type it must be.
        raw: The text.

    Raises:
        StrictError: If it is not UTF-8 or not JSON.
        msgspec.ValidationError: If it is JSON of another shape.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        raise
    except UnicodeDecodeError:
        raise StrictError("is not UTF-8") from None
    except msgspec.DecodeError:
        raise StrictError(_fault_of(raw)) from None


def _fault_of(raw: bytes) -> str:
    """What is wrong with a text that is no JSON, and where."""
    if raw.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "begins with a byte order mark: send UTF-8 without one"
    try:
        text = raw.decode()
        _LENIENT.decode(text)
    except UnicodeDecodeError:
        return "is not UTF-8"
    except json.JSONDecodeError as error:
        return _described(error)
    for pattern, fault in (
        (_NO_NUMBER, "is not valid JSON: {} is no number"),
        (_NO_CHARACTER, "holds {}, which is no character"),
    ):
        if found := next((each for each in pattern.finditer(text) if each[1]), None):
            return fault.format(found[1]) + _place(text, found.start(1))
    return "is not valid JSON"


def _described(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "is empty"
    if not error.doc[error.pos :].strip() or error.msg.startswith(_UNTERMINATED):
        return "is not valid JSON: it ends too early"
    return f"is not valid JSON: {_FAULTS.get(error.msg, 'it is malformed')}{_place(error.doc, error.pos)}"


def _place(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    return f", at line {text.count(chr(10), 0, at) + 1}, column {at - begin + 1}"


def refuse_nul(raw: bytes) -> None:
    """Refuse a JSON text that holds U+0000, at which some readers end a text, and which not every store takes.

    Args:
        raw: A text that `parse` has read: it can only be written as an escape.

    Raises:
        StrictError: If it does.
    """
    if b"\\u0000" in raw.replace(b"\\\\", b""):
        raise StrictError("holds U+0000, which is no letter")


def refuse_repeats(raw: bytes) -> None:
    """Refuse a JSON text in which an object names a member twice: parsers disagree on which of them counts.

    Args:
        raw: A text that `parse` has read.

    Raises:
        StrictError: Naming the member; or if the text is not UTF-8, where `parse` did not have to look.
    """
    try:
        _REPEATS.decode(raw.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        raise StrictError("is not UTF-8") from None


def _refuse_repeats(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise StrictError("is given more than once", repeated)


_REPEATS: Final = json.JSONDecoder(object_pairs_hook=_refuse_repeats, parse_int=str, parse_float=str)
"""Made once: `json.loads` makes a decoder for each text. Numbers stay text: Python refuses to read an integer of
more than 4,300 digits."""
