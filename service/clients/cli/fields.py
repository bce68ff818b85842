"""Only the fields that were asked for: of each entry, where the answer is a list of entries that knows one of them."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.clients.cli import commas, output
from service.clients.cli.entries import entries_of, put_entries
from service.clients.cli.prose import facts
from service.clients.cli.refusal import DONE, MISUSED
from service.clients.cli.screen import Cell, Screen
from service.clients.cli.show.plain import rows, word
from service.clients.cli.terminal import screen
from service.clients.cli.usage import meant

_MISSING: Final = object()


def names_in(text: str) -> list[str]:
    """Read names that are parted by commas.

    Raises:
        ValueError: If there is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError("names no field; write it like price,trend_daily")
    return names


def write_fields(arguments: Namespace, environment: Mapping[str, str], chosen: str, data: Any) -> int:
    """Print some fields of an answer.

    Args:
        arguments: `fields`: names; dots lead into what is nested, and through lists.
        environment: Of the process.
        chosen: The form.
        data: Of the answer.

    Returns:
        The exit code: 1 where the answer does not have one of them, which is null then, and told on stderr.
    """
    names = arguments.fields
    entries = entries_of(arguments, data)
    if entries and not any(_known(name, entries) for name in names):
        entries = None
    found = [_pick(entry, names) for entry in ([data] if entries is None else entries)]
    missing = [name for name in names if found and all(row[name] is _MISSING for row in found)]
    plain = [{name: None if value is _MISSING else value for name, value in row.items()} for row in found]
    _put(screen(environment, sys.stdout), chosen, names, plain, one=entries is None)
    for name in missing:
        there = meant(name, _names([data] if entries is None else entries))
        sys.stderr.write(f"verdict: there is no field {name!r} in this answer{there}\n")
    return MISUSED if missing else DONE


def _put(where: Screen, chosen: str, names: Sequence[str], found: Sequence[dict[str, Any]], *, one: bool) -> None:
    if chosen == "csv":
        output.put(commas.rows(names, found))
    elif chosen == "ndjson":
        put_entries(chosen, found)
    elif chosen == "json":
        output.put(output.dump(found[0] if one else found) + "\n")
    elif one:
        output.put_lines(facts(where, [(Cell(name).text, [Cell(word(found[0][name]))]) for name in names]))
    else:
        output.put_lines(rows(where, names, found))


def _pick(entry: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: _at(entry, name.split(".")) for name in names}


def _known(name: str, entries: Sequence[Any]) -> bool:
    return any(_at(entry, name.split(".")) is not _MISSING for entry in entries)


def _at(value: Any, path: Sequence[str]) -> Any:
    """What is at a path: of a list, what is at it in each of its members."""
    if not path:
        return value
    if isinstance(value, list):
        each = [found for member in value if (found := _at(member, path)) is not _MISSING]
        return each if each or not value else _MISSING
    if isinstance(value, dict) and path[0] in value:
        return _at(value[path[0]], path[1:])
    return _MISSING


def _names(entries: Sequence[Any]) -> list[str]:
    return [str(name) for entry in entries if isinstance(entry, dict) for name in entry]
