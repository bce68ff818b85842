"""Recordings of as many coins as are wanted, made of the bundled one, and a service that reads them live.

The upstreams are a replay in a process of its own, so that what is measured of the service is the service's alone. Its
budgets are the replay's in place of the venues': what would take half an hour to fetch is there in seconds.
"""

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from service.clock import SystemClock
from service.settings import Settings
from service.upstream.fixture_set import pack, read_set, unpack, write_set
from service.upstream.replay.recording import DAILY, FUNDING, HOURLY, contexts_file, series_file
from service.upstream.replay.server import replay_server


def recording(directory: Path, coins: int) -> Path:
    """The bundled fixtures with their first coins, BTC and ETH among them; again and again where more are wanted."""
    metadata, files = read_set(Settings().fixtures_dir)
    meta, contexts = msgspec.json.decode(files[contexts_file("")])
    known = [
        (row, context)
        for row, context in zip(meta["universe"], contexts, strict=True)
        if not row.get("isDelisted") and series_file(DAILY, row["name"]) in files
    ]
    pairs = sorted(known, key=lambda pair: pair[0]["name"] not in {"BTC", "ETH"})[:coins]
    for number in range(coins - len(pairs)):
        row, context = known[number % len(known)]
        name = f"{row['name']}{number}"
        pairs.append((row | {"name": name}, context))
        for kind, column in ((DAILY, "s"), (HOURLY, "s"), (FUNDING, "coin")):
            if (series := files.get(series_file(kind, row["name"]))) is not None:
                columns = msgspec.json.decode(unpack(series))
                files[series_file(kind, name)] = pack(columns | {column: name})
    meta["universe"] = [row for row, _ in pairs]
    files[contexts_file("")] = msgspec.json.encode([meta, [context for _, context in pairs]])
    write_set(directory, files, metadata)
    return directory


def serve_upstreams(fixtures: Path, clock: SystemClock, said: Connection) -> None:
    """Be the upstreams, in a process of their own, until the other end is closed."""

    async def serve() -> None:
        async with replay_server(fixtures, clock, "shifted") as replay:
            said.send(replay.url)
            await asyncio.to_thread(said.poll, None)

    asyncio.run(serve())


@contextmanager
def upstreams(fixtures: Path, clock: SystemClock) -> Iterator[str]:
    """Start them; their address."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve_upstreams, args=(fixtures, clock, theirs))
    process.start()
    theirs.close()  # else its end would not be heard of
    try:
        yield str(ours.recv())
    finally:
        process.terminate()
        process.join()


LIVE = ["-m", "bench.live", "serve"]
"""What to run for a service whose upstreams are those."""
