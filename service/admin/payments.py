"""`verdict admin payments`: list, export, resume and reconcile payments."""

import asyncio
import csv
import sys
from collections.abc import Sequence
from typing import Final

import click
import msgspec

from service.access.meter import open_meter
from service.access.usage_ledger import void_paid
from service.admin.folder import Folder, json_option, run_in_folder, show
from service.admin.verify import print_fields
from service.cli.environment import Environment, RowId, Utf8Text, VerdictGroup
from service.cli.output_format import put_document
from service.cli.terminal import tell
from service.client.errors import DONE, FAILED, RefusalError
from service.clock import iso
from service.formats import count
from service.payments.audit import PaymentRow, find_payment_row, read_payments, read_unsettled
from service.payments.factory import open_payments
from service.payments.receipts import ReceiptSigner, find_receipt, read_receipts
from service.payments.records import PaymentRecord, State
from service.payments.settlement_checks import clear_stops
from service.units import MicroUsd, usdc
from service.wire.payment import Receipt, SignedReceipt

_MINUTE: Final = len("2026-01-31T00:00")
_STATES: Final = ("settling", "settled", "delivered", "failed")
_UNKNOWN: Final = "There is no payment {}. `verdict admin payments list` shows all."
_PAID: Final = frozenset({"settled", "delivered"})
_WORTH_ASKING: Final = frozenset({"settling", "failed"})
"""Anyone who has the signature can still submit a payment that failed here; the chain then shows it."""


@click.group("payments", cls=VerdictGroup)
def payments() -> None:
    """List, export, reconcile and resume payments."""


@payments.command("list", example="verdict admin payments list")
@click.option("--user", type=RowId(), metavar="N", help="Only this user's.")
@click.option("--state", type=click.Choice(_STATES), metavar="STATE", help=f"Only these: {', '.join(_STATES)}.")
@json_option
@click.pass_obj
def show_all(environment: Environment, user: int | None, state: State | None, *, json: bool) -> int:
    """List payments, newest first, and their total."""

    async def read(folder: Folder) -> list[PaymentRow]:
        return await folder.database.inspect(lambda connection: list(read_payments(connection, user, state)))

    found = run_in_folder(environment.variables, read)
    paid = [row.price for row in found if row.state in _PAID]
    income = f"{count(len(found), 'payment')}, {len(paid)} of them settled: {usdc(MicroUsd(sum(paid)))} USDC."
    return show(
        environment,
        {"payments": [_payment(payment) for payment in found]},
        {
            "ID": "id",
            "STATE": "state",
            "USER": "userId",
            "USDC": "priceUsdc",
            "CLAIMED": lambda payment: payment["claimedAt"][:_MINUTE].replace("T", " "),
            "ROUTE": "route",
        },
        "wwllwl",
        json=json,
        nothing="There are no such payments.",
        after=["", income],
    )


@payments.command("show", example="verdict admin payments show rcp_4kYw0VqGmTtq2fA1zZ9bXc")
@click.argument("receipt_id", type=Utf8Text(), metavar="ID", help="Its id, as `admin payments list` shows it.")
@json_option
@click.pass_obj
def show_one(environment: Environment, receipt_id: str, *, json: bool) -> int:
    """Show one payment, and its signed receipt if it has one."""

    async def read(folder: Folder) -> tuple[PaymentRow | None, SignedReceipt | None]:
        payment = await folder.database.inspect(lambda connection: find_payment_row(connection, receipt_id))
        found = await folder.database.inspect(lambda connection: find_receipt(connection, receipt_id))
        return payment, None if found is None else ReceiptSigner(folder.secrets.receipt_key).sign(found)

    payment, signed = run_in_folder(environment.variables, read)
    if payment is None:
        raise RefusalError(_UNKNOWN.format(receipt_id))
    fields = _payment(payment)
    if json:
        put_document({"payment": fields, "receipt": msgspec.to_builtins(signed)})
        return DONE
    state, reason = fields.pop("state"), fields.pop("reason")
    print_fields({"state": state if reason is None else f"{state} ({reason})"})
    if signed is None:
        print_fields(fields)
    else:
        print_fields(signed.receipt)
        print_fields({"signer": signed.signer, "signature": signed.signature})
    return DONE


