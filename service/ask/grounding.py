"""Reads a finished text once more, without knowing how it was written, and refuses whatever no result holds."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Final

from msgspec import Struct

from service.ask.bearings import Bearings, Place
from service.ask.directions import payer, way
from service.ask.evidence import BENCHMARK, Evidence, Fact, is_moment
from service.ask.labels import wrong_labels
from service.ask.markup import forbidden
from service.ask.measures import STATES, SUBJECT_WORDS, Kind, Measure, words_about
from service.ask.mentions import Read, read
from service.ask.numerals import Moment, Numeral, Odd, scan
from service.ask.renderings import has_sign, is_shown_as, magnitude

_WINDOW: Final = re.compile(r"(\d+)(h|d)(?![a-z])")
_SPAN_UNITS: Final = {"h": "hours", "d": "days"}
_TIMES: Final = {
    Measure.DAYS: re.compile(r"\bdays?\b", re.IGNORECASE),
    Measure.HOURS: re.compile(r"\bhours?\b", re.IGNORECASE),
}
"""What must be said beside a bare number of them."""

_LONG: Final = re.compile(r"\blongs?\b", re.IGNORECASE)
_SHORT: Final = re.compile(r"\bshorts?\b", re.IGNORECASE)
_SIDES: Final = {"carry_if_long": _LONG, "long_usd": _LONG, "carry_if_short": _SHORT, "short_usd": _SHORT}
"""What must be said beside what one side receives: without it, it would pass for the funding, sign and all."""

_OTHER_RATE: Final = re.compile(
    r"\b(?:an?|per|each|every|one|/)\s*(?:minute|hour|day|week|month)\b|\bhourly\b|\bmonthly\b", re.IGNORECASE
)
"""What no rate of funding is told by: all of them are of a year."""

_FRAMES: Final = ("daily", "weekly")
_YEARLY: Final = Kind(Measure.PERCENT, frozenset({"funding"}))
_AS_OF: Final = "as of"
_AGE: Final = "/as_of"
_GROUP_TOOLS: Final = frozenset({"category.info", "category.sentiment"})


MOST_TOLD: Final = 16
"""Things that are refused before a text is not read any further."""


class Unbound(Struct, frozen=True):
    """Something of a text that no result holds, and why it is refused."""

    text: str
    why: str


def check(text: str, evidence: Evidence) -> tuple[Unbound, ...]:
    """Look whether every figure, name and label of a text is one of the evidence's.

    Every numeral must be a value of a result in a permitted rendering, with its unit and sign, of the coin named
    nearest and of what the clause is about; or a date of a result; or stand in a string of a result, word for word.
    Numbers in words, digits of other scripts, other units and everything else that could pass for a figure are refused,
    and so are names of coins that no result holds, labels that differ from the coin's, addresses, markup of programs.

    Args:
        text: Markdown, whoever wrote it.
        evidence: What was found.

    Returns:
        What is refused, the first `MOST_TOLD` of it; empty: the text is true to its evidence.
    """
    parts = read(text, evidence)
    markup = tuple(Unbound(text[start:end], why) for start, end, why in forbidden(text, parts.text, evidence))
    return markup[:MOST_TOLD] or tuple(islice(_Reading(text, parts, evidence).refused(), MOST_TOLD))


class _Reading:
    """One text, read against its evidence."""

    def __init__(self, text: str, parts: Read, evidence: Evidence) -> None:
        self._text = text
        self._evidence = evidence
        self._read = parts
        self._bearings = Bearings(parts.text, parts.mentions)
        self._free = _without_owner(evidence)
        self._ledger = _Ledger(evidence.facts)

    def refused(self) -> Iterator[Unbound]:
        parts = self._read
        yield from (Unbound(self._text[start:end], "a name that no result holds") for start, end in parts.strangers)
        for quoted in parts.quotes:
            if not self._belongs(quoted.owners, self._bearings.place(quoted.start, quoted.end).far):
                yield Unbound(self._text[quoted.start : quoted.end], "said of another coin")
        for start, end in wrong_labels(parts.text, self._bearings, self._evidence):
            yield Unbound(self._text[start:end], "a label that differs from the evidence's")
        for token in scan(parts.text):
            why = self._fault(token)
            if why is not None:
                yield Unbound(self._text[token.start : token.end], why)

    def _fault(self, token: Numeral | Moment | Odd) -> str | None:
        if isinstance(token, Odd):
            return token.why
        place = self._bearings.place(token.start, token.end)
        if isinstance(token, Moment):
            known = self._ledger.moments(token.text)
            return (
                None
                if any(self._is_of(fact, place) and self._is_in_frame(fact, place) for fact in known)
                else "no date of the evidence"
            )
        if self._ledger.is_window(token):
            return None
        fits = partial(self._fits, token, place)
        return None if any(map(fits, self._ledger.near(token))) else "no value of the evidence, or not this coin's"

    def _fits(self, token: Numeral, place: Place, fact: Fact) -> bool:
        kind = fact.kind
        if kind is None or not is_shown_as(token, fact, kind):
            return False
        start, end = place.span
        clause = self._read.text[start:end]
        needed = _TIMES.get(kind.measure) if token.unit == "" else _SIDES.get(fact.pointer.rpartition("/")[2])
        if needed is not None and not self._says(needed, place):
            return False
        if kind == _YEARLY and any(_OTHER_RATE.search(self._read.text, *span) for span in place.own):
            return False
        said, paid = way(clause, token.start - start), payer(clause)
        return self._is_about(kind, place) and has_sign(token, fact, kind, said, paid) and self._is_of(fact, place)

    def _says(self, word: re.Pattern[str], place: Place) -> bool:
        return any(word.search(self._read.text, *span) for span in place.near)

    def _is_about(self, kind: Kind, place: Place) -> bool:
        """Whether the nearest words that say what they are about are about this.

        A figure that is about nothing in particular stands where its own clause says nothing either.
        """
        possible = STATES if kind.about & STATES else words_about(kind.measure)
        for span in place.near if kind.about else place.own:
            words = self._read.text[slice(*span)]
            about = {name for name in possible if SUBJECT_WORDS[name].search(words)}
            if about:
                return not about.isdisjoint(kind.about)
        return True

    def _is_in_frame(self, fact: Fact, place: Place) -> bool:
        """Whether a value of the daily or weekly trend, or a result's age, stands where nothing else is spoken of."""
        words = self._read.text[slice(*place.span)].lower()
        if isinstance(fact.value, str) and (_AS_OF in words or not fact.pointer):
            return _AS_OF in words and (not fact.pointer or fact.pointer.endswith(_AGE))
        frames = [frame for frame in _FRAMES if frame in words]
        return len(frames) != 1 or _FRAMES[1 - _FRAMES.index(frames[0])] not in fact.pointer

    def _is_of(self, fact: Fact, place: Place) -> bool:
        """Whether a value is that of the coin named nearest; a correlation is not that of what it is measured by."""
        owners = place.far
        if fact.kind is not None and "correlation" in fact.kind.about and fact.of != BENCHMARK:
            owners = tuple(owner for owner in owners if owner != BENCHMARK) or owners
        return self._belongs((fact.of,), owners)

    def _belongs(self, of: Sequence[str | None], owners: Sequence[str]) -> bool:
        return not owners or any(owner is None or owner in self._free or owner == owners[0] for owner in of)


