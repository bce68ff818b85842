"""Runs a walk-forward in a child process.

A run takes a minute of CPU. In a thread it would hold the interpreter lock and delay every request.
"""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import MsgspecError, msgpack

from service.interpreter import command_of
from service.walkforward.records import PackedRun
from service.walkforward.worker import (
    LENGTH_BYTES,
    NothingToWalk,
    WalkforwardJob,
    WorkerMessage,
    WorkerProgress,
    encode_frame,
)

COMMAND: Final = command_of("service.walkforward.worker")
LONGEST_S: Final = 1_800.0
"""Timeout; a run takes about a minute."""

LARGEST_BYTES: Final = 64 * 2**20
"""Largest message. A packed run has half a megabyte."""

_STDERR_BYTES: Final = 2_000
"""How much of the end of standard error is kept for error messages."""

_decoder: Final[msgpack.Decoder[WorkerMessage]] = msgpack.Decoder(WorkerMessage)


class RunFailedError(Exception):
    """The process ended without a result; the message has the reason and the end of its standard error."""


async def run_in_process(
    job: WalkforwardJob, report: Callable[[int, int], None], command: Sequence[str] = COMMAND
) -> PackedRun | NothingToWalk:
    """Run a job in a child process, which is stopped when this call ends.

    Args:
        job: The job.
        report: Called with progress: steps done, steps in all.
        command: Command line of the process.

    Returns:
        The packed run, or the reason why there is none.

    Raises:
        RunFailedError: If the process fails, writes an unreadable message, or takes longer than `LONGEST_S`.
        OSError: If it could not be started.
    """
    # In its own session, so that Ctrl-C in a terminal reaches only the service, which then stops this process.
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
    )
    stderr = asyncio.ensure_future(_read_stderr(process))
    try:
        async with asyncio.timeout(LONGEST_S):
            return await _await_result(process, job, report)
    except (EOFError, MsgspecError, TimeoutError) as error:
        _kill(process)
        said = await stderr
        raise RunFailedError(
            f"{type(error).__name__}, exit code {await process.wait()}: {said.decode(errors='replace') or 'no output'}"
        ) from error
    finally:
        _kill(process)
        await stderr
        await process.wait()


async def _await_result(
    process: Process, job: WalkforwardJob, report: Callable[[int, int], None]
) -> PackedRun | NothingToWalk:
    """Read the result and wait for the exit: a process that is killed while it exits loses its exit code."""
    try:
        result = await _exchange(process, job, report)
    except EOFError:
        await process.wait()
        raise
    await process.wait()
    return result


async def _exchange(
    process: Process, job: WalkforwardJob, report: Callable[[int, int], None]
) -> PackedRun | NothingToWalk:
    assert process.stdin is not None  # noqa: S101 - opened as a pipe
    assert process.stdout is not None  # noqa: S101 - the same
    # If it exits before it reads, its standard error says why. For a closed pipe uvloop raises RuntimeError.
    with suppress(ConnectionError, RuntimeError):
        process.stdin.write(encode_frame(job))
        await process.stdin.drain()
    while True:
        length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES))
        if length > LARGEST_BYTES:
            raise MsgspecError(f"a message of {length} bytes")
        said = _decoder.decode(await process.stdout.readexactly(length))
        if not isinstance(said, WorkerProgress):
            return said
        report(said.done, said.total)


async def _read_stderr(process: Process) -> bytes:
    """Read standard error to its end and keep the last part; a full pipe would block the process."""
    assert process.stderr is not None  # noqa: S101 - opened as a pipe
    kept = b""
    while said := await process.stderr.read(_STDERR_BYTES):
        kept = (kept + said)[-_STDERR_BYTES:]
    return kept


def _kill(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
