"""Checks HTTP requests before the tool server: refused ones are answered with a JSON-RPC error that says why."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final

import anyio
from mcp import types
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.client.connection import is_token
from service.mcp.error_messages import jsonrpc_error, message_error

PATH: Final = "/mcp"
"""The path of the tools."""

MOST_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of one message, also over standard input."""

TOO_LONG: Final = "The message is too long. Send at most {} bytes."

BODY_S: Final = 15.0
"""Longest time for a body to arrive."""


class _RefusedError(Exception):
    """A request is refused."""

    def __init__(self, status: HTTPStatus, error: str | types.JSONRPCError, **headers: str) -> None:
        super().__init__(status)
        self.status = status
        error = jsonrpc_error(types.INVALID_REQUEST, error) if isinstance(error, str) else error
        self.body = error.model_dump_json(by_alias=True, exclude_unset=True).encode()
        fields = {"content-type": "application/json", "content-length": str(len(self.body)), **headers}
        closed = {**fields, "connection": "close"}  # what is left of the request is not read
        self.headers = [(name.encode(), value.encode()) for name, value in closed.items()]


class HttpGuard:
    """Checks Host, the method and Authorization, then reads the body and hands a message on.

    `Accept` is ignored: every answer is JSON.

    Args:
        app: The tool server.
        hosts: What `Host` may be.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on with its whole body."""
        try:
            if scope["type"] != "http" or not self._is_for_tools(scope):
                await self._app(scope, receive, send)
                return
            body = await _read(receive)
        except _RefusedError as refused:
            await send({"type": "http.response.start", "status": refused.status, "headers": refused.headers})
            await send({"type": "http.response.body", "body": refused.body})
            return
        if body is None:
            return  # the peer has disconnected
        given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return given.pop() if given else await receive()

        kept = [(name, value) for name, value in scope["headers"] if name != b"accept"]
        accept = (b"accept", b"application/json, text/event-stream")  # the SDK refuses others
        await self._app({**scope, "headers": [*kept, accept]}, receive_again, send)

    def _is_for_tools(self, scope: Scope) -> bool:
        """Whether a request is for the tools; the application answers others with 404."""
        hosts, given = (
            [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]
            for wanted in (b"host", b"authorization")
        )
        if len(hosts) != 1:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "A request needs exactly one Host header.")
        if hosts[0].lower() not in self._hosts:
            message = f"The Host header does not name this server. Use {min(self._hosts)}."
            raise _RefusedError(HTTPStatus.MISDIRECTED_REQUEST, message)
        if scope["path"] != PATH:
            return False
        if scope["method"] != "POST":
            message = "This server has no sessions and no streams. Use POST."
            raise _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, message, allow="POST")
        if given and (len(given) > 1 or bearer({"authorization": given[0]}) is None):
            message = "The Authorization header is not valid. Send one, as `Bearer <API key>`."
            challenge = {"www-authenticate": 'Bearer realm="verdict", error="invalid_request"'}
            raise _RefusedError(HTTPStatus.UNAUTHORIZED, message, **challenge)
        return True


def bearer(headers: Mapping[str, str] | None) -> str | None:
    """The bearer token of an HTTP request (RFC 6750 §2.1), or None."""
    scheme, _, token = (headers or {}).get("authorization", "").partition(" ")
    token = token.strip(" ")
    return token if scheme.lower() == "bearer" and is_token(token) else None


async def _read(receive: Receive) -> bytes | None:
    """A whole body that is a message; None if the peer disconnected before its end."""
    body = bytearray()
    with anyio.move_on_after(BODY_S):
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if len(body) > MOST_BYTES:
                raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG.format(MOST_BYTES))
            if not message.get("more_body", False):
                if (error := message_error(bytes(body))) is not None:
                    raise _RefusedError(HTTPStatus.BAD_REQUEST, error)
                return bytes(body)
        return None
    raise _RefusedError(HTTPStatus.REQUEST_TIMEOUT, f"The body did not arrive within {BODY_S:.0f} s. Send it again.")
