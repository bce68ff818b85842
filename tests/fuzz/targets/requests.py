"""What comes over a connection: bytes of requests, queries, paths, bodies, headers that are lists."""

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from types import SimpleNamespace
from typing import Final

import msgspec
import uvicorn
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from service.access.rate_limiter import RequestLimiter
from service.errors import ServiceError
from service.http import app, negotiation
from service.http.gates.body import decode_body
from service.http.gates.parameters import ParameterDecoder
from service.http.protocol import VerdictProtocol
from service.networks import network_of
from service.wire.offers import OFFERS
from tests.fuzz.peer import Peer
from tests.fuzz.target import Target, check_sound
from tests.http.wire import echo

_TURNS: Final = 3
"""Of the loop, between two pieces: an answer that waits for nobody may or may not have been written."""

_SIZES: Final = (3, 50)
"""Of pieces."""

_LOOP: Final = asyncio.new_event_loop()
_ID: Final = re.compile(rb"x-request-id: [^\r]*\r\n")
_LENGTH: Final = re.compile(rb"content-length: ([0-9]+)\r\n")
_HEAD: Final = re.compile(rb"HTTP/1\.1 [1-5][0-9]{2} [A-Za-z ]+\r\n(?:[a-z0-9-]+: [^\r\n]*\r\n)*\r\n")
_BODIED: Final = [offer for offer in OFFERS if offer.body is not None]


async def _repeat(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what was asked, and tell an answer without a body by its head."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"].append((b"x-of", scope["method"].encode()))
        await send(message)

    await echo(scope, receive, told)


_CONFIG: Final = uvicorn.Config(_repeat, ws="none", lifespan="off", log_config=None)
_CONFIG.load()


def converse(pieces: Iterable[bytes]) -> bytes:
    """What a connection answers to pieces that arrive one after another, but for what is new each time."""
    state, peer = ServerState(), Peer()
    connection = VerdictProtocol(_CONFIG, state, None, _LOOP)

    async def arrive() -> None:
        connection.connection_made(peer)
        for piece in pieces:
            if not peer.ended:
                connection.data_received(piece)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
        silent = 0
        while silent < 4 * _TURNS:
            said = len(peer.said)
            await asyncio.sleep(0)
            silent = silent + 1 if len(peer.said) == said else 0
        connection.connection_lost(None)
        if state.tasks:
            await asyncio.gather(*state.tasks, return_exceptions=True)

    _LOOP.run_until_complete(arrive())
    return _ID.sub(b"", peer.said)


def read_connection(data: bytes) -> None:
    """Requests in one piece and in many mean the same, and every answer is one."""
    whole = list(answers(converse([data])))
    for size in _SIZES:
        parts = list(answers(converse(data[at : at + size] for at in range(0, len(data), size))))
        assert parts == whole, f"in pieces of {size}: {parts!r}, in one: {whole!r}"


def answers(said: bytes) -> Iterable[bytes]:
    """Answers one after another, each with its head; of a refusal, which is JSON, only that it is one.

    Of two things that are wrong, the one that is met first is told of, and which that is, pieces decide.
    """
    while said:
        head = _HEAD.match(said)
        assert head, f"no head of an answer: {said[:200]!r}"
        length = _LENGTH.search(head[0])
        size = int(length[1]) if length and b"\r\nx-of: HEAD\r\n" not in head[0] else 0
        body, said = said[head.end() : head.end() + size], said[head.end() + size :]
        if b"application/json" in head[0]:
            assert "error" in msgspec.json.decode(body)
            yield b"refused"
        elif b" 100 " not in head[0][:13]:
            yield head[0] + body


def read_target(data: bytes) -> None:
    """A route, the last segment of its path, and a query."""
    offer = OFFERS[data[0] % len(OFFERS)] if data else OFFERS[0]
    segment, _, query = data[1:].partition(b"?")
    with suppress(ServiceError):
        values = {}
        if "{" in offer.path:
            values[offer.path.rpartition("{")[2].rstrip("}")] = app._decode(segment)
        check_sound(ParameterDecoder(offer).decode(values, query))


def read_body(data: bytes) -> None:
    """A body, for every route that takes one."""
    for offer in _BODIED:
        assert offer.body is not None
        with suppress(ServiceError):
            check_sound(decode_body(offer.body, data))


def read_lists(data: bytes) -> None:
    """`Accept` and `X-Forwarded-For`."""
    scope = {"headers": [(b"accept", data), (b"x-forwarded-for", data)], "client": ("127.0.0.1", 1)}
    assert negotiation.form_of(scope, "json") in negotiation.MEDIA
    negotiation.prefers_html(scope)
    check_sound(network_of(_THROTTLE.host_of(scope)))


_THROTTLE: Final = RequestLimiter(SimpleNamespace(take=lambda _: None), ["127.0.0.0/8", "::1/128"])  # type: ignore[arg-type]


def _conversations() -> Iterable[bytes]:
    host = b"Host: a\r\n"
    yield b"GET /a?b=c HTTP/1.1\r\n" + host + b"\r\nGET /d HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n"
    yield b"POST /a HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n"
    chunked = b"POST /a HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n"
    yield chunked + b"3;x=y\r\nabc\r\n0\r\nTrailer: a\r\n\r\nGET / HTTP/1.1\r\n" + host + b"\r\n"
    yield b"POST /a HTTP/1.1\r\n" + host + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx"
    yield b"GET http://a/b HTTP/1.1\r\n" + host + b"Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n"
    yield b"GET / HTTP/1.1\r\n" + host + b"Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nabGET /"
    yield b"OPTIONS * HTTP/1.1\r\n" + host + b"\r\nHEAD /%41 HTTP/1.1\r\n" + host + b"\r\n"
    yield b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    yield b"CONNECT a:1 HTTP/1.1\r\n" + host + b"\r\n"


def _targets() -> Iterable[bytes]:
    for place, offer in enumerate(OFFERS):
        names = msgspec.structs.fields(offer.parameters)
        query = "&".join(f"{field.encode_name}=BTC" for field in names)
        yield bytes([place]) + b"BTC?" + query.encode()
    yield b"\x03%E2%82%BF%2F?limit=50&cursor=abc&since=2025-07-25T00%3A00%3A00Z&action=history&count=24"


def _bodies() -> Iterable[bytes]:
    yield b'{"messages":[{"role":"user","content":"how is BTC"}],"archetype":"wyckoff","commandContext":"BTC"}'
    yield b'{"deviceId":"0123456789abcdef","messages":[{"role":"user","content":"BTC"}]}'
    yield b'{"message":"a wants you to sign in","signature":"0x' + b"12" * 65 + b'"}'
    yield b'{"name":"a","expiresAt":"2030-01-01T00:00:00Z"}'
    yield b'{"prefix":"verdict_sk_abcdefgh","grace_seconds":60}'


_HTTP = (b"Content-Length: ", b"Transfer-Encoding: chunked\r\n", b" HTTP/1.1\r\n", b"Host: ", b"\r\n\r\n", b"Upgrade: ")

TARGETS = (
    Target("requests.connection", read_connection, _conversations, _HTTP, most=1_200),
    Target("requests.target", read_target, _targets, (b"&", b"%00", b"%ff", b"=", b"limit=", b"symbol="), most=2_048),
    Target("requests.body", read_body, _bodies, is_json=True, most=65_536),
    Target("requests.lists", read_lists, lambda: [b"text/html, */*;q=0.1", b"[2001:db8::9]:4711, 203.0.113.9:1"]),
)
