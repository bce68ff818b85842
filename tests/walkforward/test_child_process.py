"""A run in a process of its own: what it says is heard, and it never outlives who started it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvloop

from service.clock import DAY_MS
from service.storage.database import Database
from service.walkforward import child_process, worker
from service.walkforward.child_process import RunFailedError, run_in_process
from service.walkforward.parameters import ENGINE, Parameters
from service.walkforward.records import PackedRun, unpack_run
from service.walkforward.worker import NothingToWalk, WalkforwardJob, WorkerMessage, encode_frame
from tests.fakes.clock import START_MS
from tests.walkforward.histories import hold_history
from tests.walkforward.runs import TODAY

pytestmark = pytest.mark.process

PATIENCE_S = 60
JOB = WalkforwardJob("nowhere.db", "live", TODAY * DAY_MS, START_MS, Parameters())


def heard_nothing(_done: int, _total: int) -> None:
    raise AssertionError


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


async def run(code: str, heard: Callable[[int, int], None] = heard_nothing) -> PackedRun | NothingToWalk:
    async with asyncio.timeout(PATIENCE_S):
        return await run_in_process(JOB, heard, python(code))


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_real_run_is_made_of_what_the_store_holds(database: Database) -> None:
    await hold_history(database, "live", days=4)
    job = WalkforwardJob(str(database.path), "live", TODAY * DAY_MS, START_MS, Parameters())
    steps: list[tuple[int, int]] = []
    async with asyncio.timeout(PATIENCE_S):
        brought = await run_in_process(job, lambda done, total: steps.append((done, total)))
    assert isinstance(brought, PackedRun)
    assert (brought.engine, brought.through_day, brought.ran_ms) == (ENGINE, TODAY - 1, START_MS)
    assert "4 days are recorded" in (unpack_run(1, brought).head.message or "")
    assert steps
    assert steps[-1][0] == steps[-1][1]


async def test_a_store_that_holds_another_history_is_told_and_is_no_failure(database: Database) -> None:
    await hold_history(database, "a replay")
    job = WalkforwardJob(str(database.path), "live", TODAY * DAY_MS, START_MS, Parameters())
    async with asyncio.timeout(PATIENCE_S):
        assert await run_in_process(job, heard_nothing) == NothingToWalk("The store holds 'a replay', not 'live'.")


async def test_a_store_that_cannot_be_read_is_a_failure_that_says_why(tmp_path: Path) -> None:
    job = WalkforwardJob(str(tmp_path / "no" / "verdict.db"), "live", TODAY * DAY_MS, START_MS, Parameters())
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(RunFailedError, match="unable to open database file"):
            await run_in_process(job, heard_nothing)


async def test_a_process_that_ends_without_a_word_is_a_failure() -> None:
    with pytest.raises(RunFailedError, match="exit code 3: no output"):
        await run("raise SystemExit(3)")


async def test_the_last_that_a_failing_process_said_is_kept_however_much_it_said() -> None:
    with pytest.raises(RunFailedError) as failed:
        await run("import sys; sys.stderr.write('x' * 300_000 + 'the reason'); sys.exit(1)")
    assert str(failed.value).endswith("xthe reason")
    assert len(str(failed.value)) < 3_000


async def test_a_process_that_talks_nonsense_is_ended_and_is_a_failure() -> None:
    nonsense = "import sys, threading; sys.stdout.buffer.write({!r}); sys.stdout.flush(); threading.Event().wait()"
    with pytest.raises(RunFailedError, match="exit code -9"):
        await run(nonsense.format(b"\x00\x00\x00\x01\xc1"))
    with pytest.raises(RunFailedError, match="exit code -9"):
        await run(nonsense.format(b"\xff\xff\xff\xff"))


async def test_a_process_that_takes_too_long_is_ended_and_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "LONGEST_S", 0.05)
    with pytest.raises(RunFailedError, match="TimeoutError, exit code -9"):
        await run("import threading; threading.Event().wait()")


async def test_ctrl_c_in_a_terminal_reaches_the_service_and_not_the_run() -> None:
    code = (
        "import os, sys; from service.walkforward.worker import NothingToWalk, WorkerProgress, encode_frame; "
        "sys.stdout.buffer.write(encode_frame(WorkerProgress(os.getsid(0), os.getpid())) "
        "+ encode_frame(NothingToWalk('done')))"
    )
    heard: list[tuple[int, int]] = []
    assert await run(code, lambda session, process_id: heard.append((session, process_id))) == NothingToWalk("done")
    ((session, process_id),) = heard
    assert session == process_id


@pytest.mark.machine
@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="sessions have no share of their own here")
def test_a_run_leaves_the_processor_to_whoever_serves_as_a_process_and_as_a_session() -> None:
    look = (
        "import os; from service.walkforward.worker import lower_priority; before = os.nice(0); lower_priority(); "
        "print(before, os.nice(0), open('/proc/self/autogroup').read())"
    )
    told = subprocess.run(
        [sys.executable, "-c", look], start_new_session=True, capture_output=True, text=True, check=True
    )
    before, after, *_ = told.stdout.split()
    assert int(after) == min(19, int(before) + 10)
    assert told.stdout.strip().endswith("nice 10")


async def test_a_process_ends_with_the_task_that_waits_for_it() -> None:
    started = asyncio.Event()
    found: list[int] = []

    def heard(process_id: int, _: int) -> None:
        found.append(process_id)
        started.set()

    code = (
        "import os, sys, threading; from service.walkforward.worker import WorkerProgress, encode_frame; "
        "sys.stdout.buffer.write(encode_frame(WorkerProgress(os.getpid(), 1))); sys.stdout.flush(); "
        "threading.Event().wait()"
    )
    task = asyncio.create_task(run(code, heard))
    async with asyncio.timeout(PATIENCE_S):
        await started.wait()
        assert is_running(found[0])
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not is_running(found[0])


@pytest.mark.parametrize(("origin", "said"), [("live", PackedRun), ("a replay", NothingToWalk)])
async def test_a_worker_does_its_one_job_and_ends_by_itself(
    database: Database, origin: str, said: type[PackedRun] | type[NothingToWalk]
) -> None:
    await hold_history(database, "live", days=4)
    job = WalkforwardJob(str(database.path), origin, TODAY * DAY_MS, START_MS, Parameters())
    process = await asyncio.create_subprocess_exec(
        *child_process.COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(encode_frame(job))
    async with asyncio.timeout(PATIENCE_S):
        told = await process.stdout.read()
        assert await process.wait() == 0
    last = b""
    while told:
        length = int.from_bytes(told[: worker.LENGTH_BYTES])
        last, told = told[worker.LENGTH_BYTES :][:length], told[worker.LENGTH_BYTES + length :]
    assert isinstance(msgspec.msgpack.decode(last, type=WorkerMessage), said)


def test_on_the_loop_that_serves_a_run_is_heard_and_ended_alike() -> None:
    async def both() -> None:
        with pytest.raises(RunFailedError, match="exit code 3: the reason"):
            await run("import sys; sys.stderr.write('the reason'); sys.exit(3)")
        await test_a_process_ends_with_the_task_that_waits_for_it()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(both())


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_process_that_is_gone_before_it_is_asked_is_a_run_that_failed(
    loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = asyncio.create_subprocess_exec

    async def start_slowly(*command: str, **pipes: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **pipes)
        await process.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_slowly)
    with asyncio.Runner(loop_factory=loop) as runner, pytest.raises(RunFailedError, match="exit code 3: the reason"):
        runner.run(run("import sys; sys.stderr.write('the reason'); sys.exit(3)"))


def test_a_worker_whose_parent_is_gone_ends_in_the_middle_of_its_work() -> None:
    busy = (
        "import threading; from service.walkforward import worker; "
        "worker.run_job = lambda job, report: (report(1, 2), threading.Event().wait()); worker.main()"
    )
    with subprocess.Popen(python(busy), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encode_frame(JOB))
        process.stdin.flush()
        assert process.stdout.read(worker.LENGTH_BYTES)
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 1


def test_naming_a_job_needs_no_numbers() -> None:
    code = "import sys, service.walkforward.factory, service.routes.signals; raise SystemExit('numpy' in sys.modules)"
    assert subprocess.run(python(code), check=False, timeout=PATIENCE_S).returncode == 0
