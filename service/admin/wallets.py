"""`verdict wallets`: watch wallets, name them, list them, let them go."""

import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from service.admin.folder import Folder, run_in_folder
from service.admin.output import print_json, print_table
from service.client.errors import DONE, MISUSED, RefusalError
from service.ethereum.addresses import checksum_address, read_address
from service.wallets.watchlist import LONGEST_WORD, Watched, WatchedWallets, is_word, read_listed


def add(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Watch a wallet from now on, and what moved in the day before."""
    words = {
        name: _word(text, f"--{name}") for name in ("label", "kind") if (text := getattr(arguments, name)) is not None
    }
    wallet = Watched(_address(arguments.address), **words)
    _change(environment, lambda watchlist: watchlist.add(wallet))
    return _say(f"{checksum_address(wallet.address)} is watched; a running service begins within a minute.")


def remove(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Watch a wallet no longer, also where the file names it."""
    address = _address(arguments.address)
    _change(environment, lambda watchlist: watchlist.remove(address))
    return _say(f"{checksum_address(address)} is no longer watched.")


def label(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Call a wallet something else."""
    address, word = _address(arguments.address), _word(arguments.label, "LABEL")
    _change(environment, lambda watchlist: watchlist.label(address, word))
    return _say(f"{checksum_address(address)} is called {word} from now on.")


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List who is watched, by address."""

    async def read(folder: Folder) -> list[Watched]:
        return await _watchlist(folder).wallets()

    watched = run_in_folder(environment, read)
    wallets = sorted(
        (msgspec.structs.replace(wallet, address=checksum_address(wallet.address)) for wallet in watched),
        key=lambda wallet: wallet.address.lower(),
    )
    if arguments.json:
        print_json({"wallets": msgspec.to_builtins(wallets)})
        return DONE
    rows = [[wallet.address, wallet.kind, wallet.label] for wallet in wallets]
    print_table(["ADDRESS", "KIND", "LABEL"], rows, nothing="No wallet is watched.", whole={"ADDRESS"})
    return DONE


def _change(environment: Mapping[str, str], change: Callable[[WatchedWallets], Awaitable[None]]) -> None:
    async def work(folder: Folder) -> None:
        await change(_watchlist(folder))

    run_in_folder(environment, work)


def _watchlist(folder: Folder) -> WatchedWallets:
    return WatchedWallets(folder.database, read_listed(folder.settings), folder.clock)


def _address(text: str) -> str:
    try:
        return read_address(text).lower()
    except ValueError as error:
        raise RefusalError(f"ADDRESS: {error}", MISUSED) from error


def _word(text: str, name: str) -> str:
    if not is_word(text):
        raise RefusalError(f"{name} takes 1 to {LONGEST_WORD} printable characters", MISUSED)
    return text


def _say(line: str) -> int:
    sys.stdout.write(line + "\n")
    return DONE
