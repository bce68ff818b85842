"""An ASGI application asked in-process, its answer handed over piece by piece as it is sent."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message

PATIENCE_S = 20.0


class Reply(NamedTuple):
    """A whole answer; the last value where a header repeats."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code."""
        return str(self.json["error"]["code"])


def scope_of(target: str, method: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """The scope a connection would make of a request."""
    raw_path, _, query = target.partition("?")
    fields = {"host": "api.example.org", **headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": raw_path,
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in fields.items()],
        "client": ("192.0.2.7", 50_000),
        "server": ("127.0.0.1", 8402),
    }


class Conversation:
    """One request under way."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.arriving: asyncio.Queue[Message] = asyncio.Queue()

    async def head(self) -> Message:
        """Wait for the head of the answer."""
        message = await self._next()
        assert message["type"] == "http.response.start"
        return message

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        while True:
            message = await self._next()
            assert message["type"] == "http.response.body"
            yield message.get("body", b"")
            if not message.get("more_body", False):
                return

    def leave(self) -> None:
        """Go away, as a peer does that closes its connection."""
        self.arriving.put_nowait({"type": "http.disconnect"})

    async def _next(self) -> Message:
        async with asyncio.timeout(PATIENCE_S):
            return await self.sent.get()


@asynccontextmanager
async def conversing(app: ASGIApp, scope: dict[str, Any], body: bytes = b"") -> AsyncIterator[Conversation]:
    """Ask an application and talk to it while it answers; what it raises is raised on leaving."""
    conversation = Conversation()
    conversation.arriving.put_nowait({"type": "http.request", "body": body, "more_body": False})

    async def send(message: Message) -> None:
        conversation.sent.put_nowait(message)

    task = asyncio.ensure_future(app(scope, conversation.arriving.get, send))
    try:
        yield conversation
        async with asyncio.timeout(PATIENCE_S):
            await task
    finally:
        task.cancel()


async def ask(
    app: ASGIApp,
    target: str,
    method: str = "GET",
    *,
    key: str | None = None,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    **named: str,
) -> Reply:
    """Ask and wait for the whole answer. Headers may be named as arguments, underscores standing for hyphens."""
    fields = {**(headers or {}), **{name.replace("_", "-"): value for name, value in named.items()}}
    if key is not None:
        fields["authorization"] = f"Bearer {key}"
    async with conversing(app, scope_of(target, method, fields), body) as conversation:
        head = await conversation.head()
        whole = b"".join([piece async for piece in conversation.pieces()])
    answered = {name.decode().lower(): value.decode("latin-1") for name, value in head["headers"]}
    return Reply(head["status"], answered, whole)
