"""EIP-1559 transactions: a contract call, signed and ready to send; and RLP encoding.

Source of RLP: Ethereum Yellow Paper, appendix B.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from coincurve import PrivateKey
from msgspec import Struct

from service.ethereum.addresses import keccak256
from service.ethereum.signatures import sign

Item: TypeAlias = "bytes | int | Sequence[Item]"
"""Bytes, a number from 0 up, or a list of these."""

_STRING: Final = 0x80
_LIST: Final = 0xC0
_SHORT: Final = 55
_TYPE: Final = b"\x02"
_FIRST_V: Final = 27


def encode_rlp(item: Item) -> bytes:
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
    content = b"".join(map(encode_rlp, item))
    return _prefix(len(content), _LIST) + content


def _prefix(length: int, kind: int) -> bytes:
    if length <= _SHORT:
        return bytes([kind + length])
    written = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([kind + _SHORT + len(written)]) + written


class ContractCall(Struct, frozen=True, kw_only=True):
    """A call of a contract that brings no ether.

    Attributes:
        chain_id: EIP-155 number of the chain.
        nonce: How many transactions its sender has sent before.
        tip: Most that the block maker gets, wei a gas.
        max_fee: Most that is paid in all, wei a gas.
        gas: Most that it may use.
        to: The contract's address.
        data: Selector and arguments.
    """

    chain_id: int
    nonce: int
    tip: int
    max_fee: int
    gas: int
    to: str
    data: bytes


class SignedTransaction(Struct, frozen=True):
    """A signed transaction: what is sent, and the name the chain knows it by (0x and 64 digits)."""

    raw: bytes
    hash: str


def sign_call(call: ContractCall, key: PrivateKey) -> SignedTransaction:
    """Sign a call. The signature is deterministic (RFC 6979)."""
    fields: list[Item] = [
        call.chain_id,
        call.nonce,
        call.tip,
        call.max_fee,
        call.gas,
        bytes.fromhex(call.to[2:]),
        0,
        call.data,
        [],
    ]
    signature = sign(keccak256(_TYPE + encode_rlp(fields)), key)
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64])
    raw = _TYPE + encode_rlp([*fields, signature[64] - _FIRST_V, r, s])
    return SignedTransaction(raw, "0x" + keccak256(raw).hex())
