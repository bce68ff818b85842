"""Requests that are no query of data: forecasts, orders, other subjects, the account, definitions. Pure.

The phrases are data: `requests.toml`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from service.ask.load import load
from service.ask.parser.chunks import Chunk
from service.ask.query import Window
from service.ask.understanding import Reason

_DEFINING: Final = re.compile(
    r"\b(?:define|definition|explain|meaning|(?<!i )means?|signify|signifies|stand for|stands for|difference between"
    r"|calculated|computed|determined|derived|do you (?:calculate|compute|determine|derive)|plain english|pays whom)\b"
)
_PLAIN: Final = re.compile(
    r"(?:what(?:s| is| are|s a| is a| is an)|whats the term|term) (?:a |an )?(.+?)(?: here| please| in crypto)?"
)
"""So: "what is funding?". With an article before it ("what is the funding") a figure is asked for."""

_DATA: Final = frozenset({"coin", "asset", "category", "time", "set", "wallet", "show", "neg"})
_LONGEST_TERM: Final = 4
_MEANING: Final = (["mean"], ["means"])

_GAP: Final = 3
_NAMED: Final = frozenset({"coin", "asset", "category", "unknown"})

Intent: TypeAlias = Literal["out-of-scope", "forecast", "not-available", "account", "pricing", "help", "smalltalk"]
Place: TypeAlias = frozenset[str] | None
"""One place of a phrase: the words that fit it, or null for up to three words of any kind."""


class RequestRule(Struct, frozen=True):
    """Phrases of one intent.

    Attributes:
        intent: What is asked for.
        weight: Of several rules that match, the heaviest holds.
        phrases: One a line.
        where: `nothing`: holds only where no coin, asset or category is named.
        unless: Words of which none may occur.
    """

    intent: Intent
    weight: int
    phrases: str
    where: Literal["any", "nothing"] = "any"
    unless: str = ""


class _Tables(Struct):
    classes: dict[str, str]
    requests: tuple[RequestRule, ...]


class _Phrase(Struct, frozen=True):
    """A phrase: its rule, and its places after the first."""

    rule: RequestRule
    rest: tuple[Place, ...]


class RequestMatch(NamedTuple):
    """A rule that a message matches, and the first and last of the chunks by which it does."""

    rule: RequestRule
    first: int
    last: int


def gate(chunks: Sequence[Chunk], written: Sequence[str]) -> RequestMatch | None:
    """The heaviest rule that a message matches; null where it may be a query.

    Args:
        chunks: Its pieces.
        written: Their words.
    """
    named = any(chunk.kind in _NAMED for chunk in chunks)
    words = _masked(chunks, written)
    places = [
        at for at, (chunk, said) in enumerate(zip(chunks, written, strict=True)) for _ in _mask(chunk, said).split()
    ]
    places = [0, *places, len(chunks) - 1]
    matches = [
        RequestMatch(phrase.rule, places[at], places[end - 1])
        for at, word in enumerate(words)
        for phrase in _PHRASES.get(word, ())
        if not (named and phrase.rule.where == "nothing")
        and (end := _fits(phrase.rest, words, at + 1))
        and set(words).isdisjoint(phrase.rule.unless.split())
    ]
    return max(matches, key=lambda match: match.rule.weight, default=None)


def reason_of(rule: RequestRule) -> Reason | None:
    """Why a rule's questions are refused; null where they are answered."""
    if rule.intent in {"forecast", "not-available", "out-of-scope"}:
        return rule.intent
    return None


def _masked(chunks: Sequence[Chunk], written: Sequence[str]) -> list[str]:
    """The words that phrases are looked for in, between a mark of the beginning and one of the end."""
    text = " ".join(_mask(chunk, words) for chunk, words in zip(chunks, written, strict=True))
    return ["^", *(_number(word) for word in text.split()), "$"]


def _mask(chunk: Chunk, words: str) -> str:
    if chunk.kind in _NAMED:
        return chunk.kind.upper()
    if chunk.kind == "time" and isinstance(chunk.value, Window):
        return "PERIOD"
    if chunk.kind == "number" and (chunk.value.unit == "USD" or chunk.value.scaled):
        return "AMOUNT"
    return words


def _number(word: str) -> str:
    if word.isdigit():
        return "YEAR" if "2030" <= word < "2100" and len(word) == len("2030") else "#"
    if word.replace(".", "", 1).isdigit():
        return "DECIMAL"
    return "TIMES" if word[:-1].isdigit() and word.endswith("x") else word


def _fits(rest: tuple[Place, ...], words: Sequence[str], start: int) -> int | None:
    """Where the words from `start` that fit the places end; null where none do. All ways are tried at once."""
    reached = {start}
    for place in rest:
        if place is None:
            reached = {at + more for at in reached for more in range(_GAP + 1)}
        else:
            reached = {at + 1 for at in reached if at < len(words) and words[at] in place}
    return max(reached, default=None)


def _build() -> Mapping[str, Sequence[_Phrase]]:
    tables = load(Path(__file__).with_name("requests.toml"), _Tables)
    phrases: dict[str, list[_Phrase]] = {}
    for rule in tables.requests:
        for line in rule.phrases.splitlines():
            for first, *rest in _ways([_place(slot, tables.classes) for slot in line.split()]):
                for word in sorted(first or ()):
                    phrases.setdefault(word, []).append(_Phrase(rule, tuple(rest)))
    return phrases


def _place(slot: str, classes: Mapping[str, str]) -> tuple[Place, bool]:
    """A place of a phrase, and whether it may be missing."""
    if slot == "..":
        return None, False
    words: set[str] = set()
    for word in slot.removesuffix("?").split("|"):
        words.update(classes[word[1:-1]].split() if word.startswith("<") else [word])
    return frozenset(words), slot.endswith("?")


def _ways(places: Sequence[tuple[Place, bool]]) -> Iterator[tuple[Place, ...]]:
    """Every way to read a phrase whose places may be missing."""
    if not places:
        yield ()
        return
    place, optional = places[0]
    for rest in _ways(places[1:]):
        yield (place, *rest)
        if optional:
            yield rest


_PHRASES: Final = _build()
"""Phrases by the words they may begin with."""


def defined_terms(terms: Mapping[str, str], chunks: Sequence[Chunk], written: Sequence[str]) -> list[str]:
    """The terms a message asks to define, one or two; none where it asks for data.

    Args:
        terms: Words of the glossary to their key.
        chunks: The pieces of the message.
        written: Their words.
    """
    if any(chunk.kind in _DATA or (chunk.kind == "number" and chunk.value.unit) for chunk in chunks):
        return []
    text = " ".join(written)
    plain = _PLAIN.fullmatch(text)
    key = terms.get(plain[1]) or terms.get(plain[1].removesuffix("s")) if plain is not None else None
    if key is not None:
        return [key]
    words = text.split()
    if _DEFINING.search(text) is None or "why" in words:
        return []
    found: list[str] = []
    at = 0
    while at < len(words):
        size = next((size for size in range(_LONGEST_TERM, 0, -1) if " ".join(words[at : at + size]) in terms), 0)
        if size and words[at : at + size] not in _MEANING:
            found.append(terms[" ".join(words[at : at + size])])
        at += size or 1
    return list(dict.fromkeys(found))[: 2 if "difference" in words else 1]
