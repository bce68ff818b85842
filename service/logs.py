"""Logs on stderr: one readable line a record on a terminal, one line of JSON otherwise, with no credential in either.

Records carry a message and `extra={...}`; a `request_id` among the extras ties the lines of one request together.
Both forms write the same redacted fields: whatever looks like a credential is cut out of every text, tracebacks
included. JSON escapes everything outside printable ASCII, text escapes every character that cannot be printed, so no
record adds a line of its own or controls a terminal. Only a traceback takes more lines in text, and each is indented.
"""

import json
import logging
import math
import re
import sys
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TextIO

from service.clock import SECOND_MS, iso
from service.queued_output import QueuedStream

REDACTED: Final = "[redacted]"
LONGEST_TEXT: Final = 8_192
"""Characters of one text that are kept: a hostile header must not fill the disk."""

_TIME_OF_DAY: Final = slice(11, 19)
"""Of an ISO 8601 instant."""

_DIM: Final = "2"
_COLOURS: Final[Mapping[str, str]] = {"INFO": "32", "WARNING": "33", "ERROR": "31", "CRITICAL": "31"}
"""Level → ANSI colour (SGR): green, yellow, red."""

_NEEDS_QUOTES: Final = re.compile(r'[\s"=]')
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


class _Fields(NamedTuple):
    """What a record says, redacted: the only way from a record to a form."""

    message: str
    extras: dict[str, object]
    exception: str | None


class JsonFormatter(logging.Formatter):
    """One line a record: `ts`, `level`, `logger`, `message`, `request_id`, the other extras, `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line of ASCII JSON."""
        message, extras, exception = _fields(self, record)
        line: dict[str, object] = {
            "ts": iso(int(record.created * SECOND_MS)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
        }
        if "request_id" in extras:
            line["request_id"] = extras.pop("request_id")
        line |= extras
        if exception is not None:
            line["exception"] = exception
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """One line a record: UTC time, level, part of the service, message, extras as `key=value`.

    Args:
        colour: Whether to colour the level and dim time and extras (ANSI).
    """

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line; a traceback follows as indented lines."""
        message, extras, exception = _fields(self, record)
        time, level = iso(int(record.created * SECOND_MS))[_TIME_OF_DAY], record.levelname
        details = " ".join(f"{name}={_detail(value)}" for name, value in extras.items())
        said = _printable(f"{record.name.removeprefix('verdict.')}: {message}")
        line = f"{self._in(_DIM, time)} {self._in(_COLOURS.get(level, _DIM), level)} {said}"
        if details:
            line += f"  {self._in(_DIM, _printable(details))}"
        if exception is not None:
            line += "".join(f"\n    {_printable(part)}" for part in exception.split("\n"))
        return line

    def _in(self, colour: str, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text


def _fields(formatter: logging.Formatter, record: logging.LogRecord) -> _Fields:
    return _Fields(
        redact(record.getMessage()),
        {name: _plain(name, value) for name, value in vars(record).items() if name not in _STANDARD},
        redact(formatter.formatException(record.exc_info)) if record.exc_info else None,
    )


def _detail(value: object) -> str:
    """An extra in text: a word as it is, anything else as JSON."""
    if isinstance(value, str) and value and not _NEEDS_QUOTES.search(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _printable(text: str) -> str:
    r"""Escape control, format and other characters that cannot be printed: `\x1b`, `\u202e`, `\ud800`."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


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


def _loss(lost: int) -> logging.LogRecord:
    fields = {"name": "verdict.logs", "levelno": logging.WARNING, "levelname": "WARNING", "lost": lost}
    return logging.makeLogRecord({**fields, "msg": "Log lines were lost: nothing read them in time."})


def configure(
    level: str,
    form: Literal["auto", "json", "text"] = "auto",
    *,
    colour: bool = False,
    stream: TextIO | None = None,
) -> None:
    """Send every logger of the process to one stream. A queued stream says in a line of the log how many it lost.

    Args:
        level: `debug`, `info`, `warning` or `error`; libraries speak from `warning` on.
        form: `text`, `json`, or `auto`: text if the stream is a terminal.
        colour: Whether text is coloured.
        stream: Where to; stderr if not given.
    """
    stream = stream or sys.stderr
    text = form == "text" or (form == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    formatter = TextFormatter(colour=colour) if text else JsonFormatter()
    handler.setFormatter(formatter)
    if isinstance(stream, QueuedStream):
        stream.loss_note = lambda lost: f"{formatter.format(_loss(lost))}{handler.terminator}"
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("verdict").setLevel(level.upper())
    logging.captureWarnings(capture=True)
    # A full disk or a closed pipe behind stderr must not turn every record into a traceback.
    logging.raiseExceptions = False
