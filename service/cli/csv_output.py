"""Writes entries as CSV (RFC 4180 with Unix line ends): one column per field, named by its path.

Decision: text that a spreadsheet would run as a formula gets a leading apostrophe (OWASP, "CSV Injection"). Use JSON
for exact texts.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from service.cli.show.plain import word

_END: Final = "\r\n"
_FORMULA: Final = re.compile(r"[=@\t\r]|[-+](?![\d.]+\Z)")
"""The beginning of a formula; a signed number is not one."""


def csv_of(entries: Iterable[Any]) -> str:
    """A header and a row for each entry, with columns in the order of first occurrence; empty without entries."""
    flat = [dict(_flat(entry, "")) for entry in entries]
    if not flat:
        return ""
    return csv_rows(list(dict.fromkeys(name for entry in flat for name in entry)), flat)


def csv_rows(names: Sequence[str], entries: Iterable[dict[str, object]]) -> str:
    """A header of these names and a row for each entry; a cell is empty if the entry lacks the field."""
    lines = _Lines()
    # With this line end the writer quotes `\r` and `\n`. With `\n` alone, Python 3.11 does not quote `\r`.
    table = csv.writer(lines, lineterminator=_END)
    table.writerow(map(_cell, names))
    table.writerows([_cell(entry.get(name)) for name in names] for entry in entries)
    return "".join(f"{line}\n" for line in lines)


class _Lines(list[str]):
    """A file for the writer that collects lines without their ends."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix(_END))


def _cell(value: object) -> str | None:
    text = word(value)
    return f"'{text}" if text and _FORMULA.match(text) else text


def _flat(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else name)
    else:
        yield path or "value", value
