"""Handles a tool call: validates arguments, asks the service in a thread, returns a result or an error."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec
from mcp import types
from mcp.shared.exceptions import MCPError

from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.errors import RefusalError
from service.client.paying.terms import OpenPaymentError, UnpaidError
from service.client.pool import CallThreads
from service.mcp.elicitation import Context, ambiguous_name, can_ask, choose, chosen, input_required, is_modern
from service.mcp.error_messages import explain
from service.mcp.gateway import Gateway
from service.mcp.tool_results import ToolResult, clean, make_result
from service.mcp.tools import TOOL_OF, McpTool
from service.validation_errors import explain_invalid
from service.wire.schema import compact_schema

FAILURES = (RefusedError, UnreachableError, UnreadableAnswerError, UnpaidError, OpenPaymentError, RefusalError)
"""Errors that are reported to the model."""

_SHOWN: Final = 60
"""Characters of an argument that a message repeats."""

_TOLD: Final = 300
"""Characters of a validation error in a message."""

_NAMED: Final = 8
"""Ignored arguments that a message names."""

Arguments = dict[str, Any]
Result = types.CallToolResult | types.InputRequiredResult


class ToolCaller:
    """Answers tool calls.

    Args:
        gateway: The connection to the service.
        most_bytes: Byte budget of an answer.
        over_http: Whether callers bring their own credential.

    Attributes:
        gateway: As given.
        threads: Threads that call the service.
    """

    def __init__(self, gateway: Gateway, most_bytes: int, *, over_http: bool) -> None:
        self.gateway = gateway
        self.threads = CallThreads()
        self._most_bytes = most_bytes
        self._over_http = over_http

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """Answer one call.

        Raises:
            MCPError: If the tool does not exist.
        """
        tool = TOOL_OF.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no tool {params.name[:_SHOWN]!r}; there are {', '.join(TOOL_OF)}"
            )
        given, ignored = _sorted(tool, params.arguments or {})
        replies = params.input_responses or {}
        meant = {name: choice for name in given if (choice := chosen(replies.get(name), name))}
        try:
            return await self._answer(context, tool, given, meant, ignored)
        except FAILURES as error:
            doubt = ambiguous_name(error, given)
            if doubt is None or replies or not can_ask(context):
                return self._failed(error, ignored)
            if is_modern(context):
                return input_required(doubt)
            choice = await choose(context, doubt)
            if choice is None:
                return self._failed(error, ignored)
            meant = {doubt.field: choice}
        try:
            return await self._answer(context, tool, given, meant, ignored)
        except FAILURES as error:
            return self._failed(error, ignored)

    async def _answer(
        self, context: Context, tool: McpTool, given: Arguments, meant: Mapping[str, str], ignored: str
    ) -> Result:
        missing = [name for name in compact_schema(tool.arguments).get("required", ()) if name not in given]
        if missing:
            wrong = f"{tool.name} needs {' and '.join(missing)}, which this call lacks or leaves empty"
            return _misused(tool, wrong, ignored)
        try:
            asked = tool.request({**given, **meant})
        except msgspec.ValidationError as error:
            return _misused(tool, clean(explain_invalid(error, tool.arguments).sentence("the call"))[:_TOLD], ignored)
        headers = context.request.headers if context.request is not None else None
        ask = partial(self.gateway.ask, asked, headers)
        came = await self.threads.run(ask)
        happened = [
            f"{name} {str(given[name])[:_SHOWN]!r} was taken for {choice[:_SHOWN]!r}, as the user chose."
            for name, choice in meant.items()
        ]
        return _result(make_result(tool, asked, came, self._most_bytes, _joined(*happened, ignored)))

    def _failed(self, error: Exception, ignored: str) -> types.CallToolResult:
        return failed(_joined(explain(error, over_http=self._over_http, pays=self.gateway.pays), ignored))


def _sorted(tool: McpTool, arguments: Arguments) -> tuple[Arguments, str]:
    """The arguments that count, and a sentence on those that the tool does not take.

    Hosts add arguments of their own and fill what a model leaves out with null or with an empty text.
    """
    takes = tool.arguments.__struct_fields__
    given = {name: value for name, value in arguments.items() if name in takes and not _is_empty(value)}
    unknown = [name for name in arguments if name not in takes]
    if not unknown:
        return given, ""
    named = [_named(name) for name in unknown[:_NAMED]]
    if len(unknown) > _NAMED:
        named.append(f"{len(unknown) - _NAMED} more")
    return given, f"Ignored arguments that {tool.name} does not take: {', '.join(named)}."


def _named(argument: str) -> str:
    """The name of an argument on one line; in quotation marks where it is no plain word."""
    shown = clean(" ".join(argument[:_SHOWN].split()))
    return shown if shown.isidentifier() else repr(shown)


def _is_empty(value: object) -> bool:
    """Whether an argument counts as absent: null, or a text without a visible character."""
    return value is None or (
        isinstance(value, str) and not clean(value).replace("\N{REPLACEMENT CHARACTER}", "").strip()
    )


def _misused(tool: McpTool, wrong: str, ignored: str) -> types.CallToolResult:
    return failed(_joined(f"BAD_REQUEST: {wrong}. {_usage(tool)} Call again with what is missing or wrong.", ignored))


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _usage(tool: McpTool) -> str:
    """A tool's arguments in a sentence, for a model that did not follow the schema."""
    schema = compact_schema(tool.arguments)
    takes = [
        f"{name}{' (needed)' if name in schema.get('required', ()) else ''}"
        f"{': one of ' + ', '.join(kind['enum']) if 'enum' in kind else ''}"
        for name, kind in schema["properties"].items()
    ]
    return f"{tool.name} takes {'; '.join(takes)}."


def failed(text: str) -> types.CallToolResult:
    """An error result, which the model sees and can act on."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _result(result: ToolResult) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=result.text)], structured_content=result.structured)
