"""Signs a payment: EIP-3009's `TransferWithAuthorization`, in the header that x402 version 2 sends it in."""

import json
from base64 import b64encode
from typing import Final, NamedTuple

from service.client.paying.terms import Terms
from service.client.signin.wallet import Wallet
from service.ethereum.typed_data import domain_separator, transfer_digest

HEADER: Final = "PAYMENT-SIGNATURE"
_EARLIER_S: Final = 600
"""How long before now it is good already: the chain's clock may be behind ours. The official clients do the same."""


class Signed(NamedTuple):
    """A payment that can be sent.

    Attributes:
        header: The value of `PAYMENT-SIGNATURE`.
        payer: Who signed (EIP-55).
        nonce: 0x and 64 digits.
        valid_before_s: Good until the second before this one (epoch).
    """

    header: str
    payer: str
    nonce: str
    valid_before_s: int


def authorize(terms: Terms, wallet: Wallet, now_s: int, nonce: bytes) -> Signed:
    """Sign for what is asked, and nothing else.

    Args:
        terms: What is asked for.
        wallet: Whose money it is.
        now_s: Epoch seconds.
        nonce: 32 bytes that were never used.
    """
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
