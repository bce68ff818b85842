"""A wallet that is not ours: eth_account signs what the service has to recognise."""

from functools import cache

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from service.clock import iso
from service.wire.access import Login

DOMAIN = "api.example.org"
CHAIN_ID = 84_532
NETWORK = b"n" * 32
"""The hash of some network that callers sign in from."""


@cache
def wallet(number: int = 1) -> LocalAccount:
    made: LocalAccount = Account.from_key(number.to_bytes(32, "big"))
    return made


def message(address: str, nonce: str, issued_ms: int, /, **changed: str) -> str:
    """An EIP-4361 message; `after` is appended, everything else replaces a field."""
    field = {
        "domain": DOMAIN,
        "address": address,
        "statement": "Sign in to Verdict.",
        "uri": "https://api.example.org/api/auth/login",
        "version": "1",
        "chain_id": str(CHAIN_ID),
        "nonce": nonce,
        "issued_at": iso(issued_ms),
        "after": "",
    } | changed
    return (
        f"{field['domain']} wants you to sign in with your Ethereum account:\n{field['address']}\n\n"
        f"{field['statement']}\n\nURI: {field['uri']}\nVersion: {field['version']}\nChain ID: {field['chain_id']}\n"
        f"Nonce: {field['nonce']}\nIssued At: {field['issued_at']}{field['after']}"
    )


def sign(signer: LocalAccount, text: str) -> str:
    signature: bytes = signer.sign_message(encode_defunct(text=text)).signature
    return "0x" + bytes(signature).hex()


def login(signer: LocalAccount, nonce: str, issued_ms: int, /, **changed: str) -> Login:
    text = message(signer.address, nonce, issued_ms, **changed)
    return Login(text, sign(signer, text))
