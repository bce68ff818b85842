"""The text that a wallet signs to sign in, written as EIP-4361 does.

Source: https://eips.ethereum.org/EIPS/eip-4361. The page that browsers sign on writes the same one (`wallet.js`).
"""

from typing import Final

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
