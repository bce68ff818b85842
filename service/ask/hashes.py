"""Addresses and hashes as prose shortens them: so that they can be found again, and told from all others there are."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_HASH: Final = re.compile(r"0x[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
_HEAD: Final = len("0x1234")
_TAIL: Final = 4


def is_hash(text: str) -> bool:
    """Whether it is an address of an account or a contract, or the hash of a transaction."""
    return _HASH.fullmatch(text) is not None


def shortened(text: str) -> str:
    """Its beginning and its end: `0x5aAe…eAed`."""
    return f"{text[:_HEAD]}…{text[-_TAIL:]}"


def is_plain(text: str, data: Any) -> bool:
    """Whether its short form is that of nothing else in a result.

    Who wants to be taken for somebody else makes an address that begins and ends like theirs.
    """
    short = shortened(text).lower()
    return {other.lower() for other in _hashes(data) if shortened(other).lower() == short} <= {text.lower()}


def _hashes(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if is_hash(value):
            yield value
    elif isinstance(value, Mapping):
        for child in value.values():
            yield from _hashes(child)
    elif isinstance(value, list):
        for child in value:
            yield from _hashes(child)
