"""The real recordings beside the repository, for tests marked `recorded`."""

import gzip
import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

needs_recordings = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"the real recordings are not here: {DATA} is missing (they are kept out of the repository)",
)

Row = tuple[int, float, float, float, float]


def coins() -> list[str]:
    return sorted(
        path.name.removesuffix(".json.gz") for path in (DATA / "hyperliquid" / "candles-1d").glob("*.json.gz")
    )


@cache
def candles(coin: str, interval: str = "1d") -> list[dict[str, Any]]:
    """Recorded bars of a coin in `candleSnapshot` form."""
    with gzip.open(DATA / "hyperliquid" / f"candles-{interval}" / f"{coin}.json.gz") as file:
        bars: list[dict[str, Any]] = json.load(file)
    return bars


@cache
def funding(coin: str) -> list[dict[str, Any]]:
    """Recorded hourly funding of a coin in `fundingHistory` form; empty where it was not recorded."""
    path = DATA / "hyperliquid" / "funding" / f"{coin}.json.gz"
    if not path.exists():
        return []
    with gzip.open(path) as file:
        rates: list[dict[str, Any]] = json.load(file)
    return rates


def size_of(coin: str) -> int:
    """How many coins the venue trades as one: a thousand of `kPEPE`."""
    return 1_000 if coin.startswith("k") else 1


def price_of_one(coin: str, price: str) -> float:
    return float(Decimal(price) / size_of(coin))


def rows(coin: str, interval: str = "1d") -> list[Row]:
    """Recorded bars of a coin, prices of one coin."""
    return [
        (
            bar["t"],
            price_of_one(coin, bar["o"]),
            price_of_one(coin, bar["h"]),
            price_of_one(coin, bar["l"]),
            price_of_one(coin, bar["c"]),
        )
        for bar in candles(coin, interval)
    ]


@cache
def history() -> dict[str, list[Row]]:
    """Daily bars of every recorded coin."""
    return {coin: rows(coin) for coin in coins()}
