"""What stands before the tool server over HTTP: Host, the size and time of a body, and sessions of one client."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import anyio
from mcp import types
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.clock import Clock

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message."""

BODY_S: Final = 15.0
"""Longest time for a body to arrive."""

SESSION_IDLE_S: Final = 300
"""A session without a request for so long is ended."""

SESSIONS_PER_CLIENT: Final = 16

_SESSION: Final = b"mcp-session-id"
_VERSION: Final = b"mcp-protocol-version"


class _Session(Struct):
    """An open session: whose, requests under way, and when the last one ended."""

    client: bytes
    under_way: int
    used_s: float


class HttpGuard:
    """Refuses what the application behind it should not see.

    A client is who sends the same `Authorization`; all who send none are one.

    Args:
        app: The tool server.
        hosts: What `Host` may be.
        clock: Tells how long a session has been idle.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], clock: Clock) -> None:
        self._app = app
        self._hosts = frozenset(host.encode() for host in hosts)
        self._clock = clock
        self._sessions: dict[bytes, _Session] = {}
        self._opening: Counter[bytes] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on with its whole body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fields: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            fields.setdefault(name, []).append(value)
        hosts = fields.get(b"host", [])
        if len(hosts) != 1:
            await _refuse(send, HTTPStatus.BAD_REQUEST, "Send exactly one Host header.")
        elif hosts[0].lower() not in self._hosts:
            await _refuse(send, HTTPStatus.MISDIRECTED_REQUEST, "This server is not called so.")
        else:
            await self._take_in(scope, fields, receive, send)

    async def _take_in(self, scope: Scope, fields: dict[bytes, list[bytes]], receive: Receive, send: Send) -> None:
        body: bytes | None = None
        try:
            with anyio.fail_after(BODY_S):
                body = await _read(receive)
        except TimeoutError:
            await _refuse(send, HTTPStatus.REQUEST_TIMEOUT, f"The body did not arrive within {BODY_S:.0f} s.")
            return
        except _TooLargeError:
            await _refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A message takes at most {MOST_BYTES} bytes.")
            return
        if body is None:
            return  # the peer has left
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return given.pop() if given else await receive()

        await self._serve(scope, fields, receive_again, send)

    async def _serve(self, scope: Scope, fields: dict[bytes, list[bytes]], receive: Receive, send: Send) -> None:
        """Serve a request of a session, or of none, or one that may open one, if its client may have another."""
        known = self._sessions.get(fields.get(_SESSION, [b""])[0])
        if known is not None:
            known.under_way += 1
            try:
                await self._app(scope, receive, send)
            finally:
                known.under_way -= 1
                known.used_s = self._clock.monotonic()
            if scope["method"] == "DELETE":
                self._sessions.pop(fields[_SESSION][0], None)
        elif scope["method"] == "POST" and fields.get(_VERSION, [b""])[0].decode("latin-1") not in (
            MODERN_PROTOCOL_VERSIONS
        ):
            await self._open(hashlib.sha256(fields.get(b"authorization", [b""])[0]).digest(), scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _open(self, client: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        now = self._clock.monotonic()
        for key, session in list(self._sessions.items()):
            if not session.under_way and now - session.used_s >= SESSION_IDLE_S:  # the tool server has ended it too
                del self._sessions[key]
        held = sum(session.client == client for session in self._sessions.values())
        if held + self._opening[client] >= SESSIONS_PER_CLIENT:
            await _refuse(
                send,
                HTTPStatus.TOO_MANY_REQUESTS,
                f"This client has {SESSIONS_PER_CLIENT} open sessions. End one, or wait {SESSION_IDLE_S} s.",
            )
            return
        opened: list[_Session] = []

        async def note(message: Message) -> None:
            for name, value in message.get("headers", ()):
                if name == _SESSION and message["status"] == HTTPStatus.OK:
                    opened.append(_Session(client, 1, now))
                    self._sessions[value] = opened[0]
                    self._opening[client] -= 1
            await send(message)

        self._opening[client] += 1
        try:
            await self._app(scope, receive, note)
        finally:
            if not opened:
                self._opening[client] -= 1
            if not self._opening[client]:
                del self._opening[client]
            for session in opened:
                session.under_way -= 1
                session.used_s = self._clock.monotonic()


class _TooLargeError(Exception):
    """A body is over `MOST_BYTES`."""


async def _read(receive: Receive) -> bytes | None:
    """A whole body; None where the peer left before its end."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            raise _TooLargeError
        if not message.get("more_body", False):
            return bytes(body)


async def _refuse(send: Send, status: HTTPStatus, message: str) -> None:
    """Answer with a JSON-RPC error, and close: what is left of the request is not read."""
    error = types.JSONRPCError(
        jsonrpc="2.0", id=None, error=types.ErrorData(code=types.INVALID_REQUEST, message=message)
    )
    body = error.model_dump_json(by_alias=True, exclude_unset=True).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
