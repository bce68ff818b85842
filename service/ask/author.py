"""A language model as the author of prose: within a day's budget, and not believed where its text shows no manners."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from service.ask.budget import Allowance, Budget
from service.ask.manners import offence
from service.ask.model import Brief, Model, ModelError
from service.ask.prompt import PromptError, compose
from service.clock import Clock
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database
from service.upstream.completions import Completion, CompletionError, Completions, Endpoint, Turn, open_completions

_OF_A_TURN: Final = 64
"""Tokens that a model's own template may put around a message, generously."""

_log = logging.getLogger("verdict.ask")


class Author:
    """Writes prose with a language model.

    Args:
        completions: The model.
        budget: What it may use.
        tokens: The most it may write for an answer.
    """

    def __init__(self, completions: Completions, budget: Budget, tokens: int) -> None:
        self._completions = completions
        self._budget = budget
        self._tokens = tokens

    async def write(self, brief: Brief) -> str:
        """Write what follows the first paragraph of a draft. See the port.

        Who leaves meanwhile ends the request; what had been set aside for it counts as used, since nobody knows.

        Raises:
            ModelError: If it did not.
        """
        try:
            turns = compose(brief)
            allowance = await self._budget.reserve(most_of(turns) + self._tokens)
        except (PromptError, ServiceError) as error:
            raise ModelError(str(error)) from error
        if allowance is None:
            raise ModelError("the tokens of this day are used up")
        try:
            completion = await self._completions.complete(turns)
        except CompletionError as error:
            if not error.used:
                await self._settle(allowance, 0)
            raise ModelError(str(error)) from error
        return await self._take(completion, allowance, brief)

    async def _take(self, completion: Completion, allowance: Allowance, brief: Brief) -> str:
        if completion.tokens is not None:
            await self._settle(allowance, completion.tokens)
        refused = offence(completion.text, brief.draft)
        if refused:
            raise ModelError(refused)
        return completion.text

    async def _settle(self, allowance: Allowance, tokens: int) -> None:
        try:
            await self._budget.settle(allowance, tokens)
        except ServiceError as error:
            _log.warning("what a model used could not be written down", extra={"reason": str(error)})


def most_of(turns: Sequence[Turn]) -> int:
    """The most tokens that messages can be: no tokenizer makes more of a text than it has bytes."""
    return sum(len(turn.content.encode()) + _OF_A_TURN for turn in turns)


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
        database: Where its budget is kept.
        clock: Says which day it is.
    """
    endpoint = endpoint_of(settings)
    if endpoint is None:
        yield None
        return
    async with open_completions(endpoint, clock) as completions:
        yield Author(completions, Budget(database, clock, settings.llm_daily_tokens), endpoint.tokens)
