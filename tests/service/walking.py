"""Walk-forwards of the whole service: who walks, what is told of it, and what the recording says."""

import asyncio
import gzip
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple
from urllib.parse import urlencode

from service.clock import DAY_MS, day_of, iso, parse_iso
from service.storage.engine import connect
from service.storage.migrate import migrate, read_migrations
from tests.fakes.asgi import Reply
from tests.fakes.clock import FakeClock
from tests.market.recordings import price_of_one, size_of
from tests.service.indoors import Indoors, Kept

WALKFORWARD = "/api/cli/walkforward"
ACTIONS = ("signals", "positions", "outcomes")
DATED = {"signals": "scanDate", "positions": "entryDate", "outcomes": "exitDate"}
SHORT_DAYS = 460
"""A year to train on, one fold of a quarter, and the beginning of another."""

PATIENCE_S = 60.0
"""A run of a handful of coins takes eight seconds of a machine that has nothing else to do."""


def walkers(parent: int) -> set[int]:
    """The processes that walk for another; one that has ended and is not buried yet has no command line."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            walks = b"service.walkforward.worker" in (process / "cmdline").read_bytes()
            if walks and int((process / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(int(process.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def walks(process: int) -> bool:
    """Whether a process that walked still does."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


async def ask(house: Indoors, key: str, action: str | None = None, **parameters: str | int) -> Reply:
    """Ask for records."""
    query = urlencode({**({} if action is None else {"action": action}), **parameters})
    return await house.ask(f"{WALKFORWARD}?{query}" if query else WALKFORWARD, key=key)


async def data(house: Indoors, key: str, action: str | None = None, **parameters: str | int) -> Any:
    """The payload of a success."""
    reply = await ask(house, key, action, **parameters)
    assert reply.status == 200, reply
    return reply.json["data"]


async def pages(house: Indoors, key: str, action: str, limit: int = 200, **filters: str) -> AsyncIterator[Any]:
    """Read a list page by page."""
    cursor: dict[str, str] = {}
    while True:
        page = await data(house, key, action, limit=limit, **filters, **cursor)
        yield page
        if page["meta"]["next_cursor"] is None:
            return
        cursor = {"cursor": page["meta"]["next_cursor"]}


async def records(house: Indoors, key: str, action: str, limit: int = 200, **filters: str) -> list[Any]:
    """A whole list."""
    return [record async for page in pages(house, key, action, limit, **filters) for record in page[action]]


async def run_told(house: Indoors, key: str, since: str | None = None) -> str:
    """Wait, without letting the service's time pass, until a run is told that was not before; return its id."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            run_id = (await data(house, key))["meta"]["run_id"]
            if run_id not in {None, since}:
                return str(run_id)
            await asyncio.sleep(0.02)


class Recorded(NamedTuple):
    """What the venue told of a coin, by day: opens, closes, volumes, and what a long paid where all hours are known."""

    opens: Mapping[str, float]
    closes: Mapping[str, float]
    volumes: Mapping[str, float]
    paid: Mapping[str, float]


@cache
def recorded(fixtures_dir: Path, symbol: str) -> Recorded:
    """Read a coin's files."""
    coin = {"PEPE": "kPEPE"}.get(symbol, symbol)
    bars = _columns(fixtures_dir / "hyperliquid" / "candles-1d" / f"{coin}.json.gz")
    days = [iso(at_ms)[:10] for at_ms in accumulate(bars["t"])]
    hours: dict[str, list[float]] = defaultdict(list)
    paid = fixtures_dir / "hyperliquid" / "funding" / f"{coin}.json.gz"
    if paid.is_file():
        rates = _columns(paid)
        for at_ms, rate in zip(accumulate(rates["time"]), rates["fundingRate"], strict=True):
            # Some milliseconds after the hour for which it is.
            hours[iso(at_ms - 60_000)[:10]].append(float(rate))
    return Recorded(
        dict(zip(days, [price_of_one(coin, price) for price in bars["o"]], strict=True)),
        dict(zip(days, [price_of_one(coin, price) for price in bars["c"]], strict=True)),
        dict(zip(days, [float(volume) * size_of(coin) for volume in bars["v"]], strict=True)),
        {day: sum(rates) for day, rates in hours.items() if len(rates) >= 23},
    )


def _columns(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def days_between(first: str, last: str) -> list[str]:
    """UTC days from one up to, and without, another."""
    begin, end = (day_number(day) for day in (first, last))
    return [iso(day * DAY_MS)[:10] for day in range(begin, end)]


def day_number(day: str) -> int:
    """Days since 1970-01-01."""
    return day_of(parse_iso(f"{day}T00:00:00Z"))


def older(kept: Kept, data_dir: Path, steps: int) -> Kept:
    """What an older service left behind: its tables alone, with what was in them."""
    copytree(kept.data_dir, data_dir)
    path = data_dir / "verdict.db"
    newer = path.rename(data_dir.with_name("newer.db"))
    path.touch(mode=0o600)
    connection = connect(path)
    migrate(connection, read_migrations()[:steps], FakeClock(kept.at_ms))
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("ATTACH ? AS newer", (str(newer),))
    made = connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    for (table,) in made.fetchall():
        if table != "migrations":
            known = {row[1] for row in connection.execute(f"PRAGMA newer.table_info({table})")}
            names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            columns = ", ".join(name if name in known else "0" for name in names)  # what is not kept any more: 0
            connection.execute(f"INSERT INTO main.{table} SELECT {columns} FROM newer.{table}")  # noqa: S608 - names
    connection.execute("DELETE FROM documents WHERE name LIKE 'verdict.%'")
    connection.close()
    return kept._replace(data_dir=data_dir)


def shortened(kept: Kept, data_dir: Path) -> Kept:
    """The same with fewer days: a run takes time by their square."""
    copytree(kept.data_dir, data_dir)
    connection = connect(data_dir / "verdict.db")
    since_ms = kept.at_ms - SHORT_DAYS * DAY_MS
    connection.execute("DELETE FROM candles WHERE interval = '1d' AND open_ms < ?", (since_ms,))
    connection.close()
    return kept._replace(data_dir=data_dir)
