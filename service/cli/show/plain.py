"""The generic view: names and values, lists as tables; and the line that announces a further page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.cli.layout import facts, table
from service.cli.terminal import Cell, Display, safe


def plain(data: Any, meta: Mapping[str, Any], screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Names and values; lists of entries as tables."""
    whole = data if isinstance(data, dict) else {"data": data}
    tables = {name: value for name, value in whole.items() if is_table(value)}
    others = {name: value for name, value in {**whole, **meta}.items() if name not in tables}
    yield from facts(screen, [(name, [Cell(word(value))]) for name, value in others.items()])
    for name, entries in tables.items():
        yield ""
        yield screen.paint("strong", Cell(name).text)
        yield from rows(screen, list(dict.fromkeys(key for entry in entries for key in entry)), entries)


def rows(screen: Display, names: Sequence[str], entries: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Entries as a table of these columns."""
    numbers = "".join("r" if all(_is_number(entry.get(name)) for entry in entries) else "l" for name in names)
    yield from table(
        screen,
        [Cell(name).text for name in names],
        [[Cell(word(entry.get(name))) for name in names] for entry in entries],
        right=numbers,
    )


def is_table(value: object) -> bool:
    """Whether it is a list of entries."""
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def word(value: object) -> str | None:
    """A value in a cell: text as it is, what is nested as JSON, what is not known as nothing."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def next_page(screen: Display, page: Mapping[str, Any]) -> Iterator[str]:
    """How to get the next page, where there is one; the cursor is never broken, so that it can be copied.

    Args:
        screen: Where it is read.
        page: With `next_cursor`, perhaps `total`.
    """
    if page["next_cursor"]:
        of = f" of {page['total']:,}" if "total" in page else ""
        yield screen.paint("dim", safe(f"More{of}: --cursor {page['next_cursor']}"))
