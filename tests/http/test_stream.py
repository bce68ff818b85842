"""A stream in the whole stack: what leaves when, what it costs, who may have it and how many, and how it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.clock import HOUR_MS
from service.errors import ServiceError
from tests.fakes.asgi import Conversation, ask, conversing, scope_of
from tests.fakes.following import OPEN, Lines
from tests.http.stage import PRICES, Stage, staged

MANIFEST = "/api/cli/manifest"
EVENT = b'{"type":"event"}\n'
FREE = 10
MANY = 50


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path) as stage:
        yield stage


class Watch:
    """A stream that somebody reads."""

    def __init__(self, talk: Conversation, lines: Lines) -> None:
        self.lines = lines
        self._talk = talk
        self._pieces = talk.pieces()

    async def next(self) -> bytes:
        """The next piece that holds anything."""
        async for piece in self._pieces:
            if piece:
                return piece
        raise AssertionError("the stream is over")

    async def rest(self) -> bytes:
        """All that comes until the answer is over."""
        return b"".join([piece async for piece in self._pieces])

    def leave(self) -> None:
        self._talk.leave()


@asynccontextmanager
async def watching(stage: Stage, key: str, path: str = PRICES, **headers: str) -> AsyncIterator[Watch]:
    """Follow a stream, its first line read; leave it in the end."""
    fields = {"authorization": f"Bearer {key}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with conversing(stage.app, scope_of(path, "GET", fields)) as talk:
        head = await talk.head()
        assert head["status"] == 200
        watch = Watch(talk, stage.desk.followed[-1])
        assert await watch.next() == OPEN
        yield watch
        watch.leave()
    assert watch.lines.closed


# What leaves.


@pytest.mark.promise("watch.lines", "watch.ndjson")
async def test_lines_leave_as_they_come_and_the_last_one_ends_the_answer(stage: Stage) -> None:
    async with watching(stage, await stage.key(), f"{PRICES}?interval=10&max=3&diff=1") as watch:
        query = watch.lines.call.parameters
        assert (query.stream, query.interval, query.max, query.diff, query.cursor) == ("prices", 10, 3, 1, None)
        for number in range(3):
            watch.lines.say(b'{"type":"event","number":%d}\n' % number)
            assert await watch.next() == b'{"type":"event","number":%d}\n' % number
        watch.lines.say(EVENT)
        watch.lines.say(EVENT)
        assert await watch.next() == EVENT + EVENT
        watch.lines.end("end")
        assert await watch.rest() == b'{"type":"close","reason":"end"}\n'


@pytest.mark.promise("watch.ndjson")
async def test_the_head_says_that_lines_follow_that_no_cache_or_proxy_may_hold_back(stage: Stage) -> None:
    async with conversing(stage.app, scope_of(PRICES, "GET", {"authorization": f"Bearer {await stage.key()}"})) as talk:
        head = await talk.head()
        talk.leave()
    fields = {name.decode(): value.decode() for name, value in head["headers"]}
    assert fields["content-type"] == "application/x-ndjson"
    assert fields["cache-control"] == "private, no-store"
    assert fields["x-accel-buffering"] == "no"
    assert fields["x-data-source"] == "fixtures"
    assert fields["connection"] == "close"
    assert fields["ratelimit"] == '"questions";r=9'
    assert "content-length" not in fields


async def test_a_reader_that_leaves_takes_its_place_with_it(stage: Stage) -> None:
    key = await stage.key("pro")
    async with watching(stage, key):
        assert [lines.closed for lines in stage.desk.followed] == [False]
    before = len(asyncio.all_tasks())
    for _ in range(MANY):
        async with watching(stage, key):
            pass
    assert all(lines.closed for lines in stage.desk.followed)
    assert len(stage.desk.followed) == 1 + MANY
    assert len(asyncio.all_tasks()) == before
    assert not stage.access.stream_expiry._open


# What it costs.


@pytest.mark.promise("watch.free")
async def test_a_stream_costs_one_question_before_its_first_line_and_never_more(stage: Stage) -> None:
    async with watching(stage, await stage.key()) as watch:
        assert await stage.used() == [("watch", 1)]
        for _ in range(5):
            watch.lines.say(EVENT)
            assert await watch.next() == EVENT
    assert await stage.used() == [("watch", 1)]


async def test_a_stream_that_was_cut_at_once_is_no_refund(stage: Stage) -> None:
    key = await stage.key()
    for _ in range(FREE):
        async with watching(stage, key):
            pass
    assert await stage.used() == [("watch", FREE)]
    assert (await ask(stage.app, PRICES, key=key)).status == 429


@pytest.mark.promise("watch.429", "watch.not-payable", "quota.details")
@pytest.mark.parametrize("payment", [{}, {"payment-signature": "e30="}, {"x-payment": "anything"}])
async def test_without_a_question_left_it_is_429_before_the_first_line_whatever_is_offered(
    stage: Stage, payment: dict[str, str]
) -> None:
    key = await stage.key()
    for _ in range(FREE):
        async with watching(stage, key):
            pass
    followed = len(stage.desk.followed)
    for _ in range(2):  # the second time it is known by heart
        reply = await ask(stage.app, PRICES, key=key, headers=payment)
        assert (reply.status, reply.code) == (429, "RATE_LIMITED")
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["retry-after"] == str(12 * 3600)
        assert reply.json["error"]["details"] == {
            "tier": "free", "used": FREE, "limit": FREE, "quota": {"limit": FREE, "wall": "grant"},
            "reset_at": "2025-07-26T00:00:00.000Z",
        }  # fmt: skip
        assert "payment-required" not in reply.headers
    assert len(stage.desk.followed) == followed, "nobody began to follow"
    assert stage.facilitator.asked == []


async def test_a_payment_that_comes_with_it_is_neither_taken_nor_looked_at(stage: Stage) -> None:
    key = await stage.key()
    async with watching(stage, key, payment_signature="not even base64"):
        assert await stage.used() == [("watch", 1)]
    assert stage.facilitator.asked == []


@pytest.mark.promise("watch.lines")
async def test_head_has_the_head_alone_costs_nothing_and_opens_nothing(stage: Stage) -> None:
    key = await stage.key()
    reply = await ask(stage.app, PRICES, "HEAD", key=key)
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["content-type"] == "application/x-ndjson"
    assert reply.headers["ratelimit"] == '"questions";r=10'
    assert stage.desk.followed == []
    assert await stage.used() == []


async def test_head_is_429_where_get_would_be_and_needs_no_seat(stage: Stage) -> None:
    key = await stage.key()
    async with watching(stage, key), watching(stage, key), watching(stage, key):
        assert (await ask(stage.app, PRICES, "HEAD", key=key)).status == 200
    for _ in range(FREE - 3):
        async with watching(stage, key):
            pass
    reply = await ask(stage.app, PRICES, "HEAD", key=key)
    assert (reply.status, reply.headers["ratelimit"].partition(";t")[0]) == (429, '"questions";r=0')


async def test_what_cannot_be_counted_is_not_begun(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "the disk is full", headers={"Retry-After": "5"})

    key = await stage.key()
    monkeypatch.setattr(stage.meter, "commit", fails)
    reply = await ask(stage.app, PRICES, key=key)
    assert (reply.status, reply.code) == (503, "UNAVAILABLE")
    (lines,) = stage.desk.followed
    assert (lines.closed, lines.taken) == (True, 0)
    monkeypatch.undo()
    async with watching(stage, key):
        assert await stage.used() == [("watch", 1)]


# Who may have it, and how many.


@pytest.mark.promise("errors.unknown-stream")
async def test_what_there_is_not_is_404_before_anything_is_counted(stage: Stage) -> None:
    key = await stage.key()
    reply = await ask(stage.app, "/api/cli/watch/price", key=key)
    assert (reply.status, reply.code) == (404, "UNKNOWN_STREAM")
    assert reply.json["error"]["details"] == {"candidates": ["prices"]}
    assert await stage.used() == []


@pytest.mark.slow
@pytest.mark.promise("watch.parameters")
@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("interval=9", "interval"),
        ("interval=301", "interval"),
        ("interval=1_0", "interval"),
        ("max=-1", "max"),
        ("max=10001", "max"),
        ("diff=2", "diff"),
        ("diff=true", "diff"),
        ("cursor=", "cursor"),
        ("interval=10&interval=10", "interval"),
        ("since=2025-01-01T00:00:00Z", "since"),
    ],
)
async def test_a_parameter_that_is_not_exactly_right_is_400_and_free(stage: Stage, query: str, parameter: str) -> None:
    reply = await ask(stage.app, f"{PRICES}?{query}", key=await stage.key())
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")
    assert reply.json["error"]["details"]["parameter"] == parameter
    assert await stage.used() == []


@pytest.mark.parametrize(("token", "status"), [(None, 403), ("nonsense", 401)])
async def test_a_stranger_gets_no_stream(stage: Stage, token: str | None, status: int) -> None:
    for method in ("GET", "HEAD"):
        assert (await ask(stage.app, PRICES, method, key=token)).status == status
    assert stage.desk.followed == []


@pytest.mark.promise("watch.limits", "errors.retry-after")
async def test_a_credential_has_three_streams_at_a_time_and_a_fourth_is_refused_free_of_charge(stage: Stage) -> None:
    first, other = await stage.key(), await stage.key()
    async with watching(stage, first), watching(stage, first):
        async with watching(stage, first):
            reply = await ask(stage.app, PRICES, key=first)
            assert (reply.status, reply.code) == (429, "RATE_LIMITED")
            assert reply.json["error"]["message"].startswith("A credential may have 3 open streams")
            assert reply.headers["retry-after"] == "15"
            assert "ratelimit" not in reply.headers
            async with watching(stage, other):
                assert await stage.used() == [("watch", 4)]
        async with watching(stage, first):
            assert await stage.used() == [("watch", 5)]


async def test_whoever_has_neither_seat_nor_question_left_is_told_of_the_seats(stage: Stage) -> None:
    key = await stage.key()
    for _ in range(FREE - 3):
        async with watching(stage, key):
            pass
    async with watching(stage, key), watching(stage, key), watching(stage, key):
        reply = await ask(stage.app, PRICES, key=key)
    assert (reply.status, reply.headers["retry-after"]) == (429, "15")


async def test_of_many_that_come_at_once_three_are_let_in(stage: Stage) -> None:
    key = await stage.key("pro")
    scope = scope_of(PRICES, "GET", {"authorization": f"Bearer {key}"})
    talks = [conversing(stage.app, dict(scope)) for _ in range(20)]
    open_talks = [await talk.__aenter__() for talk in talks]
    statuses = [(await talk.head())["status"] for talk in open_talks]
    assert sorted(statuses) == [200] * 3 + [429] * 17
    for talk in open_talks:
        talk.leave()
    for entered in talks:
        await entered.__aexit__(None, None, None)


async def test_three_seats_are_of_a_key_not_of_its_user_and_a_refused_stream_leaves_none_taken(stage: Stage) -> None:
    made = await stage.admin.create_key("one", tier="pro")
    second = await stage.admin.create_key("two", user_id=made.user_id)
    for _ in range(5):
        assert (await ask(stage.app, "/api/cli/watch/nothing", key=made.key)).status == 404
    async with (
        watching(stage, made.key),
        watching(stage, made.key),
        watching(stage, made.key),
        watching(stage, second.key),
    ):
        assert len(stage.desk.followed) == 4


# How it ends.


@pytest.mark.promise("revocation.streams", "watch.close")
async def test_a_revoked_key_ends_its_streams_within_a_second_and_nobody_elses(stage: Stage) -> None:
    made = await stage.admin.create_key("test", tier="pro")
    async with (
        watching(stage, made.key) as one,
        watching(stage, made.key) as two,
        watching(stage, await stage.key()) as other,
    ):
        await stage.admin.revoke_key(made.prefix)
        await stage.access.authenticator.catch_up()
        await stage.clock.advance(1)
        for watch in (one, two):
            assert await watch.rest() == b'{"type":"close","reason":"revoked"}\n'
            assert watch.lines.error is not None
            assert (watch.lines.error.code, "was revoked" in watch.lines.error.message) == ("AUTH_INVALID", True)
        assert other.lines.reason is None


@pytest.mark.promise("revocation.streams")
async def test_a_key_that_expires_ends_its_streams_and_says_so(stage: Stage) -> None:
    made = await stage.admin.create_key("test", tier="pro", expires_ms=stage.clock.now_ms() + HOUR_MS)
    async with watching(stage, made.key) as watch:
        await stage.clock.advance(HOUR_MS / 1000 - 1)
        assert watch.lines.reason is None
        await stage.clock.advance(1)
        assert await watch.rest() == b'{"type":"close","reason":"revoked"}\n'
        assert watch.lines.error is not None
        assert "has expired" in watch.lines.error.message


@pytest.mark.promise("watch.close")
async def test_a_tier_that_ends_ends_the_streams_it_was_opened_with(stage: Stage) -> None:
    made = await stage.admin.create_key("test")
    await stage.admin.add_grant(made.user_id, "pro", stage.clock.now_ms() + HOUR_MS)
    async with watching(stage, made.key) as watch:
        await stage.clock.advance(HOUR_MS / 1000 - 1)
        assert watch.lines.reason is None
        await stage.clock.advance(1)
        assert await watch.rest() == b'{"type":"close","reason":"quota"}\n'
        assert watch.lines.error is not None
        assert watch.lines.error.code == "RATE_LIMITED"


async def test_a_stream_that_breaks_inside_is_broken_off_and_gives_its_seat_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await stage.key("pro")

    def breaks(_: Lines) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(Lines, "take", breaks)
    for _ in range(4):
        with pytest.raises(ZeroDivisionError):
            async with conversing(stage.app, scope_of(PRICES, "GET", {"authorization": f"Bearer {key}"})) as talk:
                await talk.head()
    monkeypatch.undo()
    assert all(lines.closed for lines in stage.desk.followed)
    async with watching(stage, key):
        assert len(stage.desk.followed) == 5


async def test_a_stream_without_auth_before_it_answers_nobody(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = stage.app.paths._with_parameter[b"/api/cli/watch"].routes["GET"][1].app.app.app  # type: ignore[attr-defined]
    monkeypatch.setitem(stage.app.paths._exact[MANIFEST.encode()].routes, "GET", ("manifest", limit))
    reply = await ask(stage.app, MANIFEST)
    assert (reply.status, reply.code) == (500, "INTERNAL")
    assert stage.desk.followed == []
