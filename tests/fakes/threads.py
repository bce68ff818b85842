"""What an event loop has handed to threads and has not heard of yet, so that a test can wait for it."""

import asyncio
from asyncio.base_events import BaseEventLoop
from functools import wraps
from typing import Any, cast

import uvloop

from service.storage.port import Database
from service.storage.writer import Answer, Work, Writer

_PATIENCE_S = 1.0


class ThreadWork:
    """Counts the calls of one event loop that threads, or the store, run.

    Attributes:
        under_way: Calls whose results have not reached the loop.
        begun: Calls since the loop began.
    """

    def __init__(self) -> None:
        self.under_way = self.begun = 0
        self._held = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def begin(self) -> None:
        """Count a call."""
        self.under_way += 1
        self.begun += 1
        self._idle.clear()

    def end(self, _: object = None) -> None:
        """Count its end."""
        self.under_way -= 1
        if self.under_way <= self._held:
            self._held = self.under_way
            self._idle.set()

    @property
    def idle(self) -> bool:
        """Whether nothing is under way but what the test itself holds up, such as a write while it has the lock."""
        return self._idle.is_set()

    async def ended(self) -> None:
        """Wait until nothing is under way. What takes more than a second is taken for held up by the test."""
        while not self.idle:
            begun = self.begun
            try:
                await asyncio.wait_for(self._idle.wait(), _PATIENCE_S)
            except TimeoutError:
                if self.begun == begun:
                    self._held = self.under_way
                    self._idle.set()


def thread_work(loop: asyncio.AbstractEventLoop | None = None) -> ThreadWork:
    """The count of a loop; of the running one by default."""
    kept = vars(loop or asyncio.get_running_loop())  # not a table of loops: the count refers to its loop
    return cast("ThreadWork", kept.setdefault("_thread_work", ThreadWork()))


def count_thread_work() -> None:
    """Count the calls of every loop of this process from now on."""
    for loops in (BaseEventLoop, uvloop.Loop):
        _count_executors(loops)
    _count_reads()
    _count_writes()


def _count_executors(loops: Any) -> None:
    run_in_executor = loops.run_in_executor

    @wraps(run_in_executor)
    def counted(self: asyncio.AbstractEventLoop, *arguments: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = run_in_executor(self, *arguments)
        work = thread_work(self)
        work.begin()
        future.add_done_callback(work.end)
        return future

    loops.run_in_executor = counted


def _count_reads() -> None:
    make = Database.__init__

    @wraps(make)
    def made(self: Database, *arguments: Any) -> None:
        make(self, *arguments)
        read = self.read

        @wraps(read)
        async def counted(*arguments: Any, **named: Any) -> Any:
            work = thread_work()
            work.begin()
            try:
                return await read(*arguments, **named)
            finally:
                work.end()

        self.read = counted  # type: ignore[method-assign]

    Database.__init__ = made  # type: ignore[assignment, method-assign]


def _count_writes() -> None:
    submit = Writer.submit

    @wraps(submit)
    def counted(self: Writer, work: Work[Any], answer: Answer) -> None:
        count = thread_work(self._loop)

        def answered(value: Any, error: BaseException | None) -> None:
            count.end()
            answer(value, error)

        submit(self, work, answered)
        count.begin()

    Writer.submit = counted  # type: ignore[method-assign]