def _without_owner(evidence: Evidence) -> frozenset[str]:
    """Who needs not be named: the only coin of the evidence, and the only category, whatever coins it is told with."""
    owners = {fact.of for fact in evidence.facts if fact.kind is not None and fact.of is not None}
    groups = {str(found.get("/name")) for found in evidence.found if found.tool in _GROUP_TOOLS}
    free = groups if len(groups) == 1 else set()
    return frozenset(free | owners if len(owners - free) == 1 and not (free and owners - free) else free)


class _Ledger:
    """The values of the evidence, by what a numeral of the text could be."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        numbers = [fact for fact in facts if fact.kind is not None]
        self._plain = _sorted(numbers, "")
        self._shares = _sorted(
            [fact for fact in numbers if fact.kind and fact.kind.measure is Measure.SHARE], "percent"
        )
        self._moments = tuple(fact for fact in facts if isinstance(fact.value, str) and is_moment(fact.value))
        self._windows = frozenset(
            (Decimal(at[1]), _SPAN_UNITS[at[2]])
            for fact in numbers
            for at in _WINDOW.finditer(fact.pointer.rpartition("/")[2])
        )

    def near(self, numeral: Numeral) -> Iterator[Fact]:
        """Values that its digits could stand for."""
        for values, facts in (self._plain, self._shares):
            first = bisect_left(values, numeral.value - numeral.step)
            last = bisect_right(values, numeral.value + numeral.step)
            yield from facts[first:last]

    def moments(self, text: str) -> Iterator[Fact]:
        """Dates and instants that begin with what is written."""
        return (fact for fact in self._moments if str(fact.value).startswith(text))

    def is_window(self, numeral: Numeral) -> bool:
        """Whether a numeral is the time that a field's name speaks of."""
        return not numeral.sign and (numeral.value, numeral.unit) in self._windows


def _sorted(facts: Sequence[Fact], unit: str) -> tuple[list[Decimal], list[Fact]]:
    ordered = sorted(((magnitude(fact, unit), index) for index, fact in enumerate(facts)), key=lambda pair: pair)
    return [value for value, _ in ordered], [facts[index] for _, index in ordered]
