"""A language model behind an OpenAI-compatible API: asked once, read as it writes, believed in nothing.

Source: OpenAI API reference, "Create chat completion" and "Chat completion chunk", as vLLM, llama.cpp and Ollama serve
them too.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Annotated, Final, Literal

import aiohttp
import msgspec
from msgspec import Meta, Struct
from yarl import URL

from service import __version__
from service.clock import Clock
from service.formats import sentence
from service.proxies import proxy_address
from service.settings import Secret
from service.upstream.budget import Breaker
from service.upstream.failures import reason_of

LONGEST_LINE: Final = 65_536
LARGEST_ANSWER: Final = 4 * 2**20
"""Bytes: a token comes in an event of two to three hundred."""

_KEPT_OPEN_S: Final = 4.0
_CONNECTIONS: Final = 32
_MOST_HEADERS: Final = 64
_LARGEST_HEADER: Final = 8_190
_MOST_USED: Final = 10_000_000
_DATA: Final = b"data:"
_SILENT: Final = (b":", b"event:", b"id:", b"retry:")
_END: Final = b"[DONE]"


class CompletionError(Exception):
    """A model did not answer. The message is ours: no address, no key, nothing that it said.

    Args:
        said: Why, as a sentence.
        used: Whether tokens may have been used.
    """

    def __init__(self, said: str, *, used: bool) -> None:
        super().__init__(said)
        self.used = used


class ChatMessage(Struct, frozen=True):
    """One message to a model."""

    role: Literal["system", "user"]
    content: str


class Completion(Struct, frozen=True):
    """What a model wrote to its end, and how many tokens it says it read and wrote; null where it does not say."""

    text: str
    tokens: int | None


class ModelEndpoint(Struct, frozen=True):
    """Whom to ask: the API's base URL, the model's name there, a bearer token, and the bounds of an answer."""

    url: str
    model: str
    key: Secret | None
    seconds: float
    tokens: int


class _Usage(Struct):
    prompt_tokens: Annotated[int, Meta(ge=0, le=_MOST_USED)]
    completion_tokens: Annotated[int, Meta(ge=0, le=_MOST_USED)]


class _Delta(Struct):
    content: str | None = None


class _Choice(Struct):
    delta: _Delta
    finish_reason: str | None = None


class _Chunk(Struct):
    choices: Annotated[list[_Choice], Meta(max_length=1)] = []
    usage: _Usage | None = None
    error: object = None


_read_chunk: Final = msgspec.json.Decoder(_Chunk)
_encode: Final = msgspec.json.Encoder().encode


class Completions:
    """A model that can be asked; opened by `open_completions`.

    One request an answer: no redirect, no retry. Who has failed five times in a row is left alone for ten seconds.
    """

    def __init__(self, http: aiohttp.ClientSession, endpoint: ModelEndpoint, clock: Clock) -> None:
        self._http = http
        self._endpoint = endpoint
        self._breaker = Breaker(clock)

    async def complete(self, turns: Sequence[ChatMessage]) -> Completion:
        """Let the model write.

        Args:
            turns: The conversation.

        Raises:
            CompletionError: If it did not write to its end, in time, and within its bounds.
        """
        if self._breaker.wait_s() > 0:
            raise CompletionError("It failed repeatedly and is not asked at the moment.", used=False)
        self._breaker.enter()
        try:
            async with asyncio.timeout(self._endpoint.seconds):
                completion = await self._ask(turns)
        except TimeoutError:
            self._breaker.failed()
            raise CompletionError(f"No complete answer within {self._endpoint.seconds:g} s.", used=True) from None
        except CompletionError:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return completion

    async def _ask(self, turns: Sequence[ChatMessage]) -> Completion:
        body = _encode(
            {
                "model": self._endpoint.model,
                "messages": turns,
                "stream": True,
                "stream_options": {"include_usage": True},
                "temperature": 0,
                "max_tokens": self._endpoint.tokens,
            }
        )
        try:
            url = URL(f"{self._endpoint.url.rstrip('/')}/chat/completions", encoded=True)
            async with self._http.post(url, data=body, allow_redirects=False) as response:
                _check_head(response)
                return await _read(response.content)
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            raise CompletionError(sentence(reason_of(error).text), used=False) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CompletionError(sentence(reason_of(error).text), used=True) from None


@asynccontextmanager
async def open_completions(endpoint: ModelEndpoint, clock: Clock) -> AsyncIterator[Completions]:
    """Open a session to a model, and close it with its connections.

    Args:
        endpoint: Whom to ask.
        clock: Of the pauses after failures.
    """
    headers = {
        "User-Agent": f"verdict/{__version__}",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
    }
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key.text}"
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=_KEPT_OPEN_S),
        timeout=aiohttp.ClientTimeout(total=None),  # the whole of each answer has a deadline
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        read_bufsize=LONGEST_LINE,
        max_line_size=_LARGEST_HEADER,
        max_field_size=_LARGEST_HEADER,
        max_headers=_MOST_HEADERS,
        proxy=proxy_address(endpoint.url),
    ) as http:
        yield Completions(http, endpoint, clock)


def _check_head(response: aiohttp.ClientResponse) -> None:
    if response.status != HTTPStatus.OK:
        # Who refuses a request has not read it to anybody.
        used = response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        raise CompletionError(f"It answered with status {response.status}.", used=used)
    if response.content_type != "text/event-stream":
        raise CompletionError("Its answer is not a stream of events.", used=True)
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise CompletionError("Its answer has a content encoding that was not asked for.", used=True)


async def _read(content: aiohttp.StreamReader) -> Completion:
    """Read events to their end."""
    events, pieces = _Events(), list[str]()
    tokens: int | None = None
    finished: str | None = None
    async for piece in content.iter_any():
        for data in events.feed(piece):
            chunk = _decode(data)
            if chunk.usage:
                tokens = chunk.usage.prompt_tokens + chunk.usage.completion_tokens
            for choice in chunk.choices:
                pieces.append(choice.delta.content or "")
                finished = choice.finish_reason or finished
        if events.ended:
            break
    if finished != "stop":
        said = "Its answer was cut at the token limit." if finished == "length" else "Its answer broke off."
        raise CompletionError(said, used=True)
    return Completion("".join(pieces), tokens or None)


def _decode(data: bytes) -> _Chunk:
    try:
        chunk = _read_chunk.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise CompletionError("Its answer contains an event that cannot be read.", used=True) from None
    if chunk.error is not None:
        raise CompletionError("It reports a failure.", used=True)
    return chunk


class _Events:
    """Takes a stream apart: each event is one line of data, as all who speak this write it.

    Attributes:
        ended: Whether the event that ends them all has come.
    """

    def __init__(self) -> None:
        self.ended = False
        self._taken = 0
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that a piece completes."""
        self._taken += len(piece)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if self._taken > LARGEST_ANSWER or any(len(line) > LONGEST_LINE for line in (*lines, self._rest)):
            raise CompletionError("Its answer is longer than allowed.", used=True)
        for line in lines:
            data = _data_of(line.rstrip(b"\r"))
            self.ended = self.ended or data == _END
            if data and not self.ended:
                yield data


def _data_of(line: bytes) -> bytes:
    if line.startswith(_DATA):
        return line.removeprefix(_DATA).strip()
    if line and not line.startswith(_SILENT):
        raise CompletionError("Its answer contains a line that is not an event.", used=True)
    return b""
