"""What the service is asked about sign-in: a nonce, a session for a signature, whose a token is, and its end."""

import re
from typing import Any, Final

from service.clients.profile.credentials import Credential
from service.clients.sdk.answer import UnreadableError
from service.clients.sdk.client import Client
from service.clients.signin.message import write_message
from service.clients.signin.wallet import Wallet
from service.clock import MINUTE_MS, iso, parse_iso

NONCE_MS: Final = 5 * MINUTE_MS
"""How long a nonce is good, by the interface."""

_NONCE: Final = re.compile(r"[A-Za-z0-9]{8,128}\Z")
_NETWORK: Final = re.compile(r"eip155:([1-9][0-9]{0,19})\Z")
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}\Z")


def sign_in(client: Client, wallet: Wallet) -> tuple[Credential, str | None]:
    """Sign in with a wallet.

    Args:
        client: Who asks for nobody.
        wallet: Who signs.

    Returns:
        The session, and what the service tells its user, if anything.

    Raises:
        RefusedError: If the service does not take the signature; its message says why.
        UnreadableError: If what it answers is none of this interface.
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
    credential = Credential(_field(session, "token"), "session", wallet.address, iso(_instant(session, "expiresAt")))
    return credential, session.get("notice") and _field(session, "notice")


def whose(client: Client, token: str, expires_at: str | None = None) -> Credential:
    """Ask the service whose a token is, which uses up no question.

    Args:
        client: Its token is replaced by this one.
        token: An API key or a session.
        expires_at: When it ends, where that is known.

    Raises:
        RefusedError: If it is nobody's.
        UnreadableError: If what it answers is none of this interface.
        UnreachableError: If no answer came.
    """
    client.token = token
    identity = _part(client.ask("GET", "/api/cli/billing/tier").data, "identity")
    kind, wallet = _field(identity, "kind"), identity.get("walletAddress")
    if wallet is not None:
        _match(_ADDRESS, wallet)
    return Credential(token, "api_key" if kind == "api_key" else "session", wallet, expires_at)


def sign_out(client: Client) -> None:
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
        raise UnreadableError("the service names what cannot be signed: is that address a Verdict service?")
    return found


def _instant(document: Any, name: str) -> int:
    try:
        return parse_iso(_field(document, name))
    except ValueError:
        raise _stranger(name) from None


def _stranger(name: str) -> UnreadableError:
    return UnreadableError(f"the answer has no {name} as it should: is that address a Verdict service?")
