"""The entries of an answer, a line each."""

from __future__ import annotations

from service.clients.cli.output import dump, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable
    from typing import Any


def entries_of(arguments: Namespace, data: Any) -> list[Any] | None:
    """The entries of an answer, none where it is one thing."""
    route = arguments.command.route
    entries = data.get(route.entries) if route is not None and isinstance(data, dict) else None
    return entries if isinstance(entries, list) else None


def put_entries(chosen: str, entries: Iterable[Any]) -> None:
    """Print a line an entry."""
    if chosen == "csv":
        from service.clients.cli.commas import written  # noqa: PLC0415 - few ask for it

        put(written(entries))
    else:
        put("".join(f"{dump(entry)}\n" for entry in entries))
