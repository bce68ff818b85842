"""Who is watched: a file of the operator's, and what was said beside it by command."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from service.clock import Clock
from service.errors import ServiceError
from service.ethereum.addresses import checksum_address, read_address
from service.settings import Settings, SettingsError
from service.storage.database import Database
from service.storage.engine import Connection
from service.upstream.replay.ethereum import WALLETS_FILE
from service.validation_errors import explain_invalid

MOST_WALLETS: Final = 1_000
"""Each is asked for again and again, in lists that a node takes only so many of."""

LONGEST_WORD: Final = 80
"""Characters of a label or a kind."""

_LARGEST_FILE: Final = 1024 * 1024
_VARIABLE: Final = "VERDICT_WALLETS_FILE"
_READ: Final = "SELECT address, watched, label, kind FROM watched_wallets ORDER BY address"
_PUT: Final = """
    INSERT INTO watched_wallets (address, watched, label, kind, changed_ms) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (address) DO UPDATE SET watched = excluded.watched, label = excluded.label, kind = excluded.kind,
        changed_ms = excluded.changed_ms
"""


class Watched(Struct, frozen=True):
    """A wallet: its address in lower case, and the operator's words for it."""

    address: str
    label: str | None = None
    kind: str | None = None


class _Listed(Struct, forbid_unknown_fields=True):
    address: str
    label: str | None = None
    kind: str | None = None


class _File(Struct, forbid_unknown_fields=True):
    wallet: Annotated[list[_Listed], Meta(max_length=MOST_WALLETS)] = []


class WatchedWallets:
    """The file's wallets and the table's; where both speak of one, the table does.

    Args:
        database: Where the table is.
        listed: The file's wallets.
        clock: Dates what is changed.
    """

    def __init__(self, database: Database, listed: Sequence[Watched], clock: Clock) -> None:
        self._database = database
        self._listed = listed
        self._clock = clock

    async def wallets(self) -> list[Watched]:
        """Everybody who is watched now, in an order that does not change for those who stay: that of `place`."""
        return sorted(_merged(self._listed, await self._database.read(_READ)).values(), key=place)

    async def addresses(self) -> list[str]:
        """Their addresses, in lower case."""
        return [wallet.address for wallet in await self.wallets()]

    async def add(self, wallet: Watched) -> None:
        """Watch one more.

        Raises:
            ServiceError: `BAD_REQUEST` if it is watched already, or too many are; `UNAVAILABLE` of the store.
        """

        def change(watched: Mapping[str, Watched]) -> Watched:
            if wallet.address in watched:
                raise ServiceError("BAD_REQUEST", f"{checksum_address(wallet.address)} is watched already.")
            if len(watched) >= MOST_WALLETS:
                raise ServiceError("BAD_REQUEST", f"{MOST_WALLETS} wallets are watched already, which is the maximum.")
            return wallet

        await self._change(change, stays=True)

    async def remove(self, address: str) -> None:
        """Watch one no longer, also where the file names it.

        Raises:
            ServiceError: `NOT_FOUND` if it is not watched; `UNAVAILABLE` of the store.
        """
        await self._change(lambda watched: find(watched, address), stays=False)

    async def label(self, address: str, label: str) -> None:
        """Call one something else.

        Raises:
            ServiceError: `NOT_FOUND` if it is not watched; `UNAVAILABLE` of the store.
        """
        await self._change(lambda watched: msgspec.structs.replace(find(watched, address), label=label), stays=True)

    async def _change(self, change: Callable[[Mapping[str, Watched]], Watched], *, stays: bool) -> None:
        now_ms = self._clock.now_ms()

        def work(connection: Connection) -> None:
            wallet = change(_merged(self._listed, connection.execute(_READ).fetchall()))
            connection.execute(_PUT, (wallet.address, int(stays), wallet.label, wallet.kind, now_ms))

        await self._database.write(work)


def watched_in(connection: Connection, listed: Sequence[Watched]) -> list[Watched]:
    """Who is watched by what a database and a file say, for those who have no service to ask."""
    return list(_merged(listed, connection.execute(_READ)).values())


def find(watched: Mapping[str, Watched], address: str) -> Watched:
    """Look a wallet up.

    Args:
        watched: By address.
        address: In lower case.

    Raises:
        ServiceError: `NOT_FOUND` if it is not watched.
    """
    if address not in watched:
        raise ServiceError("NOT_FOUND", f"{checksum_address(address)} is not watched.")
    return watched[address]


def place(wallet: Watched) -> tuple[int, int]:
    """Where a wallet stands in the list: 126 bits of a digest, for an address is longer than a cursor's position.

    So after additions and removals a page goes on after the wallet that the one before ended with.
    """
    digest = sha256(wallet.address.encode()).digest()
    return int.from_bytes(digest[:8]) >> 1, int.from_bytes(digest[8:16]) >> 1


def is_word(text: str) -> bool:
    """Whether a text may be a label or a kind: 1 to 80 characters that can be seen."""
    return 1 <= len(text) <= LONGEST_WORD and text.isprintable() and text == text.strip()


def read_listed(settings: Settings) -> list[Watched]:
    """The wallets of the file that the settings name; where they name none, the recording's, or none.

    Raises:
        SettingsError: If the file cannot be used.
    """
    path = settings.wallets_file
    if path is None:
        path = settings.fixtures_dir / WALLETS_FILE
        if settings.source == "live" or not path.is_file():
            return []
    return _unique(path, [_checked(path, listed) for listed in _decoded(path).wallet])


def _decoded(path: Path) -> _File:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise SettingsError(f"{_VARIABLE}: {path} cannot be read ({error.strerror}).") from error
    if len(content) > _LARGEST_FILE:
        raise SettingsError(f"{_VARIABLE}: {path} is larger than {_LARGEST_FILE} bytes.")
    try:
        return msgspec.convert(tomllib.loads(content.decode()), _File)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, msgspec.ValidationError) as error:
        raise SettingsError(
            f"{_VARIABLE}: {path} is not a list of [[wallet]] tables with address, label and kind: {_reason(error)}."
        ) from error


def _reason(error: Exception) -> str:
    return explain_invalid(error, _File).sentence("it") if isinstance(error, msgspec.ValidationError) else str(error)


def _checked(path: Path, listed: _Listed) -> Watched:
    try:
        address = read_address(listed.address).lower()
    except ValueError as error:
        raise SettingsError(f"{_VARIABLE}: {path}: {listed.address[:LONGEST_WORD]!r}: {error}") from error
    for word in (listed.label, listed.kind):
        if word is not None and not is_word(word):
            raise SettingsError(
                f"{_VARIABLE}: {path}: {address}: label and kind take 1 to {LONGEST_WORD} printable characters."
            )
    return Watched(address, listed.label, listed.kind)


def _unique(path: Path, wallets: list[Watched]) -> list[Watched]:
    seen: set[str] = set()
    for wallet in wallets:
        if wallet.address in seen:
            raise SettingsError(f"{_VARIABLE}: {path} names {wallet.address} twice.")
        seen.add(wallet.address)
    return wallets


def _merged(listed: Iterable[Watched], rows: Iterable[tuple[Any, ...]]) -> dict[str, Watched]:
    watched = {wallet.address: wallet for wallet in listed}
    for address, stays, label, kind in rows:
        watched.pop(address, None)
        if stays:
            watched[address] = Watched(address, label, kind)
    return watched
