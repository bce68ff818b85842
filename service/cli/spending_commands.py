"""`verdict spending` and `verdict spending receipts`: the paying wallet, its ceilings and stored receipts."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from service.cli.environment import Environment, VerdictGroup, json_option
from service.cli.formatting import moment
from service.cli.layout import facts, flow, table
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import Cell, Display, Part
from service.client import config
from service.client.config import Config
from service.client.errors import DONE, RefusalError
from service.client.files import state_dir
from service.client.paying.buyer import NO_WALLET, ceilings_of
from service.client.paying.payment_store import PaymentStore, StoredPayment, StoredReceipt
from service.client.paying.terms import UnpaidError
from service.client.wallet import KEY, open_wallet
from service.clock import SystemClock, iso
from service.ethereum.addresses import checksum_address
from service.units import MicroUsd, usdc

_ADDRESS: Final = re.compile(r"[0-9a-fA-F]{40}", re.ASCII)
_MOST_BYTES: Final = 65_536
_PROVEN: Final = {True: Cell("yes", "good"), False: Cell("no", "bad")}


spending = VerdictGroup("spending", default="show", help="The wallet that pays for calls, and its receipts.")


@spending.command("show", example="verdict spending show")
@json_option
@click.pass_obj
def show_wallet(environment: Environment, *, as_json: bool) -> int:
    """Show the wallet that pays, the ceilings, and what is signed for today."""
    variables = environment.variables
    chosen = config.read(variables)
    try:
        found = _found(chosen, variables, PaymentStore(state_dir(variables), SystemClock()))
    except UnpaidError as error:
        raise RefusalError(str(error)) from error
    if environment.prints_json(as_json):
        put_document(found)
    else:
        put_lines(_lines(found, environment.screen))
    return DONE


@spending.command("receipts", example="verdict spending receipts")
@json_option
@click.pass_obj
def show_receipts(environment: Environment, *, as_json: bool) -> int:
    """List the receipts kept on this machine, newest first; needs no service."""
    found = PaymentStore(state_dir(environment.variables), SystemClock()).receipts()
    if environment.prints_json(as_json):
        put_document({"receipts": [{**bought.record, "file": str(bought.path)} for bought in found]})
    else:
        put_lines(_receipt_lines(found, environment.screen))
    return DONE


def _found(chosen: Config, environment: Mapping[str, str], store: PaymentStore) -> dict[str, Any]:
    ceilings = ceilings_of(chosen, None)
    return {
        "address": _address(chosen, environment),
        "from": KEY if environment.get(KEY) else chosen.keystore,
        "maxPriceUsdc": config.show_usdc(ceilings.call),
        "maxDayUsdc": config.show_usdc(ceilings.day),
        "signedTodayUsdc": config.show_usdc(store.spent_today()),
        "open": [_open(kept) for kept in store.opened()],
        "folder": str(store.folder),
    }


def _open(kept: StoredPayment) -> dict[str, Any]:
    return {
        "for": kept.what,
        "service": kept.url,
        "amountUsdc": usdc(MicroUsd(kept.amount)),
        "network": kept.network,
        "payTo": kept.pay_to,
        "signedAt": iso(kept.signed_ms),
    }


def _address(chosen: Config, environment: Mapping[str, str]) -> str | None:
    """The wallet's address; of a keystore the one that it states, without opening it."""
    if environment.get(KEY):
        return open_wallet(environment, None).address
    if chosen.keystore is None:
        return None
    try:
        with Path(chosen.keystore).open("rb") as file:
            address = json.loads(file.read(_MOST_BYTES))["address"].removeprefix("0x")
    except OSError as error:
        raise RefusalError(f"Cannot read {chosen.keystore}: {error.strerror}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return checksum_address(f"0x{address}") if _ADDRESS.fullmatch(address) else None


def _lines(found: Mapping[str, Any], on: Display) -> Iterator[str]:
    yield from facts(
        on,
        [
            ("Wallet", _whose(found)),
            ("From", [found["from"]] if found["from"] else []),
            ("A call", [f"{found['maxPriceUsdc']} USDC at most"]),
            (
                "Today",
                [f"{found['signedTodayUsdc']} of {found['maxDayUsdc']} USDC signed for; a day ends at 00:00 UTC"],
            ),
            ("Kept in", [found["folder"]]),
        ],
    )
    if found["open"]:
        yield ""
        yield "Payments whose outcome is not known. The same request sends them again:"
        rows = [[row["amountUsdc"], moment(row["signedAt"]), row["for"], row["service"]] for row in found["open"]]
        yield from table(on, ["USDC", "SIGNED", "FOR", "AT"], rows, right="r")


def _whose(found: Mapping[str, Any]) -> list[Part]:
    if found["address"]:
        return [Cell(found["address"], "strong")]
    return ["The keystore does not state its address."] if found["from"] else [f"None. {NO_WALLET}"]


def _receipt_lines(found: list[StoredReceipt], on: Display) -> Iterator[str]:
    if not found:
        yield "No receipts are kept here yet."
        return
    rows = [
        [
            moment(iso(paid.signed_ms)).removesuffix(" UTC"),
            usdc(MicroUsd(paid.amount)),
            paid.what.removeprefix("GET "),
            name,
            _PROVEN[proven],
        ]
        for paid, name, proven, *_ in found
    ]
    yield from table(on, ["PAID (UTC)", "USDC", "FOR", "RECEIPT", "OK"], rows, right="lr")
    if not all(bought.proven for bought in found):
        yield ""
        yield from flow(on, ["If OK is no, --json shows the reasons, and the file of the receipt."])
