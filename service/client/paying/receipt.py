"""Fetches the receipt of a payment and compares it with the purchase.

Source: `SignedReceipt` of `service.wire.payment`; EIP-191 over RFC 8785.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, Protocol

import msgspec

from service.client.answer import RawAnswer, RefusedError, SentRequest, UnreachableError, UnreadableAnswerError
from service.client.paying.payment_store import StoredPayment
from service.client.wallet import Wallet

_SIGNATURE: Final = re.compile(r"0x[0-9a-fA-F]{130}", re.ASCII)
_NO_RECEIPT: Final = "The service did not send a valid receipt."


class ReceiptClient(Protocol):
    """The client of the payer, which fetches the receipt."""

    token: str | None

    def ask(self, method: str, path: str, *, headers: Mapping[str, str] = ...) -> RawAnswer:
        """Send a request and read its whole answer."""


def receipt_record(
    client: ReceiptClient, asked: SentRequest, kept: StoredPayment, answer: RawAnswer, reader: Wallet | None, now_s: int
) -> dict[str, Any]:
    """Fetch the receipt of a bought answer: the record to store, with its differences from the purchase as `faults`.

    `reader` proves who reads the receipt, for a payer without an account, at `now_s` (epoch seconds); None with one.
    """
    document, faults = _fetched(client, str(answer.receipt_id), reader, now_s)
    if document:
        faults = list(_faults(document, asked, kept, answer.body))
    paid = msgspec.structs.asdict(kept)
    del paid["header"]
    return {**document, "id": answer.receipt_id, "service": asked.url, "paid": paid, "faults": faults}


def _fetched(client: ReceiptClient, name: str, reader: Wallet | None, now_s: int) -> tuple[dict[str, Any], list[str]]:
    """The signed receipt with the service's signer, or why there is none."""
    from service.wire.payment import reading_message  # noqa: PLC0415 - most calls pay for nothing

    proof = {}
    if reader is not None:
        signature = reader.sign_text(reading_message(name, now_s))
        proof = {"X-Payer-Time": str(now_s), "X-Payer-Signature": signature}
    try:
        signed = client.ask("GET", f"/api/receipts/{name}", headers=proof).document
        signer = client.ask("GET", "/api/cli/manifest").data["receiptSigner"]
        return {**{part: signed[part] for part in ("receipt", "signer", "signature")}, "receiptSigner": signer}, []
    except (RefusedError, UnreachableError, UnreadableAnswerError) as error:
        return {}, [f"The receipt could not be fetched: {error}"]
    except (LookupError, TypeError):
        return {}, [_NO_RECEIPT]


def _faults(document: Mapping[str, Any], asked: SentRequest, kept: StoredPayment, body: bytes) -> Iterator[str]:
    receipt = document["receipt"]
    if not isinstance(receipt, dict):
        yield _NO_RECEIPT
        return
    expected = {
        "request_hash": sha256(asked.request).hexdigest(),
        "response_hash": sha256(body).hexdigest(),
        "amount": str(kept.amount),
        **{name: getattr(kept, name) for name in ("network", "pay_to", "payer", "nonce")},
    }
    yield from (f"The receipt has another {name}." for name, value in expected.items() if receipt.get(name) != value)
    signer = _signer_of(receipt, document["signature"])
    if signer is None or signer != document["signer"]:
        yield "The receipt is not signed by the signer that it names."
    elif signer != document["receiptSigner"]:
        yield "The receipt is not signed by the service's receiptSigner."


def _signer_of(receipt: Mapping[str, Any], signature: object) -> str | None:
    from service.ethereum.signatures import recover_personal  # noqa: PLC0415 - most calls pay for nothing
    from service.wire.canonical import canonical  # noqa: PLC0415 - the same

    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        return None
    try:
        return recover_personal(canonical(receipt).decode(), bytes.fromhex(signature[2:]))
    except (ValueError, RecursionError):
        return None
