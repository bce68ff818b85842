"""Signs a payment: `TransferWithAuthorization` of EIP-3009, in the header of x402 version 2."""

import json
from base64 import b64encode
from typing import Final, NamedTuple

from service.client.paying.terms import Terms
from service.client.wallet import Wallet
from service.ethereum.typed_data import domain_separator, transfer_digest

HEADER: Final = "PAYMENT-SIGNATURE"
_EARLIER_S: Final = 600
"""A payment is valid from so long ago: the chain's clock may be behind. The official clients do the same."""


class Signed(NamedTuple):
    """A signed payment: the value of `PAYMENT-SIGNATURE`, payer (EIP-55), nonce (0x and 64 digits), end (epoch)."""

    header: str
    payer: str
    nonce: str
    valid_before_s: int


def authorize(terms: Terms, wallet: Wallet, now_s: int, nonce: bytes) -> Signed:
    """Sign a payment of exactly these terms. `now_s` are epoch seconds; `nonce` 32 bytes that were never used."""
    dollar, payer = terms.dollar, wallet.address
    after_s, before_s, nonce_text = now_s - _EARLIER_S, now_s + terms.window_s, f"0x{nonce.hex()}"
    digest = transfer_digest(
        domain_separator(dollar.name, dollar.version, dollar.chain_id, dollar.asset),
        sender=payer,
        receiver=terms.pay_to,
        value=terms.amount,
        valid_after_s=after_s,
        valid_before_s=before_s,
        nonce=nonce_text,
    )
    authorization = {
        "from": payer,
        "to": terms.pay_to,
        "value": str(terms.amount),
        "validAfter": str(after_s),
        "validBefore": str(before_s),
        "nonce": nonce_text,
    }
    payload = {"signature": f"0x{wallet.sign_digest(digest).hex()}", "authorization": authorization}
    sent = {"x402Version": 2, "accepted": terms.row, "payload": payload}
    return Signed(b64encode(json.dumps(sent).encode()).decode(), payer, nonce_text, before_s)
