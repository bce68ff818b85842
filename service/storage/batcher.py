"""Runs the same work for many callers in one closure, so that they share statements, a savepoint and a transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from service.errors import ServiceError
from service.storage.database import Database, resolve
from service.storage.engine import Connection
from service.storage.writer import Answer, Work

Item = TypeVar("Item")
Result = TypeVar("Result")

BatchWork = Callable[[Connection, Sequence[Item]], Sequence[Result]]
"""Handles the items of several callers inside a transaction: returns the result of each."""


class _ItemError(Exception):
    """One item of a batch failed."""


_Waiting = tuple[BatchWork[Any, Any], Any, Answer]


class Batcher:
    """Runs all waiting items in one closure, those of the same work together.

    If the closure fails, it is rolled back and each item runs again in its own, so one item's failure never affects
    another.

    Args:
        database: The store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[_Waiting] = deque()
        self._writing = False

    async def run(self, work: BatchWork[Item, Result], item: Item) -> Result:
        """Run work for an item like `Database.write`; it may run twice if the work of another item fails."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.submit(work, item, partial(resolve, future))
        return await future

    def submit(self, work: BatchWork[Item, Result], item: Item, answer: Answer) -> None:
        """Like `run`, without a coroutine: `answer` is called on the event loop with the result or the exception."""
        self._waiting.append((work, item, answer))
        if not self._writing:
            self._call_soon()

    def _call_soon(self) -> None:
        """Call the writer in the next turn of the event loop, so that all items of this turn share the closure."""
        self._writing = True
        asyncio.get_running_loop().call_soon(self._call_writer)

    def _call_writer(self) -> None:
        batch: list[_Waiting] = []
        self._hand_in(partial(self._run_batch, batch), partial(self._answer, batch))

    def _hand_in(self, work: Work[Any], answer: Answer) -> None:
        try:
            self._database.submit(work, answer)
        except ServiceError as error:
            answer(None, error)

    def _run_batch(self, batch: list[_Waiting], connection: Connection) -> list[Any]:
        self._gather(batch)
        items: dict[BatchWork[Any, Any], list[Any]] = {}
        for work, item, _ in batch:
            items.setdefault(work, []).append(item)
        try:
            results = {work: iter(work(connection, those)) for work, those in items.items()}
        except ServiceError as error:  # of one item: of all it would be the writer's
            raise _ItemError from error
        return [next(results[work]) for work, _, _ in batch]

    def _gather(self, batch: list[_Waiting]) -> None:
        while self._waiting:
            batch.append(self._waiting.popleft())

    def _answer(self, batch: list[_Waiting], results: list[Any] | None, error: BaseException | None) -> None:
        self._writing = False
        if error is not None:
            self._fail(batch, error)
        for (_, _, answer), result in zip(batch, results or (), strict=False):
            answer(result, None)
        if self._waiting and not self._writing:
            self._call_soon()

    def _fail(self, batch: list[_Waiting], error: BaseException) -> None:
        if isinstance(error, ServiceError):
            self._gather(batch)  # the writer may not have collected them; later ones would fail too
        if isinstance(error, ServiceError) or len(batch) == 1:
            for _, _, answer in batch:
                answer(None, error)
        else:
            for waiting in batch:
                self._hand_in(partial(self._run_one, waiting), waiting[2])

    def _run_one(self, waiting: _Waiting, connection: Connection) -> Any:
        work, item, _ = waiting
        (result,) = work(connection, [item])
        return result
