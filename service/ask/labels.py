"""The labels of a text: states of trends, verdicts, regimes and stances, which must be those of the coin they name."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from service.ask.bearings import Bearings, Span
from service.ask.evidence import Evidence, Fact

_MEANS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    word: (family, frozenset(values.split()))
    for family, word, values in (
        ("verdict", "strong-bull", "strong-bull"),
        ("verdict", "strong bull", "strong-bull"),
        ("verdict", "bull", "bull"),
        ("verdict", "bullish", "bull strong-bull"),
        ("verdict", "bear", "bear"),
        ("verdict", "bearish", "bear strong-bear"),
        ("verdict", "strong-bear", "strong-bear"),
        ("verdict", "strong bear", "strong-bear"),
        ("verdict", "insufficient-evidence", "insufficient-evidence"),
        ("regime", "risk-on", "risk-on"),
        ("regime", "risk-off", "risk-off"),
        ("trend", "UP", "UP"),
        ("trend", "HODL", "HODL"),
        ("trend", "DOWN", "DOWN"),
        ("trend", "uptrend", "UP"),
        ("trend", "downtrend", "DOWN"),
        ("stance", "accumulation", "accumulation"),
        ("stance", "distribution", "distribution"),
        ("stance", "euphoria", "euphoria"),
        ("stance", "capitulation", "capitulation"),
        ("stance", "exhaustion", "exhaustion"),
        ("confidence", "high", "high"),
        ("confidence", "medium", "medium"),
        ("confidence", "low", "low"),
    )
}
_FAMILIES: Final[Mapping[str, str]] = {value: family for family, values in _MEANS.values() for value in values}
_NEUTRAL: Final = {
    "verdict": "verdict",
    "stance": "stance",
    "sentiment_stance": "stance",
    "regime": "regime",
    "market": "regime",
    "coin": "regime",
}
"""Of what kind a value is that says `neutral`, by its field."""

_LABEL: Final = re.compile(
    r"(?<![\w-])(?:strong[- ]bull|strong[- ]bear|bull(?:ish)?|bear(?:ish)?|insufficient-evidence|risk-on|risk-off"
    r"|(?-i:UP|HODL|DOWN)|uptrend|downtrend|accumulation|distribution|euphoria|capitulation|exhaustion|high|medium|low)(?![\w-])",
    re.IGNORECASE,
)
_IF: Final = re.compile(r"\b(?:flips?|would|if|until|becomes?|turn(?:s|ed)?)\b", re.IGNORECASE)
_FRAMES: Final = ("daily", "weekly")
_MADE_OF: Final = "/flips_at"
_REPEATED: Final = ("/value", "/threshold")
"""What rules were given: it stands among the inputs too, where it says of which trend it is."""

_VERDICT: Final = "/verdict"
_CONFIDENCE: Final = "confidence"
"""A field's name, and the word without which "high" and "low" say nothing of it."""


def wrong_labels(text: str, bearings: Bearings, evidence: Evidence) -> Iterator[Span]:
    """Find labels that are not the coin's.

    A label must be a value of the coin named nearest in its sentence or row, of the trend that its clause speaks of
    (daily, weekly) where it speaks of one; where that coin has no label of the kind, or none is named, it must be
    somewhere in the results. What would flip a verdict counts only where that is said.

    Args:
        text: As figures are looked for in it.
        bearings: Its clauses and tables.
        evidence: What was found; without results nothing is looked at.
    """
    if not evidence.found:
        return
    facts = [fact for fact in evidence.facts if _family(fact) is not None]
    keys = {key for fact in evidence.facts for key in fact.pointer.split("/")[-1:]}
    for label in _LABEL.finditer(text):
        word = label.group() if label.group() in _MEANS else label.group().lower()
        family, values = _MEANS[word]
        place = bearings.place(*label.span())
        if family == _CONFIDENCE and not any(_CONFIDENCE in text[start:end].lower() for start, end in place.near):
            continue
        clauses = [text[start:end] for start, end in place.near]
        owner = next(iter(place.owners), None)
        of_kind = [fact for fact in facts if _family(fact) == family and _counts(fact, clauses)]
        own = [fact for fact in of_kind if fact.of == owner]
        if family == "verdict":
            own = [fact for fact in facts if fact.of == owner and fact.pointer == _VERDICT]
        if not any(fact.value in values for fact in own or of_kind) and (
            (own and owner is not None) or not values & keys
        ):
            yield label.span()


def _family(fact: Fact) -> str | None:
    if fact.value == "neutral":
        return _NEUTRAL.get(fact.pointer.rpartition("/")[2])
    return _FAMILIES.get(fact.value) if isinstance(fact.value, str) else None


def _counts(fact: Fact, clauses: list[str]) -> bool:
    if fact.pointer.endswith(_REPEATED):
        return False
    if fact.pointer.endswith(_MADE_OF):
        return any(_IF.search(clause) for clause in clauses)
    for clause in clauses:
        frames = [frame for frame in _FRAMES if frame in clause.lower()]
        if len(frames) == 1:
            other = _FRAMES[1 - _FRAMES.index(frames[0])]
            return other not in fact.pointer
    return True
