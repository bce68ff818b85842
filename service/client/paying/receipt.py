"""Fetches the receipt of a payment, compares it with the purchase, and stores it.

Source: `SignedReceipt` of `service.wire.payment`; EIP-191 over RFC 8785.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from service.client.answer import RawAnswer, RefusedError, SentRequest, UnreachableError, UnreadableAnswerError
from service.client.paying.payment_store import RECEIPTS, PaymentStore, StoredPayment, stored_payment_of
from service.client.wallet import Wallet

_NONE: Final[Mapping[str, str]] = {}
_SIGNATURE: Final = re.compile(r"0x[0-9a-fA-F]{130}", re.ASCII)


class StoredReceipt(NamedTuple):
    """A stored receipt.

    Attributes:
        paid: The payment, without its signature.
        name: Id of the receipt at the service.
        proven: Whether receipt and purchase agree.
        record: The stored JSON.
        path: The file.
    """

    paid: StoredPayment
    name: str
    proven: bool
    record: dict[str, Any]
    path: Path


class ReceiptClient(Protocol):
    """The client of the payer, which fetches the receipt."""

    token: str | None

    def ask(self, method: str, path: str, *, headers: Mapping[str, str] = ...) -> RawAnswer:
        """Send a request and read its whole answer."""


def prove(wallet: Wallet, name: str, now_s: int) -> dict[str, str]:
    """Header fields that let a payer without an account read a receipt; valid for a minute from `now_s` (epoch)."""
    from service.wire.payment import reading_message  # noqa: PLC0415 - most calls pay for nothing

    return {"X-Payer-Time": str(now_s), "X-Payer-Signature": wallet.sign_text(reading_message(name, now_s))}


def keep_receipt(
    store: PaymentStore,
    client: ReceiptClient,
    asked: SentRequest,
    kept: StoredPayment,
    answer: RawAnswer,
    proof: Mapping[str, str] = _NONE,
) -> list[str]:
    """Fetch the receipt of a payment and store both, with their differences. The payment is no longer open then.

    Args:
        store: Stores them.
        client: Fetches the receipt.
        asked: The request.
        kept: The payment.
        answer: The bought answer.
        proof: Header fields of `prove`, for a payer without an account.

    Returns:
        The differences, in words.

    Raises:
        UnpaidError: If it cannot be stored.
    """
    name = answer.receipt_id
    document, faults = _fetched(client, name, proof)
    if document:
        faults = list(_faults(document, asked, kept, answer.body))
    paid = kept._asdict()
    del paid["header"]
    record = {**document, "id": name, "service": asked.url, "paid": paid, "faults": faults}
    store.finish(asked, kept, record)
    return faults


def read_receipts(store: PaymentStore) -> list[StoredReceipt]:
    """Every stored receipt, newest first. Other files are skipped."""
    found = []
    for path in (store.folder / RECEIPTS).glob("*.json"):
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            record = json.loads(path.read_bytes())
            paid = stored_payment_of({**record["paid"], "header": ""})
            found.append(StoredReceipt(paid, str(record["id"]), not record["faults"], record, path))
    return sorted(found, key=lambda bought: (-bought.paid.signed_ms, bought.path))


def _fetched(client: ReceiptClient, name: str | None, proof: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The signed receipt with the service's signer, or why there is none."""
    try:
        signed = client.ask("GET", f"/api/receipts/{name}", headers=proof).document
        signer = client.ask("GET", "/api/cli/manifest").data["receiptSigner"]
        return {**{part: signed[part] for part in ("receipt", "signer", "signature")}, "receiptSigner": signer}, []
    except (RefusedError, UnreachableError, UnreadableAnswerError) as error:
        return {}, [f"it could not be fetched ({error})"]
    except (LookupError, TypeError):
        return {}, ["what the service calls its receipt is none"]


def _faults(document: Mapping[str, Any], asked: SentRequest, kept: StoredPayment, body: bytes) -> Iterator[str]:
    receipt = document["receipt"]
    if not isinstance(receipt, dict):
        yield "what the service calls its receipt is none"
        return
    expected = {
        "request_hash": sha256(asked.request).hexdigest(),
        "response_hash": sha256(body).hexdigest(),
        "amount": str(kept.amount),
        "network": kept.network,
        "pay_to": kept.pay_to,
        "payer": kept.payer,
        "nonce": kept.nonce,
    }
    yield from (f"its {name} is another" for name, value in expected.items() if receipt.get(name) != value)
    signer = _signer_of(receipt, document["signature"])
    if signer is None or signer != document["signer"]:
        yield "its signature is not by whom it names"
    elif signer != document["receiptSigner"]:
        yield "it is not signed by the service's receiptSigner"


def _signer_of(receipt: Mapping[str, Any], signature: object) -> str | None:
    from service.ethereum.signatures import recover_personal  # noqa: PLC0415 - most calls pay for nothing
    from service.wire.canonical import canonical  # noqa: PLC0415 - the same

    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        return None
    try:
        return recover_personal(canonical(receipt).decode(), bytes.fromhex(signature[2:]))
    except (ValueError, RecursionError):
        return None
