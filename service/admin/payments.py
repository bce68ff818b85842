"""`verdict payments`: list, export, resume and reconcile payments."""

import asyncio
import csv
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from service.access.meter import open_meter
from service.access.usage_ledger import void_paid
from service.admin.folder import Folder, run_in_folder
from service.admin.output import print_json, print_table
from service.admin.receipt import print_field, show_receipt
from service.client.errors import DONE, FAILED, RefusalError
from service.clock import iso
from service.payments.audit import PaymentRow, find_payment_row, read_payments, read_unsettled
from service.payments.factory import Payments, open_payments
from service.payments.receipts import ReceiptSigner, find_receipt, read_receipts
from service.payments.records import PaymentRecord
from service.payments.settlement_checks import clear_stops
from service.units import MicroUsd, usdc
from service.wire.payment import Receipt, SignedReceipt

_HEADERS: Final = ("ID", "STATE", "USER", "USDC", "CLAIMED", "ROUTE")
_MINUTE: Final = len("2026-01-31T00:00")
_PAID: Final = frozenset({"settled", "delivered"})


def show_all(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List payments, newest first, and what those shown have brought in."""

    async def read(folder: Folder) -> list[PaymentRow]:
        return await folder.database.inspect(
            lambda connection: list(read_payments(connection, arguments.user, arguments.state))
        )

    payments = run_in_folder(environment, read)
    if arguments.json:
        print_json({"payments": [plain(payment) for payment in payments]})
        return DONE
    rows = [
        [
            row.receipt_id,
            row.state,
            row.user_id or "-",
            usdc(MicroUsd(row.price)),
            _minute(row.claimed_ms),
            row.offer_id,
        ]
        for row in payments
    ]
    print_table(_HEADERS, rows, nothing="There are no such payments.", whole={"ID", "STATE", "CLAIMED"})
    if payments:
        sys.stdout.write(f"\n{_sum_up(payments)}\n")
    return DONE


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Show one payment: what is known of it, and its signed receipt where there is one.

    Raises:
        RefusalError: If there is no such payment.
    """

    async def read(folder: Folder) -> tuple[PaymentRow | None, SignedReceipt | None]:
        payment = await folder.database.inspect(lambda connection: find_payment_row(connection, arguments.payment))
        found = await folder.database.inspect(lambda connection: find_receipt(connection, arguments.payment))
        return payment, None if found is None else ReceiptSigner(folder.secrets.receipt_key).sign(found)

    payment, signed = run_in_folder(environment, read)
    if payment is None:
        raise RefusalError(f"there is no payment {arguments.payment}; `verdict payments list` shows all")
    if arguments.json:
        print_json({"payment": plain(payment), "receipt": msgspec.to_builtins(signed)})
        return DONE
    print_field("state", payment.state if payment.reason is None else f"{payment.state} ({payment.reason})")
    if signed is None:
        for name, value in plain(payment).items():
            if name not in {"state", "reason"}:
                print_field(name, value)
        return DONE
    show_receipt(signed.receipt)
    print_field("signer", signed.signer)
    print_field("signature", signed.signature)
    return DONE


def export(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Print every receipt, oldest first: as CSV, or as JSON with the signatures."""

    async def read(folder: Folder) -> tuple[ReceiptSigner, list[Receipt]]:
        receipts = await folder.database.inspect(lambda connection: list(read_receipts(connection)))
        return ReceiptSigner(folder.secrets.receipt_key), receipts

    signer, receipts = run_in_folder(environment, read)
    if arguments.json:
        print_json({"receipts": [msgspec.to_builtins(signer.sign(receipt)) for receipt in receipts]})
        return DONE
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(Receipt.__struct_encode_fields__)
    table.writerows(msgspec.to_builtins(receipt).values() for receipt in receipts)
    return DONE


def resume(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Take payments again through every facilitator that was stopped after a false report."""
    stops = run_in_folder(environment, lambda folder: folder.database.write(clear_stops))
    if arguments.json:
        print_json({"resumed": [msgspec.to_builtins(stop) for stop in stops]})
        return DONE
    rows = [[stop.facilitator, iso(stop.stopped_ms), stop.receipt_id] for stop in stops]
    print_table(
        ["FACILITATOR", "STOPPED", "PAYMENT"],
        rows,
        nothing="No facilitator is stopped.",
        whole={"STOPPED", "PAYMENT"},
    )
    return DONE


def plain(payment: PaymentRow) -> dict[str, object]:
    """A payment as `--json` says it."""
    return {
        "id": payment.receipt_id,
        "state": payment.state,
        "reason": payment.reason,
        "userId": payment.user_id or None,
        "route": payment.offer_id,
        "method": payment.method,
        "resource": payment.resource,
        "priceUsdc": usdc(MicroUsd(payment.price)),
        "amount": str(payment.price),
        "asset": payment.asset,
        "network": payment.network,
        "payer": payment.payer,
        "payTo": payment.pay_to,
        "nonce": payment.nonce,
        "transaction": payment.transaction,
        "settlement": payment.settlement,
        "claimedAt": iso(payment.claimed_ms),
        "settledAt": None if payment.settled_ms is None else iso(payment.settled_ms),
    }


def _sum_up(payments: Sequence[PaymentRow]) -> str:
    paid = [row.price for row in payments if row.state in _PAID]
    counted = "1 payment" if len(payments) == 1 else f"{len(payments)} payments"
    return f"{counted}, {len(paid)} of them settled: {usdc(MicroUsd(sum(paid)))} USDC."


def _minute(at_ms: int) -> str:
    return iso(at_ms)[:_MINUTE].replace("T", " ")


_WORTH_ASKING: Final = frozenset({"settling", "failed"})
"""A failed payment may have been submitted by somebody else since; then the chain says so."""


def reconcile(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Ask about open payments: exit code 0 where the end of each is known now, 1 where one stays open.

    The service may run meanwhile: a settlement that both ask for is recorded once.

    Raises:
        RefusalError: If there is no payment of that id.
    """
    records = run_in_folder(environment, lambda folder: _ask(folder, arguments.payment))
    if arguments.json:
        print_json({"payments": [_plain(record) for record in records]})
    else:
        rows = [[record.receipt_id, record.state, record.transaction or record.reason] for record in records]
        print_table(
            ["ID", "STATE", "TRANSACTION OR REASON"],
            rows,
            nothing="Nothing is open: of every payment it is known how it ended.",
            whole={"ID", "STATE"},
        )
    still_open = sum(record.state == "settling" for record in records)
    if still_open:
        sys.stderr.write(f"{still_open} still open: the service goes on asking; nothing is charged twice\n")
    return FAILED if still_open else DONE


async def _ask(folder: Folder, receipt_id: str | None) -> Sequence[PaymentRecord]:
    async with _open(folder) as payments:

        async def ask(wanted: str) -> PaymentRecord:
            record = await payments.ledger.find(wanted)
            if record is None:
                raise RefusalError(f"there is no payment {wanted}; `verdict payments list` shows all")
            return await payments.settlement.resolve(record) if record.state in _WORTH_ASKING else record

        if receipt_id is not None:
            return [await ask(receipt_id)]
        found = await folder.database.inspect(read_unsettled)
        return await asyncio.gather(*(ask(wanted) for wanted, _ in found))


@asynccontextmanager
async def _open(folder: Folder) -> AsyncIterator[Payments]:
    settings, database, clock = folder.settings, folder.database, folder.clock
    async with (
        open_meter(database, clock) as meter,
        # Who leads goes round by itself; this is one who asks once.
        open_payments(
            settings, database, clock, meter.record_paid, meter.run_id, lambda: False, void=void_paid
        ) as payments,
    ):
        yield payments


def _plain(record: PaymentRecord) -> dict[str, object]:
    return {
        "id": record.receipt_id,
        "state": record.state,
        "transaction": record.transaction,
        "reason": record.reason,
    }
