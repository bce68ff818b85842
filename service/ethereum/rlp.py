"""Recursive Length Prefix, written only: how Ethereum puts lists of bytes and numbers into one row of bytes.

Source: Ethereum Yellow Paper, appendix B.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

Item: TypeAlias = "bytes | int | Sequence[Item]"
"""Bytes, a number from 0 up, or a list of these."""

_STRING: Final = 0x80
_LIST: Final = 0xC0
_SHORT: Final = 55


def encode(item: Item) -> bytes:
    """Write an item.

    Raises:
        OverflowError: If a number is negative.
    """
    if isinstance(item, int):
        item = item.to_bytes((item.bit_length() + 7) // 8)
    if isinstance(item, bytes):
        if len(item) == 1 and item[0] < _STRING:
            return item
        return _prefix(len(item), _STRING) + item
    content = b"".join(map(encode, item))
    return _prefix(len(content), _LIST) + content


def _prefix(length: int, kind: int) -> bytes:
    if length <= _SHORT:
        return bytes([kind + length])
    written = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([kind + _SHORT + len(written)]) + written
