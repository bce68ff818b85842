"""Questions changed in one constraint: inserted, removed or replaced.

What is inserted stands in no question of the banks, and what is removed is no default, so each asks for something else.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.ask.banks.case import cases
from tests.ask.universe import parser
from tests.ask.wordings import NOW_MS

KNOWN: Final = Path(__file__).parent / "banks" / "substitutions.txt"
"""Changes that are known not to be seen: the id of a question and what was changed in it."""


class Mutation(NamedTuple):
    """A question that asks for something else than the one it was made from."""

    what: str
    text: str


_INSERTED: Final = (
    " over the last 9 days",
    " on 2026-09-14",
    " as it stood 11 weeks ago",
    " with funding below -3%",
    " in euros",
    " and SUI's open interest",
    " but only those not in a downtrend",
    " with a market cap above $7 billion",
    " since 3 March",
    " at 14:37 UTC",
    " on binance",
    " with 13x leverage",
    " after fees",
    " per fortnight",
    " only where overbought",
    " relative to its hash rate",
)
"""Constraints that nothing else in the banks says."""

_OF_SETS: Final = (
    " excluding dogecoin",
    " except stablecoins",
    " without the gaming coins",
    " among the top 17 by volume",
)
"""Constraints of a set of coins."""

_UNITS: Final = r"(?:hours?|days?|weeks?|months?)"
_SPANS: Final = (
    rf"(?:over|in|during|for|across|within)?\s*(?:the)?\s*(?:last|past|previous|trailing)\s+\w+\s+{_UNITS}",
    rf"(?:a|one|two|three|four|five|six|\d+)\s+{_UNITS}\s+ago",
    r"(?:over|in|during)\s+\d+\s*(?:d|h|days|hours|weeks|months)",
    r"(?:the day before )?yesterday",
    r"(?:over|in|on|during)?\s*(?:the|this|last|past)\s+(?:week|month|quarter|year)",
    r"since\s+(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|june|july|august|september|october)",
    r"(?:30|7|90|60|45|14)[- ]?(?:d|day|days)",
)
_NEGATIONS: Final = (r"not", r"isn't", r"isnt", r"aren't", r"arent", r"excluding", r"except", r"without", r"never")
_AMOUNTS: Final = r"(?:market cap|mcap|volume|open interest|funding|score)"
_CONDITIONS: Final = (
    r"(?:with|having|and)\s+(?:a\s+)?(?:negative|positive)\s+funding",
    rf"(?:with|that have|and)?\s*(?:a\s+)?{_AMOUNTS}\s+(?:above|over|below|under|of at least)\s+\$?[\d.,]+\s*\w*%?",
    r"(?:in|that are in|and in)\s+an?\s+(?:daily|weekly)?\s*(?:uptrend|downtrend)",
)
_FORMAT: Final = re.compile(
    r"(?:^|[.!:;]\s+|, )(?:answer|return|reply|respond|report|output|no prose|numbers? only|json|then stop|one per line"
    r"|please)\b[^.]*$",
    re.IGNORECASE,
)
"""A last sentence that asks for a format: what stands behind it is no part of the question."""
_DIGITS: Final = re.compile(r"(?<![\w.,/:#-])\$?(\d+(?:,\d{3})*(?:\.\d+)?)(?![\w)]*[):/-])(?!\d|\.\s| words| quest)")
_DEFAULT: Final = re.compile(r"\b24\b|\b90[- ]?d")
"""Windows that some measures have anyway."""

_SWAPPED: Final[Mapping[str, str]] = {
    "above": "below",
    "over $": "under $",
    "more than": "less than",
    "at least": "at most",
    "highest": "lowest",
    "biggest": "smallest",
    "most": "least",
    "best": "worst",
    "gainers": "losers",
    "top": "bottom",
    "bullish": "bearish",
    "strong bull": "strong bear",
    "uptrend": "downtrend",
    "uptrends": "downtrends",
    "positive": "negative",
    "risk-on": "risk-off",
    "rising": "falling",
    "risen": "fallen",
    "gained": "lost",
    "rose": "fell",
    "daily": "weekly",
    "high": "low",
    "short": "long",
    "price": "volume",
    "volume": "volatility",
    "funding": "open interest",
    "market cap": "open interest",
    "score": "funding",
    "volatility": "drawdown",
    "correlation": "volatility",
    "average": "median",
    "are all": "are any",
    "yesterday": "16 days ago",
    "week": "month",
    "monday": "thursday",
    "memes": "L2s",
    "meme": "oracle",
    "l1s": "memes",
    "l2s": "memes",
    "defi": "gaming",
    "bitcoin": "dogecoin",
    "btc": "DOGE",
    "ethereum": "avalanche",
    "eth": "AVAX",
    "solana": "injective",
    "sol": "INJ",
}
"""Words by words that mean something else. Both directions are tried."""

_CAUSES: Final = re.compile(r"\b(?:why|how come)\b", re.IGNORECASE)
"""Causes are asked for whatever they are."""

_EXEMPT: Final = re.compile(r"\b(?:top|bottom|biggest|smallest)(?: \w+)? (?:gain\w+|losers)\b|squeeze", re.IGNORECASE)
"""Where another word may leave a question as it is: gainers have no bottom."""

_SIDELESS: Final = re.compile(r"before opening a|(?:long|short) (?:or|answer|\w*sentence)|funding", re.IGNORECASE)
"""Where a side is none of the question: what is checked before, which of both to be, a rate that is one for both."""

_SIDES: Final = re.compile(r"replace (?:long|short) by")
_DAYS: Final = {"hour": 1 / 24, "h": 1 / 24, "day": 1, "d": 1, "week": 7, "month": 30, "year": 365}
_SPAN: Final = re.compile(r"(\d+|a|the|this|last|past)[- ]?(hour|h|day|d|week|month|year)(?:s|\b)", re.IGNORECASE)

_STATES: Final = (
    "bullish",
    "bearish",
    "in an uptrend",
    "in a downtrend",
    "positive",
    "negative",
    "risk-on",
    "up",
    "down",
)
"""Before which "not" inverts a condition."""


def mutations(text: str, *, over_sets: bool) -> Iterator[Mutation]:
    """All that are made of a question.

    Args:
        text: The question.
        over_sets: Whether it is about a set of coins, from which one can be excluded.
    """
    yield from _inserted(text, _INSERTED + (_OF_SETS if over_sets else ()))
    yield from _removed(text)
    yield from (one for one in _replaced(text) if over_sets or not (_SIDES.search(one.what) and _SIDELESS.search(text)))


def unseen(bank: str, step: int = 1) -> Iterator[str]:
    """Changes of answered questions of a bank, every `step`th of them, that leave the understanding as it was."""
    for case in cases(bank)[::step]:
        before = parser().read(case.ask, NOW_MS)
        if case.answer != "facts" or not before.queries or before.refusal is not None:
            continue
        over_sets = any(query.subject.scope in {"all", "category"} for query in before.queries)
        for mutation in mutations(case.ask[-1], over_sets=over_sets):
            after = parser().read([*case.ask[:-1], mutation.text], NOW_MS)
            if (after.queries, after.refusal, after.unknown) == (before.queries, before.refusal, before.unknown):
                yield f"{case.id} {mutation.what}"


def _inserted(text: str, constraints: Sequence[str]) -> Iterator[Mutation]:
    body = text.rstrip(" ?.!\n")
    for words in () if _FORMAT.search(body) else constraints:
        yield Mutation(f"insert{words}", body + words + text[len(body) :].strip())
    for state in _STATES:
        if found := re.search(rf"\b(?:is|are|it's) (?={re.escape(state)}\b)", text):
            yield Mutation(f"insert not {state}", f"{text[: found.end()]}not {text[found.end() :]}")


def _removed(text: str) -> Iterator[Mutation]:
    for kind, patterns in (("window", _SPANS), ("negation", _NEGATIONS), ("condition", _CONDITIONS)):
        for pattern in patterns:
            found = re.search(rf"(?<![\w-]){pattern}(?![\w-])", text, re.IGNORECASE)
            if found is None or _DEFAULT.search(found.group()):
                continue
            caused = kind == "negation" and _CAUSES.search(text) is not None
            if not caused and not _said_twice(found.group(), _without(text, found)):
                yield Mutation(f"remove {kind} {found.group().strip()}", _without(text, found))


def _is_exempt(text: str) -> bool:
    return _EXEMPT.search(text) is not None or _CAUSES.search(text) is not None


def _said_twice(removed: str, rest: str) -> bool:
    """Whether what is removed is a window that the rest says again: "on the month (30d)"."""
    spans = {_days(found) for found in _SPAN.finditer(removed)}
    return bool(spans) and spans <= {_days(found) for found in _SPAN.finditer(rest)}


def _days(span: re.Match[str]) -> float:
    return float(span[1] if span[1].isdigit() else 1) * _DAYS[span[2].lower()]


def _without(text: str, found: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", f"{text[: found.start()]} {text[found.end() :]}").strip()


def _replaced(text: str) -> Iterator[Mutation]:
    for found in _DIGITS.finditer(text):
        digits = found.group(1)
        other = f"{float(digits.replace(',', '')) * 3 + 2:g}"
        if "e" not in other and "_" not in digits:
            yield Mutation(f"replace {digits} by {other}", text[: found.start(1)] + other + text[found.end(1) :])
    for one, other in (*_SWAPPED.items(), *((new, old) for old, new in _SWAPPED.items())):
        place = re.search(rf"(?<![\w$-]){re.escape(one)}(?![\w-])", text, re.IGNORECASE)
        if place is not None and other.lower() not in text.lower() and not _is_exempt(text):
            yield Mutation(f"replace {one} by {other}", text[: place.start()] + other + text[place.end() :])
