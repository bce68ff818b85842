"""What stands before the tool server over HTTP: Host, credentials, limits of a body, sessions, and Accept."""

import json
import re
from collections.abc import Callable, Coroutine, Iterable
from http import HTTPStatus
from typing import Any, Final, Literal, NamedTuple

import anyio
import msgspec
from mcp import types
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.clock import Clock
from service.mcp.elicitation import WHOLE_ANSWER
from service.mcp.error_messages import error_of, judge
from service.mcp.gateway import TokenStatus, bearer, digest
from service.mcp.sessions import SESSION_IDLE_S, SESSIONS_PER_HOLDER, Holder, Sessions, ToolSession

PATH: Final = "/mcp"
"""Where the tools are."""

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message."""

BODY_S: Final = 15.0
"""Longest time for a body to arrive."""

_ACCEPT: Final = b"accept"
_SESSION: Final = b"mcp-session-id"
_VERSION: Final = b"mcp-protocol-version"
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_LOW_QUALITY: Final = re.compile(r"q=(0(?:\.\d*)?|\.\d+)\Z", re.ASCII)
"""Below one; what is no number counts as one."""

_LISTEN: Final = "subscriptions/listen"
"""The request whose answer is a stream without an end."""

Fields = dict[bytes, list[bytes]]


class _Caller(NamedTuple):
    """Whose sessions a request may use, and whose place a new one takes."""

    credential: bytes
    holder: Holder


class HttpGuard:
    """Refuses what the application behind it should not see.

    It checks Host, then the credential, then reads the body; only then it looks at sessions. A request without a token
    is served; its sessions count for its network. So do those of a token while the service cannot be asked about it.

    Args:
        app: The tool server.
        hosts: What `Host` may be.
        clock: Tells how long a session has been idle.
        token_status: What the service says of a token.
        network_of: The network that a request comes from.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        clock: Clock,
        token_status: Callable[[str], Coroutine[Any, Any, TokenStatus]],
        network_of: Callable[[Scope], str],
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.encode() for host in hosts)
        self._clock = clock
        self._token_status = token_status
        self._network_of = network_of
        self._sessions = Sessions(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on with its whole body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fields: Fields = {}
        for name, value in scope["headers"]:
            fields.setdefault(name, []).append(value)
        hosts = fields.get(b"host", [])
        if len(hosts) != 1:
            await _refuse(send, HTTPStatus.BAD_REQUEST, "Send exactly one Host header.")
        elif hosts[0].lower() not in self._hosts:
            await _refuse(send, HTTPStatus.MISDIRECTED_REQUEST, "This server is not called so.")
        elif scope["path"] != PATH:
            await self._app(scope, receive, send)
        else:
            caller = await self._identify(scope, fields, send)
            if caller is not None:
                await self._take_in(caller, scope, fields, receive, send)

    async def _identify(self, scope: Scope, fields: Fields, send: Send) -> _Caller | None:
        """Who calls; None where the credential is refused. The sessions of a refused credential end."""
        given = fields.get(b"authorization", [])
        if not given:
            return _Caller(b"", Holder(self._network_of(scope), confirmed=False))
        token = bearer({"authorization": given[0].decode("latin-1")}) if len(given) == 1 else None
        if token is None:
            await _refuse_token(
                send, "Send one Authorization header, of the form `Bearer <API key>`.", "invalid_request"
            )
            return None
        credential = digest(token)
        token_status = await self._token_status(token)
        if token_status.kind == "accepted":
            return _Caller(credential, Holder(credential, confirmed=True))
        if token_status.kind == "unknown":
            return _Caller(credential, Holder(self._network_of(scope), confirmed=False))
        if token_status.kind == "limited":
            wait = token_status.retry_after
            message = f"The service refuses requests with this token for now. Send the next one in {wait} s."
            await _refuse(send, HTTPStatus.TOO_MANY_REQUESTS, message, (b"retry-after", wait.encode()))
            return None
        await self._end(scope, self._sessions.of(credential))
        await _refuse_token(
            send,
            "The service refuses this token: it is unknown, expired or revoked. Send a valid API key.",
            "invalid_token",
        )
        return None

    async def _take_in(self, caller: _Caller, scope: Scope, fields: Fields, receive: Receive, send: Send) -> None:
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

        form = _form(scope, fields, body)
        wrong = judge(body) if scope["method"] == "POST" else None
        if wrong is not None:
            await _refuse_with(send, HTTPStatus.BAD_REQUEST, wrong)
        elif form is None:
            message = f"Accept takes neither {_JSON} nor {_EVENTS} as this request needs it. Send both in Accept."
            await _refuse(send, HTTPStatus.NOT_ACCEPTABLE, message)
        else:
            accepting = _accepting(scope, f"{_JSON}, {_EVENTS}") | ({WHOLE_ANSWER: True} if form == "json" else {})
            send = _WholeAnswer(send) if form == "json" else send
            await self._serve(caller, accepting, fields, receive_again, send)

    async def _serve(self, caller: _Caller, scope: Scope, fields: Fields, receive: Receive, send: Send) -> None:
        """Serve a request of a session, or of none, or one that may open one, if its holder may have another."""
        await self._end(scope, self._sessions.expired())
        modern = fields.get(_VERSION, [b""])[0].decode("latin-1") in MODERN_PROTOCOL_VERSIONS
        if not modern and _SESSION in fields:
            session = self._sessions.find(fields[_SESSION][0], caller.credential)
            if session is None:
                await _refuse(send, HTTPStatus.NOT_FOUND, "There is no such session. Open a new one with initialize.")
            else:
                session.holder = caller.holder
                await self._continue(session, scope, receive, send)
        elif not modern and scope["method"] == "POST":
            await self._open(caller, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _continue(self, session: ToolSession, scope: Scope, receive: Receive, send: Send) -> None:
        stream = scope["method"] == "GET"
        session.streams += stream
        session.under_way += not stream
        session.used_s = self._clock.monotonic()
        try:
            await self._app(scope, receive, send)
        finally:
            session.streams -= stream
            session.under_way -= not stream
            session.used_s = self._clock.monotonic()
        if scope["method"] == "DELETE":
            self._sessions.drop(session)

    async def _open(self, caller: _Caller, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._sessions.begin(caller.holder):
            message = (
                f"This caller has {SESSIONS_PER_HOLDER} sessions at work, or the server too many. End one, or wait for "
                f"one to end: at the latest after {SESSION_IDLE_S} s without a request."
            )
            await _refuse(send, HTTPStatus.TOO_MANY_REQUESTS, message, (b"retry-after", b"1"))
            return
        opened: list[ToolSession] = []

        async def note(message: Message) -> None:
            for name, value in message.get("headers", ()):
                if name == _SESSION and message["status"] == HTTPStatus.OK and not opened:
                    session, ended = self._sessions.add(value, *caller)
                    opened.append(session)
                    await self._end(scope, ended)
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            if not opened:
                self._sessions.give_up(caller.holder)
            for session in opened:
                session.under_way -= 1
                session.used_s = self._clock.monotonic()

    async def _end(self, scope: Scope, sessions: Iterable[ToolSession]) -> None:
        """End sessions in the tool server, as their clients would."""
        kept = [(name, value) for name, value in scope["headers"] if name in {b"host", b"origin"}]
        for session in sessions:
            await self._app({**scope, "method": "DELETE", "headers": [*kept, (_SESSION, session.id)]}, _empty, _unsent)


async def _empty() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unsent(_message: Message) -> None:
    """Drop an answer that has no reader."""


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


async def _refuse(send: Send, status: HTTPStatus, message: str, *more: tuple[bytes, bytes]) -> None:
    """Answer with a JSON-RPC error, and close: what is left of the request is not read."""
    await _refuse_with(send, status, error_of(types.INVALID_REQUEST, message), *more)


async def _refuse_with(send: Send, status: HTTPStatus, error: types.JSONRPCError, *more: tuple[bytes, bytes]) -> None:
    body = _encoded(error)
    headers = [*_of_json(body), (b"connection", b"close"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _refuse_token(send: Send, message: str, code: str) -> None:
    """A 401 with its challenge (RFC 6750 §3)."""
    challenge = f'Bearer realm="verdict", error="{code}"'.encode()
    await _refuse(send, HTTPStatus.UNAUTHORIZED, message, (b"www-authenticate", challenge))


def _encoded(error: types.JSONRPCError) -> bytes:
    return error.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _of_json(body: bytes) -> list[tuple[bytes, bytes]]:
    return [(b"content-type", _JSON.encode()), (b"content-length", b"%d" % len(body))]


def _form(scope: Scope, fields: Fields, body: bytes) -> Literal["json", "events"] | None:
    """The form of an answer that the caller takes (RFC 9110 §12.5.1); without `Accept` as by `*/*`.

    The tool server answers a message with a stream of events, and wants a caller that takes JSON too. Who does not name
    event streams, or prefers JSON, gets the same answer as one JSON document. A stream without an end is one of events
    in any case.
    """
    ranges = b",".join(fields.get(_ACCEPT, [])).decode("latin-1").lower()
    json_quality, events_quality = _quality(ranges, _JSON), _quality(ranges, _EVENTS)
    is_stream = scope["method"] == "GET" or _method(body) == _LISTEN
    if scope["method"] == "DELETE" or (events_quality and (is_stream or not json_quality)):
        return "events"
    if is_stream or not json_quality:
        return None
    return "events" if _quality(ranges, _EVENTS, named=True) >= json_quality else "json"


def _quality(ranges: str, media: str, *, named: bool = False) -> float:
    """The quality that an `Accept` gives a media type by its most specific range; `named`: other than by `*/*`."""
    given: dict[str, float] = {}
    for one in (ranges if ranges.strip(" ,\t") else "*/*").split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        low = next((found[1] for part in parameters if (found := _LOW_QUALITY.match(part))), "1")
        given[name] = max(given.get(name, 0.0), float(low))
    wider = (media, f"{media.partition('/')[0]}/*", "*/*")[: 2 if named else 3]
    return next((given[name] for name in wider if name in given), 0.0)


def _accepting(scope: Scope, accept: str) -> dict[str, Any]:
    kept = [(name, value) for name, value in scope["headers"] if name != _ACCEPT]
    return {**scope, "headers": [*kept, (_ACCEPT, accept.encode())]}


class _Message(msgspec.Struct):
    """The part of a message that says what it asks."""

    method: str = ""


def _method(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Message).method
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


class _WholeAnswer:
    """Sends the answer in a stream of events as one JSON document; other answers pass.

    Args:
        send: Where to.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._events = bytearray()

    async def __call__(self, message: Message) -> None:
        """Take a message of the application."""
        if message["type"] == "http.response.start" and _is_stream(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        elif message["type"] == "http.response.body":
            self._events += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        unanswered = error_of(types.INTERNAL_ERROR, "The request ended without an answer.")
        body = _answer_in(bytes(self._events)) or _encoded(unanswered)
        kept = [(name, value) for name, value in start["headers"] if name not in {b"content-type", b"content-length"}]
        await self._send({**start, "headers": [*kept, *_of_json(body)]})
        await self._send({"type": "http.response.body", "body": body})


def _is_stream(start: Message) -> bool:
    return any(name == b"content-type" and value.startswith(_EVENTS.encode()) for name, value in start["headers"])


def _answer_in(events: bytes) -> bytes | None:
    """The JSON-RPC response among events (each has one line of data); None without one."""
    for line in reversed(events.splitlines()):
        name, _, data = line.partition(b":")
        if name == b"data" and data.strip():
            message = json.loads(data)
            if "result" in message or "error" in message:
                return data.strip()
    return None
