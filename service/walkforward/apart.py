"""A walk-forward in a process of its own: started, listened to, and never left behind.

A run is a minute of arithmetic. In a thread it would hold the interpreter lock for most of it, and everybody who asks
the service something would wait.
"""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import MsgspecError, msgpack

from service.interpreter import command_of
from service.walkforward.records import Packed
from service.walkforward.worker import LENGTH_BYTES, Gone, Job, Progress, Said, frame

COMMAND: Final = command_of("service.walkforward.worker")
LONGEST_S: Final = 1_800.0
"""A run takes a minute; one that takes half an hour will not end."""

LARGEST_BYTES: Final = 64 * 2**20
"""Of one message. A run packed is half a megabyte."""

_REST_BYTES: Final = 2_000
"""Of what a process said on its standard error the last is kept: there the reason is."""

_said: Final[msgpack.Decoder[Said]] = msgpack.Decoder(Said)


class RunFailedError(Exception):
    """The process ended without a result; the message says how, and what it said last."""


async def run_apart(job: Job, heard: Callable[[int, int], None], command: Sequence[str] = COMMAND) -> Packed | Gone:
    """Have a job done, in a process that ends with this call however it ends.

    Args:
        job: What to do.
        heard: Told how far it is: steps done, steps in all.
        command: What starts the process.

    Returns:
        What it brought; or that there was nothing to be walked.

    Raises:
        RunFailedError: If the process failed, did not make sense, or took longer than `LONGEST_S`.
        OSError: If it could not be started.
    """
    # A session of its own: Ctrl-C in a terminal reaches the service alone, which then ends this process in order.
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
    )
    last_words = asyncio.ensure_future(_listen(process))
    try:
        async with asyncio.timeout(LONGEST_S):
            return await _to_its_end(process, job, heard)
    except (EOFError, MsgspecError, TimeoutError) as error:
        _end(process)
        said = await last_words
        raise RunFailedError(
            f"{type(error).__name__}, exit code {await process.wait()}: {said.decode(errors='replace') or 'no word'}"
        ) from error
    finally:
        _end(process)
        await last_words
        await process.wait()


async def _to_its_end(process: Process, job: Job, heard: Callable[[int, int], None]) -> Packed | Gone:
    """Hear the process out, and let it end by itself: one that is killed while it ends has lost its exit code."""
    try:
        brought = await _converse(process, job, heard)
    except EOFError:
        await process.wait()
        raise
    await process.wait()
    return brought


async def _converse(process: Process, job: Job, heard: Callable[[int, int], None]) -> Packed | Gone:
    assert process.stdin is not None  # noqa: S101 - it was asked for as a pipe
    assert process.stdout is not None  # noqa: S101 - the same
    # It ended before it read: what it said tells why. Of a pipe that is closed by then uvloop says RuntimeError.
    with suppress(ConnectionError, RuntimeError):
        process.stdin.write(frame(job))
        await process.stdin.drain()
    while True:
        length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES))
        if length > LARGEST_BYTES:
            raise MsgspecError(f"a message of {length} bytes")
        said = _said.decode(await process.stdout.readexactly(length))
        if not isinstance(said, Progress):
            return said
        heard(said.done, said.total)


async def _listen(process: Process) -> bytes:
    """Keep the end of what it says on its standard error, so that it is never held up by a full pipe."""
    assert process.stderr is not None  # noqa: S101 - it was asked for as a pipe
    kept = b""
    while said := await process.stderr.read(_REST_BYTES):
        kept = (kept + said)[-_REST_BYTES:]
    return kept


def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
