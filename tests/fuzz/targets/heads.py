"""Heads that come again, to a whole application: what is remembered of them may change no answer.

An input is what arrives piece by piece on a connection, NULs between the pieces; the piece `!` has every token
forgotten meanwhile. It is said to connections that remember their last head, often enough for each of them
to be known, and to connections that read every head.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import uvicorn
from uvicorn.server import ServerState

from service import base62
from service.http.app import App
from service.http.fast_path import FastPath
from service.http.protocol import VerdictProtocol
from service.http.reader import BODY
from service.routes.call import Call
from service.wire.envelope import Answer
from tests.fakes.clock import START_MS
from tests.fuzz.peer import Peer
from tests.fuzz.target import Target
from tests.http.stage import RISK, Desk, Stage, staged

_PIECES: Final = 4
_FORGET: Final = b"!"
_PATIENCE: Final = 2_000
_TURNS: Final = 60
"""Of the loop, that a body is waited for which may never come."""

_WHO: Final = "/api/cli/coin/risk/ETH"
"""Answered without being counted, so that nothing has to be durable first."""

_PAUSE_S: Final = 0.0002
_ID: Final = re.compile(rb"x-request-id: ([^\r]*)\r\n")
_SEED: Final = 8402
_USERS: Final = 2


class Whole(NamedTuple):
    """An application over a store of its own, and what it takes to hold it to its word.

    Attributes:
        held: What is let go of with it: nothing, as long as the process lives.
        keys: Of two users, the same in every process.
        users: What an answer to one of them says, and to nobody else.
    """

    stage: Stage
    loop: asyncio.AbstractEventLoop
    held: AsyncExitStack
    keys: tuple[bytes, ...]
    users: tuple[bytes, ...]


def _tell_who(_: Desk, call: Call[Any, Any]) -> Answer:
    """Answer with whom the answer is for."""
    symbol = call.parameters.symbol
    if symbol == "BROKEN":
        raise ZeroDivisionError
    return Answer({"symbol": symbol, "userId": call.known_caller().user_id}, START_MS, counted=symbol == "BTC")


@cache
def whole() -> Whole:
    """Open it, once a process."""
    loop, held = asyncio.new_event_loop(), AsyncExitStack()
    random = Random(_SEED)  # noqa: S311 - the keys of nobody

    def draw(length: int) -> str:
        return "".join(random.choices(base62.ALPHABET, k=length))

    async def open_it() -> tuple[Stage, list[str]]:
        unbounded = {"rate_per_minute": 1_000_000_000, "rate_burst": 1_000_000_000}
        folder = Path(held.enter_context(TemporaryDirectory()))
        with patch.object(Desk, "ready", _tell_who):
            stage = await held.enter_async_context(staged(folder, **unbounded))
        with patch.object(base62, "random_text", draw):
            return stage, [await stage.key("pro") for _ in range(_USERS)]

    opened: list[tuple[Stage, list[str]]] = []
    # Its threads are daemons too, then: they end with the process, which nobody tells to close anything.
    opener = Thread(target=lambda: opened.append(loop.run_until_complete(open_it())), daemon=True)
    opener.start()
    opener.join()
    stage, drawn = opened[0]
    keys = tuple(key.encode() for key in drawn)
    return Whole(stage, loop, held, keys, (b'"userId":1}', b'"userId":2}'))


def converse(app: App, pieces: Iterable[bytes]) -> list[bytes]:
    """What is answered to pieces that arrive one after another, for each connection: the next where one was ended."""
    there = whole()
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, proxy_headers=False)
    config.load()
    said: list[bytes] = []
    fast_path = FastPath(app)

    async def arrive() -> None:
        left = iter(pieces)
        while (piece := next(left, None)) is not None:
            state, peer = ServerState(), Peer()
            connection = VerdictProtocol(config, state, fast_path, there.loop)
            connection.connection_made(peer)
            while piece is not None:
                if piece == _FORGET:
                    there.stage.access.authenticator.clear_cache()
                else:
                    connection.data_received(piece)
                    await _answered(connection, peer)
                if peer.ended:
                    break
                piece = next(left, None)
            connection.connection_lost(None)
            for task in tuple(state.tasks):
                task.cancel()
            await asyncio.gather(*state.tasks, return_exceptions=True)
            said.append(_without_ids(peer.said))

    there.loop.run_until_complete(arrive())
    return said


async def _answered(connection: VerdictProtocol, peer: Peer) -> None:
    """Wait until all that has arrived whole is answered."""
    for turn in range(_PATIENCE):
        if peer.ended or connection._answering is None:
            return
        if turn > _TURNS and connection._reader.phase == BODY:
            return
        await asyncio.sleep(0 if turn < _TURNS else _PAUSE_S)
    raise AssertionError("no answer comes")


def _without_ids(said: bytes) -> bytes:
    for request_id in _ID.findall(said):
        said = said.replace(request_id, b"ID")
    return said


def _often(pieces: list[bytes]) -> Iterator[bytes]:
    """Each until it is known, then all of them in turn, twice."""
    for piece in pieces:
        yield from [piece] * 3
    yield from pieces * 2


def read_heads(data: bytes) -> None:
    """Heads that come again get what they get when they come first, and nobody gets another's."""
    there = whole()
    pieces = [piece for piece in data.split(b"\0") if piece][:_PIECES]
    remembered = converse(there.stage.app, _often(pieces))
    with patch.object(VerdictProtocol, "_note_head", lambda *_: None):
        first = converse(there.stage.app, _often(pieces))
    assert remembered == first, f"as known: {remembered!r}, as read: {first!r}"
    for key, user in zip(there.keys, there.users, strict=True):
        assert key in b"".join(pieces) or not any(user in each for each in remembered), f"{user!r} is told others"


