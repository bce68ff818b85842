"""A plan under way: steps beside each other, each bounded in time, what fails told beside what does not."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from msgspec import Struct

from service.access.caller import Caller
from service.ask.tools import Given, Toolbox
from service.clock import iso
from service.errors import ServiceError
from service.wire.ask import Plan, PlannedStep, Step
from service.wire.envelope import Answer


class Patience(Struct, frozen=True):
    """How many seconds a step may take, and all of them together."""

    step_s: float = 2.0
    whole_s: float = 5.0


PATIENCE: Final = Patience()


class Finding(Struct, frozen=True):
    """What became of a step: what the desk answered or raised. `counted`: it costs a question."""

    step: Step
    outcome: Answer | ServiceError
    counted: bool


class Execution:
    """Runs a plan's steps from now on. Must be closed.

    Args:
        toolbox: The tools.
        plan: What to run; a step needs only steps that stand before it.
        caller: Who asks.
        patience: Bounds, in seconds of the event loop.

    Raises:
        KeyError: If a step needs one that does not stand before it.
    """

    def __init__(self, toolbox: Toolbox, plan: Plan, caller: Caller | None, patience: Patience = PATIENCE) -> None:
        self._toolbox = toolbox
        self._caller = caller
        self._patience = patience
        self._tasks: dict[str, asyncio.Task[Finding]] = {}
        for step in plan.steps:
            needed = [self._tasks[need] for need in step.needs]
            self._tasks[step.id] = asyncio.create_task(self._run(step, needed))

    async def is_chargeable(self) -> bool:
        """Wait for the first finding that costs a question.

        Returns:
            False once all have ended and none does.
        """
        pending = set(self._tasks.values())
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if any(task.result().counted for task in done):
                return True
        return False

    async def findings(self) -> AsyncIterator[Finding]:
        """What became of the steps, in the plan's order, each as soon as it and those before it have ended."""
        for task in self._tasks.values():
            await asyncio.wait([task])
            yield task.result()

    async def close(self) -> None:
        """End what still runs."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _run(self, step: PlannedStep, needed: Sequence[asyncio.Task[Finding]]) -> Finding:
        try:
            answer = await self._answer(step, needed)
        except ServiceError as error:
            return Finding(_failed(step, error), error, counted=False)
        as_of = None if answer.as_of_ms is None else iso(answer.as_of_ms)
        told = Step(id=step.id, tool=step.tool, args=step.args, result=answer.data, as_of=as_of)
        return Finding(told, answer, answer.counted and self._toolbox.is_priced(step.tool))

    async def _answer(self, step: PlannedStep, needed: Sequence[asyncio.Task[Finding]]) -> Answer:
        try:
            async with asyncio.timeout(self._patience.whole_s):
                given = Given(self._caller, [await _answer_of(task) for task in needed])
                async with asyncio.timeout(self._patience.step_s):
                    return await self._toolbox.run(step, given)
        except TimeoutError as error:
            raise ServiceError("UNAVAILABLE", f"{step.tool} took too long; try again") from error


async def _answer_of(task: asyncio.Task[Finding]) -> Answer:
    """The answer of a step that another needs. A wait that is given up ends nothing but itself."""
    await asyncio.wait([task])
    outcome = task.result().outcome
    if isinstance(outcome, ServiceError):
        raise outcome
    return outcome


def _failed(step: PlannedStep, error: ServiceError) -> Step:
    return Step(id=step.id, tool=step.tool, args=step.args, result=None, as_of=None, error=error.message)
