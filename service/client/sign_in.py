"""Signs in with a wallet: requests a nonce, signs an EIP-4361 message, stores the session, and signs out.

Source: https://eips.ethereum.org/EIPS/eip-4361. The browser page (`wallet.js`) writes the same message.

Decisions:
- The message names the URL that is called and no other, so that no service can obtain a sign-in for another.
- "Issued At" is five minutes before the nonce expires, by the service's clock: a wrong local clock does no harm.
- A session or key is stored only after the service has confirmed its owner.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from msgspec import Meta, Struct, convert

from service.client.answer import CHECK_URL, UnreadableAnswerError
from service.client.connection import ApiConnection
from service.client.credentials import Kind, StoredCredential
from service.client.wallet import Wallet
from service.clock import MINUTE_MS, iso, parse_iso

_NONCE_MS: Final = 5 * MINUTE_MS
"""How long a nonce is valid."""

_MESSAGE: Final = """\
{authority} wants you to sign in with your Ethereum account:
{address}

Sign in to Verdict.

URI: {url}
Version: 1
Chain ID: {chain_id}
Nonce: {nonce}
Issued At: {issued_at}
Expiration Time: {expires_at}"""


class _Manifest(Struct):
    networks: Annotated[list[Annotated[str, Meta(pattern=r"^eip155:[1-9][0-9]{0,19}\Z")]], Meta(min_length=1)]


class _Nonce(Struct, rename="camel"):
    nonce: Annotated[str, Meta(pattern=r"^[A-Za-z0-9]{8,128}\Z")]
    expires_at: str


class _Session(Struct, rename="camel"):
    token: Annotated[str, Meta(pattern=r"^[!-~]+\Z")]
    expires_at: str
    notice: str | None = None


class _Identity(Struct, rename="camel"):
    kind: str
    wallet_address: Annotated[str, Meta(pattern=r"^0x[0-9a-fA-F]{40}\Z")] | None = None


class _Tier(Struct):
    identity: _Identity


def sign_in(client: ApiConnection, wallet: Wallet) -> tuple[StoredCredential, str | None]:
    """Sign in with a wallet, over a connection without a token.

    Returns:
        The session, and a notice of the service for its user, if there is one.

    Raises:
        RefusedError: If the service does not accept the signature.
        UnreadableAnswerError: If an answer is not one of this API.
        UnreachableError: If no answer arrived.
    """
    with _reading():
        [network, *_] = convert(client.ask("GET", "/api/cli/manifest").data, _Manifest).networks
        given = convert(client.ask("POST", "/api/auth/nonce").document, _Nonce)
        ends_ms = parse_iso(given.expires_at)
    message = _MESSAGE.format(
        authority=client.url.partition("://")[2],
        address=wallet.address,
        url=client.url,
        chain_id=network.partition(":")[2],
        nonce=given.nonce,
        issued_at=iso(ends_ms - _NONCE_MS),
        expires_at=iso(ends_ms),
    )
    signed = {"message": message, "signature": wallet.sign_text(message)}
    with _reading():
        session = convert(client.ask("POST", "/api/auth/login", body=signed).document, _Session)
        ends = iso(parse_iso(session.expires_at))
    return StoredCredential(session.token, "session", wallet.address, ends), session.notice


def credential_of(client: ApiConnection, token: str, expires_at: str | None = None) -> StoredCredential:
    """Ask the service for the owner of a token, which uses up no question. The client sends that token from now on.

    Raises:
        RefusedError: If it is not valid.
        UnreadableAnswerError: If the answer is not one of this API.
        UnreachableError: If no answer arrived.
    """
    client.token = token
    with _reading():
        identity = convert(client.ask("GET", "/api/cli/billing/tier").data, _Tier).identity
    kind: Kind = "api_key" if identity.kind == "api_key" else "session"
    return StoredCredential(token, kind, identity.wallet_address, expires_at)


def sign_out(client: ApiConnection) -> None:
    """End the client's session. Raises as `credential_of`."""
    client.ask("POST", "/api/auth/logout")


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except ValueError:  # of `convert` too
        raise UnreadableAnswerError(f"The answer lacks a field that a sign-in needs. {CHECK_URL}") from None
