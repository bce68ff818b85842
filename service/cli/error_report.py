"""Reports why a command failed, on stderr: text for people, the JSON envelope for programs."""

import errno
import json
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from http import HTTPStatus
from typing import Final, TypeGuard

import click

from service import formats
from service.cli.terminal import safe
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.errors import (
    DEFECT,
    FAILED,
    REFUSED,
    UNAVAILABLE,
    UNKNOWN_CALLER,
    UNPAID,
    UNREACHABLE,
    RefusalError,
    UsageError,
)

_CODES: Final = {
    HTTPStatus.BAD_REQUEST: FAILED,
    HTTPStatus.UNAUTHORIZED: UNKNOWN_CALLER,
    HTTPStatus.FORBIDDEN: UNKNOWN_CALLER,
    HTTPStatus.PAYMENT_REQUIRED: UNPAID,
    HTTPStatus.TOO_MANY_REQUESTS: UNPAID,
}
_NAMES: Final = {
    FAILED: "BAD_REQUEST",
    UNKNOWN_CALLER: "AUTH_REQUIRED",
    UNPAID: "PAYMENT_REQUIRED",
    REFUSED: "REFUSED",
    UNAVAILABLE: "UNAVAILABLE",
    UNREACHABLE: "UNREACHABLE",
    DEFECT: "INTERNAL",
}
"""Error codes of envelopes that do not come from the service, by exit code."""

_NOBODY: Final = sha256(b"").hexdigest()
"""The `caller` of a request that was sent without a credential."""

_NOT_TAKEN: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
_FORMATS: Final = frozenset({"--json", "--ndjson", "--csv", "--raw"})
_MOST_CANDIDATES: Final = 10
_DEFECT: Final = "This is a defect of `verdict`, not a mistake of yours. The lines above help to find it."


def report(error: Exception, command: click.Command | None, typed: Sequence[str]) -> None:
    """Write to stderr what went wrong. `command` is None if the command line names none."""
    code = exit_code_of(error)
    prefix = error.command if isinstance(error, UsageError) else "verdict"
    if code == DEFECT and not isinstance(error, RefusalError):
        from service.logs import redact  # noqa: PLC0415 - loads logging, for a defect only

        # The traceback may contain text of the service, or a password that a library repeats.
        lines = "".join(traceback.format_exception(error)).splitlines()
        sys.stderr.writelines(f"{safe(redact(line))}\n" for line in lines)
        message = _DEFECT
    elif is_output_lost(error):
        message = f"The output could not be written: {error.strerror}."
    else:
        message = error.message if isinstance(error, RefusedError) else str(error)
    if _is_for_programs(command, typed):
        sys.stderr.write(json.dumps(_document(error, code, message)) + "\n")
        return
    sys.stderr.write(f"{prefix}: {safe(message)}\n")
    if isinstance(error, RefusedError):
        sys.stderr.writelines(f"{safe(line)}\n" for line in _advice(error))


def is_output_lost(error: Exception) -> TypeGuard[OSError]:
    """Whether output could not be written: the disk is full, or standard output is closed."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _NOT_TAKEN


def exit_code_of(error: Exception) -> int:
    """The exit code for what a command raised, as `service.cli` lists them."""
    match error:
        case RefusalError():
            return error.code
        case RefusedError():
            return code_for(error.status)
        case UnreachableError():
            return UNREACHABLE
        case UnreadableAnswerError():
            return UNAVAILABLE
        case _:
            return FAILED if is_output_lost(error) else DEFECT


def code_for(status: int) -> int:
    """The exit code for an HTTP status of 300 and above."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UNAVAILABLE
    return _CODES.get(HTTPStatus(status) if status in set(HTTPStatus) else HTTPStatus.NOT_FOUND, REFUSED)


def _is_for_programs(command: click.Command | None, typed: Sequence[str]) -> bool:
    has_format = command is not None and any(parameter.name == "as_json" for parameter in command.params)
    return has_format and (not _FORMATS.isdisjoint(typed) or not sys.stdout.isatty())


def _document(error: Exception, code: int, message: str) -> object:
    if isinstance(error, RefusedError) and isinstance(error.document, dict) and error.document.get("error"):
        return error.document
    name = error.code if isinstance(error, RefusedError) else "OUTPUT_LOST" if is_output_lost(error) else _NAMES[code]
    # The envelope keeps the terms of payment, except where a payment was signed that may still settle.
    offered = error.__cause__.document if code == UNPAID and isinstance(error.__cause__, RefusedError) else None
    envelope = offered if isinstance(offered, dict) else {}
    return {"schemaVersion": 1, **envelope, "error": {"code": name, "message": message}}


def _advice(error: RefusedError) -> Iterator[str]:
    names = error.details.get("candidates")
    candidates = [some for some in names if isinstance(some, str)] if isinstance(names, list) else []
    if candidates and candidates[0] not in error.message:
        yield f"Did you mean {' or '.join(candidates[:_MOST_CANDIDATES])}?"
    if error.code == "UNKNOWN_SYMBOL":
        yield "`verdict resolve TEXT` finds coins, stocks and metals by any of their names."
    wait = error.headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit():
        yield f"Try again in {formats.duration(int(wait))}."
    if error.status == HTTPStatus.UNAUTHORIZED:
        yield "`verdict login` signs in again. VERDICT_TOKEN, if it is set, takes precedence over the stored login."
    if error.code == "AUTH_REQUIRED" and error.asked is not None and error.asked.caller == _NOBODY:
        yield "If you have an API key, store it with `verdict login --token`, or set VERDICT_TOKEN to it."


RENAMED: Final[Mapping[str, str]] = {
    "backup": "admin backup",
    "billing receipt": "billing show",
    "doctor --client": "doctor",
    "doctor --health": "admin doctor --health",
    "doctor --repair": "admin doctor --repair",
    "doctor --upstreams": "admin doctor --upstreams",
    "grants": "admin grants",
    "init": "admin init",
    "keys --mine": "keys",
    "keys --tier": "admin keys",
    "keys --user": "admin keys",
    "keys --wallet": "admin keys",
    "migrate-store": "admin migrate",
    "payments verify": "admin receipts verify",
    "payments": "admin payments",
    "record": "admin record",
    "rwa assets": "rwa list",
    "sentiment categories": "sentiment all-categories",
    "sentiment narratives": "sentiment all-narratives",
    "usage": "admin usage",
    "wallet": "spending",
    "walkforward run": "admin walkforward",
    "wallets add": "admin wallets add",
    "wallets label": "admin wallets label",
    "wallets list": "admin wallets list",
    "wallets remove": "admin wallets remove",
}
"""Old spellings, by the first word and an option or the second word."""


def new_name(typed: Sequence[str]) -> tuple[str, str] | None:
    """Old and new name of the command that a refused command line means; None if it has no old name."""
    words = [word.partition("=")[0] for word in typed]
    for old, new in RENAMED.items():
        first, _, second = old.partition(" ")
        is_option = second.startswith("--")
        if words[:1] == [first] and (second in words if is_option else not second or words[1:2] == [second]):
            return old, new
    return None
