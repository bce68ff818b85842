"""Signed receipts: what was bought, by whom, for how much."""

import re
from collections.abc import Iterator
from typing import Any, Final

from service.clock import iso
from service.errors import ServiceError
from service.ethereum.addresses import checksum_address
from service.ethereum.signatures import address_of, private_key, recover_personal, sign_personal
from service.payments.records import NO_ACCOUNT
from service.storage.database import Database
from service.storage.engine import Connection
from service.units import MicroUsd, usdc
from service.wire.canonical import canonical
from service.wire.cursor import Cursors
from service.wire.payment import Receipt, ReceiptList, SignedReceipt

ROUTE: Final = "receipts.list"
_NEWEST: Final = (2**63 - 1, 2**63 - 1)
_RETRY_S: Final = 2
_SIGNATURE: Final = re.compile(r"0x[0-9a-fA-F]{130}\Z")

_SELECT_RECEIPTS: Final = """
SELECT settled_ms, id, receipt_id, offer_id, method, resource, request_hash, response_hash, price, asset, network,
    payer, pay_to, nonce, tx, settlement, claimed_ms, user_id, state
FROM payments
"""
_ONE_RECEIPT: Final = f"{_SELECT_RECEIPTS} WHERE receipt_id = ?"
_PAGE: Final = f"""{_SELECT_RECEIPTS}
WHERE settled_ms IS NOT NULL AND user_id = ? AND (settled_ms, id) < (?, ?) ORDER BY settled_ms DESC, id DESC LIMIT ?
"""
_ALL_RECEIPTS: Final = f"{_SELECT_RECEIPTS} WHERE settled_ms IS NOT NULL ORDER BY settled_ms, id"


class ReceiptSigner:
    """Signs receipts with the service's key.

    Args:
        key: Private key, 32 bytes.

    Attributes:
        address: Its address in EIP-55 form, as published in the manifest.
    """

    def __init__(self, key: bytes) -> None:
        self._key = private_key(key)
        self.address = address_of(self._key.public_key)

    def sign(self, receipt: Receipt) -> SignedReceipt:
        """Sign a receipt: `personal_sign` (EIP-191) over its RFC 8785 text."""
        signature = sign_personal(canonical(receipt).decode(), self._key)
        return SignedReceipt(receipt, self.address, f"0x{signature.hex()}")


def signer_of(receipt: object, signature: str) -> str:
    """Find who signed a receipt; needs nothing but the two.

    Args:
        receipt: The receipt, or what JSON made of it.
        signature: 0x and 130 hexadecimal digits.

    Returns:
        The signer's address in EIP-55's form. Whether that is the service's is for the caller to compare.

    Raises:
        ValueError: If the signature is none or belongs to no key, or the receipt has no canonical text.
    """
    if not _SIGNATURE.match(signature):
        raise ValueError("a signature is 0x and 130 hexadecimal digits")
    return recover_personal(canonical(receipt).decode(), bytes.fromhex(signature[2:]))


class ReceiptService:
    """Returns receipts to those who paid.

    Args:
        database: Where payments are stored.
        signer: Signs receipts.
        cursors: Encodes page cursors.

    Attributes:
        signer: As given.
    """

    def __init__(self, database: Database, signer: ReceiptSigner, cursors: Cursors) -> None:
        self._database = database
        self.signer = signer
        self._cursors = cursors

    async def get(self, user_id: int, receipt_id: str) -> SignedReceipt:
        """Read one receipt of a user.

        Raises:
            ServiceError: NOT_FOUND if the user has no such payment or nothing was charged; PAYMENT_PENDING if the
                outcome is
                unknown.
        """
        return self._only(
            receipt_id, await self._database.read(f"{_ONE_RECEIPT} AND user_id = ?", (receipt_id, user_id))
        )

    async def of_payer(self, payer: str, receipt_id: str) -> SignedReceipt:
        """Write one receipt of a payment without an account.

        Args:
            payer: Address that has proven to be the reader's, in any case.
            receipt_id: Which receipt.

        Raises:
            ServiceError: As `get`.
        """
        condition, values = "user_id = ? AND payer = ?", (receipt_id, NO_ACCOUNT, payer.lower())
        return self._only(receipt_id, await self._database.read(f"{_ONE_RECEIPT} AND {condition}", values))

    def _only(self, receipt_id: str, rows: list[tuple[Any, ...]]) -> SignedReceipt:
        if not rows:
            raise ServiceError("NOT_FOUND", f"You have no receipt {receipt_id}.")
        if rows[0][0] is None:
            raise _explain(receipt_id, rows[0][-1])
        return self.signer.sign(_receipt(rows[0]))

    async def page(self, user_id: int, limit: int, cursor: str | None) -> ReceiptList:
        """Read a page of a user's receipts, newest first.

        What is bought meanwhile comes before those of a page: none is repeated or left out.

        Raises:
            ServiceError: BAD_REQUEST naming `cursor`.
        """
        filters = {"user": user_id}
        after = _NEWEST if cursor is None else self._cursors.read(cursor, ROUTE, filters)
        rows = await self._database.read(_PAGE, (user_id, *after, limit + 1))
        shown, more = rows[:limit], rows[limit:]
        next_cursor = self._cursors.write(ROUTE, filters, shown[-1][:2]) if more else None
        return ReceiptList([_receipt(row) for row in shown], next_cursor)


def read_receipts(connection: Connection) -> Iterator[Receipt]:
    """Read every receipt there is, oldest first."""
    for row in connection.execute(_ALL_RECEIPTS):
        yield _receipt(row)


def find_receipt(connection: Connection, receipt_id: str) -> Receipt | None:
    """Read one receipt of any user."""
    row = connection.execute(f"{_ONE_RECEIPT} AND settled_ms IS NOT NULL", (receipt_id,)).fetchone()
    return None if row is None else _receipt(row)


def _explain(receipt_id: str, state: str) -> ServiceError:
    """Why a payment has no receipt."""
    if state == "settling":
        return ServiceError(
            "PAYMENT_PENDING",
            f"Payment {receipt_id} is not settled yet. Try again in 2 s.",
            details={"payment": receipt_id},
            headers={"Retry-After": str(_RETRY_S)},
        )
    return ServiceError("NOT_FOUND", f"Nothing was charged for {receipt_id}. It has no receipt.")


def _receipt(row: tuple[Any, ...]) -> Receipt:
    (settled_ms, _, receipt_id, route, method, resource, request_hash, response_hash, price, asset, network, payer,
     pay_to, nonce, transaction, settlement, claimed_ms, user_id, _) = row  # fmt: skip
    return Receipt(
        id=receipt_id,
        route=route,
        method=method,
        resource=resource,
        request_hash=request_hash,
        response_hash=response_hash,
        price_usdc=usdc(MicroUsd(price)),
        amount=str(price),
        asset=checksum_address(asset),
        network=network,
        payer=checksum_address(payer),
        pay_to=checksum_address(pay_to),
        nonce=nonce,
        transaction=transaction,
        settlement=settlement,
        claimed_at=iso(claimed_ms),
        settled_at=iso(settled_ms),
        user_id=user_id,
    )
