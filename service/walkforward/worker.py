"""The child process of a walk-forward: `python -m service.walkforward.worker`, started by `child_process`.

It reads one `WalkforwardJob` from standard input and the histories from the database, so that the serving process only
sends a few hundred bytes. It writes `WorkerProgress` messages to standard output, then `PackedRun` or `NothingToWalk`.
The parent keeps standard input open; the worker exits when it closes.
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
from service.storage.store import open_snapshot
from service.walkforward.histories import DatasetChangedError, read_histories
from service.walkforward.parameters import CoinHistoryInput, Parameters, WalkforwardRequest
from service.walkforward.records import PackedRun, pack_run

NICENESS: Final = 10
"""Requests to the service come first."""

LENGTH_BYTES: Final = 4
"""A message is its length, big-endian, then MessagePack."""


class WalkforwardJob(Struct, frozen=True):
    """A job: address of the store, expected dataset, end of the last day, instant of the run, parameters."""

    database: str
    origin: str
    until_ms: int
    now_ms: int
    parameters: Parameters


class WorkerProgress(Struct, frozen=True, tag="progress"):
    """Steps done and steps in all."""

    done: int
    total: int


class NothingToWalk(Struct, frozen=True, tag="gone"):
    """The store holds another dataset now, so there is no run. This is not an error."""

    reason: str


WorkerMessage: TypeAlias = WorkerProgress | PackedRun | NothingToWalk

_jobs: Final = msgpack.Decoder(WalkforwardJob)
_encode: Final = msgpack.Encoder().encode


def main() -> None:
    """Run one job."""
    lower_priority()
    job = _jobs.decode(_read_frame(sys.stdin.buffer))
    watch_parent(lambda: os._exit(1))
    send = partial(_write_message, sys.stdout.buffer)
    try:
        send(run_job(job, lambda done, total: send(WorkerProgress(done, total))))
    except DatasetChangedError as error:
        send(NothingToWalk(str(error)))


def lower_priority() -> None:
    """Lower the CPU priority of this process and of its session (Linux autogroup, sched(7))."""
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS), "ascii")


def run_job(job: WalkforwardJob, report: Callable[[int, int], None]) -> PackedRun:
    """Read the histories and run.

    Args:
        job: What to walk.
        report: Called with the progress: steps done, steps in all.

    Raises:
        DatasetChangedError: If the store holds another dataset.
        DatabaseError: If the store cannot be read.
    """
    from service.walkforward.engine import run_walkforward  # noqa: PLC0415 - needs numpy, which importers of jobs do not

    request = WalkforwardRequest(job.now_ms, job.parameters, _histories(job))
    return pack_run(run_walkforward(request, report), day_of(job.until_ms) - 1)


def _histories(job: WalkforwardJob) -> list[CoinHistoryInput]:
    with open_snapshot(job.database) as connection:
        return read_histories(connection, job.origin, job.until_ms)


def encode_frame(message: Any) -> bytes:
    """Encode a message with its length first."""
    encoded = _encode(message)
    return len(encoded).to_bytes(LENGTH_BYTES) + encoded


def _read_frame(stream: BinaryIO) -> bytes:
    return stream.read(int.from_bytes(stream.read(LENGTH_BYTES)))


def _write_message(stream: BinaryIO, message: WorkerMessage) -> None:
    stream.write(encode_frame(message))
    stream.flush()


if __name__ == "__main__":
    main()
