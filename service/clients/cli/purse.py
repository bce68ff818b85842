"""`verdict wallet` and `verdict wallet receipts`: who pays, how much, and for what; no service is asked."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from service.clients.cli.figures import moment
from service.clients.cli.prose import facts, flow
from service.clients.cli.refusal import DONE, RefusalError
from service.clients.cli.screen import Cell, Part, Screen
from service.clients.cli.shape import form
from service.clients.cli.tables import table
from service.clients.cli.terminal import screen
from service.clients.paying.buyer import NO_WALLET
from service.clients.paying.drawer import Drawer, Kept
from service.clients.paying.opening import ceilings_of
from service.clients.paying.receipt import Bought, read_receipts
from service.clients.paying.refusal import UnpaidError
from service.clients.profile import config
from service.clients.profile.folders import state_dir
from service.clients.signin.wallet import KEY, open_wallet
from service.clock import SystemClock, iso
from service.ethereum.addresses import checksum_address
from service.units import MicroUsd, usdc

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

    from service.clients.profile.config import Config

_ADDRESS: Final = re.compile(r"[0-9a-fA-F]{40}", re.ASCII)
_MOST_BYTES: Final = 65_536
_PROVEN: Final = {True: Cell("yes", "good"), False: Cell("no", "bad")}


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Show the wallet that is meant; its key stays where it is.

    Raises:
        RefusalError: If something of it cannot be read.
    """
    chosen = config.read(environment)
    drawer = Drawer(state_dir(environment), SystemClock())
    try:
        found = _found(chosen, environment, drawer)
    except UnpaidError as error:
        raise RefusalError(str(error)) from error
    if form(arguments) == "human":
        sys.stdout.writelines(f"{line}\n" for line in _lines(found, screen(environment, sys.stdout)))
    else:
        sys.stdout.write(json.dumps(found) + "\n")
    return DONE


def receipts(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List what was bought from this machine."""
    found = read_receipts(Drawer(state_dir(environment), SystemClock()))
    if form(arguments) == "human":
        sys.stdout.writelines(f"{line}\n" for line in _receipt_lines(found, screen(environment, sys.stdout)))
    else:
        told = [{**bought.record, "file": str(bought.path)} for bought in found]
        sys.stdout.write(json.dumps({"receipts": told}) + "\n")
    return DONE


def _found(chosen: Config, environment: Mapping[str, str], drawer: Drawer) -> dict[str, Any]:
    ceilings = ceilings_of(chosen, None)
    return {
        "address": _address(chosen, environment),
        "from": KEY if environment.get(KEY) else chosen.keystore,
        "maxPriceUsdc": config.show_usdc(ceilings.call),
        "maxDayUsdc": config.show_usdc(ceilings.day),
        "signedTodayUsdc": config.show_usdc(drawer.spent_today()),
        "open": [_open(kept) for kept in drawer.opened()],
        "folder": str(drawer.folder),
    }


def _open(kept: Kept) -> dict[str, Any]:
    return {
        "for": kept.what,
        "service": kept.url,
        "amountUsdc": usdc(MicroUsd(kept.amount)),
        "network": kept.network,
        "payTo": kept.pay_to,
        "signedAt": iso(kept.signed_ms),
    }


def _address(chosen: Config, environment: Mapping[str, str]) -> str | None:
    """Whose wallet it is; a keystore's own word for it, which need not be opened for that."""
    if environment.get(KEY):
        return open_wallet(environment, None).address
    if chosen.keystore is None:
        return None
    try:
        with Path(chosen.keystore).open("rb") as file:
            told = json.loads(file.read(_MOST_BYTES))["address"].removeprefix("0x")
    except OSError as error:
        raise RefusalError(f"the keystore {chosen.keystore} cannot be read ({error.strerror})") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return checksum_address(f"0x{told}") if _ADDRESS.fullmatch(told) else None


def _lines(found: Mapping[str, Any], on: Screen) -> Iterator[str]:
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
        yield "Payments whose end is not known; the same request sends them again:"
        rows = [[row["amountUsdc"], moment(row["signedAt"]), row["for"], row["service"]] for row in found["open"]]
        yield from table(on, ["USDC", "SIGNED", "FOR", "AT"], rows, right="r")


def _whose(found: Mapping[str, Any]) -> list[Part]:
    if found["address"]:
        return [Cell(found["address"], "strong")]
    return ["its file does not say whose it is"] if found["from"] else [f"none; {NO_WALLET}"]


def _receipt_lines(found: list[Bought], on: Screen) -> Iterator[str]:
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
        yield from flow(on, ["Where that is no, --json says what speaks against it, and which file has it all."])
