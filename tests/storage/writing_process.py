"""A process that writes rows one by one and reports each to standard output once it is durable, for tests that hurt it.

`WRITER DATABASE ROWS [LARGEST_FILE]`: where LARGEST_FILE is given, files may not grow beyond so many bytes until the
first write fails; that and the recovery are reported too. One line each: the row's number, or `UNAVAILABLE`.
"""

import asyncio
import resource
import signal
import sys
from pathlib import Path

from service.clock import SystemClock
from service.errors import ServiceError
from service.storage.database import open_database
from service.storage.engine import Connection


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def limit_files(largest: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))


async def main(path: Path, rows: int, largest: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    async with open_database(path, SystemClock()) as db:
        await db.write(lambda connection: connection.execute("CREATE TABLE IF NOT EXISTS notes (n, filling)").rowcount)
        if largest:
            limit_files(largest)
        for number in range(rows):

            def insert(connection: Connection, number: int = number) -> None:
                connection.execute("INSERT INTO notes VALUES (?, ?)", (number, "x" * 500))

            try:
                await db.write(insert)
                say(number)
            except ServiceError as error:
                say(error.code)
                limit_files(resource.RLIM_INFINITY)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int((*sys.argv, "0")[3])))
