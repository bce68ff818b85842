"""Answers tool calls: checks the arguments, asks the service in a thread, and makes the result."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event
from typing import Any, Final

import msgspec
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from msgspec import UNSET

from service.client.answer import RawAnswer
from service.client.calls import request_of
from service.client.errors import VerdictError
from service.client.paying.buyer import Buyer
from service.client.pool import CallThreads, ConnectionPool
from service.mcp.error_messages import explain
from service.mcp.tool_results import DEFAULT_BYTES, clean, make_result, trim
from service.mcp.tools import TOOL_OF, McpTool, ToolRequest
from service.validation_errors import explain_invalid
from service.wire.schema import compact_schema

_SHOWN: Final = 60
"""Most characters of a name that a message repeats."""

_NAMED: Final = 8
"""Most ignored arguments that a message names."""

Arguments = dict[str, Any]
Context = ServerRequestContext[Any, Any]


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
        explain: Says why a request has no answer, and what to do.
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
        self.explain = partial(explain, over_http=over_http, pays=self.pays)
        self._threads = CallThreads()

    async def ask(self, asked: ToolRequest, context: Context) -> RawAnswer:
        """Send one request in a thread, and pay for it if configured; nothing is paid once the call is cancelled.

        Raises:
            VerdictError: If there is no answer; `explain` says what to do.
        """
        request = request_of(asked.offer, {name: value for name, value in asked.values.items() if value is not UNSET})
        headers = context.request.headers if context.request is not None else None
        cancelled = Event()
        buyer = None if self._buyer is None else self._buyer._replace(is_cancelled=cancelled.is_set)

        def send() -> RawAnswer:
            with self.pool.connection(self._token_of(headers)) as client:
                return client.ask(*request) if buyer is None else buyer.ask(client, request)

        try:
            return await self._threads.run(send)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer one tool call. A failure is a result too: the model sees its text and can act on it.

        Raises:
            MCPError: If the tool does not exist.
        """
        tool = TOOL_OF.get(params.name)
        if tool is None:
            message = f"There is no tool {params.name[:_SHOWN]!r}. The tools are {', '.join(TOOL_OF)}."
            raise MCPError(types.INVALID_PARAMS, message)
        given, ignored = _sorted(tool, params.arguments or {})
        try:
            asked = tool.request(given)
            return make_result(tool, asked, await self.ask(asked, context), self.most_bytes, ignored)
        except msgspec.ValidationError as error:
            wrong = clean(explain_invalid(error, tool.arguments).sentence(tool.name))
            said = f"BAD_REQUEST: The argument {wrong}. {_usage(tool)} Correct the arguments and call again."
        except VerdictError as error:
            said = self.explain(error)
        text = trim(" ".join(filter(None, (said, ignored))), self.most_bytes)
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


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
    names = ", ".join(unknown[:_NAMED] + more)
    return given, f"These arguments were ignored, because {tool.name} does not take them: {names}."


def _named(argument: str) -> str:
    """The name of an argument on one line; quoted unless it is an identifier."""
    shown = clean(" ".join(argument[:_SHOWN].split()))
    return shown if shown.isidentifier() else repr(shown)


def _is_empty(value: object) -> bool:
    """Whether an argument counts as absent: null, or a text without a visible character."""
    return value is None or (
        isinstance(value, str) and not clean(value).replace("\N{REPLACEMENT CHARACTER}", "").strip()
    )


def _usage(tool: McpTool) -> str:
    """The arguments of a tool in a sentence, for a model that did not follow the schema."""
    schema = compact_schema(tool.arguments)
    takes = [
        f"{name}{' (required)' if name in schema.get('required', ()) else ''}"
        f"{': one of ' + ', '.join(kind['enum']) if 'enum' in kind else ''}"
        for name, kind in schema["properties"].items()
    ]
    return f"The tool {tool.name} takes {'; '.join(takes)}."
