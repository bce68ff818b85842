"""Answers tool calls: checks arguments, asks the service in a thread, returns a result or an error."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from mcp import types
from mcp.shared.exceptions import MCPError
from msgspec import UNSET

from service.client.answer import RawAnswer, RefusedError
from service.client.calls import request_of
from service.client.errors import VerdictError
from service.client.paying.buyer import Buyer
from service.client.pool import CallThreads, ConnectionPool
from service.mcp.elicitation import Context, ambiguous_name, ask_user, chosen
from service.mcp.error_messages import explain
from service.mcp.tool_results import DEFAULT_BYTES, clean, make_result
from service.mcp.tools import TOOL_OF, McpTool, ToolRequest
from service.validation_errors import explain_invalid
from service.wire.schema import compact_schema

_SHOWN: Final = 60
"""Characters of an argument that a message repeats."""

_TOLD: Final = 300
"""Characters of a validation error in a message."""

_NAMED: Final = 8
"""Ignored arguments that a message names."""

Arguments = dict[str, Any]


class Gateway:
    """Calls one service for the callers of the MCP server, and answers their tool calls.

    Args:
        url: The service.
        token_of: The token for a call, by the headers of its HTTP request (None over standard input).
        buyer: Pays for requests refused with 402; None never pays.
        most_bytes: Byte budget of an answer.
        over_http: Whether callers bring their own credential.

    Attributes:
        pool: The connections.
        close: Closes them.
    """

    def __init__(
        self,
        url: str,
        token_of: Callable[[Mapping[str, str] | None], str | None],
        buyer: Buyer | None = None,
        *,
        most_bytes: int = DEFAULT_BYTES,
        over_http: bool = False,
    ) -> None:
        self.pool = ConnectionPool(url)
        self.close = self.pool.close
        self.pays = buyer is not None
        self.most_bytes = most_bytes
        self._token_of = token_of
        self._buyer = buyer
        self._over_http = over_http
        self._threads = CallThreads()

    async def ask(self, asked: ToolRequest, context: Context) -> RawAnswer:
        """Send one request in a thread, and pay for it if configured.

        Raises:
            VerdictError: If there is no answer; `explain` says what to do.
        """
        request = request_of(asked.offer, {name: value for name, value in asked.values.items() if value is not UNSET})
        headers = context.request.headers if context.request is not None else None

        def send() -> RawAnswer:
            with self.pool.connection(self._token_of(headers)) as client:
                return client.ask(*request) if self._buyer is None else self._buyer.ask(client, request)

        return await self._threads.run(send)

    def explain(self, error: VerdictError) -> str:
        """Why a request has no answer, and what to do."""
        return explain(error, over_http=self._over_http, pays=self.pays)

    async def call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Answer one tool call.

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
            try:
                return await self._answer(context, tool, given, meant, ignored)
            except RefusedError as error:
                doubt = ambiguous_name(error, given)
                if doubt is None or replies or (choice := await ask_user(context, doubt)) is None:
                    raise
                if not isinstance(choice, str):
                    return choice
                return await self._answer(context, tool, given, {doubt.field: choice}, ignored)
        except VerdictError as error:
            return _result(self.explain(error), ignored)

    async def _answer(
        self, context: Context, tool: McpTool, given: Arguments, meant: Mapping[str, str], ignored: str
    ) -> types.CallToolResult:
        missing = [name for name in compact_schema(tool.arguments).get("required", ()) if name not in given]
        wrong = f"{tool.name} needs {' and '.join(missing)}, which this call lacks or leaves empty" if missing else ""
        try:
            asked = None if missing else tool.request({**given, **meant})
        except msgspec.ValidationError as error:
            asked, wrong = None, clean(explain_invalid(error, tool.arguments).sentence("the call"))[:_TOLD]
        if asked is None:
            return _result(f"BAD_REQUEST: {wrong}. {_usage(tool)} Call again with what is missing or wrong.", ignored)
        came = await self.ask(asked, context)
        happened = [
            f"{name} {str(given[name])[:_SHOWN]!r} was taken for {choice[:_SHOWN]!r}, as the user chose."
            for name, choice in meant.items()
        ]
        result = make_result(tool, asked, came, self.most_bytes, " ".join(filter(None, (*happened, ignored))))
        return _result(result.text, structured=result.structured)


def _sorted(tool: McpTool, arguments: Arguments) -> tuple[Arguments, str]:
    """The arguments that count, and a sentence on those that the tool does not take.

    Hosts add arguments of their own and fill what a model leaves out with null or with an empty text.
    """
    takes = tool.arguments.__struct_fields__
    given = {name: value for name, value in arguments.items() if name in takes and not _is_empty(value)}
    unknown = [_named(name) for name in arguments if name not in takes]
    if not unknown:
        return given, ""
    more = [f"{len(unknown) - _NAMED} more"] if len(unknown) > _NAMED else []
    return given, f"Ignored arguments that {tool.name} does not take: {', '.join(unknown[:_NAMED] + more)}."


def _named(argument: str) -> str:
    """The name of an argument on one line; in quotation marks where it is no plain word."""
    shown = clean(" ".join(argument[:_SHOWN].split()))
    return shown if shown.isidentifier() else repr(shown)


def _is_empty(value: object) -> bool:
    """Whether an argument counts as absent: null, or a text without a visible character."""
    return value is None or (
        isinstance(value, str) and not clean(value).replace("\N{REPLACEMENT CHARACTER}", "").strip()
    )


def _usage(tool: McpTool) -> str:
    """A tool's arguments in a sentence, for a model that did not follow the schema."""
    schema = compact_schema(tool.arguments)
    takes = [
        f"{name}{' (needed)' if name in schema.get('required', ()) else ''}"
        f"{': one of ' + ', '.join(kind['enum']) if 'enum' in kind else ''}"
        for name, kind in schema["properties"].items()
    ]
    return f"{tool.name} takes {'; '.join(takes)}."


def _result(text: str, ignored: str = "", structured: Arguments | None = None) -> types.CallToolResult:
    """A result; without data an error, which the model sees and can act on."""
    said = " ".join(filter(None, (text, ignored)))
    return types.CallToolResult(
        content=[types.TextContent(text=said)], structured_content=structured, is_error=structured is None
    )
