"""`verdict payments verify FILE`: who signed a saved receipt; no service, no data folder, no settings."""

import sys
import textwrap
from argparse import Namespace
from collections.abc import Mapping
from typing import Final

import msgspec

from service.admin.output import WIDTH
from service.admin.saved import plain, read_json
from service.client.errors import DONE, FAILED, MISUSED, REFUSED, RefusalError
from service.ethereum.addresses import read_address
from service.payments.receipts import signer_of
from service.validation_errors import explain_invalid
from service.wire.payment import Receipt, SignedReceipt

_NO_RECEIPT: Final = "this is not a signed receipt: save the whole answer of /api/receipts/{id}"
_NAMES: Final = max(map(len, Receipt.__struct_encode_fields__)) + 1
"""Leaves space for a hash with its 0x: 80 columns hold all of it."""


def verify(arguments: Namespace, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - needs no settings
    """Find who signed a receipt: exit code 0 where it is who the file (and `--signer`) says, 1 where it is not.

    Raises:
        RefusalError: With exit code 4 where there is nothing to verify: no file, no JSON, no receipt; 1 where
            `--signer` is no address.
    """
    wanted = None if arguments.signer is None else _address(arguments.signer)
    saved, text = _receipt_in(read_json(arguments.file))
    show_receipt(saved.receipt)
    sys.stdout.write("\n")
    try:
        signer = signer_of(text, saved.signature)
    except ValueError as error:
        return _conclude(f"NOT AS IT WAS SIGNED: {plain(str(error))}.", FAILED)
    if signer.lower() != saved.signer.lower():
        return _conclude(f"NOT AS IT WAS SIGNED: the signature is not by {plain(saved.signer)} over this.", FAILED)
    if wanted is None:
        return _conclude(
            f"As it was signed by {signer}. Whether that is the service, its manifest says: compare `receiptSigner`, "
            "or give it with --signer.",
            DONE,
        )
    if signer != wanted:
        return _conclude(f"SIGNED BY SOMEBODY ELSE: {signer}.", FAILED)
    return _conclude(f"As it was signed by {signer}, as asked.", DONE)


def show_receipt(receipt: Receipt) -> None:
    """Print a receipt, a field a line."""
    for name, value in msgspec.to_builtins(receipt).items():
        print_field(name, value)


def print_field(name: str, value: object) -> None:
    """Print one line of a form; what is too long goes on below, whole, so that it can be copied."""
    shown = plain("-" if value is None else str(value))
    lines = textwrap.wrap(shown, WIDTH - _NAMES, break_on_hyphens=False) or [""]
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
        raise RefusalError(plain(f"this answer is a failure ({error.get('code')}), not a receipt"), REFUSED)
    try:
        return msgspec.convert(document, SignedReceipt), msgspec.convert(document, dict[str, object])["receipt"]
    except msgspec.ValidationError as error:
        raise RefusalError(
            plain(f"{_NO_RECEIPT} ({explain_invalid(error, SignedReceipt).sentence('it')})"), REFUSED
        ) from error


def _conclude(text: str, code: int) -> int:
    sys.stdout.write(textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n")
    return code
