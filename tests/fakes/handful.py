"""A fixture set of a handful of coins and assets, cut out of the whole one: what a service knows in a second or two."""

import atexit
import shutil
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from service.settings import Settings
from service.upstream.fixture_set import read_set, write_set
from service.upstream.replay.recording import VENUE, contexts_file

COINS = ("BTC", "ETH", "SOL", "DOGE", "HYPE", "XMR", "kPEPE")
"""Traded; Binance has all of them but HYPE and XMR."""

DELISTED = ("MATIC",)
ASSETS = ("xyz:XYZ100", "xyz:MSFT", "xyz:AAPL", "xyz:GOLD")
"""Binance has the last two."""

CATEGORIES = ("Layer 1 (L1)", "Meme", "Privacy")
_CATEGORIES = "coingecko/categories.json"


@cache
def handful() -> Path:
    """The small set, cut once a process."""
    directory = Path(mkdtemp(prefix="verdict-handful-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return cut(directory)


def cut(directory: Path, coins: Collection[str] = COINS) -> Path:
    """Write the small set into a folder."""
    metadata, files = read_set(Settings().fixtures_dir)
    files = {name: content for name, content in files.items() if _is_kept(name, coins)}
    files[contexts_file("")] = _contexts(files[contexts_file("")], {*coins, *DELISTED})
    files[contexts_file("xyz")] = _contexts(files[contexts_file("xyz")], ASSETS)
    files[_CATEGORIES] = _rows(files[_CATEGORIES], lambda row: row["name"] in CATEGORIES)
    write_set(directory, files, metadata)
    return directory


def _is_kept(name: str, coins: Collection[str]) -> bool:
    """Whether a file is no series, or the series of a coin that is kept."""
    first, *_, last = name.split("/")
    if first != VENUE or not last.endswith(".gz"):
        return True
    dex = "xyz:" if "/xyz/" in name else ""
    return dex + last.partition(".")[0] in {*coins, *DELISTED, *ASSETS}


def _contexts(content: bytes, names: Collection[str]) -> bytes:
    meta, contexts = msgspec.json.decode(content)
    kept = [(row, context) for row, context in zip(meta["universe"], contexts, strict=True) if row["name"] in names]
    meta["universe"] = [row for row, _ in kept]
    return msgspec.json.encode([meta, [context for _, context in kept]])


def _rows(content: bytes, keeps: Callable[[Any], bool]) -> bytes:
    return msgspec.json.encode([row for row in msgspec.json.decode(content) if keeps(row)])
