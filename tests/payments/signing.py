"""Payments as wallets make them: signed by eth_account, which shares no code with ours.

`pay_v1` and `pay_v2` write what clients send, before base64; every part of it can be changed, signed or not, so that a
test spoils exactly one thing. `answer` does what a client does: read a challenge, sign, and say which header to send.
"""

import secrets
from base64 import b64decode, b64encode
from typing import Any, Final, Literal

import msgspec
from eth_account import Account
from eth_account.messages import encode_typed_data

from service.clock import SECOND_MS
from service.payments.networks import NETWORKS, ChainId
from service.payments.records import Payment
from tests.fakes.clock import START_MS

SEPOLIA: Final[ChainId] = "eip155:84532"
MAINNET: Final[ChainId] = "eip155:8453"
PAYEE: Final = "0x1111111111111111111111111111111111111111"
PRICE: Final = 5_000

TYPES: Final = {
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ]
}


def wallet(number: int = 1) -> Any:
    """An eth_account account, the same for the same number."""
    return Account.from_key(number.to_bytes(32, "big"))


def fresh_nonce() -> str:
    return "0x" + secrets.token_hex(32)


def authorization(payer: Any, *, now_ms: int = START_MS, **changes: str) -> dict[str, str]:
    """What clients sign for the default price: good from ten minutes ago until a minute from `now_ms`.

    `changes` are by the names on the wire; `sender` stands for `from`.
    """
    now_s = now_ms // SECOND_MS
    fields = {
        "from": payer.address,
        "to": PAYEE,
        "value": str(PRICE),
        "validAfter": str(now_s - 600),
        "validBefore": str(now_s + 60),
        "nonce": fresh_nonce(),
    }
    if "sender" in changes:
        changes["from"] = changes.pop("sender")
    return fields | changes


def sign(payer: Any, signed: dict[str, str], row: dict[str, Any]) -> str:
    """Sign an authorization for the chain, token and EIP-712 domain of a row of `accepts` (v2)."""
    domain = {
        "name": row["extra"]["name"],
        "version": row["extra"]["version"],
        "chainId": int(row["network"].removeprefix("eip155:")),
        "verifyingContract": row["asset"],
    }
    message = {
        **signed,
        "value": int(signed["value"]),
        "validAfter": int(signed["validAfter"]),
        "validBefore": int(signed["validBefore"]),
        "nonce": bytes.fromhex(signed["nonce"][2:]),
    }
    signature: str = payer.sign_message(encode_typed_data(domain, TYPES, message)).signature.hex()
    return "0x" + signature.removeprefix("0x")


ANOTHER_VERSION: Final = "eyJ4NDAyVmVyc2lvbiI6MH0="
"""A payment (`{"x402Version":0}`) that is refused with the route's challenge, whatever the caller's quota."""


def row(network: ChainId = SEPOLIA, price: int = PRICE, pay_to: str = PAYEE) -> dict[str, Any]:
    """A row of `accepts` in the words of v2."""
    chain = NETWORKS[network]
    return {
        "scheme": "exact",
        "network": chain.chain_id,
        "amount": str(price),
        "asset": chain.usdc,
        "payTo": pay_to,
        "maxTimeoutSeconds": 60,
        "extra": {"name": chain.domain.name, "version": chain.domain.version},
    }


def pay_v2(
    payer: Any,
    accepted: dict[str, Any] | None = None,
    signed: dict[str, str] | None = None,
    *,
    now_ms: int = START_MS,
) -> dict[str, Any]:
    """What a v2 client sends, before base64."""
    accepted = accepted or row()
    signed = signed or authorization(payer, now_ms=now_ms, to=accepted["payTo"], value=accepted["amount"])
    return {
        "x402Version": 2,
        "payload": {"signature": sign(payer, signed, accepted), "authorization": signed},
        "accepted": accepted,
    }


def pay_v1(
    payer: Any,
    accepted: dict[str, Any] | None = None,
    signed: dict[str, str] | None = None,
    *,
    now_ms: int = START_MS,
) -> dict[str, Any]:
    """What a v1 client sends, before base64; `accepted` is the row in the words of v2 all the same."""
    accepted = accepted or row()
    payload = pay_v2(payer, accepted, signed, now_ms=now_ms)["payload"]
    return {
        "x402Version": 1,
        "scheme": accepted["scheme"],
        "network": NETWORKS[accepted["network"]].v1_name,
        "payload": payload,
    }


def header(payload: object) -> str:
    """The value of the payment header: standard padded base64 of JSON."""
    return b64encode(msgspec.json.encode(payload)).decode()


def answer(
    payer: Any,
    payment_required: str,
    *,
    version: Literal[1, 2] = 2,
    now_ms: int = START_MS,
) -> dict[str, str]:
    """Answer a challenge as a client does.

    Args:
        payer: Of `wallet`.
        payment_required: The header of that name.
        version: Of x402, that the client speaks.
        now_ms: What its clock says.

    Returns:
        The header to send with the same request.
    """
    challenge = msgspec.json.decode(b64decode(payment_required, validate=True))
    accepted = challenge["accepts"][0]
    if version == 1:
        return {"X-PAYMENT": header(pay_v1(payer, accepted, now_ms=now_ms))}
    payload = pay_v2(payer, accepted, now_ms=now_ms)
    payload |= {"resource": challenge["resource"], "extensions": challenge["extensions"]}
    return {"PAYMENT-SIGNATURE": header(payload)}


def payment(payer: Any | None = None, *, version: Literal[1, 2] = 2, now_ms: int = START_MS, **changes: str) -> Payment:
    """A payment as decoding gives it, signed for the default row; `changes` are those of `authorization`."""
    payer = payer or wallet()
    signed = authorization(payer, now_ms=now_ms, **changes)
    return Payment(
        version=version,
        network=SEPOLIA,
        asset=NETWORKS[SEPOLIA].usdc.lower(),
        payer=signed["from"].lower(),
        pay_to=signed["to"].lower(),
        value=int(signed["value"]),
        valid_after_s=int(signed["validAfter"]),
        valid_before_s=int(signed["validBefore"]),
        nonce=signed["nonce"],
        signature=sign(payer, signed, row()),
    )
