"""Sign-In with Ethereum: nonces that certify themselves, and the check of a signed message (EIP-4361)."""

import hmac
import re
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct

from service.access import base62
from service.access.refusal import bad_parameter, invalid
from service.access.signin_message import SignInMessage, read_message
from service.clock import DAY_MS, MINUTE_MS, Clock, iso
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


class Proof(Struct, frozen=True):
    """A wallet that has signed; good once its nonce has been spent."""

    address: str
    nonce: str
    nonce_expires_ms: int


class SignIn:
    """Issues nonces and checks what comes back.

    Args:
        clock: Time.
        key: The server's secret; nonces are authenticated with a key derived from it.
        domains: Authorities a message may be for, in lower case.
        chain_id: The chain a message must be for.
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
        content = base62.draw(_RANDOM_LENGTH) + base62.write(expires_ms, _EXPIRY_LENGTH)
        return content + self._mac(content), expires_ms

    def check(self, login: Login) -> Proof:
        """Check everything about a login except whether its nonce was used before.

        Raises:
            ServiceError: `BAD_REQUEST` if the text is no sign-in message; `AUTH_INVALID`, with the reason, if it is not
                for this service and this moment or not signed by its wallet.
        """
        try:
            message = read_message(login.message)
        except ValueError as error:
            raise bad_parameter("message", f"The message cannot be read: {error}.") from error
        self._check_place(message)
        self._check_time(message)
        nonce_expires_ms = self._check_nonce(message.nonce)
        try:
            signer = recover_personal(login.message, bytes.fromhex(login.signature[2:]))
        except ValueError as error:
            raise invalid(f"The signature is not valid: {error}.") from error
        if signer != message.address:
            raise invalid("The signature is not the one of the wallet the message names.")
        return Proof(message.address, message.nonce, nonce_expires_ms)

    def _check_place(self, message: SignInMessage) -> None:
        if message.domain not in self._domains:
            raise invalid(f"The message is for another domain; this is {' or '.join(sorted(self._domains))}.")
        if message.chain_id != self._chain_id:
            raise invalid(f"The message is for another chain; this service signs in on chain {self._chain_id}.")

    def _check_time(self, message: SignInMessage) -> None:
        now_ms = self._clock.now_ms()
        if abs(now_ms - message.issued_ms) > NONCE_MS:
            raise invalid(f"The message was not issued within five minutes of this service's clock, {iso(now_ms)}.")
        if message.expires_ms is not None and now_ms >= message.expires_ms:
            raise invalid(f"The message expired at {iso(message.expires_ms)}.")
        if message.not_before_ms is not None and now_ms < message.not_before_ms:
            raise invalid(f"The message is not valid before {iso(message.not_before_ms)}.")

    def _check_nonce(self, nonce: str) -> int:
        content, mac = nonce[:-_MAC_LENGTH], nonce[-_MAC_LENGTH:]
        if not _NONCE.match(nonce) or not hmac.compare_digest(self._mac(content), mac):
            raise invalid("The nonce was not issued by this service. Ask for a new one.")
        expires_ms = base62.read(content[_RANDOM_LENGTH:])
        if self._clock.now_ms() >= expires_ms:
            raise invalid(f"The nonce expired at {iso(expires_ms)}. Ask for a new one.")
        return expires_ms

    def _mac(self, content: str) -> str:
        digest = hmac.digest(self._key, content.encode(), "sha256")
        return base62.write(int.from_bytes(digest), _MAC_LENGTH)


def spend(connection: Connection, proof: Proof, now_ms: int) -> None:
    """Use up a proof's nonce, in the transaction that opens the session.

    Raises:
        ServiceError: `AUTH_INVALID` if it was used before.
    """
    connection.execute("DELETE FROM spent_nonces WHERE expires_ms < ?", (now_ms - _KEPT_MS,))
    spent = connection.execute(
        "INSERT INTO spent_nonces (nonce, expires_ms) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (proof.nonce, proof.nonce_expires_ms),
    )
    if spent.rowcount == 0:
        raise invalid("The nonce was used already. Ask for a new one.")


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
