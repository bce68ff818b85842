"""Sign-In with Ethereum: nonces, and the check of a signed message (EIP-4361).

Sources: https://eips.ethereum.org/EIPS/eip-4361 (ABNF), RFC 3986 for URIs, RFC 3339 for instants.
"""

import hmac
import re
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct

from service import base62
from service.access.caller import bad_parameter, invalid_credential
from service.clock import DAY_MS, MINUTE_MS, Clock, iso, parse_iso
from service.errors import ServiceError
from service.ethereum.addresses import checksum_address
from service.ethereum.signatures import recover_personal
from service.settings import Settings
from service.storage.engine import Connection
from service.wire.access import Login

NONCE_MS: Final = 5 * MINUTE_MS
_RANDOM_LENGTH: Final = 16
_EXPIRY_LENGTH: Final = 8
_MAC_LENGTH: Final = 16
_NONCE: Final = re.compile(rf"[0-9A-Za-z]{{{_RANDOM_LENGTH + _EXPIRY_LENGTH + _MAC_LENGTH}}}\Z")
_EVERY_ADDRESS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - recognised here, bound nowhere
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

_KEPT_MS: Final = DAY_MS
"""Spent nonces are kept this long past their expiry, for a clock that is set back."""

_NEEDS_KEY: Final = (
    "This address needs a signature of its own key, or an operator who sets VERDICT_RPC_URL: then the contract of a "
    "wallet is asked."
)
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


def parse_sign_in_message(text: str) -> SignInMessage:
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


class WalletProof(Struct, frozen=True):
    """A wallet that has signed. It counts once its nonce has been used."""

    address: str
    nonce: str
    nonce_expires_ms: int


class NotByKeyError(ServiceError):
    """The key of the wallet has not signed; everything else of the message is good.

    Args:
        proof: What counts if the wallet's contract accepts the signature.
        reason: What is wrong with the signature.
    """

    def __init__(self, proof: WalletProof, reason: str) -> None:
        super().__init__("AUTH_INVALID", f"{reason} {_NEEDS_KEY}", headers={"WWW-Authenticate": "Bearer"})
        self.proof = proof


class SignIn:
    """Issues nonces and checks signed messages.

    Args:
        clock: Time.
        key: Server secret; the key of nonces is derived from it.
        domains: Accepted authorities, in lower case.
        chain_id: Required chain.
    """

    def __init__(self, clock: Clock, key: bytes, domains: AbstractSet[str], chain_id: int) -> None:
        self._clock = clock
        self._key = hmac.digest(key, b"sign-in nonce", "sha256")
        self._domains = domains
        self._chain_id = chain_id

    def nonce(self) -> tuple[str, int]:
        """Make a nonce.

        Returns:
            40 alphanumeric characters, and when they expire.
        """
        expires_ms = self._clock.now_ms() + NONCE_MS
        content = base62.random_text(_RANDOM_LENGTH) + base62.encode(expires_ms, _EXPIRY_LENGTH)
        return content + self._mac(content), expires_ms

    def check(self, login: Login) -> WalletProof:
        """Check everything about a login except whether its nonce was used before.

        Raises:
            NotByKeyError: If everything holds but that the wallet's key has not signed it: its contract may have.
            ServiceError: `BAD_REQUEST` if the text is no sign-in message; `AUTH_INVALID`, with the reason, if it is not
                for this service and this moment.
        """
        try:
            message = parse_sign_in_message(login.message)
        except ValueError as error:
            raise bad_parameter("message", f"The message cannot be read: {error}.") from error
        self._check_place(message)
        self._check_time(message)
        proof = WalletProof(message.address, message.nonce, self._check_nonce(message.nonce))
        try:
            signer = recover_personal(login.message, bytes.fromhex(login.signature[2:]))
        except ValueError as error:
            raise NotByKeyError(proof, f"The signature is not valid: {error}.") from error
        if signer != message.address:
            raise NotByKeyError(proof, "The signature is not the one of the wallet the message names.")
        return proof

    def _check_place(self, message: SignInMessage) -> None:
        if message.domain not in self._domains:
            raise invalid_credential(
                f"The message is for another domain. This service is {' or '.join(sorted(self._domains))}."
            )
        if message.chain_id != self._chain_id:
            raise invalid_credential(
                f"The message is for another chain. This service signs in on chain {self._chain_id}."
            )

    def _check_time(self, message: SignInMessage) -> None:
        now_ms = self._clock.now_ms()
        if abs(now_ms - message.issued_ms) > NONCE_MS:
            raise invalid_credential(
                f"The message was not issued within five minutes of this service's clock, {iso(now_ms)}."
            )
        if message.expires_ms is not None and now_ms >= message.expires_ms:
            raise invalid_credential(f"The message expired at {iso(message.expires_ms)}.")
        if message.not_before_ms is not None and now_ms < message.not_before_ms:
            raise invalid_credential(f"The message is not valid before {iso(message.not_before_ms)}.")

    def _check_nonce(self, nonce: str) -> int:
        content, mac = nonce[:-_MAC_LENGTH], nonce[-_MAC_LENGTH:]
        if not _NONCE.match(nonce) or not hmac.compare_digest(self._mac(content), mac):
            raise invalid_credential("The nonce was not issued by this service. Ask for a new one.")
        expires_ms = base62.decode(content[_RANDOM_LENGTH:])
        if self._clock.now_ms() >= expires_ms:
            raise invalid_credential(f"The nonce expired at {iso(expires_ms)}. Ask for a new one.")
        return expires_ms

    def _mac(self, content: str) -> str:
        digest = hmac.digest(self._key, content.encode(), "sha256")
        return base62.encode(int.from_bytes(digest), _MAC_LENGTH)


def spend_nonce(connection: Connection, proof: WalletProof, now_ms: int) -> None:
    """Mark a nonce as used, in the transaction that opens the session.

    Raises:
        ServiceError: `AUTH_INVALID` if it was used before.
    """
    connection.execute("DELETE FROM spent_nonces WHERE expires_ms < ?", (now_ms - _KEPT_MS,))
    spent = connection.execute(
        "INSERT INTO spent_nonces (nonce, expires_ms) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (proof.nonce, proof.nonce_expires_ms),
    )
    if spent.rowcount == 0:
        raise invalid_credential("The nonce was used already. Ask for a new one.")


def sign_in_domains(settings: Settings) -> frozenset[str]:
    """The authorities (`host` or `host:port`) a sign-in message may be for."""
    if settings.public_url:
        scheme, _, authority = settings.public_url.lower().partition("://")
        return frozenset({authority.removesuffix(":443" if scheme == "https" else ":80")})
    local = settings.host in _LOOPBACK | _EVERY_ADDRESS
    hosts = (_LOOPBACK if local else set()) | ({settings.host.lower()} - _EVERY_ADDRESS)
    default_port = 443 if settings.tls_cert else 80
    port = "" if settings.port == default_port else f":{settings.port}"
    return frozenset((f"[{host}]" if ":" in host else host) + port for host in hosts)


def sign_in_chain(settings: Settings) -> int:
    """The EIP-155 chain id of the configured network."""
    return int(settings.network.removeprefix("eip155:"))


def _instant(text: str | None) -> int | None:
    return None if text is None else parse_iso(text)
