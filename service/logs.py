"""Logs: one line of JSON a record, on stderr, with nothing in it that opens a door.

Records carry a message and `extra={...}`; a `request_id` among the extras ties the lines of one request together.
Whatever looks like a credential is cut out of every text, tracebacks included, so that a careless caller leaks nothing;
everything outside printable ASCII is escaped, so that a record is always one line and never steers a terminal.
"""

import json
import logging
import math
import re
import sys
from collections.abc import Mapping
from typing import Final, TextIO

from service.clock import SECOND_MS, iso

REDACTED: Final = "[redacted]"
LONGEST_TEXT: Final = 8_192
"""Characters of one text that are kept: a hostile header must not fill the disk."""

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
_SECRET_NAMES: Final = re.compile(
    r"(?i)(authorization|cookie|token|secret|password|pepper|signature|private_key|api_?key|x-payment|payment-signature)\Z"
)
_RULES: Final = (
    # Every rule is linear in the text, whatever the text: none of them can be made to backtrack.
    # An API key keeps its display prefix, which is what lists and operators know it by.
    (re.compile(r"([a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]+"), r"\1…"),
    # A JWT, and the base64 of any JSON object: payment headers are that.
    (re.compile(r"\beyJ[\w+/=.-]{5,}"), REDACTED),
    (re.compile(r"(?i)\b(bearer|basic)\s{1,4}[^\s\"',]+"), rf"\1 {REDACTED}"),
    (
        re.compile(r"(?i)\b(authorization|x-payment|payment-signature|cookie)([\"']?\s{0,4}[:=,]\s{0,4})[^\r\n]+"),
        rf"\1\2{REDACTED}",
    ),
    (re.compile(r"://[^/\s@\"']{1,256}@"), f"://{REDACTED}@"),
    (re.compile(r"(?<=[^\s?])\?[^\s\"'<>]+"), f"?{REDACTED}"),
)


def redact(text: str) -> str:
    """Cut keys, JWTs, authorization and payment headers, URL credentials and URL queries out of a text.

    Args:
        text: Anything, also hostile.

    Returns:
        The same text with what opens a door replaced, at most `LONGEST_TEXT` characters of it.
    """
    # Cut first, a little behind the end, so that no rule runs over megabytes and no secret is halved at the cut.
    text = text[: LONGEST_TEXT * 2]
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


class JsonFormatter(logging.Formatter):
    """One line a record: `ts`, `level`, `logger`, `message`, `request_id`, the other extras, `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line of ASCII JSON."""
        extras = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        line: dict[str, object] = {
            "ts": iso(int(record.created * SECOND_MS)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if "request_id" in extras:
            line["request_id"] = _plain("request_id", extras.pop("request_id"))
        line |= {name: _plain(name, value) for name, value in extras.items()}
        if record.exc_info:
            line["exception"] = redact(self.formatException(record.exc_info))
        return json.dumps(line)


def _plain(name: str, value: object) -> object:
    if _SECRET_NAMES.search(name):
        return REDACTED
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): _plain(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain("", inner) for inner in value]
    return redact(str(value))


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send every logger of the process to one JSON stream.

    Args:
        level: `debug`, `info`, `warning` or `error`; libraries speak from `warning` on.
        stream: Where to; stderr if not given.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("verdict").setLevel(level.upper())
    logging.captureWarnings(capture=True)
    # A full disk or a closed pipe behind stderr must not turn every record into a traceback.
    logging.raiseExceptions = False
