"""The end of the question route's way, in the whole stack: what it tells, in which form, and when it stops."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.errors import ServiceError
from service.wire.ask import Done, Failed
from tests.fakes.asgi import Reply, ask, conversing, scope_of
from tests.fakes.engine import AS_OF, CLASSIFICATION, DONE, EVENTS, PLAN, PROSE, STEP, TEXTS
from tests.http.stage import RISK, Stage, staged
from tests.http.wire import HOST, Peer, served, until

PATH = "/api/cli"
JSON = {"content-type": "application/json"}
SSE = {"accept": "text/event-stream"}
ANSWERED = {"accept": "application/json"}
QUESTION = {"messages": [{"role": "user", "content": "btc?"}]}
STEPS = [{"id": "s1", "tool": "coin.risk", "args": {"symbol": "BTC"}, "result": {"price": 64000.5}, "as_of": AS_OF}]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path) as stage:
        yield stage


def written(**further: object) -> bytes:
    return json.dumps({**QUESTION, **further}).encode()


async def asked(
    stage: Stage, key: str = "", headers: Mapping[str, str] | None = None, body: bytes | None = None, **further: object
) -> Reply:
    fields = {**JSON, **(headers or {})}
    said = written(**further) if body is None else body
    return await ask(stage.app, PATH, "POST", key=key or await stage.key(), headers=fields, body=said)


def events(body: bytes) -> list[tuple[str, Any]]:
    """Server-sent events, as the standard reads them."""
    assert body.endswith(b"\n\n")
    found = []
    for block in body.decode().removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def without_nulls(rows: Any) -> Any:
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


# What is told.


@pytest.mark.promise("question.text", "question.streamed")
async def test_a_question_is_answered_in_plain_text(stage: Stage) -> None:
    reply = await asked(stage)
    assert (reply.status, reply.body.decode()) == (200, PROSE)
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.headers["cache-control"] == "private, no-store"
    assert reply.headers["x-data-source"] == "fixtures"
    assert reply.headers["x-accel-buffering"] == "no"
    assert "content-length" not in reply.headers
    assert stage.engine.ended == ["closed"]
    (call,) = stage.engine.asked
    assert (call.body.messages[0].content, call.known_caller().tier) == ("btc?", "free")


@pytest.mark.promise("question.sse")
async def test_a_reader_of_events_gets_each_by_its_name(stage: Stage) -> None:
    reply = await asked(stage, headers=SSE)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no"
    told = events(reply.body)
    assert [name for name, _ in told] == ["classification", "plan", "step", "text", "text", "done"]
    assert told[0][1] == CLASSIFICATION.understanding
    assert without_nulls([told[2][1]]) == STEPS
    assert "".join(data["text"] for name, data in told if name == "text") == PROSE
    assert (told[-1][1]["engine"], told[-1][1]["as_of"]) == ("rules", AS_OF)


@pytest.mark.promise("question.json")
async def test_a_reader_of_json_gets_text_steps_and_sources(stage: Stage) -> None:
    reply = await asked(stage, headers=ANSWERED)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert list(reply.json) == ["text", "steps", "sources"]
    assert reply.json["text"] == PROSE
    assert without_nulls(reply.json["steps"]) == STEPS
    assert reply.json["sources"][0]["path"] == "/api/cli/coin/risk/BTC"


@pytest.mark.promise("question.json")
async def test_the_setting_decides_for_those_who_cannot_say(tmp_path: Path) -> None:
    async with staged(tmp_path, ask_default="json") as stage:
        assert (await asked(stage)).json["text"] == PROSE
        assert (await asked(stage, headers={"accept": "text/plain"})).body.decode() == PROSE


@pytest.mark.promise("question.raw")
@pytest.mark.parametrize("headers", [{}, ANSWERED, {"accept": "text/plain"}])
async def test_raw_is_what_was_found_without_prose(stage: Stage, headers: Mapping[str, str]) -> None:
    reply = await asked(stage, headers=headers, raw=True)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert list(reply.json) == ["classification", "plan", "steps"]
    assert reply.json["classification"] == CLASSIFICATION.understanding
    assert reply.json["plan"]["steps"][0]["tool"] == "coin.risk"
    assert without_nulls(reply.json["steps"]) == STEPS


@pytest.mark.promise("question.raw", "question.sse")
async def test_raw_events_are_all_but_those_of_prose(stage: Stage) -> None:
    told = events((await asked(stage, headers=SSE, raw=True)).body)
    assert [name for name, _ in told] == ["classification", "plan", "step", "done"]


@pytest.mark.promise("question.text")
async def test_each_piece_leaves_as_it_is_found_out_and_the_head_before_all_of_them(stage: Stage) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    stage.engine.says = (CLASSIFICATION, PLAN, first, STEP, TEXTS[0], second, TEXTS[1], DONE)
    fields = {**JSON, "authorization": f"Bearer {await stage.key()}"}
    async with conversing(stage.app, scope_of(PATH, "POST", fields), written()) as talk:
        assert (await talk.head())["status"] == 200
        pieces = talk.pieces()
        assert await anext(pieces) == b""
        first.set()
        assert await anext(pieces) == TEXTS[0].text.encode()
        assert talk.sent.empty()
        second.set()
        assert [piece async for piece in pieces] == [TEXTS[1].text.encode(), b""]


@pytest.mark.promise("question.text", "question.streamed")
async def test_over_the_wire_text_is_chunked_and_begins_before_it_is_known_to_its_end(stage: Stage) -> None:
    more = asyncio.Event()
    stage.engine.says = (CLASSIFICATION, PLAN, STEP, TEXTS[0], more, TEXTS[1], DONE)
    async with served(stage.app) as wire:
        peer = await wire.connect()
        await peer.say(request(await stage.key()))
        async with asyncio.timeout(20):
            head = await peer.reader.readuntil(b"\r\n\r\n")
            assert await chunk(peer) == TEXTS[0].text.encode()
        assert b"transfer-encoding: chunked" in head
        more.set()
        async with asyncio.timeout(20):
            assert (await chunk(peer), await chunk(peer)) == (TEXTS[1].text.encode(), b"")


def request(key: str, body: bytes | None = None, *lines: bytes) -> bytes:
    said = written() if body is None else body
    fields = [b"Authorization: Bearer " + key.encode(), b"Content-Type: application/json", *lines]
    head = b"".join(line + b"\r\n" for line in fields)
    return b"POST /api/cli HTTP/1.1\r\n" + HOST + head + b"Content-Length: %d\r\n\r\n" % len(said) + said


async def chunk(peer: Peer) -> bytes:
    size = int(await peer.reader.readline(), 16)
    return (await peer.reader.readexactly(size + 2))[:-2]


# What it costs.


@pytest.mark.promise("question.price")
@pytest.mark.parametrize("headers", [{}, SSE, ANSWERED])
async def test_an_answer_that_counts_is_one_question_and_one_that_does_not_is_none(
    stage: Stage, headers: Mapping[str, str]
) -> None:
    key = await stage.key()
    reply = await asked(stage, key, headers)
    assert (reply.headers["ratelimit"], await stage.used()) == ('"questions";r=9', [("question", 1)])
    stage.engine.counted = False
    reply = await asked(stage, key, headers)
    assert (reply.headers["ratelimit"], await stage.used()) == ('"questions";r=9', [("question", 1)])


@pytest.mark.promise("question.challenge-error", "question.price")
async def test_a_spent_caller_is_told_so_before_anybody_reads_its_question(stage: Stage) -> None:
    key = await stage.key()
    for _ in range(10):
        await ask(stage.app, RISK, key=key)
    reply = await asked(stage, key, body=b"{")
    assert reply.status == 402
    assert list(reply.json) == ["error", "x402Version", "accepts", "gate"]
    assert isinstance(reply.json["error"], str)
    assert "10 of 10 used" in reply.json["error"]
    assert reply.json["accepts"][0]["maxAmountRequired"] == "50000"
    assert reply.json["accepts"][0]["mimeType"] == "text/plain"
    assert reply.json["gate"]["this_query"] == {"route": "question", "price_usdc": "0.05"}
    assert stage.engine.asked == []


# What goes wrong.

DOWN = ServiceError("UPSTREAM_5XX", "the venue does not answer", details={"upstreamStatus": None})
BUSY = ServiceError("UNAVAILABLE", "the store does not answer", headers={"Retry-After": "1"})


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("headers", [{}, SSE, ANSWERED])
@pytest.mark.parametrize(("error", "status"), [(DOWN, 502), (BUSY, 503)])
async def test_what_fails_as_a_whole_is_a_bare_message_and_costs_nothing(
    stage: Stage, headers: Mapping[str, str], error: ServiceError, status: int
) -> None:
    stage.engine.error = error
    reply = await asked(stage, headers=headers)
    assert (reply.status, reply.json) == (status, {"error": error.message})
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers.get("retry-after") == error.headers.get("Retry-After")
    assert await stage.used() == []


BEGUN = (CLASSIFICATION, PLAN, STEP, TEXTS[0])


@pytest.mark.promise("question.sse", "question.failure")
@pytest.mark.parametrize("end", [Failed("the store does not answer"), BUSY], ids=["an event", "an exception"])
async def test_events_that_cannot_be_finished_end_with_an_error(stage: Stage, end: Any) -> None:
    stage.engine.says = (*BEGUN, end)
    reply = await asked(stage, headers=SSE)
    assert reply.status == 200
    assert events(reply.body)[-2:] == [("text", {"text": TEXTS[0].text}), ("error", {"error": BUSY.message})]
    assert stage.engine.ended == ["closed"]


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("end", [Failed("the store does not answer"), BUSY], ids=["an event", "an exception"])
async def test_json_that_cannot_be_finished_is_a_failure_and_costs_nothing(stage: Stage, end: Any) -> None:
    stage.engine.says = (*BEGUN, end)
    reply = await asked(stage, headers=ANSWERED)
    assert reply.status == (500 if isinstance(end, Failed) else 503)
    assert reply.json == {"error": "the store does not answer"}
    assert (await stage.used(), stage.engine.ended) == ([], ["closed"])


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("end", [Failed("oh"), BUSY, ZeroDivisionError("secret")])
async def test_text_that_cannot_be_finished_is_broken_off(stage: Stage, end: Any) -> None:
    stage.engine.says = (*BEGUN, end)
    async with served(stage.app) as wire:
        peer = await wire.connect()
        await peer.say(request(await stage.key()))
        said = await peer.closed()
    assert TEXTS[0].text.encode() in said
    assert not said.endswith(b"0\r\n\r\n")
    assert b"secret" not in said


@pytest.mark.promise("question.sse", "question.failure")
async def test_a_defect_within_events_is_told_by_its_request_alone_and_then_breaks_off(stage: Stage) -> None:
    stage.engine.says = (*BEGUN, ZeroDivisionError("secret"))
    async with served(stage.app) as wire:
        peer = await wire.connect()
        await peer.say(request(await stage.key(), None, b"Accept: text/event-stream"))
        said = await peer.closed()
    assert b'event: error\ndata: {"error":"Internal error. Report the request id ' in said
    assert not said.endswith(b"0\r\n\r\n")
    assert b"secret" not in said
    assert stage.engine.ended == ["closed"]


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("headers", [ANSWERED, {**ANSWERED, "idempotency-key": "k"}])
async def test_a_defect_is_told_by_its_request_alone(
    stage: Stage, headers: Mapping[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    stage.engine.says = (ZeroDivisionError("secret"),)
    reply = await asked(stage, headers=headers)
    assert reply.status == 500
    assert reply.json == {
        "error": f"Internal error. Report the request id {reply.headers['x-request-id']} to the operator."
    }
    assert len(caplog.records) == 1


REFUSED: Mapping[str, tuple[int, dict[str, Any]]] = {
    "no JSON": (400, {"body": b"{"}),
    "another media type": (415, {"headers": {"content-type": "text/plain"}}),
    "an encoded body": (415, {"headers": {"content-encoding": "gzip"}}),
    "an unknown field": (400, {"model": "gpt"}),
    "a field twice": (400, {"body": b'{"messages":[{"role":"user","content":"a"}],"raw":true,"raw":false}'}),
    "no messages": (400, {"messages": []}),
    "no messages at all": (400, {"body": b"{}"}),
    "messages of another type": (400, {"messages": "btc?"}),
    "a role that is none": (400, {"messages": [{"role": "system", "content": "a"}]}),
    "a field of a message that is none": (400, {"messages": [{"role": "user", "content": "a", "name": "b"}]}),
    "no content": (400, {"messages": [{"role": "user"}]}),
    "a last message of another role": (400, {"messages": [{"role": "assistant", "content": "a"}]}),
    "a last message that says nothing": (400, {"messages": [{"role": "user", "content": " \n"}]}),
    "21 messages": (400, {"messages": [{"role": "user", "content": "a"}] * 21}),
    "8,001 characters": (400, {"messages": [{"role": "user", "content": "a" * 4_000}] * 2 + QUESTION["messages"]}),
    "8,001 characters in one": (400, {"messages": [{"role": "user", "content": "a" * 8_001}]}),
    "a persona that is none": (400, {"archetype": "pirate"}),
    "an address that is none": (400, {"walletAddress": "0x12"}),
    "a device that is none": (400, {"deviceId": "short"}),
    "raw that is no flag": (400, {"raw": "yes"}),
    "2,001 characters of context": (400, {"commandContext": "a" * 2_001}),
}


@pytest.mark.slow
@pytest.mark.promise("question.body-exact", "question.bounds", "question.messages", "question.personas")
@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("what", REFUSED)
async def test_what_is_no_question_is_refused_with_a_bare_message_and_costs_nothing(stage: Stage, what: str) -> None:
    status, sent = REFUSED[what]
    reply = await asked(stage, **sent)
    assert (reply.status, list(reply.json)) == (status, ["error"])
    assert isinstance(reply.json["error"], str)
    assert (stage.engine.asked, await stage.used()) == ([], [])


@pytest.mark.promise("question.bounds", "question.optional-fields", "question.personas")
@pytest.mark.parametrize(
    "further",
    [
        {"messages": [{"role": "user", "content": "é" * 4_000}, {"role": "user", "content": "é" * 4_000}]},
        {"messages": [{"role": "assistant", "content": ""}] * 19 + [{"role": "user", "content": "a"}]},
        *({"archetype": name} for name in ("base", "trader", "analyst", "risk-manager", "explainer")),
        {
            "walletAddress": "0x" + "aB" * 20,
            "deviceId": "a device",
            "raw": False,
            "commandContext": "verdict signal BTC",
        },
    ],
    ids=["8,000 characters", "20 messages", *["a persona"] * 5, "everything"],
)
async def test_what_the_contract_lets_be_said_is_taken(stage: Stage, further: dict[str, Any]) -> None:
    further = {**further, "deviceId": "a-device"} if "deviceId" in further else further
    assert (await asked(stage, **further)).status == 200


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "TRACE"])
async def test_only_post_asks(stage: Stage, method: str) -> None:
    reply = await ask(stage.app, PATH, method, key=await stage.key())
    assert (reply.status, reply.headers["allow"]) == (405, "POST, OPTIONS")
    assert reply.body == (b"" if method == "HEAD" else b'{"error":"This path does not support %b."}' % method.encode())


@pytest.mark.promise("question.failure")
async def test_what_is_refused_of_every_request_is_refused_in_the_routes_own_words(stage: Stage) -> None:
    for target, fields, status in (
        (PATH + "?a=1", {}, 400),
        (PATH, {"host": "a b"}, 400),
        (PATH, {"authorization": "Bearer x"}, 401),
    ):
        reply = await ask(stage.app, target, "POST", body=written(), headers={**JSON, **fields}, key=None)
        if not fields:
            reply = await ask(stage.app, target, "POST", body=written(), headers=JSON, key=await stage.key())
        assert (reply.status, list(reply.json)) == (status, ["error"])
    assert (await ask(stage.app, PATH + "/", "POST", key="x")).code == "NOT_FOUND"


POST = b"POST /api/cli HTTP/1.1\r\n" + HOST
REFUSED_ON_THE_WIRE = {
    "a length beyond the limit": (413, POST + b"Content-Length: 70000\r\n\r\n"),
    "a body beyond the limit": (413, POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"10001\r\n" + b"a" * 0x10001),
    "a chunk that is none": (400, POST + b"Transfer-Encoding: chunked\r\n\r\ng\r\n"),
    "two framings": (400, POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "headers beyond the limit": (431, POST + b"A: " + b"a" * 20_000 + b"\r\n\r\n"),
    "another expectation": (400, POST + b"Expect: 200-ok\r\n\r\n"),
    "an absolute target": (
        413,
        b"POST http://api.example.org/api/cli?a HTTP/1.1\r\n" + HOST + b"Content-Length: 70000\r\n\r\n",
    ),
}


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("what", REFUSED_ON_THE_WIRE)
async def test_what_the_connection_refuses_of_a_question_is_refused_in_the_routes_own_words(
    stage: Stage, what: str
) -> None:
    status, said = REFUSED_ON_THE_WIRE[what]
    async with served(stage.app) as wire:
        (reply,) = await wire.say(said)
    assert (reply.status, list(reply.json)) == (status, ["error"])


@pytest.mark.promise("question.failure")
@pytest.mark.parametrize("said", [POST + b"A: b\r\n", POST + b"Content-Length: 5\r\n\r\n{"], ids=["head", "body"])
async def test_a_question_that_does_not_arrive_in_time_is_told_so_in_its_own_words(stage: Stage, said: bytes) -> None:
    async with served(stage.app) as wire:
        peer = await wire.connect()
        await peer.say(said)
        await wire.has_heard(len(said))
        wire.pass_time(15)
        (reply,) = await peer.rest()
    assert (reply.status, list(reply.json)) == (408, ["error"])


@pytest.mark.parametrize(
    "said",
    [
        b"POST /api/cli/coin HTTP/1.1\r\n" + HOST + b"Content-Length: 70000\r\n\r\n",
        b"POST http://api.example.org HTTP/1.1\r\n" + HOST + b"Content-Length: 70000\r\n\r\n",
        b"\x16\x03\x01",
        b"POST /api/cli\0",
    ],
)
async def test_what_is_refused_elsewhere_or_nobody_knows_where_has_the_envelope(stage: Stage, said: bytes) -> None:
    async with served(stage.app) as wire:
        (reply,) = await wire.say(said)
    assert list(reply.json) == ["schemaVersion", "error"]


# Who leaves.


@pytest.mark.parametrize("headers", [{}, SSE, ANSWERED])
async def test_who_leaves_before_the_answer_begins_takes_the_work_along_and_pays_nothing(
    stage: Stage, headers: Mapping[str, str]
) -> None:
    stage.engine.gate.clear()
    fields = {**JSON, **headers, "authorization": f"Bearer {await stage.key()}"}
    async with conversing(stage.app, scope_of(PATH, "POST", fields), written()) as talk:
        await until(lambda: bool(stage.engine.asked))
        talk.leave()
    assert (stage.engine.ended, talk.sent.empty(), await stage.used()) == (["cancelled"], True, [])


@pytest.mark.parametrize("headers", [{}, SSE])
async def test_who_leaves_within_the_answer_takes_the_work_along_and_has_asked_its_question(
    stage: Stage, headers: Mapping[str, str]
) -> None:
    stage.engine.says = (*BEGUN, asyncio.Event(), DONE)
    fields = {**JSON, **headers, "authorization": f"Bearer {await stage.key()}"}
    async with conversing(stage.app, scope_of(PATH, "POST", fields), written()) as talk:
        await talk.head()
        talk.leave()
    assert (stage.engine.ended, await stage.used()) == (["cancelled"], [("question", 1)])


async def test_who_leaves_json_before_it_is_whole_pays_nothing(stage: Stage) -> None:
    stage.engine.says = (*BEGUN, asyncio.Event(), DONE)
    fields = {**JSON, **ANSWERED, "authorization": f"Bearer {await stage.key()}"}
    async with conversing(stage.app, scope_of(PATH, "POST", fields), written()) as talk:
        await until(lambda: bool(stage.engine.asked))
        talk.leave()
    assert (stage.engine.ended, talk.sent.empty(), await stage.used()) == (["cancelled"], True, [])


async def test_over_the_wire_a_connection_that_is_closed_ends_the_work(stage: Stage) -> None:
    stage.engine.says = (*BEGUN, asyncio.Event(), DONE)
    async with served(stage.app) as wire:
        peer = await wire.connect()
        await peer.say(request(await stage.key()))
        await peer.reader.readuntil(b"\r\n\r\n")
        peer.close()
        await until(lambda: stage.engine.ended == ["cancelled"])
        await until(lambda: not wire.state.tasks)


async def test_a_service_that_stops_ends_the_work_and_says_why(stage: Stage) -> None:
    stage.engine.gate.clear()
    asking = asyncio.ensure_future(asked(stage))
    fields = {**JSON, "authorization": f"Bearer {await stage.key()}"}
    asking.cancel()
    answered: list[Any] = []

    async def send(message: Any) -> None:
        answered.append(message)

    arriving: asyncio.Queue[Any] = asyncio.Queue()
    arriving.put_nowait({"type": "http.request", "body": written(), "more_body": False})
    running = asyncio.ensure_future(stage.app(scope_of(PATH, "POST", fields), arriving.get, send))
    await until(lambda: bool(stage.engine.asked))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (answered[0]["status"], answered[1]["body"]) == (503, b'{"error":"The service is stopping. Retry in 1 s."}')
    assert stage.engine.ended == ["cancelled"]


async def test_an_answer_without_an_end_of_its_own_has_no_sources(stage: Stage) -> None:
    stage.engine.says = tuple(event for event in EVENTS if not isinstance(event, Done))
    assert (await asked(stage, headers=ANSWERED)).json["sources"] == []
