"""Steps of many callers in one closure: who waits in one turn shares its savepoint, as its transaction."""

import asyncio
from collections import deque
from functools import partial
from typing import Any, Final, TypeVar

from service.errors import ServiceError
from service.storage.database import Database, resolve
from service.storage.engine import Connection
from service.storage.writer import Answer, Work

T = TypeVar("T")

Step = tuple[Work[Any], Answer]
Taken = tuple[Any, BaseException | None]

_RAISED_FIRST: Final = (ServiceError, RuntimeError)


class _SpoiltError(Exception):
    """A step has failed halfway: its changes, and with them those of its neighbours, have to be undone."""


class Gathering:
    """Takes the steps of whoever waits, in their order, in one closure.

    For steps that raise before they write. A savepoint of its own costs a closure two statements, and each is a stay
    outside the interpreter lock: as much as all that most steps have to write. A step that fails halfway all the same
    is undone with those beside it, and then every one of them is taken by itself: nobody's failure is another's.

    Args:
        database: Where the steps are taken.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[Step] = deque()
        self._writing = False

    async def take(self, work: Work[T]) -> T:
        """Take a step; as `Database.write`, but that the step may be taken again if it fails after it has written."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.submit(work, partial(resolve, future))
        return await future

    def submit(self, work: Work[Any], answer: Answer) -> None:
        """As `take`, for callers that are no coroutines: `answer` is called on the loop with value or failure."""
        self._waiting.append((work, answer))
        if not self._writing:
            self._call_soon()

    def _call_soon(self) -> None:
        """Call the writer in the next turn of the loop: whoever has arrived in this one shares the closure."""
        self._writing = True
        asyncio.get_running_loop().call_soon(self._call_writer)

    def _call_writer(self) -> None:
        batch: list[Step] = []
        answer = partial(self._answer, batch)
        self._hand_in(partial(self._run, batch), answer)

    def _hand_in(self, work: Work[Any], answer: Answer) -> None:
        try:
            self._database.submit(work, answer)
        except ServiceError as error:
            answer(None, error)

    def _run(self, batch: list[Step], connection: Connection) -> list[Taken]:
        self._gather(batch)
        return [_attempt(work, connection) for work, _ in batch]

    def _gather(self, batch: list[Step]) -> None:
        while self._waiting:
            batch.append(self._waiting.popleft())

    def _answer(self, batch: list[Step], taken: list[Taken] | None, error: BaseException | None) -> None:
        self._writing = False
        if error is not None:
            self._fail(batch, error)
        for (_, answer), (value, failure) in zip(batch, taken or (), strict=False):
            answer(value, failure)
        if self._waiting and not self._writing:
            self._call_soon()

    def _fail(self, batch: list[Step], error: BaseException) -> None:
        if isinstance(error, ServiceError):
            self._gather(batch)  # the writer may not have looked who waits; who came since would fare no better
            for _, answer in batch:
                answer(None, error)
        elif len(batch) == 1:
            batch[0][1](None, error.__cause__ if isinstance(error, _SpoiltError) else error)
        else:
            for work, answer in batch:
                self._hand_in(work, answer)


def _attempt(work: Work[Any], connection: Connection) -> Taken:
    before = connection.total_changes
    try:
        return work(connection), None
    except _RAISED_FIRST as error:
        if connection.total_changes != before:
            raise _SpoiltError from error
        return None, error
