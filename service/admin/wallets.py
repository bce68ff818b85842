"""`verdict admin wallets`: add, label, list and remove the wallets that are watched."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import click
import msgspec

from service.admin.folder import json_option, run_in_folder, say, show
from service.cli.environment import Environment, Utf8Text, VerdictGroup
from service.ethereum.addresses import checksum_address, read_address
from service.wallets.watchlist import LONGEST_WORD, Watched, WatchedWallets, is_word, read_listed

T = TypeVar("T")

_EXAMPLE: Final = "0x28C6c06298d514Db089934071355E5743bf21d60"


class AddressParameter(Utf8Text):
    """An Ethereum address, in lower case."""

    name = "address"

    def parse(self, text: str) -> str:
        """The address."""
        return read_address(text).lower()


class LabelParameter(Utf8Text):
    """A short printable text."""

    def parse(self, text: str) -> str:
        """The text."""
        if not is_word(text):
            raise ValueError(f"takes 1 to {LONGEST_WORD} printable characters")
        return text


_watched = click.argument("address", type=AddressParameter(), help="As `admin wallets list` shows it.")


@click.group("wallets", cls=VerdictGroup)
def wallets() -> None:
    """Choose the wallets that the service watches. What moved there: `verdict wallets`."""


@wallets.command("add", example=f"verdict admin wallets add {_EXAMPLE} --label Binance --kind exchange")
@click.argument("address", type=AddressParameter(), help="0x and 40 hexadecimal digits.")
@click.option("--label", type=LabelParameter(), metavar="TEXT", help="What it is called.")
@click.option("--kind", type=LabelParameter(), metavar="TEXT", help="What it is, in a word: exchange, fund.")
@click.pass_obj
def add(environment: Environment, address: str, label: str | None, kind: str | None) -> int:
    """Watch a wallet from now on, and what moved in the day before."""
    _on_watchlist(environment, lambda watchlist: watchlist.add(Watched(address, label, kind)))
    return say(f"{checksum_address(address)} is watched. A running service begins within a minute.")


@wallets.command("remove", example=f"verdict admin wallets remove {_EXAMPLE}")
@_watched
@click.pass_obj
def remove(environment: Environment, address: str) -> int:
    """Watch a wallet no longer, also where the file names it."""
    _on_watchlist(environment, lambda watchlist: watchlist.remove(address))
    return say(f"{checksum_address(address)} is no longer watched.")


@wallets.command("label", example=f"verdict admin wallets label {_EXAMPLE} 'Binance 14'")
@_watched
@click.argument("label", type=LabelParameter(), help="What it is called.")
@click.pass_obj
def relabel(environment: Environment, address: str, label: str) -> int:
    """Rename a watched wallet."""
    _on_watchlist(environment, lambda watchlist: watchlist.label(address, label))
    return say(f"{checksum_address(address)} is called {label} now.")


@wallets.command("list", example="verdict admin wallets list")
@json_option
@click.pass_obj
def list_wallets(environment: Environment, *, json: bool) -> int:
    """List the watched wallets, by address."""
    watched = _on_watchlist(environment, WatchedWallets.wallets)
    rows = [msgspec.to_builtins(wallet) for wallet in sorted(watched, key=lambda wallet: wallet.address.lower())]
    document = {"wallets": [{**row, "address": checksum_address(row["address"])} for row in rows]}
    columns = {"ADDRESS": "address", "KIND": "kind", "LABEL": "label"}
    return show(environment, document, columns, "w", json=json, nothing="No wallet is watched.")


def _on_watchlist(environment: Environment, work: Callable[[WatchedWallets], Awaitable[T]]) -> T:
    return run_in_folder(
        environment.variables,
        lambda folder: work(WatchedWallets(folder.database, read_listed(folder.settings), folder.clock)),
    )
