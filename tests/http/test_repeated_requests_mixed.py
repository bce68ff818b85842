"""Heads that are known, among everything else that may come on a connection, in whatever pieces it comes."""

import random
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from service.http.protocol import VerdictProtocol
from service.http.reader import RequestReader
from tests.http.stage import RISK, Stage, staged
from tests.http.test_fast_path import bearer, comparable, request
from tests.http.wire import Wire, served, until

MANIFEST: Final = "/api/cli/manifest"
ROUNDS: Final = 50
LONGEST: Final = 8
END: Final = b"\r\n\r\n"


def sayings(key: str) -> list[bytes]:
    """What is said: heads that are known after a while, and what looks like them, holds them or differs in a byte."""
    known = request(MANIFEST)
    return [
        *[known, request(RISK, **bearer(key)), request(RISK, **bearer(key), Connection="keep-alive")] * 4,
        request(RISK),
        request(RISK + "?x=1", **bearer(key)),
        request("/api/cli/coin/risk/NOWHERE", **bearer(key)),
        request("http://api.example.org" + MANIFEST),
        request(MANIFEST, Expect="100-continue"),
        request(MANIFEST, Connection="Upgrade", Upgrade="h2c"),
        request(MANIFEST, Content_Length="0"),
        request(MANIFEST, Content_Length=str(len(known))) + known,
        request(MANIFEST, Transfer_Encoding="chunked") + b"%x\r\n%b\r\n0\r\n\r\n" % (len(known), known),
        request(MANIFEST, Transfer_Encoding="chunked") + b"0\r\nX: y\r\n\r\n",
        b"\r\n" + known,
        known + b"\r\n",
        known * 2,
    ]


def said(chance: random.Random, key: str) -> list[bytes]:
    """Pieces of a conversation, the same for every key; the last request of it ends the connection."""
    each = chance.choices(sayings(key), k=chance.randint(1, LONGEST))
    each.append(chance.choice([request(MANIFEST, Connection="close"), b"NONSENSE\r\n\r\n"]))
    if chance.random() < 0.25:
        return [b"".join(each)]
    cuts = [(part, chance.choice([0, part.index(END) + len(END), chance.randint(1, 60)])) for part in each]
    return [piece for part, cut in cuts for piece in (part[:cut], part[cut:]) if piece]


def arrived(wire: Wire, expected: int, *, answered: bool) -> bool:
    """Whether a piece has come, and its answer has left if that is waited for; or nothing more is listened to."""
    connections: list[Any] = list(wire.state.connections)
    if any(connection._deaf for connection in connections):
        return True
    waiting = answered and any(connection._answering is not None for connection in connections)
    return wire.heard >= expected and not waiting


async def converse(stage: Stage) -> list[object]:
    """Have the conversations, one after the other; all answers, and what was counted."""
    replies: list[object] = []
    key = await stage.key("pro")
    async with served(stage.app) as wire:
        for number in range(ROUNDS):
            chance = random.Random(number)  # noqa: S311 - a test is to be the same each time
            pieces, peer = said(chance, key), await wire.connect()
            for piece in pieces:
                expected = wire.heard + len(piece)
                await peer.say(piece)
                await until(partial(arrived, wire, expected, answered=chance.choice([False, True])))
            replies.append([comparable(reply) for reply in await peer.rest()])
    return [*replies, await stage.used(), dict(stage.app.answers)]


@pytest.mark.slow
async def test_heads_that_are_known_are_answered_as_if_they_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    feed = RequestReader.feed

    def counting(reader: RequestReader, data: bytes) -> None:
        nonlocal read
        read += 1
        feed(reader, data)

    monkeypatch.setattr(RequestReader, "feed", counting)
    async with staged(tmp_path / "one", rate_per_minute=60_000, rate_burst=60_000) as stage:
        remembering, read_of_some = await converse(stage), read
    monkeypatch.setattr(VerdictProtocol, "_note_head", lambda *_: None)
    async with staged(tmp_path / "other", rate_per_minute=60_000, rate_burst=60_000) as stage:
        assert await converse(stage) == remembering
    assert read_of_some < read - read_of_some, "some of them were known"
