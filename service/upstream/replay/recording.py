"""A recorded venue in memory, in recorded time."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, TypeVar, overload

import msgspec

from service.upstream.fixture_set import METADATA, FixtureError, read_metadata, read_set, unpack_newest, unpack_rows

R = TypeVar("R", bound=msgspec.Struct)

VENUE: Final = "hyperliquid"
MAIN_DEX: Final = ""
"""The venue's own dex; the others belong to builders."""

DEXS_FILE: Final = f"{VENUE}/perpDexs.json"
ANNOTATIONS_FILE: Final = f"{VENUE}/perpConciseAnnotations.json"
_CONTEXTS: Final = "metaAndAssetCtxs.json"
_SERIES_ENDING: Final = ".json.gz"
_SERIES_KEPT_UNPACKED: Final = 2
HOURLY: Final = "candles-1h"
DAILY: Final = "candles-1d"
FUNDING: Final = "funding"

_ROWS_KEPT_UNPACKED: Final = {HOURLY: 80, DAILY: 8, FUNDING: 64}
"""Rows of each kind that are kept unpacked: nearly all that is asked for after a start. Hours reach two days and an
hour back from any time of the last day: a volume of 24 hours and the one of the day before."""


class Candle(
    msgspec.Struct,
    frozen=True,
    rename={
        "open_ms": "t",
        "close_ms": "T",
        "coin": "s",
        "interval": "i",
        "open": "o",
        "close": "c",
        "high": "h",
        "low": "l",
        "volume": "v",
        "trades": "n",
    },
):
    """One bar as the venue writes it: decimal strings, volume in base units, `close_ms` its last millisecond."""

    open_ms: int
    close_ms: int
    coin: str
    interval: str
    open: str
    close: str
    high: str
    low: str
    volume: str
    trades: int


class FundingRow(msgspec.Struct, frozen=True, rename={"rate": "fundingRate", "time_ms": "time"}):
    """One hourly payment: the fraction paid, and the premium it came from."""

    coin: str
    rate: str
    premium: str | None
    time_ms: int


class Context(msgspec.Struct, frozen=True, rename="camel"):
    """A coin's context as the venue writes it; nulls where a coin is delisted."""

    funding: str
    open_interest: str
    prev_day_px: str
    day_ntl_vlm: str
    premium: str | None
    oracle_px: str
    mark_px: str
    mid_px: str | None
    impact_pxs: tuple[str, str] | None
    day_base_vlm: str


