"""What a wallet signs: sign-in messages (EIP-4361) and payments (x402 v1 and v2 with EIP-3009), by eth_account."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

_TYPES: Final = {
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ]
}


def wallet(number: int) -> Any:
    """An account of eth_account, the same for the same number."""
    return Account.from_key(number.to_bytes(32, "big"))


def sign_in(signer: Any, nonce: str, now_ms: int, **changed: str) -> str:
    """The body of `POST /api/auth/login`; `changed` replaces parts of the message."""
    part = {
        "domain": "127.0.0.1:8402",
        "address": signer.address,
        "uri": "http://127.0.0.1:8402/api/auth/login",
        "issued": datetime.fromtimestamp(now_ms // 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "chain": "84532",
    } | changed
    message = (
        f"{part['domain']} wants you to sign in with your Ethereum account:\n{part['address']}\n\n"
        f"Sign in to Verdict.\n\nURI: {part['uri']}\nVersion: 1\nChain ID: {part['chain']}\n"
        f"Nonce: {nonce}\nIssued At: {part['issued']}"
    )
    signature = signer.sign_message(encode_defunct(text=message)).signature.hex()
    return json.dumps({"message": message, "signature": f"0x{signature.removeprefix('0x')}"})


def payment(
    signer: Any, challenge: str, now_ms: int, number: int, version: int, changed: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Answer a challenge.

    Args:
        signer: Who pays.
        challenge: The header `payment-required`.
        now_ms: What its clock says.
        number: Of its nonce.
        version: Of x402.
        changed: What is signed in place of what was asked: `to`, `value`, `validAfter`, `validBefore`; `network` and
            `signature` are changed without being signed.

    Returns:
        The header to send.
    """
    asked = json.loads(b64decode(challenge))
    row, replaced = asked["accepts"][0], changed or {}
    signed = {
        "from": signer.address,
        "to": row["payTo"],
        "value": row["amount"],
        "validAfter": str(now_ms // 1_000 - 600),
        "validBefore": str(now_ms // 1_000 + 60),
        "nonce": f"0x{sha256(str(number).encode()).hexdigest()}",
    } | {name: value for name, value in replaced.items() if name not in {"network", "signature"}}
    domain = {
        "name": row["extra"]["name"],
        "version": row["extra"]["version"],
        "chainId": int(row["network"].removeprefix("eip155:")),
        "verifyingContract": row["asset"],
    }
    numbers = {name: int(signed[name]) for name in ("value", "validAfter", "validBefore")}
    typed = encode_typed_data(domain, _TYPES, {**signed, **numbers, "nonce": bytes.fromhex(signed["nonce"][2:])})
    signature = f"0x{signer.sign_message(typed).signature.hex().removeprefix('0x')}"
    payload = {"signature": replaced.get("signature", signature), "authorization": signed}
    network = replaced.get("network", row["network"])
    if version == 1:
        name = {"eip155:84532": "base-sepolia"}.get(network, network)
        return {"x-payment": _encoded({"x402Version": 1, "scheme": "exact", "network": name, "payload": payload})}
    more = {name: asked[name] for name in ("resource", "extensions")}
    accepted = {**row, "network": network}
    return {"payment-signature": _encoded({"x402Version": 2, "payload": payload, "accepted": accepted, **more})}


def _encoded(content: Mapping[str, Any]) -> str:
    return b64encode(json.dumps(content).encode()).decode()
