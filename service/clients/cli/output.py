"""Puts text and JSON on standard output.

Machine forms are UTF-8 whatever the terminal is told to be (RFC 8259, section 8.1). On a terminal, where a person asks
for them, JSON is indented and what could steer the terminal is escaped.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from service.clients.sdk.answer import Answer


def put_lines(lines: Iterable[str]) -> None:
    """Print text for people."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def put_json(answer: Answer) -> None:
    """Print an answer as it came, byte for byte; for people, indented."""
    if sys.stdout.isatty():
        sys.stdout.write(readable(json.dumps(answer.document, ensure_ascii=False, indent=2)) + "\n")
    else:
        put_bytes(answer.body if answer.body.endswith(b"\n") else answer.body + b"\n")


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
