"""The request that comes again: counted and answered as before without being read, and nothing known is believed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from service.http.gate import AnswerEndpoint
from service.http.protocol import LONGEST_REMEMBERED
from service.http.reader import RequestReader
from service.http.request import RequestContext
from service.http.response import Response
from service.wire.envelope import Answer
from tests.fakes.asgi import Reply, scope_of
from tests.fakes.clock import FakeClock
from tests.http.stage import OFFER, PRICES, RISK, SLOW, TIER, staged
from tests.http.test_fast_path import bearer, comparable, request
from tests.http.wire import Peer, Wire, served, until

MANIFEST = "/api/cli/manifest"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is read by the parser."""
    seen: list[bytes] = []
    feed = RequestReader.feed

    def noting(reader: RequestReader, data: bytes) -> None:
        seen.append(data)
        feed(reader, data)

    monkeypatch.setattr(RequestReader, "feed", noting)
    return seen


async def again(peer: Peer, head: bytes, times: int) -> list[int]:
    """Ask so often on one connection; the statuses."""
    statuses = []
    for _ in range(times):
        await peer.say(head)
        statuses.append((await peer.reply()).status)
    return statuses


def but_for_what_is_left(reply: Reply) -> tuple[int, dict[str, str], Any]:
    """What is the same each time."""
    status, fields, body = comparable(reply)
    return status, {name: value for name, value in fields.items() if name != "ratelimit"}, body


def remembered(wire: Wire) -> list[bytes]:
    """The heads that open connections remember."""
    connections = [vars(connection)["_repeatable"] for connection in wire.state.connections]
    return [last.exchange.head for last in connections if last]


async def known_to(wire: Wire, peer: Peer, head: bytes) -> None:
    """Have a head known: its token is looked up, it is read once more, and then it is not read."""
    await again(peer, head, 2)
    assert head in remembered(wire)


@pytest.mark.parametrize(("target", "named"), [(RISK, {}), (MANIFEST, {}), (RISK, {"Origin": "https://app.example"})])
async def test_a_head_that_comes_again_is_not_read_and_gets_the_same_answer(
    tmp_path: Path, read: list[bytes], target: str, named: dict[str, str]
) -> None:
    async with staged(tmp_path, cors_origins=("https://app.example",)) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(target, **bearer(await stage.key()), **named)
        await peer.say(head)
        first = await peer.reply()
        for _ in range(4):
            await peer.say(head)
            reply = await peer.reply()
            assert but_for_what_is_left(reply) == but_for_what_is_left(first)
            assert reply.headers["x-request-id"] != first.headers["x-request-id"]
            assert reply.headers.keys() == first.headers.keys()
        assert len(read) == (1 if target == MANIFEST else 2)
        assert await stage.used() == ([] if target == MANIFEST else [("coin.risk", 5)])
        assert wire.state.total_requests == 5
        peer.close()


