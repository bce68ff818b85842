"""Writes prose with a language model: within a budget of tokens a day, checked before it is used."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from service.ask.budget import Allowance, Budget
from service.ask.describe import describe
from service.ask.model import Brief, Model, ModelError
from service.ask.planner.result import Result
from service.ask.prompt import compose
from service.ask.query import Query
from service.ask.references import bind, references_of
from service.clock import Clock
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database
from service.upstream.completions import CompletionError, Completions, Endpoint, Turn, open_completions
from service.wire.ask import Question

_PER_MESSAGE: Final = 64
"""Tokens that a model's own template may put around a message, generously."""

_FEWEST: Final = 2
"""References: the first sentence says all of an answer that has fewer."""

_log = logging.getLogger("verdict.ask")


async def written_by(
    model: Model, question: Question, queries: Sequence[Query], outcomes: Sequence[Result | ServiceError]
) -> str | None:
    """The passage of a model that follows the first paragraph of an answer.

    Returns:
        Null where there is too little to write about, or no text that can be used: the reason is logged.
    """
    references = references_of(outcomes)
    if len(references) < _FEWEST:
        return None
    read_as = "; then ".join(describe(query) for query in queries)
    try:
        return await model.write(Brief(question.messages[-1].content, read_as, references, question.archetype))
    except ModelError as error:
        _log.warning("The language model's text is not used.", extra={"reason": str(error)})
        return None


class Author:
    """Writes prose with a language model.

    Args:
        completions: The model.
        budget: Tokens it may use.
        tokens: The most it may write for an answer.
    """

    def __init__(self, completions: Completions, budget: Budget, tokens: int) -> None:
        self._completions = completions
        self._budget = budget
        self._tokens = tokens

    async def write(self, brief: Brief) -> str:
        """Write a passage. See `Model`.

        If the caller leaves meanwhile, the request ends; the tokens reserved for it count as used.

        Raises:
            ModelError: If there is none.
        """
        turns = compose(brief)
        try:
            allowance = await self._budget.reserve(most_of(turns) + self._tokens)
        except ServiceError as error:
            raise ModelError(str(error)) from error
        if allowance is None:
            raise ModelError("the tokens of this day are used up")
        try:
            completion = await self._completions.complete(turns)
        except CompletionError as error:
            if not error.used:
                await self._settle(allowance, 0)
            raise ModelError(str(error)) from error
        if completion.tokens is not None:
            await self._settle(allowance, completion.tokens)
        return bind(completion.text, brief.references)

    async def _settle(self, allowance: Allowance, tokens: int) -> None:
        try:
            await self._budget.settle(allowance, tokens)
        except ServiceError as error:
            _log.warning("The tokens a language model used could not be stored.", extra={"reason": str(error)})


def most_of(turns: Sequence[Turn]) -> int:
    """The most tokens that messages can be: no tokenizer makes more of a text than it has bytes."""
    return sum(len(turn.content.encode()) + _PER_MESSAGE for turn in turns)


def endpoint_of(settings: Settings) -> Endpoint | None:
    """The model that the operator has named, if any."""
    if not settings.llm_url or not settings.llm_model:
        return None
    bounds = (settings.llm_seconds, settings.llm_tokens)
    return Endpoint(settings.llm_url, settings.llm_model, settings.llm_key, *bounds)


@asynccontextmanager
async def open_author(settings: Settings, database: Database, clock: Clock) -> AsyncIterator[Model | None]:
    """Open the model that the settings name; null if they name none.

    Args:
        settings: With `llm_url` and what belongs to it.
        database: Stores its budget.
        clock: Says which day it is.
    """
    endpoint = endpoint_of(settings)
    if endpoint is None:
        yield None
        return
    async with open_completions(endpoint, clock) as completions:
        yield Author(completions, Budget(database, clock, settings.llm_daily_tokens), endpoint.tokens)
