"""Entries as comma-separated values (RFC 4180, lines ended as on Unix): a column a field, named by its path."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from service.clients.cli.show.plain import word


def written(entries: Iterable[Any]) -> str:
    """A header and a row for each entry, columns in the order in which the fields first come; nothing of nothing."""
    flat = [dict(_flat(entry, "")) for entry in entries]
    if not flat:
        return ""
    return rows(list(dict.fromkeys(name for entry in flat for name in entry)), flat)


def rows(names: Sequence[str], entries: Iterable[dict[str, object]]) -> str:
    """A header of these names and a row for each entry; empty where it does not know one."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(names)
    table.writerows([word(entry.get(name)) for name in names] for entry in entries)
    return text.getvalue()


def _flat(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else name)
    else:
        yield path or "value", value