async def test_each_connection_remembers_for_itself_and_each_of_its_calls_is_counted(
    tmp_path: Path, read: list[bytes]
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        head = request(RISK, **bearer(await stage.key("pro")))
        await known_to(wire, await wire.connect(), head)
        peers = [await wire.connect() for _ in range(10)]
        statuses = await asyncio.gather(*(again(peer, head, 5) for peer in peers))
        assert statuses == [[200] * 5] * 10
        assert await stage.used() == [("coin.risk", 52)]
    assert len(read) == 2 + len(peers)


async def test_a_spent_caller_gets_its_402_by_a_head_that_is_known(tmp_path: Path, read: list[bytes]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        assert await again(peer, head, 14) == [200] * 10 + [402] * 4
        assert await stage.used() == [("coin.risk", 10)]
        peer.close()
    assert len(read) == 2


async def test_a_token_that_has_ended_is_refused_though_its_head_is_known(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = await stage.key()
        peer, head = await wire.connect(), request(RISK, **bearer(key))
        await known_to(wire, peer, head)
        (row,) = await stage.admin.list_keys()
        await stage.admin.revoke_key(str(row.prefix))
        await stage.access.authenticator.catch_up()
        assert await again(peer, head, 2) == [401, 401]
        assert await stage.used() == [("coin.risk", 2)]
        peer.close()


async def test_the_request_rate_counts_heads_that_are_known(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=1, rate_burst=4) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(MANIFEST)
        assert await again(peer, head, 6) == [200] * 4 + [429] * 2
        peer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [
        request(MANIFEST, Connection="close"),
        request(MANIFEST).replace(b"HTTP/1.1", b"HTTP/1.0"),
        request(MANIFEST, X_Long="x" * LONGEST_REMEMBERED),
        request(MANIFEST) * 2,
        request(MANIFEST, Content_Length="4") + b"\r\n\r\n",
        request(MANIFEST, Transfer_Encoding="chunked") + b"0\r\n\r\n",
        request(MANIFEST).replace(b"GET", b"HEAD"),
        request(PRICES),
        request(SLOW),
        request(TIER),
        request("/nowhere"),
        request(MANIFEST + "?colour=red"),
    ],
)
async def test_what_is_not_one_whole_get_that_passed_its_gates_is_not_remembered(tmp_path: Path, head: bytes) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer = await wire.connect()
        await peer.say(head)
        await until(lambda: wire.state.total_requests > 0)
        assert remembered(wire) == []
        peer.close()


async def test_each_head_on_one_connection_has_its_own_callers_answer(tmp_path: Path, read: list[bytes]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer = await wire.connect()
        free, pro = [request(RISK, **bearer(await stage.key(tier))) for tier in ("free", "pro")]
        await known_to(wire, peer, free)
        await known_to(wire, peer, pro)
        left: list[str | None] = []
        for head in (free, pro, pro, free, free, request(MANIFEST), free):
            await peer.say(head)
            left.append((await peer.reply()).headers.get("ratelimit"))
        assert left == [f'"questions";r={n}' if n else None for n in (7, 0, 0, 6, 5, 0, 4)]
        assert await stage.used() == [("coin.risk", 10)]
        peer.close()
    assert len(read) == 8


async def test_a_head_with_its_token_goes_with_its_connection(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(wire, peer, head)
        await again(peer, head, 1)
        (connection,) = wire.state.connections
        assert remembered(wire) == [head]
        peer.close()
        await until(lambda: not wire.state.connections)
        assert vars(connection)["_repeatable"] is None


async def test_a_head_in_two_pieces_is_read(tmp_path: Path, read: list[bytes]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(MANIFEST)
        assert await again(peer, head, 2) == [200, 200]
        await peer.say(head[:10])
        await until(lambda: len(read) == 2)
        await peer.say(head[10:])
        assert (await peer.reply()).status == 200
        # The parser stands where it stood: what follows is understood.
        assert await again(peer, head, 1) == [200]
        peer.close()
    assert read == [head, head[:10], head[10:]]


async def test_the_rest_of_a_request_that_looks_like_a_known_head_is_its_body(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(MANIFEST)
        assert await again(peer, head, 2) == [200, 200]
        await peer.say(request(RISK, Content_Length=str(len(head))))
        await until(lambda: wire.state.total_requests == 3)  # answered: nothing of the body is needed for that
        await peer.say(head)
        assert (await peer.reply()).status == 403
        assert await again(peer, head, 1) == [200]
        assert wire.state.total_requests == 4
        peer.close()


async def test_a_known_head_behind_an_answer_that_is_due_waits_for_its_turn(tmp_path: Path, read: list[bytes]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        peer, head = await wire.connect(), request(RISK, **key)
        await known_to(wire, peer, head)
        stage.desk.gate.clear()
        await peer.say(request(SLOW, **key))
        await until(lambda: stage.desk.entered == 1)
        (connection,) = wire.state.connections
        connection.data_received(head)
        assert stage.desk.calls == 2
        stage.desk.gate.set()
        assert [(await peer.reply()).status for _ in range(2)] == [200, 200]
        assert len(read) == 4
        peer.close()


async def test_a_reader_that_is_behind_is_not_answered_the_shortest_way(tmp_path: Path, read: list[bytes]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(MANIFEST)
        assert await again(peer, head, 2) == [200, 200]
        (connection,) = wire.state.connections
        connection.pause_writing()
        await peer.say(head)
        await until(lambda: len(read) == 2)
        connection.resume_writing()
        assert (await peer.reply()).status == 200
        peer.close()


async def test_a_peer_that_leaves_while_its_known_head_is_counted_keeps_its_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(wire, peer, head)
        (connection,) = wire.state.connections
        connection.data_received(head)
        connection.connection_lost(None)
        connection.transport.abort()
        await stage.meter.charge(await stage.access.authenticator.authenticate(await stage.key()), "later")
        await stage.db.write(lambda _: None)
        assert await stage.used() == [("coin.risk", 2), ("later", 1)]
        peer.close()


async def test_a_peer_that_has_said_all_gets_the_answer_to_a_known_head(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(wire, peer, head)
        peer.writer.write(head)
        peer.writer.write_eof()
        assert [reply.status for reply in await peer.rest()] == [200]


async def test_the_end_of_the_service_waits_for_the_answer_to_a_known_head(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(wire, peer, head)
        (connection,) = wire.state.connections
        connection.data_received(head)
        connection.shutdown()
        (reply,) = await peer.rest()
        assert (reply.status, reply.headers["connection"]) == (200, "close")


async def test_what_goes_wrong_behind_a_known_head_becomes_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(wire, peer, head)
        monkeypatch.setattr(stage.meter, "exhausted_status", fail)
        await peer.say(head)
        reply = await peer.reply()
        assert (reply.status, reply.code) == (500, "INTERNAL")
        assert b"secret" not in reply.body
        peer.close()


def test_who_asks_in_one_millisecond_for_what_a_desk_keeps_gets_the_same_bytes() -> None:
    clock, kept = FakeClock(), Answer(Raw(b"{}"), 0)
    answers = [kept, kept, Answer(Raw(b"[]"), 0), kept]
    endpoint = AnswerEndpoint(OFFER["coin.risk"], lambda _: answers.pop(0), clock, "fixtures")
    asked = RequestContext(scope_of(RISK, "GET", {}))
    first = endpoint.respond(asked)
    assert isinstance(first, Response)
    assert endpoint.respond(asked) is first
    assert getattr(endpoint.respond(asked), "body") != first.body  # noqa: B009
    clock.set_wall(clock.now_ms() + 1)
    assert getattr(endpoint.respond(asked), "body") != first.body  # noqa: B009
