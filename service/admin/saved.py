"""Answers that somebody saved, read to be checked: strictly, and without letting them steer the terminal."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from service.cli.terminal import safe
from service.client.errors import REFUSED, RefusalError
from service.wire.strict import check_depth

_STDIN: Final = "-"
_LARGEST: Final = 2**20
_EXACT: Final = 2**53


def read_json(name: str) -> object:
    """Read a file of JSON.

    Args:
        name: Its path; `-` is standard input.

    Raises:
        RefusalError: With exit code 4 if it cannot be read, is over 1 MiB or no JSON, or says a member twice.
    """
    return _json_of(_read(name))


def _read(name: str) -> bytes:
    try:
        if name == _STDIN:
            content = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(_LARGEST + 1)
    except OSError as error:
        raise RefusalError(f"cannot read {safe(name)}: {error.strerror}", REFUSED) from error
    if len(content) > _LARGEST:
        raise RefusalError(f"{safe(name)} is over 1 MiB: no answer is", REFUSED)
    return content


def _json_of(content: bytes) -> object:
    try:
        check_depth(content)
        return json.loads(
            content, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_number, parse_int=_number
        )
    except ValueError as error:
        raise RefusalError(f"this is not JSON: {safe(str(error))}", REFUSED) from error


def _members(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        # Of two members of one name another reader may take the other: such a file says nothing for certain.
        raise ValueError("a member is repeated")
    return members


def _number(text: str) -> float:
    """A number as JSON has it, a double, however it was written down: 720, 720.0 and 7.2e2 are one."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
