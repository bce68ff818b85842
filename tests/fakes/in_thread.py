"""A fake that serves from a loop of its own, for tests that run what asks it to its end: a process, or a loop."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

_PATIENCE_S = 30.0

T = TypeVar("T")


@contextmanager
def in_thread(opened: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Open something on a loop in a thread; close it there on leaving.

    Args:
        opened: What to open, not entered yet.
    """
    started: list[T] = []
    ready, loop, done = threading.Event(), asyncio.new_event_loop(), asyncio.Event()

    async def run() -> None:
        async with opened as it:
            started.append(it)
            ready.set()
            await done.wait()

    def live() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(run())

    thread = threading.Thread(target=live)
    thread.start()
    try:
        assert ready.wait(_PATIENCE_S)
        yield started[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(_PATIENCE_S)
