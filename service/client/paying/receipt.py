"""The receipt of what was bought: fetched, compared with the purchase, kept.

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
from service.client.signin.wallet import Wallet

_NONE: Final[Mapping[str, str]] = {}
_SIGNATURE: Final = re.compile(r"0x[0-9a-fA-F]{130}", re.ASCII)


class StoredReceipt(NamedTuple):
    """A receipt that is kept.

    Attributes:
        paid: What was paid; its signature is not kept any more.
        name: The receipt's, at the service.
        proven: Whether nothing spoke against it.
        record: All that is kept.
        path: Where.
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
    """Sign for reading a receipt without an account: header fields that are good for a minute.

    Args:
        wallet: The payer's.
        name: The receipt's.
        now_s: Epoch seconds.
    """
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
    """Fetch a receipt and keep it beside what was paid and what of the two does not agree; the payment is closed.

    Args:
        store: Where.
        client: Fetches it.
        asked: What was asked for.
        kept: What was paid.
        answer: What was bought, with the name of its receipt.
        proof: Header fields that let a payer without an account read it (`prove`).

    Returns:
        What does not agree, in words; nothing where the receipt proves the purchase.

    Raises:
        UnpaidError: If it cannot be kept.
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
    """Everything that was bought, the newest first; a file that is no receipt of ours is left out."""
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
