"""Gives an answer its form: text for people, JSON as it came, a line an entry, comma-separated values; or parts."""

from __future__ import annotations

import sys

from service.clients.cli import output
from service.clients.cli.entries import entries_of, put_entries
from service.clients.cli.refusal import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Literal

    from service.clients.sdk.answer import Answer

    Form = Literal["human", "json", "ndjson", "csv"]
    Lines = Callable[[Any, Mapping[str, Any]], Iterable[str]]


def form(arguments: Namespace) -> Form:
    """What is wanted: the form that was asked for, else text on a terminal, else JSON.

    Args:
        arguments: With `json`, `ndjson`, `csv`, as far as the command takes them.
    """
    if getattr(arguments, "json", False):
        return "json"
    if getattr(arguments, "ndjson", False):
        return "ndjson"
    if getattr(arguments, "csv", False):
        return "csv"
    return "human" if sys.stdout.isatty() else "json"


def write(arguments: Namespace, environment: Mapping[str, str], answer: Answer, lines: Lines) -> int:
    """Print an answer on standard output.

    Args:
        arguments: The form and the fields that are wanted; the command, whose route says which list is the entries.
        environment: Of the process.
        answer: What came.
        lines: Writes it for people, of its `data` and `meta`.

    Returns:
        The exit code: 0, or 1 where a field was wanted that the answer does not have.

    Raises:
        UnreadableError: If it is no answer of this interface.
    """
    chosen = form(arguments)
    route = arguments.command.route
    data, meta = (answer.data, answer.meta) if route is None or route.envelope else (answer.document, {})
    if getattr(arguments, "fields", None) is not None:
        from service.clients.cli.fields import write_fields  # noqa: PLC0415 - few ask for parts

        return write_fields(arguments, environment, chosen, data)
    if chosen == "human":
        output.put_lines(lines(data, meta))
    elif chosen == "json":
        output.put_json(answer)
    else:
        entries = entries_of(arguments, data)
        put_entries(chosen, [data] if entries is None else entries)
        _tell_more(data)
    return DONE


def _tell_more(data: Any) -> None:
    """Say where to go on where there are more entries: lines of entries have no place for it."""
    meta = data.get("meta", data) if isinstance(data, dict) else {}
    cursor = meta.get("next_cursor") if isinstance(meta, dict) else None
    if cursor and sys.stderr.isatty():
        sys.stderr.write(f"There is more: --cursor={output.readable(str(cursor))}\n")
