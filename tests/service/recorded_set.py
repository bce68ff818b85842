"""A fixture set of the real recordings: 116 coins as Hyperliquid traded them, six assets derived from other markets.

Contexts were not recorded: prices are last closes, volumes those of the last day, open interest is none; a coin whose
bars end in April 2025 is listed still. What other upstreams tell is the generated set's, of the coins that are in both.
"""

import csv
import gzip
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from service.clock import DAY_MS
from service.upstream.fixture_set import Metadata, pack_rows, read_set, write_set
from service.upstream.replay.market import price_text
from service.upstream.replay.recording import (
    ANNOTATIONS_FILE,
    DAILY,
    DEXS_FILE,
    FUNDING,
    HOURLY,
    VENUE,
    Asset,
    Candle,
    Context,
    FundingRow,
    Universe,
    contexts_file,
    series_file,
)
from tests.market.recordings import DATA
from tests.upstream.conftest import FIXTURES

R = TypeVar("R", bound=msgspec.Struct)

END_MS: Final = 1_753_487_999_999
"""2025-07-25T23:59:59.999Z: the end of the last day of daily bars."""

KEPT_MS: Final = 120 * DAY_MS
"""How much of what was recorded by the hour is taken over: a start asks for ninety days."""

DERIVED: Final[Mapping[str, tuple[str, str]]] = {
    "xyz:AAPL": ("AAPL", "stocks"),
    "xyz:MSFT": ("MSFT", "stocks"),
    "xyz:NVDA": ("NVDA", "stocks"),
    "xyz:TSLA": ("TSLA", "stocks"),
    "xyz:GOLD": ("GCF", "commodities"),
    "xyz:CL": ("CLF", "commodities"),
}
"""Asset → the recorded series it is re-shaped from, and its category at the venue. Derived, not recorded."""

_RESTING: Final = "0.0000125"


def write_recorded_set(directory: Path) -> Path:
    """Write the set into a folder."""
    metadata, generated = read_set(FIXTURES)
    files = {name: content for name, content in generated.items() if not name.startswith(f"{VENUE}/")}
    main = {coin: recorded(DAILY, coin, Candle) for coin in coins()}
    for coin, days in main.items():
        files[series_file(DAILY, coin)] = pack_rows(days)
        for kind, row in ((HOURLY, Candle), (FUNDING, FundingRow)):
            if rows := [each for each in recorded(kind, coin, row) if END_MS - KEPT_MS < _at(each) <= END_MS]:
                files[series_file(kind, coin)] = pack_rows(rows)
    xyz = {asset: derived(asset) for asset in DERIVED}
    files |= {series_file(DAILY, asset): pack_rows(days) for asset, days in xyz.items()}
    files[contexts_file("")] = _contexts(main)
    files[contexts_file("xyz")] = _contexts(xyz)
    files[DEXS_FILE] = generated[DEXS_FILE]
    files[ANNOTATIONS_FILE] = msgspec.json.encode(
        [[asset, {"category": category}] for asset, (_, category) in DERIVED.items()]
    )
    write_set(directory, files, _described(metadata))
    return directory


@cache
def coins() -> tuple[str, ...]:
    """Every recorded coin, the most traded of its last day first."""
    names = [path.name.removesuffix(".json.gz") for path in (DATA / VENUE / DAILY).glob("*.json.gz")]
    return tuple(sorted(names, key=lambda name: (-_traded(recorded(DAILY, name, Candle)[-1]), name)))


@cache
def recorded(kind: str, coin: str, row: type[R]) -> list[R]:
    """Rows of one kind of a coin; none where they were not recorded."""
    path = DATA / VENUE / kind / f"{coin}.json.gz"
    return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=list[row]) if path.exists() else []  # type: ignore[valid-type] # the row is the type


def derived(asset: str) -> list[Candle]:
    """A daily candle of every session of another market."""
    with (DATA / "rwa" / f"{DERIVED[asset][0]}.csv").open() as file:
        rows = [(_midnight_ms(row["timestamp"]), row) for row in csv.DictReader(file)]
    return [_candle(asset, at_ms, row) for at_ms, row in rows if at_ms < END_MS]


def _candle(asset: str, at_ms: int, row: Mapping[str, str]) -> Candle:
    first, last, high, low = (_price(row[name]) for name in ("open", "close", "high", "low"))
    return Candle(at_ms, at_ms + DAY_MS - 1, asset, "1d", first, last, high, low, "1.0", 0)


def _price(written: str) -> str:
    """In the venue's precision; adjusted prices have fourteen digits."""
    return price_text(float(written), 0)


def _contexts(days: Mapping[str, Sequence[Candle]]) -> bytes:
    """`metaAndAssetCtxs` as of the last bars."""
    universe = [Asset(name=name, sz_decimals=0, max_leverage=10, margin_table_id=10) for name in days]
    return msgspec.json.encode((Universe(universe, msgspec.Raw(b"[]"), 0), [_context(bars) for bars in days.values()]))


def _context(days: Sequence[Candle]) -> Context:
    last, before = days[-1], days[-2]
    paid = recorded(FUNDING, last.coin, FundingRow)
    rate = next((row.rate for row in reversed(paid) if row.time_ms <= END_MS), _RESTING)
    return Context(
        funding=rate,
        open_interest="0.0",
        prev_day_px=before.close,
        day_ntl_vlm=f"{_traded(last):.1f}",
        premium=None,
        oracle_px=last.close,
        mark_px=last.close,
        mid_px=last.close,
        impact_pxs=None,
        day_base_vlm=last.volume,
    )


def _described(metadata: Metadata) -> Metadata:
    made = "real recordings of Hyperliquid; assets of xyz derived from other markets; other upstreams generated"
    return msgspec.structs.replace(metadata, made=made, licence="GPL-3.0", seed=None, frozen_at=END_MS)


def _traded(bar: Candle) -> float:
    return float(bar.volume) * float(bar.close)


def _at(row: msgspec.Struct) -> int:
    return row.open_ms if isinstance(row, Candle) else int(row.time_ms)  # type: ignore[attr-defined] # or a payment


def _midnight_ms(date: str) -> int:
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()) * 1_000
