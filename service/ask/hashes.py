"""Addresses and hashes as prose shortens them: so that they can be found again, and told from all others there are."""

import re
from collections.abc import Iterator
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


def twins(data: Any) -> frozenset[str]:
    """Short forms, in lower case, that are those of several addresses or hashes of a result.

    Who wants to be taken for somebody else makes an address that begins and ends like theirs.
    """
    meant: dict[str, str] = {}
    several = set[str]()
    for text in map(str.lower, _hashes(data)):
        short = shortened(text)
        if meant.setdefault(short, text) != text:
            several.add(short)
    return frozenset(several)


def _hashes(value: Any) -> Iterator[str]:
    if isinstance(value, str) and is_hash(value):
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _hashes(child)
