"""Asks the user which name they meant, if the host supports elicitation."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from service.client.answer import RefusedError
from service.mcp.tool_results import clean

ANSWER_TIMEOUT_S: Final = 120
"""Longest wait for a person, where the call waits for one."""

WHOLE_ANSWER: Final = "verdict.whole_answer"
"""A key of the ASGI scope: the caller takes no stream, so nothing reaches it before the answer."""

_MOST: Final = 10
_SHOWN: Final = 60
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "UNKNOWN_SYMBOL": ("symbol", "coin"),
    "UNKNOWN_CATEGORY": ("name", "sector"),
}
"""Which argument is meant by a code."""

Context = ServerRequestContext[Any, Any]


class AmbiguousName(NamedTuple):
    """A name that is none, and what may have been meant."""

    field: str
    typed: str
    candidates: list[str]

    @property
    def message(self) -> str:
        """The question."""
        return f"There is no {self.typed!r} here. What did you mean?"

    @property
    def form(self) -> dict[str, Any]:
        """One choice among the candidates, as JSON Schema."""
        choice = {"type": "string", "title": "What you meant", "enum": self.candidates}
        return {"type": "object", "properties": {self.field: choice}, "required": [self.field]}


def ambiguous_name(error: Exception, arguments: Mapping[str, Any]) -> AmbiguousName | None:
    """What is in doubt after a refusal, if a choice would settle it."""
    if not isinstance(error, RefusedError):
        return None
    field = next((name for name in _FIELDS.get(error.code, ()) if name in arguments), None)
    candidates = error.details.get("candidates")
    if field is None or not isinstance(candidates, list) or not candidates:
        return None
    return AmbiguousName(
        field, str(clean(str(arguments[field])[:_SHOWN])), [str(clean(str(one))) for one in candidates[:_MOST]]
    )


def can_ask(context: Context) -> bool:
    """Whether the host shows its user forms; one that declares no mode does."""
    declared = context.session.client_capabilities
    asks = declared.elicitation if declared else None
    shows = asks is not None and (asks.form is not None or asks.url is None)
    waits = context.request is not None and WHOLE_ANSWER in context.request.scope and not is_modern(context)
    return shows and not waits


def is_modern(context: Context) -> bool:
    """Whether requests stand alone, so that a question goes back in the answer (2026-07-28)."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


async def choose(context: Context, doubt: AmbiguousName) -> str | None:
    """Ask while the call waits, and give what was chosen; None where nothing was."""
    reply = None
    with anyio.move_on_after(ANSWER_TIMEOUT_S), suppress(MCPError, ValueError):  # no way back, an error, or nonsense
        reply = await context.session.elicit_form(doubt.message, doubt.form, context.request_id)
    return chosen(reply, doubt.field)


def input_required(doubt: AmbiguousName) -> types.InputRequiredResult:
    """The question as an answer: the host asks, and calls again with the reply."""
    params = types.ElicitRequestFormParams(message=doubt.message, requested_schema=doubt.form)
    return types.InputRequiredResult(input_requests={doubt.field: types.ElicitRequest(params=params)})


def chosen(reply: object, field: str) -> str | None:
    """The choice in a reply, if there is one."""
    if not isinstance(reply, types.ElicitResult) or reply.action != "accept" or not reply.content:
        return None
    value = reply.content.get(field)
    return value if isinstance(value, str) else None
