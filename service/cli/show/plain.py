"""Finds the view of an answer; the generic view: names and values, lists as tables."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from service.cli.commands import load
from service.cli.formatting import footer
from service.cli.layout import facts, table
from service.cli.terminal import Cell, Display

Shown = Callable[[Any, Mapping[str, Any], Display, Mapping[str, object]], Iterable[str]]

_BY_HAND: Final = {
    "coin_historical": "coin",
    "coin_risk": "coin",
    "market_health": "market",
    "plain": "plain",
    "regime": "regime",
    "scorecard": "verdicts",
    "signal": "verdicts",
    "signal_quality": "verdicts",
    "walkforward": "walkforward",
}
"""Module of each view that is a function. Only the one that is needed is loaded."""

_LONGEST_S: Final = 1e12
"""No age is as long, in seconds."""


def view_of(name: str) -> Shown:
    """The view of an offer, by its id with `_` for `.`; of one that is not known, the generic one."""
    if name in _BY_HAND:
        view: Shown = load(f"service.cli.show.{_BY_HAND[name]}:{name}")
        return view

    def listed(data: Any, meta: Mapping[str, Any], screen: Display, chosen: Mapping[str, object]) -> Iterable[str]:
        from service.cli.show import answers, columns  # noqa: PLC0415 - not for views that are written by hand

        variant = f"{name}_{chosen.get('action') or chosen.get('sort')}"
        row = answers.VIEWS.get(variant) or answers.VIEWS.get(name)
        return plain(data, meta, screen, chosen) if row is None else columns.rendered(row, data, meta, screen)

    return listed


def plain(data: Any, meta: Mapping[str, Any], screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Names and values; lists of entries as tables; the age, where it is given as this version knows it."""
    whole = data if isinstance(data, dict) else {"data": data}
    age = meta.get("data_age_seconds")
    has_age = "as_of" in meta and isinstance(age, int | float) and abs(age) < _LONGEST_S
    tables = {name: value for name, value in whole.items() if _is_table(value)}
    others = {name: value for name, value in {**whole, **({} if has_age else meta)}.items() if name not in tables}
    yield from facts(screen, [(name, [Cell(word(value))]) for name, value in others.items()])
    for name, entries in tables.items():
        yield ""
        yield screen.paint("strong", Cell(name).text)
        yield from rows(screen, list(dict.fromkeys(key for entry in entries for key in entry)), entries)
    if has_age:
        yield ""
        yield from footer(screen, meta)


def rows(screen: Display, names: Sequence[str], entries: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Entries as a table of these columns."""
    numbers = "".join("r" if all(_is_number(entry.get(name)) for entry in entries) else "l" for name in names)
    grid = [[word(entry.get(name)) for name in names] for entry in entries]
    return table(screen, [Cell(name).text for name in names], grid, right=numbers)


def _is_table(value: object) -> bool:
    """Whether it is a list of entries with at least one field."""
    return isinstance(value, list) and any(value) and all(isinstance(entry, dict) for entry in value)


def word(value: object) -> str | None:
    """A value in a cell: text as it is, what is nested as JSON, what is not known as nothing."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
