"""Gives an answer its form: text for people, JSON as it came, a line an entry, comma-separated values; or parts of it.

Machine forms are UTF-8 whatever the terminal is told to be (RFC 8259, section 8.1). On a terminal, where a person asks
for them, JSON is indented and what could steer the terminal is escaped.
"""

from __future__ import annotations

import json
import sys

from service.clients.cli.refusal import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Literal, TextIO

    from service.clients.sdk.answer import Answer

    Form = Literal["human", "json", "ndjson", "csv"]
    Lines = Callable[[Any, Mapping[str, Any]], Iterable[str]]


def form(arguments: Namespace, environment: Mapping[str, str], stdout: TextIO) -> Form:  # noqa: ARG001 - as agreed
    """What is wanted: the form that was asked for, else text on a terminal, else JSON.

    Args:
        arguments: With `json`, `ndjson`, `csv`, as far as the command takes them.
        environment: Of the process.
        stdout: Where it goes.
    """
    if getattr(arguments, "json", False):
        return "json"
    if getattr(arguments, "ndjson", False):
        return "ndjson"
    if getattr(arguments, "csv", False):
        return "csv"
    return "human" if stdout.isatty() else "json"


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
    chosen = form(arguments, environment, sys.stdout)
    route = arguments.command.route
    data, meta = (answer.data, answer.meta) if route is None or route.envelope else (answer.document, {})
    if getattr(arguments, "fields", None) is not None:
        from service.clients.cli.fields import write_fields  # noqa: PLC0415 - few ask for parts

        return write_fields(arguments, environment, chosen, data)
    if chosen == "human":
        put_lines(lines(data, meta))
    elif chosen == "json":
        put_json(answer)
    else:
        put_entries(chosen, entries_of(arguments, data) or [data])
        tell_more(data)
    return DONE


def entries_of(arguments: Namespace, data: Any) -> list[Any] | None:
    """The entries of an answer, none where it is one thing."""
    route = arguments.command.route
    entries = data.get(route.entries) if route is not None and isinstance(data, dict) else None
    return entries if isinstance(entries, list) else None


def put_lines(lines: Iterable[str]) -> None:
    """Print text for people."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def put_json(answer: Answer) -> None:
    """Print an answer as it came, byte for byte; for people, indented."""
    if sys.stdout.isatty():
        sys.stdout.write(readable(json.dumps(answer.document, ensure_ascii=False, indent=2)) + "\n")
    else:
        put_bytes(answer.body if answer.body.endswith(b"\n") else answer.body + b"\n")


def put_entries(chosen: Form, entries: Iterable[Any]) -> None:
    """Print a line an entry."""
    if chosen == "csv":
        from service.clients.cli.commas import written  # noqa: PLC0415 - few ask for it

        put(written(entries))
    else:
        put("".join(f"{dump(entry)}\n" for entry in entries))


def dump(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def put(text: str) -> None:
    """Print text for programs."""
    if sys.stdout.isatty():
        sys.stdout.write(readable(text))
    else:
        # A lone half of a pair, which JSON may hold and UTF-8 not, is written as JSON writes it.
        put_bytes(text.encode(errors="backslashreplace"))


def put_bytes(data: bytes) -> None:
    """Print bytes, after what was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def readable(text: str) -> str:
    """JSON that cannot steer a terminal: what is no letter is written by its code."""
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def tell_more(data: Any) -> None:
    """Say where to go on, where the entries are a page of several: the forms of entries have no place for it."""
    meta = data.get("meta", data) if isinstance(data, dict) else {}
    cursor = meta.get("next_cursor") if isinstance(meta, dict) else None
    if cursor and sys.stderr.isatty():
        sys.stderr.write(f"There is more: --cursor={readable(str(cursor))}\n")
