"""Writes answers: the sentence that answers, at most one table, what qualifies it, sources, and how it was read."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from msgspec import Struct

from service.ask.answers.formats import cells, clean, formatted, table
from service.ask.describe import describe
from service.ask.glossary import TERMS
from service.ask.measure_table import MEASURES
from service.ask.planner.asked import DETAILS
from service.ask.planner.result import Result
from service.ask.query import List, Query, Rank, Route
from service.ask.understanding import Understanding
from service.clock import iso
from service.errors import ServiceError
from service.wire.ask import Archetype, Source

if TYPE_CHECKING:
    from jinja2 import Template

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
    tables = [table(result.columns, shown, "")] if shown else []
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


_STANDING: Final = frozenset({"traded", "coincidence", "no_advice", "estimate", "breadth"})
"""Notes that no style leaves out."""


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
    flags = {"one": _is_one(result), "beside": DETAILS}
    first = rows[0]["cells"] if rows else []
    return {name: formatted(figure) for name, figure in result.figures.items()} | flags | {"rows": rows, "cells": first}


def _is_one(result: Result) -> bool:
    return "count" in result.figures and result.figures["count"].value == 1


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
    when = None if as_of is None else f"{iso(as_of)[:16].replace('T', ' ')} UTC"
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
    environment.globals["names_of"] = lambda rows: ", ".join(row["subject"] for row in rows[:_NAMED])
    sections = tomllib.loads((Path(__file__).parent / "templates.toml").read_text("utf-8"))
    return {
        section: {key: environment.from_string(source) for key, source in rows.items()}
        for section, rows in sections.items()
    }


def _render(section: str, key: str, values: Mapping[str, Any]) -> str:
    return templates()[section][key].render(values)
