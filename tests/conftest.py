"""Fixtures that more than one room needs."""

import asyncio
import gc
import sys
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from service.clock import SystemClock
from service.settings import Settings
from service.storage.database import Database, open_database
from service.upstream.replay.server import replay_server
from tests.fakes.clock import FakeClock
from tests.fakes.measuring import unmeasured
from tests.fakes.threads import count_thread_work

pytest_plugins = ["tests.soak.plugin"]

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")  # nothing is judged by how long it takes on this machine

count_thread_work()

_AT_FULL_SPEED = ("unmeasured", "real_data")
_SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text().splitlines())


def pytest_configure(config: pytest.Config) -> None:
    """Measure nothing in the process that only hands out tests to others."""
    if config.getoption("dist", "no") != "no":
        sys.settrace(None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `slow` what `slow.txt` lists, file by file or function by function."""
    for item in items:
        if {item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]} & _SLOW:
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays to the end: tests are many, and it would look at each anew."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run at full speed what is marked `unmeasured`: each line it runs through has a test that is measured.

    So has each line that `real_data` runs through: where the recordings are missing, all the others cover everything.
    """
    with unmeasured() if any(map(item.get_closest_marker, _AT_FULL_SPEED)) else nullcontext():
        return (yield)


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