@payments.command("export", example="verdict admin payments export")
@click.option("--json", "json", is_flag=True, help="Print JSON, each receipt with its signature.")
@click.pass_obj
def export(environment: Environment, *, json: bool) -> int:
    """Print every receipt as CSV, oldest first."""

    async def read(folder: Folder) -> tuple[ReceiptSigner, list[Receipt]]:
        receipts = await folder.database.inspect(lambda connection: list(read_receipts(connection)))
        return ReceiptSigner(folder.secrets.receipt_key), receipts

    signer, receipts = run_in_folder(environment.variables, read)
    if json:
        put_document({"receipts": [msgspec.to_builtins(signer.sign(receipt)) for receipt in receipts]})
        return DONE
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(Receipt.__struct_encode_fields__)
    table.writerows(msgspec.to_builtins(receipt).values() for receipt in receipts)
    return DONE


@payments.command("resume", example="verdict admin payments resume")
@json_option
@click.pass_obj
def resume(environment: Environment, *, json: bool) -> int:
    """Accept payments again through every facilitator that was stopped after a false report."""
    stops = run_in_folder(environment.variables, lambda folder: folder.database.write(clear_stops))
    return show(
        environment,
        {"resumed": [msgspec.to_builtins(stop) for stop in stops]},
        {"FACILITATOR": "facilitator", "STOPPED": lambda stop: iso(stop["stopped_ms"]), "PAYMENT": "receipt_id"},
        "lww",
        json=json,
        nothing="No facilitator is stopped.",
    )


def _payment(payment: PaymentRow) -> dict[str, object]:
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


@payments.command("reconcile", example="verdict admin payments reconcile")
@click.argument(
    "receipt_id", type=Utf8Text(), metavar="[ID]", required=False, help="Only this one (all whose end is not known)."
)
@json_option
@click.pass_obj
def reconcile(environment: Environment, receipt_id: str | None, *, json: bool) -> int:
    """Ask now how payments ended; exit code 1 if one stays open.

    The service may run meanwhile: a settlement that both ask for is recorded once.
    """
    records = run_in_folder(environment.variables, lambda folder: _ask(folder, receipt_id))
    fields = ("state", "transaction", "reason")
    show(
        environment,
        {"payments": [{"id": one.receipt_id} | {name: getattr(one, name) for name in fields} for one in records]},
        {"ID": "id", "STATE": "state", "TRANSACTION OR REASON": lambda one: one["transaction"] or one["reason"]},
        "wwl",
        json=json,
        nothing="No payment is open: the outcome of each is known.",
    )
    still_open = sum(record.state == "settling" for record in records)
    if still_open:
        is_open = f"{count(still_open, 'payment')} {'is' if still_open == 1 else 'are'} still open."
        tell(f"{is_open} The service keeps asking about open payments. Nothing is charged twice.")
    return FAILED if still_open else DONE


async def _ask(folder: Folder, receipt_id: str | None) -> Sequence[PaymentRecord]:
    settings, database, clock = folder.settings, folder.database, folder.clock
    async with (
        open_meter(database, clock) as meter,
        # Never the leader: its job would ask again and again, and this command asks once.
        open_payments(
            settings, database, clock, meter.record_paid, meter.run_id, lambda: False, void=void_paid
        ) as payments,
    ):

        async def ask(wanted: str) -> PaymentRecord:
            record = await payments.ledger.find(wanted)
            if record is None:
                raise RefusalError(_UNKNOWN.format(wanted))
            return await payments.settlement.resolve(record) if record.state in _WORTH_ASKING else record

        if receipt_id is not None:
            return [await ask(receipt_id)]
        found = await database.inspect(read_unsettled)
        return await asyncio.gather(*(ask(wanted) for wanted, _ in found))
