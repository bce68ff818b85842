"""A stand-in for what answers questions: it says what it is told to, and waits where it is told to."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from msgspec import Raw

from service.errors import ServiceError
from service.routes.call import Call
from service.wire.ask import (
    Classified,
    Done,
    Event,
    Plan,
    PlannedStep,
    Question,
    Source,
    Step,
    Text,
)

AS_OF = "2025-07-25T12:00:00.000Z"
CLASSIFICATION = Classified({"queries": [{"subject": {"coins": ["BTC"]}, "measures": [{"name": "price"}]}]})
PLAN = Plan((PlannedStep("s1", "coin.risk", {"symbol": "BTC"}),))
STEP = Step(id="s1", tool="coin.risk", args={"symbol": "BTC"}, result=Raw(b'{"price":64000.5}'), as_of=AS_OF)
DONE = Done("rules", AS_OF, (Source("coin.risk", "/api/cli/coin/risk/BTC", AS_OF),))
TEXTS = (Text("**BTC: 64,000.5 USD**\n\n"), Text("Sources: coin.risk ½ €\n"))
EVENTS: Sequence[Event] = (CLASSIFICATION, PLAN, STEP, *TEXTS, DONE)
PROSE = "".join(text.text for text in TEXTS)

Says = Event | BaseException | asyncio.Event
"""An event; what is raised instead; or what is waited for."""


class Engine:
    """Answers every question alike.

    Attributes:
        says: What its answers are made of.
        counted: Whether they cost a question.
        error: What it fails with as a whole, if it does.
        gate: What it waits for before it has anything to say.
        asked: The questions that came, with who asked them.
        ended: How each of its answers ended: `closed`, or `cancelled` where it was stopped before or within.
    """

    def __init__(self) -> None:
        self.says: Sequence[Says] = EVENTS
        self.counted = True
        self.error: ServiceError | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[Call[Any, Question]] = []
        self.ended: list[str] = []

    async def ask(self, call: Call[Any, Question]) -> "Inquiry":
        self.asked.append(call)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        if self.error is not None:
            raise self.error
        return Inquiry(self)


class Inquiry:
    """One of its answers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cancelled = False
        self.counted = engine.counted

    async def events(self) -> AsyncIterator[Event]:
        try:
            for said in self._engine.says:
                if isinstance(said, asyncio.Event):
                    await said.wait()
                elif isinstance(said, BaseException):
                    raise said
                else:
                    yield said
        except asyncio.CancelledError:
            self._cancelled = True
            raise

    async def close(self) -> None:
        self._engine.ended.append("cancelled" if self._cancelled else "closed")
