"""A recorded venue in memory, in recorded time."""

import hashlib
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from service.upstream.fixture_set import METADATA, FixtureError, read_metadata, read_set, unpack

T = TypeVar("T")

VENUE: Final = "hyperliquid"
CONTEXTS_FILE: Final = f"{VENUE}/metaAndAssetCtxs.json"
DEXS_FILE: Final = f"{VENUE}/perpDexs.json"
HOURLY: Final = "candles-1h"
DAILY: Final = "candles-1d"
FUNDING: Final = "funding"


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


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded. `identity` changes with any byte of the set; series are in order of time."""

    identity: str
    frozen_at_ms: int
    meta: Universe
    contexts: dict[str, Context]
    dexs: bytes
    hours: dict[str, list[Candle]]
    days: dict[str, list[Candle]]
    funding: dict[str, list[FundingRow]]


def load_recording(directory: Path) -> Recording:
    """Read a fixture set whole, and check it against its digests.

    Args:
        directory: The folder of `metadata.json`.

    Raises:
        FixtureError: If a file is missing, changed or malformed.
    """
    metadata, files = read_set(directory)
    try:
        meta, contexts = msgspec.json.decode(files[CONTEXTS_FILE], type=tuple[Universe, list[Context]])
        return Recording(
            identity=hashlib.sha256((directory / METADATA).read_bytes()).hexdigest()[:12],
            frozen_at_ms=metadata.frozen_at,
            meta=meta,
            contexts={asset.name: context for asset, context in zip(meta.universe, contexts, strict=True)},
            dexs=files[DEXS_FILE],
            hours=_series(files, HOURLY, list[Candle]),
            days=_series(files, DAILY, list[Candle]),
            funding=_series(files, FUNDING, list[FundingRow]),
        )
    except (KeyError, ValueError) as error:
        raise FixtureError(f"the fixture set in {directory} is malformed; run `make fixtures`") from error


def _series(files: dict[str, bytes], kind: str, rows: type[list[T]]) -> dict[str, list[T]]:
    decoder = msgspec.json.Decoder(rows)
    start, end = f"{VENUE}/{kind}/", ".json.gz"
    return {
        name.removeprefix(start).removesuffix(end): decoder.decode(unpack(content))
        for name, content in files.items()
        if name.startswith(start)
    }


def frozen_at(directory: Path) -> int:
    """A recording's last instant, epoch milliseconds UTC: where the clock of a frozen replay stands.

    Raises:
        FixtureError: If there is no usable set in that folder.
    """
    return read_metadata(directory).frozen_at
