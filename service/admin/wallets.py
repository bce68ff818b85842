"""`verdict admin wallets`: watch wallets, name them, list them, let them go."""

from collections.abc import Awaitable, Callable
from typing import Any

import click
import msgspec

from service.admin.folder import Folder, json_option, run_in_folder, say, show
from service.cli.environment import Environment, VerdictGroup
from service.ethereum.addresses import checksum_address, read_address
from service.wallets.watchlist import LONGEST_WORD, Watched, WatchedWallets, is_word, read_listed

_EXAMPLE = "0x28C6c06298d514Db089934071355E5743bf21d60"


class AddressParameter(click.ParamType[str]):
    """An Ethereum address, in lower case."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address."""
        try:
            return read_address(value).lower()
        except ValueError as error:
            self.fail(str(error) if str(error).endswith("?") else f"{error}.", param, ctx)


class LabelParameter(click.ParamType[str]):
    """A short printable text."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text."""
        if not is_word(value):
            self.fail(f"takes 1 to {LONGEST_WORD} printable characters.", param, ctx)
        return str(value)


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
    wallet = Watched(address, **{name: text for name, text in (("label", label), ("kind", kind)) if text})
    _change(environment, lambda watchlist: watchlist.add(wallet))
    return say(f"{checksum_address(address)} is watched; a running service begins within a minute.")


@wallets.command("remove", example=f"verdict admin wallets remove {_EXAMPLE}")
@click.argument("address", type=AddressParameter(), help="As `admin wallets list` shows it.")
@click.pass_obj
def remove(environment: Environment, address: str) -> int:
    """Watch a wallet no longer, also where the file names it."""
    _change(environment, lambda watchlist: watchlist.remove(address))
    return say(f"{checksum_address(address)} is no longer watched.")


@wallets.command("label", example=f"verdict admin wallets label {_EXAMPLE} 'Binance 14'")
@click.argument("address", type=AddressParameter(), help="As `admin wallets list` shows it.")
@click.argument("label", type=LabelParameter(), help="What it is called.")
@click.pass_obj
def relabel(environment: Environment, address: str, label: str) -> int:
    """Call a watched wallet something else."""
    _change(environment, lambda watchlist: watchlist.label(address, label))
    return say(f"{checksum_address(address)} is called {label} from now on.")


@wallets.command("list", example="verdict admin wallets list")
@json_option
@click.pass_obj
def list_wallets(environment: Environment, *, json: bool) -> int:
    """List the watched wallets, by address."""
    watched = run_in_folder(environment.variables, lambda folder: _watchlist(folder).wallets())
    found = sorted(
        (msgspec.structs.replace(wallet, address=checksum_address(wallet.address)) for wallet in watched),
        key=lambda wallet: wallet.address.lower(),
    )
    rows = [[wallet.address, wallet.kind, wallet.label] for wallet in found]
    document = {"wallets": msgspec.to_builtins(found)}
    headers = ["ADDRESS", "KIND", "LABEL"]
    return show(environment, document, headers, rows, "w", json=json, nothing="No wallet is watched.")


def _change(environment: Environment, change: Callable[[WatchedWallets], Awaitable[None]]) -> None:
    run_in_folder(environment.variables, lambda folder: change(_watchlist(folder)))


def _watchlist(folder: Folder) -> WatchedWallets:
    return WatchedWallets(folder.database, read_listed(folder.settings), folder.clock)
