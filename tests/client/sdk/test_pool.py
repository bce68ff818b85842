"""Calls block in threads of their own."""

import asyncio
import threading
from contextlib import suppress

import pytest

from service.client.pool import MOST_CALLS, CallThreads

PATIENCE_S = 20.0


async def test_what_a_call_gives_or_raises_is_given_or_raised() -> None:
    threads = CallThreads()
    assert await threads.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)


async def test_a_call_that_nobody_waits_for_any_more_still_counts_until_it_ends() -> None:
    threads, begun, silent = CallThreads(), threading.Semaphore(0), threading.Event()

    def wait() -> bool:
        begun.release()
        return silent.wait(PATIENCE_S)

    left = [asyncio.create_task(threads.run(wait)) for _ in range(MOST_CALLS)]
    for _ in left:
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_S)
    for task in left:
        task.cancel()
    next_one = asyncio.create_task(threads.run(lambda: "answered"))
    await asyncio.wait(left)
    assert not next_one.done()
    silent.set()
    assert await asyncio.wait_for(next_one, PATIENCE_S) == "answered"


def test_a_call_that_is_under_way_does_not_keep_the_process() -> None:
    begun, silent, found = threading.Event(), threading.Event(), list[threading.Thread]()

    def wait() -> bool:
        found.append(threading.current_thread())
        begun.set()
        return silent.wait(PATIENCE_S)

    async def leave() -> None:
        call = asyncio.create_task(CallThreads().run(wait))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call

    asyncio.run(leave())
    (thread,) = found
    assert thread.daemon
    silent.set()  # its loop is gone: it ends without a word
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
