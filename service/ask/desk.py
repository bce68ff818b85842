"""The engine: a question in, an answer out, piece by piece."""

import logging
from collections.abc import AsyncIterator, Sequence
from itertools import takewhile
from typing import Final, Literal, NamedTuple

from service.access.caller import Caller
from service.ask.execute import PATIENCE, Execution, Patience
from service.ask.model import Brief, Model, ModelError
from service.ask.rules import Rules
from service.ask.sources import sources_of
from service.ask.tools import Toolbox
from service.clock import Clock
from service.errors import ServiceError
from service.wire.ask import Archetype, Classification, Done, Event, Intent, Plan, Question, Step, Text

Writer = Literal["rules", "model"]

_BY_RULES: Final[frozenset[Intent]] = frozenset({"transcripts", "wallets"})
"""Answers that no model has a hand in: whose words and whose transfers they are, no check of figures sees."""

_log = logging.getLogger("verdict.ask")


class AskDesk:
    """Answers questions.

    Args:
        clock: Says what "since Monday" is.
        toolbox: What can be asked.
        rules: The default engine.
        model: Writes prose in place of the rules, under the same check; null: nobody does.
        patience: Bounds of the steps, in seconds.
    """

    def __init__(
        self,
        clock: Clock,
        toolbox: Toolbox,
        rules: Rules,
        model: Model | None = None,
        patience: Patience = PATIENCE,
    ) -> None:
        self._clock = clock
        self._toolbox = toolbox
        self._rules = rules
        self._model = model
        self._patience = patience

    async def ask(self, question: Question, caller: Caller | None) -> "Inquiry":
        """Take a question up.

        Returns:
            The answer under way, once it is known whether it costs something. Must be closed.

        Raises:
            ServiceError: The first step's, where something was looked up and all of it failed; `UNAVAILABLE` where
                nobody can say who is followed.
        """
        classification = await self._rules.recognise(question, self._rules.classify(question))
        plan = self._rules.plan(classification, self._clock.now_ms())
        execution = Execution(self._toolbox, plan, caller, self._patience)
        try:
            counted = await execution.is_chargeable()
            if not counted:
                await _raise_if_all_failed(execution)
        except BaseException:
            await execution.close()
            raise
        subject = _Subject(question, classification, plan)
        return Inquiry(subject, execution, Narrator(self._rules, self._model), counted=counted)


async def _raise_if_all_failed(execution: Execution) -> None:
    findings = [finding async for finding in execution.findings()]
    errors = [finding.outcome for finding in findings if isinstance(finding.outcome, ServiceError)]
    if errors and len(errors) == len(findings):
        raise errors[0]


class _Subject(NamedTuple):
    question: Question
    classification: Classification
    plan: Plan

    @property
    def archetype(self) -> Archetype:
        return self.question.archetype


class Inquiry:
    """An answer under way.

    Args:
        subject: The question, what it was taken for, and what is looked up.
        execution: The steps, running.
        narrator: Writes what they found.
        counted: Whether the answer costs a question.

    Attributes:
        counted: As given.
    """

    def __init__(self, subject: _Subject, execution: Execution, narrator: "Narrator", *, counted: bool) -> None:
        self.counted = counted
        self._subject = subject
        self._execution = execution
        self._narrator = narrator

    async def events(self) -> AsyncIterator[Event]:
        """The answer, once: classification, plan, steps, text, done. A raw question is told without text.

        Raises:
            ValueError: If the rules wrote what no finding holds: a defect of theirs, which must not leave.
        """
        question, classification, plan = self._subject
        yield classification
        yield plan
        steps: list[Step] = []
        async for finding in self._execution.findings():
            steps.append(finding.step)
            yield finding.step
        engine: Writer = "rules"
        if not question.raw:
            async for piece, writer in self._narrator.tell(self._subject, tuple(steps), counted=self.counted):
                engine = writer
                yield Text(piece)
        as_of = min((step.as_of for step in steps if step.as_of is not None), default=None)
        yield Done(engine=engine, as_of=as_of, sources=sources_of(steps))

    async def close(self) -> None:
        """End what still runs."""
        await self._execution.close()


class Narrator:
    """Writes answers: by the rules, or by a model after their first paragraph.

    Args:
        rules: The default engine.
        model: Null: the rules write everything.
    """

    def __init__(self, rules: Rules, model: Model | None) -> None:
        self._rules = rules
        self._model = model

    async def tell(
        self, subject: _Subject, steps: tuple[Step, ...], *, counted: bool
    ) -> AsyncIterator[tuple[str, Writer]]:
        """Write an answer, a piece a paragraph, each with who has written so far.

        The main figure is the rules' own and comes at once. A model is asked only for an answer that costs a question:
        else it could be used up by what is free, and would be told of accounts; and never of what people said or did.
        What it writes takes the place of what follows, except what is said of gaps and sources.

        Raises:
            ValueError: As `Inquiry.events`.
        """
        _, classification, plan = subject
        draft = self._rules.write(classification, plan, steps, subject.archetype)
        yield _piece(draft[0], last=len(draft) == 1), "rules"
        asks = counted and classification.intent not in _BY_RULES
        written = await self._ask_model(self._model, subject, steps, draft) if self._model and asks else None
        rest = draft[1:]
        writer: Writer = "rules"
        if written is not None:
            standing = self._rules.standing(classification, plan, steps, subject.archetype)
            rest, writer = _around(written, rest, standing), "model"
        for place, paragraph in enumerate(rest, start=1):
            yield _piece(paragraph, last=place == len(rest)), writer

    async def _ask_model(
        self, model: Model, subject: _Subject, steps: tuple[Step, ...], draft: tuple[str, ...]
    ) -> str | None:
        """What a model writes, if every word of it that can be checked is true."""
        question, classification, _ = subject
        brief = Brief(question.messages[-1].content, classification, steps, draft, subject.archetype)
        try:
            text = (await model.write(brief)).strip()
        except ModelError as error:
            _log.warning("a model did not write an answer", extra={"reason": str(error)})
            return None
        refused: Sequence[object] = self._rules.check(text, steps, classification.entities)
        if refused:
            _log.warning("a model wrote what nothing holds", extra={"reason": f"{len(refused)} places"})
        return None if refused or not text else text


def _around(written: str, rest: Sequence[str], standing: Sequence[str]) -> tuple[str, ...]:
    """A model's text in place of the paragraphs that do not stand, where the first of them was."""
    before = tuple(takewhile(standing.__contains__, rest))
    after = tuple(paragraph for paragraph in rest[len(before) :] if paragraph in standing)
    return (*before, written, *after)


def _piece(paragraph: str, *, last: bool) -> str:
    """A paragraph and what ends it."""
    return f"{paragraph}\n" if last else f"{paragraph}\n\n"
