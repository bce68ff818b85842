"""Answers tool calls: checks arguments, asks the service in a thread and, where a name is none, the user."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event
from typing import Any, Final, NamedTuple

import anyio
import msgspec
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import UNSET

from service.client.answer import RawAnswer, RefusedError
from service.client.calls import request_of
from service.client.errors import VerdictError
from service.client.paying.buyer import Buyer
from service.client.pool import CallThreads, ConnectionPool
from service.mcp.error_messages import explain
from service.mcp.tool_results import DEFAULT_BYTES, clean, make_result
from service.mcp.tools import TOOL_OF, McpTool, ToolRequest
from service.validation_errors import explain_invalid
from service.wire.schema import compact_schema

ANSWER_TIMEOUT_S: Final = 120
"""Longest wait for a person, where the call waits for one."""

_MOST: Final = 10
"""Candidates that a user chooses among."""

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "UNKNOWN_SYMBOL": ("symbol", "coin"),
    "UNKNOWN_CATEGORY": ("name", "sector"),
}
"""Which argument is meant by a code."""

_SHOWN: Final = 60
"""Characters of an argument that a message repeats."""

_TOLD: Final = 300
"""Characters of a validation error in a message."""

_NAMED: Final = 8
"""Ignored arguments that a message names."""

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
        meant = {name: said for name in given if (said := _chosen(replies.get(name), name))}
        try:
            try:
                return await self._answer(context, tool, given, meant, ignored)
            except RefusedError as error:
                doubt = _ambiguous_name(error, given)
                if doubt is None or replies or (choice := await _ask_user(context, doubt)) is None:
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


class _AmbiguousName(NamedTuple):
    """An argument whose value is no name, and the question what was meant."""

    field: str
    question: types.ElicitRequestFormParams


def _ambiguous_name(error: RefusedError, arguments: Mapping[str, Any]) -> _AmbiguousName | None:
    """What is in doubt after a refusal, if a choice among its candidates would settle it."""
    field = next((name for name in _FIELDS.get(error.code, ()) if name in arguments), None)
    candidates = error.details.get("candidates")
    if field is None or not isinstance(candidates, list) or not candidates:
        return None
    choices = [str(clean(str(one))) for one in candidates[:_MOST]]
    choice = {"type": "string", "title": "What you meant", "enum": choices}
    form = {"type": "object", "properties": {field: choice}, "required": [field]}
    message = f"There is no {clean(str(arguments[field])[:_SHOWN])!r} here. What did you mean?"
    return _AmbiguousName(field, types.ElicitRequestFormParams(message=message, requested_schema=form))


async def _ask_user(context: Context, doubt: _AmbiguousName) -> str | types.InputRequiredResult | None:
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
    return _chosen(reply, doubt.field)


def _chosen(reply: object, field: str) -> str | None:
    """The choice in a reply, if there is one."""
    if not isinstance(reply, types.ElicitResult) or reply.action != "accept" or not reply.content:
        return None
    value = reply.content.get(field)
    return value if isinstance(value, str) else None
