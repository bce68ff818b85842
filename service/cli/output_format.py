"""Writes an answer in the requested format: text, JSON, one JSON object per line, or CSV.

Machine formats are UTF-8 whatever the terminal's encoding (RFC 8259, section 8.1). On a terminal JSON is indented and
control characters are escaped.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager

from service.cli.layout import facts
from service.cli.show.plain import rows, word
from service.cli.terminal import Cell, tell
from service.client.answer import RawAnswer, UnreadableAnswerError
from service.client.errors import DONE, MISUSED, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from service.cli.terminal import Display

    OutputFormat = Literal["human", "json", "ndjson", "csv"]
    Lines = Callable[[Any, Mapping[str, Any]], Iterable[str]]


def put_lines(lines: Iterable[str]) -> None:
    """Print lines of text."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def put_document(value: object) -> None:
    """Print a document of this program as JSON on one line."""
    put(json.dumps(value, ensure_ascii=False) + "\n")


def put_json(answer: RawAnswer) -> None:
    """Print an answer byte for byte, or indented on a terminal.

    Raises:
        UnreadableAnswerError: If it is not JSON.
    """
    document = answer.document
    if sys.stdout.isatty():
        sys.stdout.write(readable(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")
    else:
        _put_body(answer.body)


@contextmanager
def paid_not_lost(answer: RawAnswer) -> Iterator[None]:
    """Print the bytes of an answer that was paid for and cannot be read; nesting too deep counts as that.

    Raises:
        UnreadableAnswerError: If it cannot be read, paid for or not.
    """
    try:
        try:
            yield
        except RecursionError:
            raise UnreadableAnswerError("The answer is nested too deeply to be shown.", answer.body) from None
    except UnreadableAnswerError:
        if "x-receipt-id" in answer.headers:
            if sys.stdout.isatty():
                sys.stdout.write(readable(answer.body.decode(errors="replace")) + "\n")
            else:
                _put_body(answer.body)
        raise


def _put_body(body: bytes) -> None:
    put_bytes(body if body.endswith(b"\n") else body + b"\n")


def dump(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def put(text: str) -> None:
    """Print a machine format; on a terminal with control characters escaped."""
    if sys.stdout.isatty():
        sys.stdout.write(readable(text))
    else:
        # A lone surrogate is valid in JSON and not in UTF-8: write its JSON escape.
        put_bytes(text.encode(errors="backslashreplace"))


def put_bytes(data: bytes) -> None:
    """Print bytes after flushing buffered text."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def readable(text: str) -> str:
    """JSON text with unprintable characters replaced by their JSON escapes."""
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def entries_of(data: Any, name: str) -> list[Any] | None:
    """The list that an answer consists of, by its name; None if the answer is one object."""
    if not isinstance(data, dict):
        return None
    if isinstance(data.get(name), list):
        entries: list[Any] = data[name]
        return entries
    # Prices by coin: a row for each.
    by_coin = next((data[name] for name in _BY_COIN if isinstance(data.get(name), dict)), None)
    if by_coin is None or not all(isinstance(row, dict) for row in by_coin.values()):
        return None
    return [{"id": name, **row} for name, row in by_coin.items()]


_BY_COIN = ("prices", "baselines")
"""Names of objects that hold a row for each coin."""


def put_entries(chosen: str, entries: Iterable[Any]) -> None:
    """Print one line per entry."""
    if chosen == "csv":
        from service.cli.csv_output import csv_of  # noqa: PLC0415 - few ask for it

        put(csv_of(entries))
    else:
        put("".join(f"{dump(entry)}\n" for entry in entries))


def format_of(typed: Mapping[str, Any]) -> OutputFormat:
    """The requested output format; without one, text on a terminal and JSON elsewhere."""
    if typed["as_json"]:
        return "json"
    if typed["ndjson"]:
        return "ndjson"
    if typed["csv"]:
        return "csv"
    return "human" if sys.stdout.isatty() else "json"


def write_answer(
    screen: Display,
    typed: Mapping[str, Any],
    answer: RawAnswer,
    lines: Lines,
    *,
    entries: str = "",
    envelope: bool = True,
) -> int:
    """Write an answer to standard output.

    Args:
        screen: Standard output.
        typed: Values of the options `SHAPING`.
        answer: The answer.
        lines: Its view: lines of text for `data` and `meta`.
        entries: Name of the list that it consists of.
        envelope: Whether it is in the envelope.

    Returns:
        The exit code: 0, or 1 if the answer lacks a requested field.

    Raises:
        UnreadableAnswerError: If it is not an answer of this API.
    """
    chosen = format_of(typed)
    with paid_not_lost(answer):
        data, meta = (answer.data, answer.meta) if envelope else (answer.document, {})
        found = entries_of(data, entries)
        if typed["fields"] is not None:
            return _write_fields(screen, chosen, typed["fields"], data, found)
        if chosen == "human":
            meta = meta if isinstance(meta, dict) else {}
            put_lines(list(lines(data, meta)))
            if answer.headers.get("x-data-source") == "fixtures" and meta.get("as_of"):
                put_lines([screen.paint("dim", "recorded data, replayed: not live")])
        elif chosen == "json":
            put_json(answer)
        else:
            put_entries(chosen, [data] if found is None else found)
            _tell_more(data)
    return DONE


def _tell_more(data: Any) -> None:
    """Print the cursor of the next page to stderr: lines of entries have no place for it."""
    meta = data.get("meta", data) if isinstance(data, dict) else {}
    cursor = meta.get("next_cursor") if isinstance(meta, dict) else None
    if cursor and sys.stderr.isatty():
        sys.stderr.write(f"There is more: --cursor={readable(str(cursor))}\n")


_MISSING = object()


def _write_fields(
    screen: Display, chosen: OutputFormat, names: Sequence[str], data: Any, entries: list[Any] | None
) -> int:
    """Write fields of each entry, or of the answer: a dot selects a field of a nested object or of each list entry.

    Returns:
        The exit code: 1 if the answer lacks a field, which is then null and named on stderr.
    """
    if entries is not None and not _has_any(names, entries) and (entries or _has_any(names, [data])):
        entries = None
    whole = [data] if entries is None else entries
    found = [{name: _at(entry, name.split(".")) for name in names} for entry in whole]
    missing = [name for name in names if found and all(row[name] is _MISSING for row in found)]
    plain = [{name: None if value is _MISSING else value for name, value in row.items()} for row in found]
    _put(screen, chosen, names, plain, one=entries is None)
    for name in missing:
        known = [str(name) for entry in whole if isinstance(entry, dict) for name in entry]
        tell(f"verdict: There is no field {name!r} in this answer.{suggestion(name, known)}")
    return MISUSED if missing else DONE


def _has_any(names: Iterable[str], entries: Iterable[Any]) -> bool:
    return any(_at(entry, name.split(".")) is not _MISSING for name in names for entry in entries)


def _put(where: Display, chosen: str, names: Sequence[str], found: Sequence[dict[str, Any]], *, one: bool) -> None:
    if chosen == "csv":
        from service.cli import csv_output  # noqa: PLC0415 - loads `csv`

        put(csv_output.csv_rows(names, found))
    elif chosen == "ndjson":
        put_entries(chosen, found)
    elif chosen == "json":
        put(dump(found[0] if one else found) + "\n")
    elif one:
        put_lines(facts(where, [(Cell(name).text, [Cell(word(found[0][name]))]) for name in names]))
    else:
        put_lines(rows(where, names, found))


def _at(value: Any, path: Sequence[str]) -> Any:
    """The value at a path; for a list, the values at the path in its entries."""
    if not path:
        return value
    if isinstance(value, list):
        each = [found for member in value if (found := _at(member, path)) is not _MISSING]
        return each if each or not value else _MISSING
    if isinstance(value, dict) and path[0] in value:
        return _at(value[path[0]], path[1:])
    return _MISSING
