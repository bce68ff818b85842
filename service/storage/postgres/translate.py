"""Translates SQLite's SQL and values for PostgreSQL."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

_LITERAL: Final = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*)")
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|\?(\d*)|[()]|\b(?:VALUES|ON|RETURNING)\b")
_INSERTS: Final = re.compile(r"\s*INSERT\b")
_TYPE_OF: Final[dict[type, str]] = {
    int: "::BIGINT",
    bool: "::BIGINT",
    float: "::DOUBLE PRECISION",
    str: "::TEXT",
    bytes: "::BYTEA",
}
_WORDS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\bIS NOT (?!NULL\b|DISTINCT\b|TRUE\b|FALSE\b)"), "IS DISTINCT FROM "),
    (re.compile(r"\bIS (?!NOT\b|NULL\b|DISTINCT\b|TRUE\b|FALSE\b)"), "IS NOT DISTINCT FROM "),
    (re.compile(r"\bAS INTEGER\s*\)"), "AS BIGINT)"),
    (re.compile(r"\bAS REAL\s*\)"), "AS DOUBLE PRECISION)"),
    (re.compile(r"\bAS BLOB\s*\)"), "AS BYTEA)"),
    (re.compile(r"\bINDEXED BY \w+"), ""),
)
_CACHED: Final = 1_024


class _Statement(Struct, frozen=True):
    """One statement, taken apart at its placeholders.

    Attributes:
        pieces: The text between the placeholders: one more than there are of them.
        places: For each placeholder, which of PostgreSQL's parameters it is, counted from 1.
        typed: For each placeholder, whether it tells the type of its value; in the rows of an `INSERT` the columns do.
        taken: Which of the caller's values are sent, in PostgreSQL's order: one that no placeholder names has no type.
    """

    pieces: tuple[str, ...]
    places: tuple[int, ...]
    typed: tuple[bool, ...]
    taken: tuple[int, ...]


def translate(sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """One statement and its values, as PostgreSQL takes them.

    Args:
        sql: A statement as SQLite takes it, its placeholders `?` or `?N`.
        parameters: What the placeholders stand for.

    Returns:
        The text, in which each placeholder tells the type of its value, and the values, as both stores can hold them.

    Raises:
        IndexError: If there are fewer values than placeholders.
    """
    taken, tells = _outline(sql)
    values = [hold(parameters[place]) for place in taken]
    return _text(sql, tuple(map(type, values)) if tells else ()), values


def hold(value: Any) -> Any:
    """A value as both stores can hold it.

    SQLite keeps no NaN, which is null there, and no sign of zero; PostgreSQL no U+0000 in text, which becomes U+FFFD.
    Parsers of external text handle this earlier; this is the last resort, because a refused row would be refused again.
    """
    if isinstance(value, float):
        return None if value != value else value + 0.0  # noqa: PLR0124 - NaN alone is not itself
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def say(sql: str) -> str:
    """Say in PostgreSQL's words what stands outside of literals and comments."""
    parts = _LITERAL.split(sql)
    for place in range(0, len(parts), 2):
        for pattern, words in _WORDS:
            parts[place] = pattern.sub(words, parts[place])
    return "".join(parts)


@lru_cache(maxsize=_CACHED)
def _outline(sql: str) -> tuple[tuple[int, ...], bool]:
    statement = _take_apart(sql)
    return statement.taken, any(statement.typed)


@lru_cache(maxsize=_CACHED)
def _text(sql: str, types: tuple[type, ...]) -> str:
    statement = _take_apart(sql)
    text = statement.pieces[0]
    for place, typed, piece in zip(statement.places, statement.typed, statement.pieces[1:], strict=True):
        text += f"${place}{_TYPE_OF.get(types[place - 1], '') if typed else ''}{piece}"
    return text


def _take_apart(sql: str) -> _Statement:
    said = say(sql)
    inserts = _INSERTS.match(said) is not None
    pieces: list[str] = []
    numbers: list[int] = []
    typed: list[bool] = []
    in_rows, depth, start = False, 0, 0
    for token in _TOKEN.finditer(said):
        word = token.group()
        if word[0] == "?":
            numbers.append(int(token[1]) - 1 if token[1] else len(numbers))
            typed.append(not (in_rows and depth == 1 and _stands_alone(said, token)))
            pieces.append(said[start : token.start()])
            start = token.end()
        elif word in {"(", ")"}:
            depth += 1 if word == "(" else -1
        elif inserts and depth == 0 and word.isalpha():
            in_rows = word == "VALUES"
    taken = tuple(dict.fromkeys(numbers))
    place_of = {number: place for place, number in enumerate(taken, start=1)}
    return _Statement((*pieces, said[start:]), tuple(place_of[number] for number in numbers), tuple(typed), taken)


def _stands_alone(sql: str, token: re.Match[str]) -> bool:
    return sql[: token.start()].rstrip()[-1:] in {"(", ","} and sql[token.end() :].lstrip()[:1] in {")", ","}