class Asset(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A row of the universe."""

    name: str
    sz_decimals: int
    max_leverage: int
    margin_table_id: int
    only_isolated: bool = False
    is_delisted: bool = False


class Universe(msgspec.Struct, frozen=True, rename="camel"):
    """The venue's `meta`."""

    universe: list[Asset]
    margin_tables: msgspec.Raw
    collateral_token: int


class Dex(msgspec.Struct, frozen=True):
    """What is read of a row of `perpDexs`."""

    name: str


_dexs: Final = msgspec.json.Decoder(list[Dex | None])
_contexts: Final = msgspec.json.Decoder(tuple[Universe, list[Context]])


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded. `identity` changes with any byte of the set; series are in order of time.

    Attributes:
        identity: Short name of the set.
        frozen_at_ms: The last instant recorded.
        universes: Dex → its universe, the main dex first.
        contexts: Coin of any dex → its context.
        dexs: The venue's `perpDexs`, as it wrote it.
        annotations: Its `perpConciseAnnotations`.
        hours: Coin → hourly bars.
        days: Coin → daily bars.
        funding: Coin → payments.
    """

    identity: str
    frozen_at_ms: int
    universes: Mapping[str, Universe]
    contexts: Mapping[str, Context]
    dexs: bytes
    annotations: bytes
    hours: Mapping[str, Sequence[Candle]]
    days: Mapping[str, Sequence[Candle]]
    funding: Mapping[str, Sequence[FundingRow]]


class Packed(Sequence[R]):
    """Rows that stay on the disk until they are looked at: half a million rows would otherwise fill 200 MB.

    Args:
        path: A file that `pack_rows` wrote.
        kind: Of the rows.
        most: Newest rows that are kept unpacked.
    """

    def __init__(self, path: Path, kind: type[R], most: int) -> None:
        self.path = path
        self.kind = kind
        self._most = most

    @property
    def packed(self) -> bytes:
        """What the file holds."""
        return self.path.read_bytes()

    @cached_property
    def _end(self) -> tuple[Sequence[R], int]:
        return unpack_newest(self.packed, self.kind, self._most)

    @property
    def newest(self) -> Sequence[R]:
        """The newest rows, unpacked."""
        return self._end[0]

    def __len__(self) -> int:
        return self._end[1]

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[R]: ...
    def __getitem__(self, at: int | slice) -> R | Sequence[R]:
        return _unpacked(self)[at]


@lru_cache(_SERIES_KEPT_UNPACKED)
def _unpacked(series: Packed[R]) -> Sequence[R]:
    return unpack_rows(series.packed, series.kind)


def contexts_file(dex: str) -> str:
    """Where a dex's universe and contexts are: the main dex's at the top, another's in its own folder."""
    return f"{VENUE}/{dex}/{_CONTEXTS}" if dex else f"{VENUE}/{_CONTEXTS}"


def series_file(kind: str, coin: str) -> str:
    """Where a coin's rows of one kind are: `candles-1d/BTC.json.gz`, `xyz/candles-1d/AAPL.json.gz`."""
    dex, _, ticker = coin.rpartition(":")
    return f"{VENUE}/{dex}/{kind}/{ticker}{_SERIES_ENDING}" if dex else f"{VENUE}/{kind}/{ticker}{_SERIES_ENDING}"


def load_recording(directory: Path) -> Recording:
    """Read a fixture set and check it against its digests. The rows of its series are unpacked by who reads them.

    Args:
        directory: The folder of `metadata.json`.

    Raises:
        FixtureError: If a file is missing or changed, or one beside the series malformed.
    """
    read_metadata(directory)
    return _read(directory, hashlib.sha256((directory / METADATA).read_bytes()).hexdigest())


@lru_cache(2)
def _read(directory: Path, digest: str) -> Recording:
    """What that metadata names, read once a process: its digests say that nothing else can be found there later."""
    metadata, files = read_set(directory)
    with _naming(directory):
        return _understood(directory, digest[:12], metadata.frozen_at, files)


@contextmanager
def _naming(directory: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, ValueError, TypeError) as error:
        raise FixtureError(f"The fixture set in {directory} is malformed. Run `make fixtures`.") from error


def _understood(directory: Path, identity: str, frozen_at_ms: int, files: Mapping[str, bytes]) -> Recording:
    dexs = _dexs.decode(files[DEXS_FILE])
    names = [MAIN_DEX, *(dex.name for dex in dexs if dex is not None)]
    known = {dex: _contexts.decode(files[contexts_file(dex)]) for dex in names if contexts_file(dex) in files}
    contexts = {
        asset.name: context
        for meta, of_dex in known.values()
        for asset, context in zip(meta.universe, of_dex, strict=True)
    }
    return Recording(
        identity=identity,
        frozen_at_ms=frozen_at_ms,
        universes={dex: meta for dex, (meta, _) in known.items()},
        contexts=contexts,
        dexs=files[DEXS_FILE],
        annotations=files[ANNOTATIONS_FILE],
        hours=_series(directory, files, contexts, HOURLY, Candle),
        days=_series(directory, files, contexts, DAILY, Candle),
        funding=_series(directory, files, contexts, FUNDING, FundingRow),
    )


def _series(
    directory: Path, files: Collection[str], coins: Iterable[str], kind: str, row: type[R]
) -> dict[str, Sequence[R]]:
    named = ((coin, series_file(kind, coin)) for coin in coins)
    return {coin: Packed(directory / file, row, _ROWS_KEPT_UNPACKED[kind]) for coin, file in named if file in files}


def frozen_at(directory: Path) -> int:
    """A recording's last instant, epoch milliseconds UTC: where the clock of a frozen replay stands.

    Raises:
        FixtureError: If there is no usable set in that folder.
    """
    return read_metadata(directory).frozen_at
