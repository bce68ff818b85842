"""Whether the model that writes prose can be asked: what `verdict doctor` tries, with a question of a few tokens."""

import asyncio
from typing import Final

from service.ask.author import endpoint_of
from service.clock import Clock
from service.operator.check import Check
from service.settings import Settings
from service.upstream.completions import Completion, CompletionError, Endpoint, Turn, open_completions

_NAME: Final = "model"
_QUESTION: Final = (Turn("user", "Answer with the one word: ready"),)
_REMEDY: Final = (
    "let VERDICT_LLM_URL name an OpenAI-compatible API (up to what stands before /chat/completions) that streams, "
    "VERDICT_LLM_MODEL a model it has, and VERDICT_LLM_KEY a key it takes; until then the rules write every answer"
)


def check_model(settings: Settings, clock: Clock) -> Check:
    """Ask the model that the settings name one short question, beside the budget of the day."""
    endpoint = endpoint_of(settings)
    if endpoint is None:
        return Check(_NAME, "no model is named, and the rules write every answer")
    try:
        completion = asyncio.run(_ask(endpoint, clock))
    except CompletionError as error:
        return Check(_NAME, "it does not write", [f"{endpoint.model}: {error}"], _REMEDY)
    if not completion.text.strip():
        return Check(_NAME, "it does not write", [f"{endpoint.model}: an empty answer"], _REMEDY)
    told = "says what it uses" if completion.tokens else "does not say what it uses, so the most it may use is counted"
    return Check(_NAME, f"{endpoint.model} writes, and {told}")


async def _ask(endpoint: Endpoint, clock: Clock) -> Completion:
    async with open_completions(endpoint, clock) as completions:
        return await completions.complete(_QUESTION)
