"""Heads that come again: counted and answered as before without being read, and nothing that was known is believed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from service.http import heads
from service.http.heads import Heads, is_one_head, mark_of
from service.http.reader import Reader
from service.http.serve import Serve
from service.wire.envelope import Answer
from tests.fakes.asgi import Reply
from tests.fakes.clock import FakeClock
from tests.http.stage import OFFER, PRICES, RISK, SLOW, TIER, Stage, staged
from tests.http.test_lane import bearer, comparable, request
from tests.http.wire import Peer, served, until

MANIFEST = "/api/cli/manifest"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is read by the parser."""
    seen: list[bytes] = []
    feed = Reader.feed

    def noting(reader: Reader, data: bytes) -> None:
        seen.append(data)
        feed(reader, data)

    monkeypatch.setattr(Reader, "feed", noting)
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


async def known_to(stage: Stage, peer: Peer, head: bytes) -> None:
    """Have a head known: its token is looked up, it is read once more, and then it is not read."""
    await again(peer, head, 2)
    assert mark_of(head) in stage.app.heads._known


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


async def test_a_head_is_known_on_every_connection_and_each_of_its_calls_is_counted(
    tmp_path: Path, read: list[bytes]
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        head = request(RISK, **bearer(await stage.key("pro")))
        await known_to(stage, await wire.connect(), head)
        peers = [await wire.connect() for _ in range(10)]
        statuses = await asyncio.gather(*(again(peer, head, 5) for peer in peers))
        assert statuses == [[200] * 5] * 10
        assert await stage.used() == [("coin.risk", 52)]
    assert len(read) == 2


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
        await known_to(stage, peer, head)
        (row,) = await stage.registrar.list_keys()
        await stage.registrar.revoke_key(str(row.prefix))
        await stage.access.doorkeeper.catch_up()
        assert await again(peer, head, 2) == [401, 401]
        assert await stage.used() == [("coin.risk", 2)]
        peer.close()


async def test_the_request_rate_counts_heads_that_are_known(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=1, rate_burst=4) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(MANIFEST)
        assert await again(peer, head, 6) == [200] * 4 + [429] * 2
        peer.close()


@pytest.mark.parametrize(
    "head",
    [
        request(MANIFEST, Connection="close"),
        request(MANIFEST).replace(b"HTTP/1.1", b"HTTP/1.0"),
        request(MANIFEST, X_Long="x" * heads.LONGEST),
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
        assert stage.app.heads._known == {}
        peer.close()


async def test_each_head_on_one_connection_has_its_own_callers_answer(tmp_path: Path, read: list[bytes]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer = await wire.connect()
        free, pro = [request(RISK, **bearer(await stage.key(tier))) for tier in ("free", "pro")]
        await known_to(stage, peer, free)
        await known_to(stage, peer, pro)
        left: list[str | None] = []
        for head in (free, pro, pro, free, free, request(MANIFEST), free):
            await peer.say(head)
            left.append((await peer.reply()).headers.get("ratelimit"))
        assert left == [f'"questions";r={n}' if n else None for n in (7, 0, 0, 6, 5, 0, 4)]
        assert await stage.used() == [("coin.risk", 10)]
        peer.close()
    assert len(read) == 5


async def test_a_head_with_its_token_goes_with_its_connection(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(stage, peer, head)
        await again(peer, head, 1)
        (connection,) = wire.state.connections
        assert vars(connection)["_again"].head == head
        peer.close()
        await until(lambda: not wire.state.connections)
        assert vars(connection)["_again"] is None


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
        await known_to(stage, peer, head)
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
        await known_to(stage, peer, head)
        (connection,) = wire.state.connections
        connection.data_received(head)
        connection.connection_lost(None)
        connection.transport.abort()
        await stage.meter.charge(await stage.access.doorkeeper.admit(await stage.key()), "later")
        await stage.db.write(lambda _: None)
        assert await stage.used() == [("coin.risk", 2), ("later", 1)]
        peer.close()


async def test_a_peer_that_has_said_all_gets_the_answer_to_a_known_head(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(stage, peer, head)
        peer.writer.write(head)
        peer.writer.write_eof()
        assert [reply.status for reply in await peer.rest()] == [200]


async def test_the_end_of_the_service_waits_for_the_answer_to_a_known_head(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        peer, head = await wire.connect(), request(RISK, **bearer(await stage.key()))
        await known_to(stage, peer, head)
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
        await known_to(stage, peer, head)
        monkeypatch.setattr(stage.meter, "spent", fail)
        await peer.say(head)
        reply = await peer.reply()
        assert (reply.status, reply.code) == (500, "INTERNAL")
        assert b"secret" not in reply.body
        peer.close()


async def test_no_more_heads_are_remembered_than_there_is_room_for_and_no_token_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "MOST", 3)
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = await stage.key()
        peer = await wire.connect()
        secret = {"Cookie": f"session={key}", "X_Api_Key": key, "X_Forwarded_For": "203.0.113.9"}
        every = [request(RISK, **bearer(key), **secret, X_Number=str(number)) for number in range(5)]
        for head in every:
            await again(peer, head, 2)
        assert list(stage.app.heads._known) == [mark_of(head) for head in every[2:]]
        for known in stage.app.heads._known.values():
            assert known.exchange.headers.keys() == {b"host", b"x-forwarded-for"}
            assert key not in repr((known.scope, vars(known.exchange)))
        peer.close()


async def test_a_head_that_came_through_more_proxies_than_there_are_is_answered_and_not_remembered(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        head = request(MANIFEST, **bearer(await stage.key()))[:-2] + b"X-Forwarded-For: 203.0.113.9\r\n" * 16 + b"\r\n"
        peer = await wire.connect()
        assert await again(peer, head, 3) == [200, 200, 200]
        assert stage.app.heads._known == {}
        peer.close()


def test_who_asks_in_one_millisecond_for_what_a_desk_keeps_gets_the_same_bytes() -> None:
    clock, kept = FakeClock(), Answer(Raw(b"{}"), 0)
    serve = Serve(OFFER["coin.risk"], lambda _: kept, clock, "fixtures")
    first = serve.written(kept)
    assert serve.written(kept) is first
    assert serve.written(Answer(Raw(b"[]"), 0)).body != first.body
    clock.set_wall(clock.now_ms() + 1)
    assert serve.written(kept).body != first.body


def test_only_what_ends_with_the_one_end_of_a_head_is_one_head() -> None:
    head = request(MANIFEST)
    assert is_one_head(head)
    assert not any(is_one_head(data) for data in (b"", b"\r\n", head[:-1], head + b"\r\n\r\n", head * 2, head + b"x"))
    assert mark_of(head) != mark_of(head.replace(b"api.", b"apj."))
    assert Heads().find(mark_of(head)) is None
