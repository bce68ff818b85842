"""A call of a tool, from its arguments to its result."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec
from mcp import types
from mcp.shared.exceptions import MCPError

from service.clients.cli.refusal import RefusalError
from service.clients.mcp.answering import Told, answer
from service.clients.mcp.clean import clean
from service.clients.mcp.explaining import explain
from service.clients.mcp.gateway import Gateway
from service.clients.mcp.meaning import Context, asking, can_ask, choose, chosen, doubt_of, is_modern
from service.clients.mcp.schema import of
from service.clients.mcp.threads import Threads
from service.clients.mcp.tools import TOOL_OF, Tool
from service.clients.paying.refusal import OpenPaymentError, UnpaidError
from service.clients.sdk.answer import RefusedError, UnreachableError, UnreadableError

FAILURES = (RefusedError, UnreachableError, UnreadableError, UnpaidError, OpenPaymentError, RefusalError)
"""What the way to the service raises, and a model is told."""

_SHOWN: Final = 60
"""Letters of what was typed that are told again."""

_TOLD: Final = 300
"""Letters of what is wrong with it."""

Arguments = dict[str, Any]
Result = types.CallToolResult | types.InputRequiredResult


class Caller:
    """Answers calls of tools.

    Args:
        gateway: To the service.
        most_bytes: Of an answer.
        over_http: Whether callers bring their own credential.

    Attributes:
        gateway: As given.
        threads: In which it is asked.
    """

    def __init__(self, gateway: Gateway, most_bytes: int, *, over_http: bool) -> None:
        self.gateway = gateway
        self.threads = Threads()
        self._most_bytes = most_bytes
        self._over_http = over_http

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """Answer one call.

        Raises:
            MCPError: If there is no such tool.
        """
        tool = TOOL_OF.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no tool {params.name[:_SHOWN]!r}; there are {', '.join(TOOL_OF)}"
            )
        given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        replies = params.input_responses or {}
        meant = {name: choice for name in given if (choice := chosen(replies.get(name), name))}
        try:
            return await self._answer(context, tool, given, meant)
        except FAILURES as error:
            doubt = doubt_of(error, given)
            if doubt is None or replies or not can_ask(context):
                return self._failed(error)
            if is_modern(context):
                return asking(doubt)
            choice = await choose(context, doubt)
            if choice is None:
                return self._failed(error)
            meant = {doubt.field: choice}
        try:
            return await self._answer(context, tool, given, meant)
        except FAILURES as error:
            return self._failed(error)

    async def _answer(self, context: Context, tool: Tool, given: Arguments, meant: Mapping[str, str]) -> Result:
        try:
            asked = msgspec.convert({**given, **meant}, tool.arguments, strict=False).asked()
        except msgspec.ValidationError as error:
            return failed(
                f"BAD_REQUEST: {clean(str(error))[:_TOLD]}. {_usage(tool)} Call again with what is missing or wrong."
            )
        headers = context.request.headers if context.request is not None else None
        ask = partial(self.gateway.ask, asked, headers)
        came = await self.threads.run(ask)
        happened = " ".join(
            f"{name} {str(given[name])[:_SHOWN]!r} was taken for {choice[:_SHOWN]!r}, as the user chose."
            for name, choice in meant.items()
        )
        return _result(answer(tool, asked, came, self._most_bytes, happened))

    def _failed(self, error: Exception) -> types.CallToolResult:
        return failed(explain(error, over_http=self._over_http, pays=self.gateway.pays))


def _usage(tool: Tool) -> str:
    """What a tool takes, in a sentence: models that got it wrong once have not read the schema."""
    schema = of(tool.arguments)
    takes = [
        f"{name}{' (needed)' if name in schema.get('required', ()) else ''}"
        f"{': one of ' + ', '.join(kind['enum']) if 'enum' in kind else ''}"
        for name, kind in schema["properties"].items()
    ]
    return f"{tool.name} takes {'; '.join(takes)}."


def failed(text: str) -> types.CallToolResult:
    """An error that the model sees, and can act on."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _result(told: Told) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=told.text)], structured_content=told.structured)
