"""The text a wallet signs to sign in, read exactly as EIP-4361 writes it.

Source: https://eips.ethereum.org/EIPS/eip-4361 (ABNF), RFC 3986 for URIs, RFC 3339 for instants.
"""

import re
from typing import Final

from msgspec import Struct

from service.clock import parse_iso
from service.ethereum.addresses import checksum_address

_PCHAR: Final = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})"
_NAME: Final = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})"
_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+\-.]*"
_HOST: Final = rf"(?:\[[0-9A-Fa-f:.]+\]|{_NAME}*)(?::[0-9]*)?"
_AUTHORITY: Final = rf"(?:(?:{_NAME}|:)*@)?{_HOST}"
_URI: Final = (
    rf"{_SCHEME}:(?://{_AUTHORITY}(?=[/?#\n]|\Z)|(?!//))(?:{_PCHAR}|/)*"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:\#(?:{_PCHAR}|[/?])*)?"
)
_INSTANT: Final = r"[0-9TZ:.+\-]{20,40}"
_STATEMENT: Final = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;= ]+"

_MESSAGE: Final = re.compile(
    rf"(?:(?P<scheme>{_SCHEME})://)?(?P<domain>{_AUTHORITY}) wants you to sign in with your Ethereum account:\n"
    r"(?P<address>0x[0-9A-Fa-f]{40})\n"
    rf"\n(?:(?P<statement>{_STATEMENT})\n)?\n"
    rf"URI: (?P<uri>{_URI})\n"
    r"Version: 1\n"
    r"Chain ID: (?P<chain_id>[0-9]{1,20})\n"
    r"Nonce: (?P<nonce>[A-Za-z0-9]{8,})\n"
    rf"Issued At: (?P<issued_at>{_INSTANT})"
    rf"(?:\nExpiration Time: (?P<expiration_time>{_INSTANT}))?"
    rf"(?:\nNot Before: (?P<not_before>{_INSTANT}))?"
    rf"(?:\nRequest ID: (?P<request_id>{_PCHAR}*))?"
    rf"(?:\nResources:(?P<resources>(?:\n- {_URI})*))?\Z"
)


class SignInMessage(Struct, frozen=True):
    """The fields of a message that decide something; instants are epoch milliseconds, the domain in lower case."""

    domain: str
    address: str
    chain_id: int
    nonce: str
    issued_ms: int
    expires_ms: int | None
    not_before_ms: int | None


def read_message(text: str) -> SignInMessage:
    """Read a sign-in message.

    Raises:
        ValueError: If it is not one, to the letter; if an instant does not exist; or if the address's capital letters
            are not those of EIP-55.
    """
    found = _MESSAGE.match(text)
    if not found:
        raise ValueError("the text is not an EIP-4361 message, version 1")
    if found["address"] != checksum_address(found["address"]):
        raise ValueError("the address is not written as EIP-55 does")
    return SignInMessage(
        domain=found["domain"].lower(),
        address=found["address"],
        chain_id=int(found["chain_id"]),
        nonce=found["nonce"],
        issued_ms=parse_iso(found["issued_at"]),
        expires_ms=_instant(found["expiration_time"]),
        not_before_ms=_instant(found["not_before"]),
    )


def _instant(text: str | None) -> int | None:
    return None if text is None else parse_iso(text)
