"""Fixtures and rules that more than one package needs."""

import asyncio
import ctypes.util
import gc
import inspect
import platform
import sys
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.charmap import intervals_from_codec

from service.clock import SystemClock
from service.settings import Settings
from service.storage.database import Database, open_database
from service.upstream.replay.server import replay_server
from tests.fakes.clock import FakeClock
from tests.fakes.inline import real_threads, run_inline

pytest_plugins = ["tests.soak.plugin"]

settings.register_profile("unhurried", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")  # same examples every time, whatever the machine's speed

run_inline()

PATIENT_S: Final = 300
MAY_START_PROCESSES: Final = ("process", "wall", "machine", "soak", "chain", "browser")
_STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn"})
_started: Final[list[str]] = []


def pytest_configure() -> None:
    """Note the start of every process, for `pytest_runtest_call`."""
    platform.processor()  # the standard library starts `uname` once
    sys.addaudithook(_note_start)


def _note_start(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _STARTS and not _finds_library():
        _started.append(f"{event} {arguments[0] if arguments else ''}")


def _finds_library() -> bool:
    """Whether `ctypes.util` looks for a system library, with ldconfig and gcc: a package's first import may do that."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename != ctypes.util.__file__:
        frame = frame.f_back
    return frame is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that are slow or wait for processes more time than the limit of `make test`."""
    for item in items:
        patient = any(map(item.get_closest_marker, (*MAY_START_PROCESSES, "slow", "recorded")))
        if patient and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(PATIENT_S))


def pytest_collection_finish() -> None:
    """Build Hypothesis's table of characters, and let the garbage collector leave alone what stays to the end.

    The table takes a second, and on a busy machine many, of the first test that draws text.
    """
    intervals_from_codec("utf-8")
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forget what imports have started."""
    _started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that has started a process and has none of the markers of those that may."""
    result = yield
    if _started and not any(map(item.get_closest_marker, MAY_START_PROCESSES)):
        pytest.fail(f"it starts a process, so it needs the marker `process`: {_started[0]}")
    return result


@pytest.fixture(scope="module", autouse=True)
def _collect_garbage() -> Iterator[None]:
    """Find what a file's tests left open while they are still to blame for it.

    What is alive after that stays: it is left alone from then on, as it took a quarter of a second of every file.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(name="real_threads")
def _real_threads() -> Iterator[None]:
    """Let the store and what computes run on threads, as in the service."""
    with real_threads():
        yield


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    """A store of the test's own."""
    async with open_database(tmp_path / "verdict.db", clock) as opened:
        yield opened


@pytest.fixture
def venue() -> Iterator[str]:
    """The address of a venue that answers, on a thread of its own: the command runs its own event loop."""
    found: list[str] = []
    up, down = threading.Event(), threading.Event()

    async def serve() -> None:
        async with replay_server(Settings().fixtures_dir, SystemClock(), "shifted") as replay:
            found.append(replay.url)
            up.set()
            await asyncio.to_thread(down.wait, 60)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    with ExitStack() as stack:
        thread.start()
        stack.callback(thread.join, 60)
        stack.callback(down.set)
        assert up.wait(60)
        yield found[0]
