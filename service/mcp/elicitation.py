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

_MOST: Final = 10
_SHOWN: Final = 60
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "UNKNOWN_SYMBOL": ("symbol", "coin"),
    "UNKNOWN_CATEGORY": ("name", "sector"),
}
"""Which argument is meant by a code."""

Context = ServerRequestContext[Any, Any]


class AmbiguousName(NamedTuple):
    """An argument whose value is no name, and the question what was meant."""

    field: str
    question: types.ElicitRequestFormParams


def ambiguous_name(error: RefusedError, arguments: Mapping[str, Any]) -> AmbiguousName | None:
    """What is in doubt after a refusal, if a choice among its candidates would settle it."""
    field = next((name for name in _FIELDS.get(error.code, ()) if name in arguments), None)
    candidates = error.details.get("candidates")
    if field is None or not isinstance(candidates, list) or not candidates:
        return None
    choices = [str(clean(str(one))) for one in candidates[:_MOST]]
    choice = {"type": "string", "title": "What you meant", "enum": choices}
    form = {"type": "object", "properties": {field: choice}, "required": [field]}
    message = f"There is no {clean(str(arguments[field])[:_SHOWN])!r} here. What did you mean?"
    return AmbiguousName(field, types.ElicitRequestFormParams(message=message, requested_schema=form))


async def ask_user(context: Context, doubt: AmbiguousName) -> str | types.InputRequiredResult | None:
    """What the user chose, None where they cannot be asked or chose nothing, or the question as an answer.

    By the 2026-07-28 protocol the host asks, and calls again with the reply. By an older one the call waits, where the
    transport has a way back: over standard input and output.
    """
    declared = context.session.client_capabilities
    asks = declared.elicitation if declared else None
    if asks is None or (asks.form is None and asks.url is not None):  # a host that declares no mode shows forms
        return None
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return types.InputRequiredResult(input_requests={doubt.field: types.ElicitRequest(params=doubt.question)})
    reply, question = None, doubt.question
    with anyio.move_on_after(ANSWER_TIMEOUT_S), suppress(MCPError, ValueError):  # no way back, an error, or nonsense
        reply = await context.session.elicit_form(question.message, question.requested_schema, context.request_id)
    return chosen(reply, doubt.field)


def chosen(reply: object, field: str) -> str | None:
    """The choice in a reply, if there is one."""
    if not isinstance(reply, types.ElicitResult) or reply.action != "accept" or not reply.content:
        return None
    value = reply.content.get(field)
    return value if isinstance(value, str) else None
