"""Transactions of type 2 (EIP-1559): a call of a contract, signed and ready to be sent."""

from typing import Final

from coincurve import PrivateKey
from msgspec import Struct

from service.ethereum.addresses import keccak256
from service.ethereum.rlp import Item, encode
from service.ethereum.signatures import sign

_TYPE: Final = b"\x02"
_FIRST_V: Final = 27


class Call(Struct, frozen=True, kw_only=True):
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


class Signed(Struct, frozen=True):
    """A signed transaction: what is sent, and the name the chain knows it by (0x and 64 digits)."""

    raw: bytes
    hash: str


def sign_call(call: Call, key: PrivateKey) -> Signed:
    """Sign a call. The same call is signed the same (RFC 6979)."""
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
    signature = sign(keccak256(_TYPE + encode(fields)), key)
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64])
    raw = _TYPE + encode([*fields, signature[64] - _FIRST_V, r, s])
    return Signed(raw, "0x" + keccak256(raw).hex())
