"""Work that ends when whoever it is done for leaves."""

import asyncio
from typing import Any

import pytest

from service.http.request import PeerGoneError, run_until_disconnect


class Channel:
    """What a connection hands over, in its order."""

    def __init__(self, *messages: str) -> None:
        self._messages: asyncio.Queue[str] = asyncio.Queue()
        for message in messages:
            self._messages.put_nowait(message)

    def say(self, message: str) -> None:
        self._messages.put_nowait(message)

    async def __call__(self) -> Any:
        return {"type": await self._messages.get()}


async def test_work_that_ends_first_is_done_and_what_it_raises_is_raised() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("done")

    async def fail() -> None:
        raise ZeroDivisionError

    await run_until_disconnect(Channel(), work())
    with pytest.raises(ZeroDivisionError):
        await run_until_disconnect(Channel("http.request"), fail())
    assert done == ["done"]
    assert len(asyncio.all_tasks()) == 1


async def test_work_is_stopped_when_the_peer_leaves_and_not_when_it_says_something() -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    with pytest.raises(PeerGoneError):
        await run_until_disconnect(Channel("http.request", "http.request", "http.disconnect"), work())
    assert stopped.is_set()
    waiting = asyncio.ensure_future(run_until_disconnect(Channel("http.request"), work()))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(asyncio.all_tasks()) == 1


async def test_a_peer_that_leaves_as_the_work_ends_has_had_all_of_it() -> None:
    channel = Channel()

    async def work() -> None:
        channel.say("http.disconnect")

    await run_until_disconnect(channel, work())
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()


async def test_the_work_of_a_peer_that_left_may_be_cancelled_from_elsewhere_too() -> None:
    cleaning, cleaned = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await cleaned.wait()

    channel = Channel()
    doing = asyncio.ensure_future(run_until_disconnect(channel, work()))
    await asyncio.sleep(0)
    channel.say("http.disconnect")
    await cleaning.wait()
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert len(asyncio.all_tasks()) == 1
