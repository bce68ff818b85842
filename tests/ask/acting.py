"""Tools that do as they are told, and rules of the plainest kind: an engine without a market."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from service.ask.desk import AskDesk, Inquiry
from service.ask.execute import Patience
from service.ask.model import Brief, Model
from service.ask.rules import Rules
from service.ask.tools import Given, Run, Tool, Toolbox
from service.errors import ServiceError
from service.wire.ask import (
    Archetype,
    Classification,
    Entities,
    Event,
    Intent,
    Message,
    Plan,
    PlannedStep,
    Question,
    Step,
)
from service.wire.envelope import Answer
from tests.fakes.clock import START_MS, FakeClock

HASTY = Patience(step_s=0.02, whole_s=0.05)


class Anything(Struct, frozen=True):
    """What a tool of this stage takes."""

    word: str = ""


class Payload(Struct, frozen=True):
    """What it answers."""

    said: str


def says(word: str, *, counted: bool = True, as_of_ms: int | None = START_MS) -> Run:
    return lambda _query, _given: Answer(Payload(word), as_of_ms, counted)


def fails(message: str, code: str = "UNAVAILABLE") -> Run:
    def run(_query: Any, _given: Given) -> Answer:
        raise ServiceError(code, message)

    return run


def hangs(begun: asyncio.Event | None = None, ended: asyncio.Event | None = None) -> Run:
    async def run(_query: Any, _given: Given) -> Answer:
        try:
            if begun:
                begun.set()
            await asyncio.Event().wait()
        finally:
            if ended:
                ended.set()
        raise AssertionError("nothing wakes it")

    return run


def waits_for(gate: asyncio.Event, run: Run) -> Run:
    async def waiting(query: Any, given: Given) -> Answer:
        await gate.wait()
        answer = run(query, given)
        assert isinstance(answer, Answer)
        return answer

    return waiting


def toolbox(tools: Mapping[str, Run], free: Sequence[str] = ()) -> Toolbox:
    return Toolbox(Tool(name, Anything, run, name not in free) for name, run in tools.items())


def plan_of(*steps: tuple[str, ...]) -> Plan:
    """Steps by tool, each with the ids that it needs: `plan_of(("a",), ("b", "s1"))`."""
    return Plan(
        tuple(
            PlannedStep(f"s{i}", tool, {}, needs)
            for i, (tool, *needs_) in enumerate(steps, 1)
            for needs in [tuple(needs_)]
        )
    )


async def recognise(_: Question, classification: Classification) -> Classification:
    return classification


def write(_: Classification, __: Plan, steps: Sequence[Step], archetype: Archetype) -> tuple[str, ...]:
    told = [f"{step.tool} failed: {step.error}" for step in steps if step.error]
    body = (f"First, for {archetype}.", *told, "Then.")
    return (*body, "_Sources: here._") if len(told) < len(steps) else body


def stand(_: Classification, __: Plan, steps: Sequence[Step], ___: Archetype) -> tuple[str, ...]:
    return tuple(f"{step.tool} failed: {step.error}" if step.error else "_Sources: here._" for step in steps)


def believe(_: str, __: Sequence[Step], ___: Entities) -> Sequence[object]:
    return ()


class Scripted:
    """A model that writes what it is told to, or fails."""

    def __init__(self, text: str | Exception) -> None:
        self.text = text
        self.briefs: list[Brief] = []

    async def write(self, brief: Brief) -> str:
        self.briefs.append(brief)
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


class Stage(Struct, frozen=True):
    """An engine over tools and a plan."""

    tools: Mapping[str, Run]
    plan: Plan
    free: tuple[str, ...] = ()
    patience: Patience = HASTY
    model: Model | None = None
    write: Callable[..., tuple[str, ...]] = write
    check: Callable[[str, Sequence[Step], Entities], Sequence[object]] = believe
    intent: Intent = "help"

    def desk(self) -> AskDesk:
        taken = Classification(intent=self.intent, entities=Entities())
        rules = Rules(lambda _: taken, recognise, lambda _, __: self.plan, self.write, stand, self.check)
        return AskDesk(FakeClock(), toolbox(self.tools, self.free), rules, self.model, self.patience)

    async def ask(self, **named: Any) -> Inquiry:
        return await self.desk().ask(question(**named), None)

    async def told(self, **named: Any) -> list[Event]:
        return await read(await self.ask(**named))


def question(text: str = "What is going on?", **named: Any) -> Question:
    return Question([Message("user", text)], **named)


async def read(inquiry: Inquiry) -> list[Event]:
    """Everything that an inquiry tells."""
    async with asyncio.timeout(10):
        try:
            return [event async for event in inquiry.events()]
        finally:
            await inquiry.close()
