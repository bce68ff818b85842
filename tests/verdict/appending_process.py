"""A process that issues verdicts, for tests that need several of them or have to kill one.

`same DATABASE COUNT`: open, say so, wait for a line, issue so many verdicts at once, the same in every process; print
the ledger's length and head as of each.
`ever DATABASE NAME`: issue verdicts of its own without end, from eight tasks, one of which issues whole days; write the
number of each that was asked for to standard output, eight bytes each, once it is written.
"""

import asyncio
import os
import struct
import sys
from contextlib import suppress
from pathlib import Path

from service.clock import SystemClock
from service.errors import ServiceError
from service.storage.database import open_database
from service.verdict.ledger import Ledger, LedgerHead
from service.wire.verdict import CoinVerdict
from tests.fakes.clock import START_MS
from tests.verdict.issuing import ORIGIN, judged

TASKS = 8


async def same(ledger: Ledger, count: str) -> None:
    verdicts = [judged(f"C{place}", 1.0 + place) for place in range(int(count))]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    heads = await asyncio.gather(*(issue_once(ledger, verdict) for verdict in verdicts))
    sys.stdout.write("".join(f"{head.entries} {head.hash}\n" for head in heads))


async def issue_once(ledger: Ledger, verdict: CoinVerdict) -> LedgerHead:
    """Ask again while the store is busy, as a caller would."""
    while True:
        with suppress(ServiceError):
            return await ledger.issue(ORIGIN, verdict, START_MS)


async def ever(ledger: Ledger, name: str) -> None:
    await asyncio.gather(*(issue(ledger, name, task) for task in range(TASKS)))


async def issue(ledger: Ledger, name: str, task: int) -> None:
    place = 0
    while True:
        place += 1
        if task == 0:
            day = [judged(f"{name}{coin}", 1.0 + place) for coin in range(5)]
            with suppress(ServiceError):
                await ledger.issue_day(f"{ORIGIN} {name}", place, day, START_MS)
        else:
            head = await issue_once(ledger, judged(f"{name}{task}", 1.0 + place))
            os.write(1, struct.pack("<Q", head.entries))


async def main(mode: str, database: str, argument: str) -> None:
    async with open_database(Path(database), SystemClock()) as opened:
        await {"same": same, "ever": ever}[mode](Ledger(opened), argument)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
