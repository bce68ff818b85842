"""Words and phrases that mean something in a question. The phrases themselves are data: `lexicon.toml`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from service.ask.load import load
from service.ask.query import Measure
from service.ask.understanding import Courtesy

Kind = Literal[
    "measure",
    "state",
    "super",
    "sign",
    "direction",
    "compare",
    "ask",
    "topic",
    "set",
    "frame",
    "side",
    "unsupported",
    "neg",
    "except",
    "holding",
    "and",
    "or",
    "among",
    "filler",
    "ordinal",
    "blocked",
    "option",
]


class Word(Struct, frozen=True):
    """What a phrase means: its kind and value. `value` depends on the kind."""

    kind: Kind
    value: Any


class Super(Struct, frozen=True):
    """A superlative.

    Attributes:
        direction: Most or least.
        measure: The measure it implies; null: the one named beside it.
        plural: Whether several are asked for.
        both: Whether the other end is asked for as well.
        comparative: Whether it compares two things, such as "better".
        orders: Whether it says only in which order things are told, such as "descending".
    """

    direction: Literal["most", "least"]
    measure: str | None = None
    plural: bool = False
    both: bool = False
    comparative: bool = False
    orders: bool = False


class State(Struct, frozen=True):
    """A state: the measure it is one of, how it compares, its name, and for a trend which one."""

    measure: str
    op: Literal["eq", "ge", "le"]
    value: str
    frame: Literal["daily", "weekly"] | None = None


_SIGNS: Final = {"positive": 1, "negative": -1, "up": 1, "down": -1}
_NAMED: Final[Sequence[Kind]] = ("compare", "ask", "topic", "set", "frame", "side", "ordinal")


def _entries(tables: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], Word]]:
    for name, phrases in tables["measure"].items():
        yield phrases, Word("measure", Measure(name))
    for row in tables["several"]:
        for name in row["measures"]:
            yield row["phrases"], Word("measure", Measure(name))
    for row in tables["state"]:
        yield row["phrases"], Word("state", msgspec.convert(row, State))
    for name, phrases in (*tables["sign"].items(), *tables["direction"].items()):
        yield phrases, Word("sign" if name in tables["sign"] else "direction", _SIGNS[name])
    for row in tables["super"]:
        yield row["phrases"], Word("super", msgspec.convert(row, Super))
    for kind in _NAMED:
        for name, phrases in tables[kind].items():
            yield phrases, Word(kind, name)
    for name, phrases in tables["plain"].items():
        yield phrases, Word("holding", "profit") if name == "profit" else Word(name, None)


def _options(tables: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], Word]]:
    """What narrows a topic: its value is the topic, the argument and the argument's value."""
    for topic, arguments in tables["option"].items():
        for name, values in arguments.items():
            for value, phrases in values.items():
                yield phrases, Word("option", (topic, name, value))


def _build(tables: Mapping[str, Any]) -> Mapping[str, tuple[Word, ...]]:
    table: dict[str, list[Word]] = {}
    for phrases, word in (*_entries(tables), *_options(tables)):
        for phrase in phrases:
            table.setdefault(phrase, []).append(word)
    return {phrase: tuple(words) for phrase, words in table.items()}


_TABLES: Final = load(Path(__file__).with_suffix(".toml"), dict[str, Any])

LEXICON: Final = _build(_TABLES)
"""Phrase to its meanings, in the order of the file. Which one holds, the grammar decides by what stands beside it."""

LONGEST: Final = max(phrase.count(" ") + 1 for phrase in LEXICON)
"""Words of the longest phrase."""

VOCABULARY: Final = frozenset(word for phrase in LEXICON for word in phrase.split())
"""Every word of every phrase: a typo of one of these is corrected."""

MEANINGFUL: Final = frozenset(
    word
    for phrase, meanings in LEXICON.items()
    if {meaning.kind for meaning in meanings}.isdisjoint({"filler", "ask", "and", "or", "among"})
    for word in phrase.split()
)
"""Words of phrases that change a question. One that was not read as part of such a phrase may change it as well."""

MEASURE_WORDS: Final[Mapping[str, frozenset[str]]] = {
    word: frozenset(
        meaning.value.name
        for phrase, meanings in LEXICON.items()
        for meaning in meanings
        if meaning.kind == "measure" and word in phrase.split()
    )
    for word in ("rate", "level", "reading")
}
"""Words that say a measure again where it is named: "funding at the present rate"."""

COURTESIES: Final[Mapping[str, Courtesy]] = {
    phrase: courtesy for courtesy, phrases in _TABLES["courtesy"].items() for phrase in phrases
}
"""Whole messages that are answered without data."""
