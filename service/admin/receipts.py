"""`verdict admin receipts verify`: who signed a saved receipt; no service, no data folder, no settings."""

import sys
import textwrap
from typing import Final

import click
import msgspec

from service.admin.saved import read_json
from service.cli.environment import VerdictGroup
from service.cli.terminal import safe
from service.client.errors import DONE, FAILED, MISUSED, REFUSED, RefusalError
from service.ethereum.addresses import read_address
from service.payments.receipts import signer_of
from service.validation_errors import explain_invalid
from service.wire.payment import Receipt, SignedReceipt

_NO_RECEIPT: Final = "this is not a signed receipt: save the whole answer of /api/receipts/{id}"
_WIDTH: Final = 80
_NAMES: Final = max(map(len, Receipt.__struct_encode_fields__)) + 1
"""Leaves space for a hash with its 0x: 80 columns hold all of it."""


@click.group("receipts", cls=VerdictGroup)
def receipts() -> None:
    """Verify saved receipts. `verdict admin payments export` prints all that were given."""


@receipts.command("verify", example="verdict admin receipts verify receipt.json")
@click.argument("file", type=click.Path(allow_dash=True), help="An answer of /api/receipts/{id}; - is standard input.")
@click.option("--signer", metavar="0x…", help="Who must have signed: `receiptSigner` of the service's manifest.")
def verify(file: str, signer: str | None) -> int:
    """Say who signed a saved receipt, without a service; exit code 1 if another."""
    wanted = None if signer is None else _address(signer)
    saved, text = _receipt_in(read_json(file))
    print_receipt(saved.receipt)
    sys.stdout.write("\n")
    try:
        signer = signer_of(text, saved.signature)
    except ValueError as error:
        return _conclude(f"NOT AS IT WAS SIGNED: {safe(str(error))}.", FAILED)
    if signer.lower() != saved.signer.lower():
        return _conclude(f"NOT AS IT WAS SIGNED: the signature is not by {safe(saved.signer)} over this.", FAILED)
    if wanted is None:
        return _conclude(
            f"As it was signed by {signer}. Whether that is the service, its manifest says: compare `receiptSigner`, "
            "or give it with --signer.",
            DONE,
        )
    if signer != wanted:
        return _conclude(f"SIGNED BY SOMEBODY ELSE: {signer}.", FAILED)
    return _conclude(f"As it was signed by {signer}, as asked.", DONE)


def print_receipt(receipt: Receipt) -> None:
    """Print a receipt, a field a line."""
    for name, value in msgspec.to_builtins(receipt).items():
        print_field(name, value)


def print_field(name: str, value: object) -> None:
    """Print one line of a form; what is too long goes on below, whole, so that it can be copied."""
    shown = safe("-" if value is None else str(value))
    lines = textwrap.wrap(shown, _WIDTH - _NAMES, break_on_hyphens=False) or [""]
    for head, line in zip([name.ljust(_NAMES)] + [" " * _NAMES] * len(lines), lines, strict=False):
        sys.stdout.write(f"{head}{line}".rstrip() + "\n")


def _address(text: str) -> str:
    try:
        return read_address(text)
    except ValueError as error:
        raise RefusalError(f"--signer: {error}", MISUSED) from error


def _receipt_in(document: object) -> tuple[SignedReceipt, object]:
    """The receipt, and what is signed: it as the file says it, not as this version understands it."""
    if isinstance(document, dict) and isinstance(error := document.get("error"), dict):
        raise RefusalError(safe(f"this answer is a failure ({error.get('code')}), not a receipt"), REFUSED)
    try:
        return msgspec.convert(document, SignedReceipt), msgspec.convert(document, dict[str, object])["receipt"]
    except msgspec.ValidationError as error:
        raise RefusalError(
            safe(f"{_NO_RECEIPT} ({explain_invalid(error, SignedReceipt).sentence('it')})"), REFUSED
        ) from error


def _conclude(text: str, code: int) -> int:
    sys.stdout.write(textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False) + "\n")
    return code
