"""Signs in with a wallet: requests a nonce, signs an EIP-4361 message, stores the session, and signs out.

Source: https://eips.ethereum.org/EIPS/eip-4361. The browser page (`wallet.js`) writes the same message.
"""

import re
from typing import Any, Final

from service.client.answer import UnreadableAnswerError
from service.client.connection import ApiConnection
from service.client.profile.credentials import StoredCredential
from service.client.signin.wallet import Wallet
from service.clock import MINUTE_MS, iso, parse_iso

STATEMENT: Final = "Sign in to Verdict."


def write_message(*, url: str, address: str, chain_id: int, nonce: str, issued_at: str, expires_at: str) -> str:
    """Write a sign-in message.

    Args:
        url: Of the service: scheme, host, and a port where it is not the scheme's own. It is signed for that authority.
        address: The wallet's, in EIP-55's form.
        chain_id: The chain that the service signs in on (EIP-155).
        nonce: Of the service.
        issued_at: The service's now, RFC 3339.
        expires_at: When the nonce ends, RFC 3339.

    Returns:
        The text, without a line break at its end.
    """
    authority = url.partition("://")[2]
    return (
        f"{authority} wants you to sign in with your Ethereum account:\n"
        f"{address}\n"
        f"\n{STATEMENT}\n\n"
        f"URI: {url}\n"
        "Version: 1\n"
        f"Chain ID: {chain_id}\n"
        f"Nonce: {nonce}\n"
        f"Issued At: {issued_at}\n"
        f"Expiration Time: {expires_at}"
    )


NONCE_MS: Final = 5 * MINUTE_MS
"""How long a nonce is good, by the interface."""

_NONCE: Final = re.compile(r"[A-Za-z0-9]{8,128}\Z")
_NETWORK: Final = re.compile(r"eip155:([1-9][0-9]{0,19})\Z")
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}\Z")


def sign_in(client: ApiConnection, wallet: Wallet) -> tuple[StoredCredential, str | None]:
    """Sign in with a wallet.

    Args:
        client: A client without a token.
        wallet: Who signs.

    Returns:
        The session, and what the service tells its user, if anything.

    Raises:
        RefusedError: If the service does not take the signature; its message says why.
        UnreadableAnswerError: If what it answers is none of this interface.
        UnreachableError: If no answer came.
    """
    chain_id = int(_match(_NETWORK, _first(client.ask("GET", "/api/cli/manifest").data, "networks"))[1])
    given = client.ask("POST", "/api/auth/nonce").document
    nonce, ends_ms = _match(_NONCE, _field(given, "nonce"))[0], _instant(given, "expiresAt")
    message = write_message(
        url=client.url,
        address=wallet.address,
        chain_id=chain_id,
        nonce=nonce,
        issued_at=iso(ends_ms - NONCE_MS),
        expires_at=iso(ends_ms),
    )
    signed = {"message": message, "signature": wallet.sign_text(message)}
    session = client.ask("POST", "/api/auth/login", body=signed).document
    credential = StoredCredential(
        _field(session, "token"), "session", wallet.address, iso(_instant(session, "expiresAt"))
    )
    return credential, session.get("notice") and _field(session, "notice")


def credential_of(client: ApiConnection, token: str, expires_at: str | None = None) -> StoredCredential:
    """Ask the service whose a token is, which uses up no question.

    Args:
        client: Its token is replaced by this one.
        token: An API key or a session.
        expires_at: When it ends, where that is known.

    Raises:
        RefusedError: If it is not valid.
        UnreadableAnswerError: If what it answers is none of this interface.
        UnreachableError: If no answer came.
    """
    client.token = token
    identity = _part(client.ask("GET", "/api/cli/billing/tier").data, "identity")
    kind, wallet = _field(identity, "kind"), identity.get("walletAddress")
    if wallet is not None:
        _match(_ADDRESS, wallet)
    return StoredCredential(token, "api_key" if kind == "api_key" else "session", wallet, expires_at)


def sign_out(client: ApiConnection) -> None:
    """End the client's session.

    Raises:
        RefusedError: If it is none any more.
        UnreachableError: If no answer came.
    """
    client.ask("POST", "/api/auth/logout")


def _part(document: Any, name: str) -> Any:
    found = document.get(name) if isinstance(document, dict) else None
    if not isinstance(found, dict):
        raise _stranger(name)
    return found


def _field(document: Any, name: str) -> str:
    found = document.get(name) if isinstance(document, dict) else None
    if not isinstance(found, str):
        raise _stranger(name)
    return found


def _first(document: Any, name: str) -> object:
    found = document.get(name) if isinstance(document, dict) else None
    if not isinstance(found, list) or not found:
        raise _stranger(name)
    return found[0]


def _match(pattern: re.Pattern[str], text: object) -> re.Match[str]:
    found = pattern.match(text) if isinstance(text, str) else None
    if found is None:
        raise UnreadableAnswerError("the service names what cannot be signed: is that address a Verdict service?")
    return found


def _instant(document: Any, name: str) -> int:
    try:
        return parse_iso(_field(document, name))
    except ValueError:
        raise _stranger(name) from None


def _stranger(name: str) -> UnreadableAnswerError:
    return UnreadableAnswerError(f"the answer has no {name} as it should: is that address a Verdict service?")
