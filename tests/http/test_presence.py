"""Work that ends when whoever it is done for leaves."""

import asyncio
from typing import Any

import pytest

from service.http.body import PeerGoneError
from service.http.presence import while_there


class Channel:
    """What a connection hands over, in its order."""

    def __init__(self, *messages: str) -> None:
        self._messages: asyncio.Queue[str] = asyncio.Queue()
        for message in messages:
            self._messages.put_nowait(message)

    async def __call__(self) -> Any:
        return {"type": await self._messages.get()}


async def test_work_that_ends_first_is_done_and_what_it_raises_is_raised() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("done")

    async def fail() -> None:
        raise ZeroDivisionError

    await while_there(Channel(), work())
    with pytest.raises(ZeroDivisionError):
        await while_there(Channel("http.request"), fail())
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
        await while_there(Channel("http.request", "http.request", "http.disconnect"), work())
    assert stopped.is_set()
    waiting = asyncio.ensure_future(while_there(Channel("http.request"), work()))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(asyncio.all_tasks()) == 1
