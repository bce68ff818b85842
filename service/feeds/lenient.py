"""Text and lists with blemishes: a byte of another encoding costs one letter, a bad row of a list that row."""

import codecs
import re
from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]+")
"""Characters that XML 1.0 §2.2 excludes, and DEL."""

_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WITHOUT_MARK: Final = {"utf-16-le": b"<\0", "utf-16-be": b"\0<"}
_UNREAL: Final = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"})
"""Encodings of Python in which no feed is written; some take quadratic time."""

_WIDE: Final = ("utf-16", "utf-32")
_SINGLE_BYTES: Final = "verdict.cp1252"


def decode_text(body: bytes, declared: str | None = None) -> str:
    """Decode text past bytes of another encoding: in UTF-8 they are read as Windows-1252, else replaced.

    Args:
        body: With any byte order marks, which are removed.
        declared: The encoding that the text names itself; UTF-8 if null or unknown.
    """
    if body.startswith(_UTF_16):
        return body.decode("utf-16", "replace")
    for wide, mark in _WITHOUT_MARK.items():
        if body.startswith(mark):
            return body.decode(wide, "replace")
    while body.startswith(codecs.BOM_UTF8):
        body, declared = body.removeprefix(codecs.BOM_UTF8), None
    encoding = _known(declared or "utf-8")
    return body.decode(encoding, _SINGLE_BYTES if encoding == "utf-8" else "replace")


def decode_rows(rows: Iterable[msgspec.Raw], decoder: msgspec.json.Decoder[T]) -> tuple[list[T], int]:
    """Decode the rows of a list one by one.

    Returns:
        The rows that can be read, and the number of the others.
    """
    read, lost = [], 0
    for row in rows:
        try:
            read.append(decoder.decode(row))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            lost += 1
    return read, lost


def _known(declared: str) -> str:
    try:
        found = codecs.lookup(declared)
    except LookupError:
        return "utf-8"
    name = found.name.replace("_", "-")
    is_text = found._is_text_encoding  # noqa: SLF001 - the only way to know
    is_real = name not in _UNREAL and not name.startswith(_WIDE)  # a wide one has a mark, or is no feed
    return found.name if is_text and is_real else "utf-8"


def _read_as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(_SINGLE_BYTES, _read_as_windows_1252)