def _head(target: str, key: bytes = b"", *lines: bytes, end: bytes = b"\r\n") -> bytes:
    bearer = [b"Authorization: Bearer " + key] if key else []
    fields = b"".join(line + b"\r\n" for line in (b"Host: api.example.org", *bearer, *lines))
    return f"GET {target} HTTP/1.1\r\n".encode() + fields + end


def _conversations() -> Iterable[bytes]:
    one, other = whole().keys
    manifest = _head("/api/cli/manifest")
    yield b"\0".join((_head(_WHO, one), _head(_WHO, other), _head(_WHO), manifest))
    yield b"\0".join((_head(RISK, one), _head(RISK, one), _FORGET, _head(RISK, other)))
    yield b"\0".join((_head(_WHO, one[:-1] + b"x"), _head(_WHO, one), _head(_WHO, other)))
    yield b"\0".join((_head(_WHO, one) + _head(_WHO, other), _head(_WHO, one)[:40], _head(_WHO, one)[40:], manifest))
    yield b"\0".join((_head(_WHO, one, b"Connection: close"), _head(_WHO, one), _head(_WHO, one, b"Origin: https://a")))
    yield b"\0".join((_head(_WHO, one, b"Content-Length: 4"), b"GET ", _head(_WHO, other), manifest * 2))
    yield b"\0".join((_head(_WHO, one).replace(b"1.1", b"1.0"), _head(_WHO, one, end=b"\r\n\r\n"), _head(_WHO, other)))
    yield b"\0".join((_head(_WHO + "?limit=1", one), _head("/api/cli/coin/risk/BROKEN", other), _head(_WHO, other)))
    yield b"\0".join((_head(_WHO, one, b"Authorization: Bearer " + other), _head(_WHO, other), _head(_WHO, one)))


_WORDS: Final = (b"\0", b"\0!\0", b"\r\n\r\n", b"GET ", b"Host: ", b"Connection: close\r\n", b"Content-Length: 1\r\n")

TARGETS = (Target("heads.again", read_heads, _conversations, _WORDS, most=1_600),)
