"""Fixtures that more than one room needs."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from service.clock import SystemClock
from service.settings import Settings
from service.upstream.replay.server import replay_server


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make soak SOAK=short`."""
    parser.addoption("--soak", choices=["long", "short"], default="long", help="how long the soak tests go on")


@pytest.fixture
def patience(request: pytest.FixtureRequest) -> int:
    """Per cent of its full length that a soak test is to last."""
    return 100 if request.config.getoption("--soak") == "long" else 20


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
