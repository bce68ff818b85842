"""Writes answers: the sentence that answers, at most one table, what qualifies it, sources, and how it was read.

The sentences are templates (`answers.toml`). Every number in them is a value of a result, written by `service.formats`.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from msgspec import Struct

from service import formats
from service.ask.describe import describe
from service.ask.glossary import TERMS
from service.ask.load import load
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.query_context import DETAILS
from service.ask.planner.result import Column, Figure, Result, Row, Scalar
from service.ask.query import List, Query, Rank, Route
from service.ask.understanding import Understanding
from service.clock import iso
from service.errors import ServiceError
from service.wire.ask import Archetype, Source

if TYPE_CHECKING:
    from jinja2 import Template

UNKNOWN: Final = "not known"
LONGEST: Final = 2_000
"""Characters of a string that are quoted at most."""

_LONGEST_CELL: Final = 48
"""Most characters of a text in a table."""

_WIDEST: Final = 80
"""Most characters of a line of a table."""

_NAMED: Final = 5
"""Things that are left out which an answer names."""

_FIELDS: Final[Mapping[str, str]] = {row.column: row.label for row in MEASURES.values() if row.column}

_SOURCES: Final[Mapping[str, str]] = {
    "history": "stored bars and states",
    "fear-greed": "the Fear & Greed index",
    "verdicts": "the rules of verdicts",
    "glossary": "the glossary",
    "wallets.recent": "movements of watched wallets",
    "billing.quota": "your account",
    "categories": "the list of categories",
}
"""What sources without a route are called."""

_STANDING: Final = frozenset({"traded", "coincidence", "no_advice", "estimate", "breadth"})
"""Notes that no style leaves out."""


_WRITERS: Final[Mapping[Unit, Callable[[Any], str]]] = {
    Unit.USD: formats.usd_amount,
    Unit.USD_CHANGE: lambda value: f"{'+' if value > 0 else ''}{formats.usd_amount(value)}",
    Unit.PERCENT: formats.change,
    Unit.PERCENT_A_YEAR: lambda value: formats.change(value, unit=" % a year"),
    Unit.RATE: formats.rate,
    Unit.SPREAD: lambda value: f"{formats.percent(value)} a year",
    Unit.SHARE: formats.percent,
    Unit.POINTS: lambda value: formats.change(value, unit=" points"),
    Unit.FRACTION: formats.share,
    Unit.RATIO: lambda value: formats.number(value, 0 if isinstance(value, int) else 2),
    Unit.DAYS: lambda value: formats.count(int(value), "day"),
    Unit.COUNT: lambda value: formats.number(value, 0),
    Unit.AMOUNT: formats.amount,
    Unit.DATE: lambda value: formats.day(iso(int(value))),
    Unit.INSTANT: lambda value: formats.moment(iso(int(value))),
}


def cell(value: Scalar, unit: Unit) -> str:
    """A value as people write it, or that it is not known."""
    if value is None:
        return UNKNOWN
    return clean(value) if isinstance(value, str) else _WRITERS[unit](value)


def cells(row: Row, columns: Sequence[Column]) -> list[str]:
    """The values of a row as text."""
    units = row.units or tuple(column.unit for column in columns)
    return [cell(value, unit) for value, unit in zip(row.values, units, strict=True)]


def formatted(figure: Figure) -> str:
    """A value as people write it. Words keep the space that parts them from those beside them."""
    text = cell(figure.value, figure.unit)
    if not text or not isinstance(figure.value, str):
        return text
    return f"{' ' * figure.value.startswith(' ')}{text}{' ' * figure.value.endswith(' ')}"


def table(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """A Markdown table of at most 80 characters a line: columns that do not fit are left out from the right."""
    lines = [["", *(column.label for column in columns)]]
    lines += [[_cut(text) for text in (clean(row.subject), *cells(row, columns))] for row in rows]
    kept = len(lines[0])
    while kept > 2 and max(len(" | ".join(line[:kept])) for line in lines) + 4 > _WIDEST:  # noqa: PLR2004 - one value
        kept -= 1
    lines.insert(1, ["---", *(["---:"] * (kept - 1))])
    return "\n".join(f"| {' | '.join(line[:kept])} |" for line in lines)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


_SWAPPED: Final = str.maketrans(
    {"<": "\u2039", ">": "\u203a", "`": "'", "[": "(", "]": ")", "|": "/", "\\": "/", "*": "", "~": "", "\0": " "}
    | {"\u201c": '"', "\u201d": '"', "\u201e": '"'}
)
_SCHEME: Final = re.compile(r"(?<=\w):/{2,}|(?<=\bwww)\.", re.IGNORECASE)
_ESCAPED: Final = (
    (re.compile(r"&(?:amp;)*lt;"), "\u2039"),
    (re.compile(r"&(?:amp;)*gt;"), "\u203a"),
    (re.compile(r"&(?:amp;)+"), "&"),
)
"""Characters that services escape for HTML, however often."""

_SPACE: Final = re.compile(r"\s+")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})


def clean(text: str) -> str:
    """Make a string harmless in Markdown.

    Markup becomes marks that look alike, addresses are taken apart, invisible characters and line breaks go. The
    quotation marks that answers set around quotes do not occur in them.

    Returns:
        One line of at most `LONGEST` characters; cleaning it again changes nothing.
    """
    plain = text[: 2 * LONGEST]
    if not (plain.isascii() and plain.isprintable()):  # most are, and looking at each character takes long
        plain = "".join(
            " " if character.isspace() else character
            for character in plain
            if character.isspace() or unicodedata.category(character) not in _INVISIBLE
        )
    plain = plain.translate(_SWAPPED)
    for escaped, mark in _ESCAPED if "&" in plain else ():
        plain = escaped.sub(mark, plain)
    plain = _SCHEME.sub(" ", plain)
    return _SPACE.sub(" ", plain).strip()[:LONGEST].rstrip()


class Style(Struct, frozen=True):
    """How an answer is written for somebody: what is stressed and how much is said, never another fact.

    Attributes:
        rows: Rows of a table at most, unless more are asked for.
        gaps_first: Whether what is missing or old stands before the table.
        optional: Whether notes that only explain are written.
        explains: Whether the main term is defined.
    """

    rows: int = 20
    gaps_first: bool = False
    optional: bool = True
    explains: bool = False


STYLES: Final[Mapping[Archetype, Style]] = {
    "base": Style(),
    "trader": Style(rows=5, optional=False),
    "analyst": Style(),
    "risk-manager": Style(gaps_first=True),
    "explainer": Style(explains=True),
}


def write(
    understanding: Understanding, outcomes: Sequence[Result | ServiceError], archetype: Archetype = "base"
) -> tuple[str, ...]:
    """Write an answer.

    Args:
        understanding: What the question was understood as.
        outcomes: What was found for each of its queries, or why it failed; of the first ones if there are many.
        archetype: For whom.

    Returns:
        Paragraphs.

    Raises:
        jinja2.TemplateError: If a template names what a result does not hold; a defect.
    """
    if understanding.courtesy is not None:
        return (_render("courtesies", understanding.courtesy, {}),)
    if understanding.refusal is not None:
        refusal = understanding.refusal
        quoted = _quoted(refusal.words)
        known = {"words": quoted, "candidates": ", ".join(refusal.candidates), "instead": refusal.instead}
        return (_render("refusals", refusal.reason, known),)
    style = STYLES[archetype]
    queries = understanding.queries[: len(outcomes)]
    said: set[str] = set()
    paragraphs = [
        part for query, outcome in zip(queries, outcomes, strict=True) for part in _told(query, outcome, style, said)
    ]
    if len(queries) < len(understanding.queries):
        paragraphs.append(_render("notes", "too_many", {}))
    if understanding.unknown:
        paragraphs.append(_render("notes", "no_such", {"names": ", ".join(map(clean, understanding.unknown))}))
    if understanding.ignored:
        paragraphs.append(_render("notes", "ignored", {"words": _quoted(understanding.ignored)}))
    answered = [outcome for outcome in outcomes if isinstance(outcome, Result) and outcome.refusal is None]
    if answered:
        read = "; then ".join(describe(query) for query in queries)
        paragraphs += [*_sources(answered), _render("notes", "read_as", {"read": read})]
    return tuple(paragraphs)


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f'"{clean(word)}"' for word in words)


def _told(query: Query, outcome: Result | ServiceError, style: Style, said: set[str]) -> list[str]:
    if isinstance(outcome, ServiceError):
        return [_render("notes", "failed", {"message": outcome.message})]
    return _written(query, outcome, style, said)


def _written(query: Query, result: Result, style: Style, said: set[str]) -> list[str]:
    bound = bind(result)
    if result.refusal is not None:
        instead = {"instead": result.refusal.instead}
        return [_render("refused", result.kind, bound) + _render("notes", "instead", instead)]
    first = _render("answers", result.kind, bound).replace("market's market ", "market's ")
    first = f"T{first[1:]}" if first.startswith("the ") else first
    gaps = _gaps(result)
    notes = _notes(result, bound, style, said)
    if style.explains:
        notes += _definition(query)
    limit = result.shown if _asks_for_rows(query) else min(result.shown, style.rows)
    shown = result.rows[:limit]
    tables = [table(result.columns, shown)] if shown else []
    known = result.total if result.kind.startswith("list_") and result.total else len(result.rows)
    if shown and len(shown) < known:
        counts = {"shown": str(len(shown)), "rows": f"{known:,}"}
        notes.append(_render("notes", "cut", counts))
    if style.gaps_first:
        return [" ".join([first, *gaps]), *tables, *([" ".join(notes)] if notes else [])]
    if tables:
        rest = " ".join([*notes, *gaps])
        return [first, *tables, *([rest] if rest else [])]
    return [" ".join([first, *notes, *gaps])]


def _notes(result: Result, bound: Mapping[str, Any], style: Style, said: set[str]) -> list[str]:
    """What qualifies a result; what holds for the whole answer is said once."""
    texts = {note: _render("notes", note, bound) for note in result.notes if style.optional or note in _STANDING}
    new = [text for note, text in texts.items() if note not in _STANDING or text not in said]
    said.update(texts.values())
    return new


def _asks_for_rows(query: Query) -> bool:
    """Whether a number of rows is asked for."""
    operation = query.operation
    if isinstance(operation, Route):
        return "limit" in operation.args
    return isinstance(operation, Rank) or (isinstance(operation, List) and operation.limit is not None)


def bind(result: Result) -> dict[str, Any]:
    """What templates are given: every value formatted by its unit, and no other number."""
    rows = [
        {
            "subject": clean(row.subject),
            "cells": [
                {"label": column.label, "value": value}
                for column, value in zip(result.columns, cells(row, result.columns), strict=True)
            ],
        }
        for row in result.rows
    ]
    flags = {"one": "count" in result.figures and result.figures["count"].value == 1, "beside": DETAILS}
    first = rows[0]["cells"] if rows else []
    return {name: formatted(figure) for name, figure in result.figures.items()} | flags | {"rows": rows, "cells": first}


def _gaps(result: Result) -> list[str]:
    found = []
    if result.unknown:
        names = ", ".join(result.unknown[:_NAMED])
        left = len(result.unknown) - _NAMED
        known = {"names": names, "left": str(left) if left > 0 else None}
        found.append(_render("notes", "unknown", known))
    if result.stale:
        names = ", ".join(_FIELDS.get(field, field.replace("_", " ")) for field in result.stale)
        found.append(_render("notes", "stale", {"names": names}))
    return found


def _definition(query: Query) -> list[str]:
    names = [measure.name.replace("_", "-") for measure in query.measures]
    return [TERMS[name].short for name in names if name in TERMS][:1]


def _sources(results: Sequence[Result]) -> list[str]:
    names = [*dict.fromkeys(_source(source) for result in results for source in result.sources)]
    if not names:
        return []
    as_of = min((result.as_of_ms for result in results if result.as_of_ms is not None), default=None)
    when = None if as_of is None else formats.moment(iso(as_of))
    left = len(names) - _NAMED
    known = {"names": ", ".join(names[:_NAMED]), "left": str(left) if left > 0 else None, "when": when}
    return [_render("notes", "sources", known)]


def _source(source: Source) -> str:
    """The path of a route without its query, or what another source is called."""
    return _SOURCES.get(source.tool, source.tool) if source.path is None else unquote(source.path.partition("?")[0])


@cache
def templates() -> Mapping[str, Mapping[str, "Template"]]:
    """All templates, by section and key."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - takes 20 ms, which no start should wait for

    # Text is Markdown, no HTML; what others wrote is escaped where it enters the service.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 - see above
    environment.globals["names_of"] = _names_of
    sections = load(Path(__file__).with_suffix(".toml"), dict[str, dict[str, str]])
    return {
        section: {key: environment.from_string(source) for key, source in rows.items()}
        for section, rows in sections.items()
    }


def _names_of(rows: Sequence[Mapping[str, str]]) -> str:
    return ", ".join(row["subject"] for row in rows[:_NAMED]) + " and others" * (len(rows) > _NAMED)


def _render(section: str, key: str, values: Mapping[str, Any]) -> str:
    return templates()[section][key].render(values)
