"""A language model on loopback that speaks as OpenAI-compatible servers do, and writes what a test wants it to.

Beside what it writes, it can do everything that `tests/upstream/faults.py` can do to an answer.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.upstream.conftest import listening

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
Author = str | Callable[[Any], str]
"""A text, or what makes one of the data that the model is told."""

PATIENCE_S = 30.0


class Model:
    """What a running model was asked, and the strings to pull.

    Attributes:
        url: Its base URL.
        answer: Answers requests.
        asked: Bodies, as they came.
        headers: Their headers, by lower-case name.
        left: Set once a request was given up by who had asked.
    """

    def __init__(self) -> None:
        self.url = ""
        self.answer: Answer = writes("Nothing to add to the above.")
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.came = asyncio.Event()
        self.left = asyncio.Event()

    @property
    def data(self) -> Any:
        """What the last request told as data."""
        return data_of(self.asked[-1])

    async def complete(self, request: web.Request) -> web.StreamResponse:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.asked.append(await request.json())
        self.came.set()
        try:
            return await self.answer(request)
        except (asyncio.CancelledError, ConnectionError):
            self.left.set()
            raise


def data_of(body: Any) -> Any:
    """The data of a request: what stands between the only pair of tags."""
    (told,) = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
    before, data, after = told.replace("</data>", "<data>").split("<data>")
    assert (before, after) == ("", "")
    return json.loads(data)


def chunk(text: str | None = None, finish: str | None = None, usage: Any = None) -> bytes:
    """An event of a stream."""
    choices = [] if usage else [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}]
    return event({"id": "x", "object": "chat.completion.chunk", "choices": choices, "usage": usage})


def event(body: object) -> bytes:
    return b"data: " + (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n\n"


def used(read: Any, written: Any) -> Any:
    return {"prompt_tokens": read, "completion_tokens": written}


END = event(b"[DONE]")


def writes(author: Author, *, finish: str | None = "stop", usage: Any = None, end: bytes = END) -> Answer:
    """Write a text, a few characters at a time, as such servers do."""

    async def write(request: web.Request) -> web.StreamResponse:
        text = author if isinstance(author, str) else author(data_of(await request.json()))
        pieces = [chunk(text[at : at + 7]) for at in range(0, len(text), 7)]
        last = [chunk(finish=finish), *([chunk(usage=usage)] if usage else []), end]
        return await _send(request, [b": a comment\n\n", chunk(""), *pieces, *last])

    return write


def sends(*events: bytes, content_type: str = "text/event-stream", **headers: str) -> Answer:
    """Send these bytes."""

    async def send(request: web.Request) -> web.StreamResponse:
        return await _send(request, events, content_type, headers)

    return send


def hangs_after(*events: bytes) -> Answer:
    """Send these, and nothing more for ever."""

    async def hang(request: web.Request) -> web.StreamResponse:
        await _send(request, events)
        await asyncio.Event().wait()
        raise AssertionError

    return hang


async def drips(request: web.Request) -> web.StreamResponse:
    """Write for ever, a little at a time."""
    response = await _send(request, [])
    while True:
        await response.write(chunk("and "))
        await asyncio.sleep(0.005)


async def pours(request: web.Request) -> web.StreamResponse:
    """Write for ever, as fast as it can."""
    response = await _send(request, [])
    while True:
        await response.write(chunk("and " * 5_000))


async def breaks_off(request: web.Request) -> web.StreamResponse:
    """End the connection in the middle of a word."""
    response = await _send(request, [chunk("Funding is"), chunk(" pos")[:-20]])
    assert request.transport is not None
    request.transport.abort()
    return response


async def _send(
    request: web.Request, events: Sequence[bytes], content_type: str = "text/event-stream", headers: Any = None
) -> web.StreamResponse:
    named = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
    response = web.StreamResponse(headers={"Content-Type": content_type, **named})
    await response.prepare(request)
    for one in events:
        await response.write(one)
    return response


@asynccontextmanager
async def model() -> AsyncIterator[Model]:
    """Run one in this loop."""
    it = Model()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", it.complete)
    async with listening(app) as url:
        it.url = f"{url}/v1"
        yield it
