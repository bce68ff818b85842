import asyncio
import math
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.admin import supervisor as supervising
from service.admin.supervisor import STAND_DOWN, Supervisor
from service.clock import SystemClock

pytestmark = pytest.mark.process

PATIENCE_S = 60.0

OBEDIENT = """
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
open(sys.argv[1] + "/" + str(os.getpid()), "w").write(" ".join(sys.argv[2:]))
print("listening", flush=True)
sys.stdin.read()
"""
"""Stops on SIGTERM, or when its parent is gone; says in a file that it runs, and how it was called."""

STUBBORN = OBEDIENT.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN")


class Hasty(SystemClock):
    """A clock on which a hundred seconds pass in one."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


class Endless(SystemClock):
    """A clock on which no pause ever ends: no worker is ever killed for not stopping in time."""

    async def sleep(self, _: float) -> None:
        await asyncio.Event().wait()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound


def made(script: str, folder: Path, listener: socket.socket, clock: type[SystemClock]) -> Supervisor:
    return Supervisor([sys.executable, "-c", script, str(folder)], listener, clock())


@asynccontextmanager
async def running(
    script: str, folder: Path, listener: socket.socket, count: int, clock: type[SystemClock] = Hasty
) -> AsyncIterator[Supervisor]:
    supervisor = made(script, folder, listener, clock)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        task = group.create_task(supervisor.run(count))
        await until(lambda: len(starts(folder)) >= count)
        yield supervisor
        supervisor.stop()
        assert await task


async def until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - what is waited for happens in another process
        await asyncio.sleep(0.01)


def starts(folder: Path) -> list[str]:
    """How each worker that ever started in this folder was called; one that is about to say it counts once it has."""
    return sorted(told for path in folder.iterdir() if (told := path.read_text()))


def living(folder: Path) -> list[int]:
    """Workers that ever started in this folder and still run."""
    return [process_id for process_id in map(int, os.listdir(folder)) if alive(process_id)]  # noqa: PTH208


def alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.promise("operator.serve")
async def test_workers_inherit_the_socket_are_numbered_and_stop_when_told_even_twice(
    tmp_path: Path, listener: socket.socket
) -> None:
    async with running(OBEDIENT, tmp_path, listener, 2, Endless) as supervisor:
        started = living(tmp_path)
        supervisor.stop()
        supervisor.stop()
    assert starts(tmp_path) == [f"--listener {listener.fileno()} --worker {number}" for number in (0, 1)]
    assert (len(started), living(tmp_path)) == (2, [])


async def test_a_killed_worker_is_replaced_and_one_that_does_not_stop_in_time_is_killed(
    tmp_path: Path, listener: socket.socket, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervising, "_STEADY_S", -1.0)
    async with running(STUBBORN, tmp_path, listener, 2):
        first, second = living(tmp_path)
        os.kill(first, signal.SIGKILL)
        await until(lambda: len(starts(tmp_path)) == 3 and len(living(tmp_path)) == 2)
        assert second in living(tmp_path)
    assert living(tmp_path) == []
    assert vars(caplog.records[0])["pause_s"] == 0.1


@pytest.mark.parametrize(
    ("line", "other", "started"),
    [
        ('print("listening", flush=True)', f"sys.exit({STAND_DOWN})", 1),
        ("sys.stdin.read()", f"sys.argv[-1] == '0' and sys.stdin.read(); sys.exit({STAND_DOWN})", 2),
    ],
)
async def test_a_worker_that_refuses_is_not_tried_again_and_stops_the_others(
    tmp_path: Path, listener: socket.socket, line: str, other: str, started: int
) -> None:
    script = OBEDIENT.replace(line, other)
    supervisor = made(script, tmp_path, listener, Hasty)
    async with asyncio.timeout(PATIENCE_S):
        assert not await supervisor.run(2)
    assert len(starts(tmp_path)) == started


@pytest.mark.parametrize(("clock", "pauses"), [(Hasty, [0.2, 0.4, 0.8]), (Endless, [0.2])])
async def test_a_worker_that_keeps_dying_is_started_ever_more_slowly_and_a_stop_ends_the_pause(
    tmp_path: Path, listener: socket.socket, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    clock: type[SystemClock], pauses: list[float],
) -> None:  # fmt: skip
    monkeypatch.setattr(supervising, "_STEADY_S", math.inf)
    supervisor = made(OBEDIENT.replace("sys.stdin.read()", "sys.exit(1)"), tmp_path, listener, clock)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        task = group.create_task(supervisor.run(1))
        await until(lambda: len(caplog.records) >= len(pauses))
        supervisor.stop()
        assert await task
    assert [vars(record)["pause_s"] for record in caplog.records][: len(pauses)] == pauses


async def test_a_worker_that_starts_in_the_moment_of_the_stop_is_stopped_too(
    tmp_path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor = made(OBEDIENT, tmp_path, listener, Endless)
    start = asyncio.create_subprocess_exec

    async def start_late(*command: str, **options: Any) -> asyncio.subprocess.Process:
        supervisor.stop()
        return await start(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_late)
    async with asyncio.timeout(PATIENCE_S):
        assert await supervisor.run(1)
    assert living(tmp_path) == []


async def test_workers_stop_when_their_parent_is_killed(tmp_path: Path, listener: socket.socket) -> None:
    parent = (
        "import asyncio, socket, sys\n"
        "from service.clock import SystemClock\n"
        "from service.admin.supervisor import Supervisor\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        f"worker = [sys.executable, '-c', {OBEDIENT!r}, {str(tmp_path)!r}]\n"
        "asyncio.run(Supervisor(worker, listener, SystemClock()).run(1))"
    )
    async with asyncio.timeout(PATIENCE_S):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", parent)
        await until(lambda: len(starts(tmp_path)) == 1)
        worker = int(os.listdir(tmp_path)[0])  # noqa: PTH208 - the name alone is wanted
        process.kill()
        await process.wait()
        await until(lambda: not alive(worker))
