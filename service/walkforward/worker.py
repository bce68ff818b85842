"""The process in which a walk-forward is run: `python -m service.walkforward.worker`, started by `apart`.

It reads one `Job` from its standard input, and the histories from the database by itself, so that the process that
serves passes on a few hundred bytes instead of a market. On its standard output it writes `Progress`, and in the end
what the run brought or why there is none. Its input stays open for as long as its parent lives: it ends with it.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from msgspec import Struct, msgpack

from service.clock import day_of
from service.interpreter import watch_parent
from service.storage.store import looking
from service.walkforward.parameters import History, Parameters, Request
from service.walkforward.records import Packed, pack
from service.walkforward.tape_reader import OtherHistoryError, read_histories

NICENESS: Final = 10
"""Whoever asks the service something comes first."""

LENGTH_BYTES: Final = 4
"""A message is its length, big end first, and then itself in MessagePack."""


class Job(Struct, frozen=True):
    """What to walk: a store by its address, the history it should hold, its days before a midnight, at an instant."""

    database: str
    origin: str
    until_ms: int
    now_ms: int
    parameters: Parameters


class Progress(Struct, frozen=True, tag="progress"):
    """How many steps are done, of how many."""

    done: int
    total: int


class Gone(Struct, frozen=True, tag="gone"):
    """The store holds another history by now: there is nothing to be walked, and nothing is wrong."""

    reason: str


Said: TypeAlias = Progress | Packed | Gone

_jobs: Final = msgpack.Decoder(Job)
_encode: Final = msgpack.Encoder().encode


def main() -> None:
    """Do the one job that is asked."""
    come_last()
    job = _jobs.decode(_read(sys.stdin.buffer))
    watch_parent(lambda: os._exit(1))
    say = partial(_say, sys.stdout.buffer)
    try:
        say(walk(job, lambda done, total: say(Progress(done, total))))
    except OtherHistoryError as error:
        say(Gone(str(error)))


def come_last() -> None:
    """Leave the processor to whoever serves, also where each session has a share of its own (Linux, sched(7))."""
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS), "ascii")


def walk(job: Job, report: Callable[[int, int], None]) -> Packed:
    """Read the histories and run.

    Args:
        job: What to walk.
        report: Told how far it is: steps done, steps in all.

    Raises:
        OtherHistoryError: If the store holds another history by now.
        DatabaseError: If the store cannot be read.
    """
    from service.walkforward.engine import run  # noqa: PLC0415 - numpy, which whoever names a job does not need

    request = Request(job.now_ms, job.parameters, _histories(job))
    return pack(run(request, report), day_of(job.until_ms) - 1)


def _histories(job: Job) -> list[History]:
    with looking(job.database) as connection:
        return read_histories(connection, job.origin, job.until_ms)


def frame(message: Any) -> bytes:
    """Write a message with its length before it."""
    encoded = _encode(message)
    return len(encoded).to_bytes(LENGTH_BYTES) + encoded


def _read(stream: BinaryIO) -> bytes:
    return stream.read(int.from_bytes(stream.read(LENGTH_BYTES)))


def _say(stream: BinaryIO, said: Said) -> None:
    stream.write(frame(said))
    stream.flush()


if __name__ == "__main__":
    main()
