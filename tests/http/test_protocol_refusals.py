"""What is malformed on the wire: refused in JSON, and the connection closed, so that nothing can hide behind it."""

import pytest
from starlette.types import Receive, Scope, Send

from tests.fakes.asgi import Reply
from tests.http.wire import HOST, echo, served, until

POST = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

MALFORMED = {
    "Content-Length with Transfer-Encoding": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding with Content-Length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "differing Content-Length": POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "the same Content-Length twice": POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "Content-Length list": POST + b"Content-Length: 3, 3\r\n\r\nabc",
    "signed Content-Length": POST + b"Content-Length: +3\r\n\r\nabc",
    "negative Content-Length": POST + b"Content-Length: -3\r\n\r\nabc",
    "hexadecimal Content-Length": POST + b"Content-Length: 0x3\r\n\r\nabc",
    "empty Content-Length": POST + b"Content-Length: \r\n\r\n",
    "Content-Length with underscore": POST + b"Content-Length: 1_0\r\n\r\nabcdefghij",
    "Content-Length beyond 64 bits": POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "unknown Transfer-Encoding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "Transfer-Encoding identity": POST + b"Transfer-Encoding: identity\r\n\r\n",
    "Transfer-Encoding list": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked is not last": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "doubled chunked": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "doubled Transfer-Encoding": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "unknown then chunked": POST + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding with parameter": POST + b"Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding in HTTP/1.0": b"POST / HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "space before colon": b"GET / HTTP/1.1\r\nHost : api.example.org\r\n\r\n",
    "header without name": b"GET / HTTP/1.1\r\n" + HOST + b": x\r\n\r\n",
    "header without colon": b"GET / HTTP/1.1\r\n" + HOST + b"x\r\n\r\n",
    "space before the first header": b"GET / HTTP/1.1\r\n " + HOST + b"\r\n",
    "bare LF everywhere": b"GET / HTTP/1.1\nHost: api.example.org\n\n",
    "bare LF in a header": b"GET / HTTP/1.1\r\nHost: api.example.org\nA: b\r\n\r\n",
    "bare LF at the end": b"GET / HTTP/1.1\r\n" + HOST + b"\n",
    "bare CR in a value": b"GET / HTTP/1.1\r\n" + HOST + b"A: b\rC: d\r\n\r\n",
    "CR CR LF": b"GET / HTTP/1.1\r\nHost: api.example.org\r\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\n" + HOST + b"A: b\0c\r\n\r\n",
    "NUL in a name": b"GET / HTTP/1.1\r\n" + HOST + b"A\0: bc\r\n\r\n",
    "control character in a value": b"GET / HTTP/1.1\r\n" + HOST + b"A: b\x01c\r\n\r\n",
    "accent in a name": b"GET / HTTP/1.1\r\n" + HOST + b"\xe9: bc\r\n\r\n",
    "folded header": b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n c\r\n\r\n",
    "folded at once": b"GET / HTTP/1.1\r\n" + HOST + b"A:\r\n c\r\n\r\n",
    "chunk size is no number": CHUNKED + b"g\r\n",
    "signed chunk size": CHUNKED + b"+3\r\nabc\r\n0\r\n\r\n",
    "chunk size with 0x": CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n",
    "space after chunk size": CHUNKED + b"3 \r\nabc\r\n0\r\n\r\n",
    "space before chunk size": CHUNKED + b" 3\r\nabc\r\n0\r\n\r\n",
    "empty chunk size": CHUNKED + b"\r\n",
    "chunk longer than its size": CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n",
    "chunk without CRLF": CHUNKED + b"3\r\nabc0\r\n\r\n",
    "chunk ended by LF": CHUNKED + b"3\r\nabc\n0\r\n\r\n",
    "chunk size ended by LF": CHUNKED + b"3\nabc\r\n0\r\n\r\n",
    "chunk size beyond 64 bits": CHUNKED + b"FFFFFFFFFFFFFFFFF\r\n",
    "LF in a chunk extension": CHUNKED + b'3;a="\n"\r\nabc\r\n0\r\n\r\n',
    "Content-Length as trailer": CHUNKED + b"0\r\nContent-Length: 9\r\n\r\n",
    "Transfer-Encoding as trailer": CHUNKED + b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "unknown method": b"FOO / HTTP/1.1\r\n" + HOST + b"\r\n",
    "method in lower case": b"get / HTTP/1.1\r\n" + HOST + b"\r\n",
    "tab after the method": b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "no version": b"GET /\r\n" + HOST + b"\r\n",
    "HTTP/0.9": b"GET / HTTP/0.9\r\n" + HOST + b"\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\n" + HOST + b"\r\n",
    "HTTP/2.0": b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "version in lower case": b"GET / http/1.1\r\n" + HOST + b"\r\n",
    "TLS to a plain port": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "accent in the target": b"GET /\xe9 HTTP/1.1\r\n" + HOST + b"\r\n",
    "NUL in the target": b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n",
    "DEL in the target": b"GET /\x7f HTTP/1.1\r\n" + HOST + b"\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "fragment in an absolute target": b"GET http://api.example.org/a#b HTTP/1.1\r\n" + HOST + b"\r\n",
    "target without a slash": b"GET a HTTP/1.1\r\n" + HOST + b"\r\n",
    "asterisk for GET": b"GET * HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target of another host": b"GET http://evil.example/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target without Host": b"GET http://api.example.org/ HTTP/1.1\r\n\r\n",
    "absolute target with a user": b"GET http://me@api.example.org/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute target of another scheme": b"GET ftp://api.example.org/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "unknown expectation": POST + b"Expect: 200-ok\r\n\r\n",
}


def is_refusal(reply: Reply, status: int = 400, code: str = "BAD_REQUEST") -> bool:
    return (reply.status, reply.code, reply.headers["connection"]) == (status, code, "close")


@pytest.mark.promise("errors.always-json")
@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED.keys())
async def test_what_is_malformed_is_refused_in_json_and_nothing_behind_it_is_answered(request_bytes: bytes) -> None:
    async with served(echo) as wire:
        (reply,) = await wire.say(request_bytes + b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n")
    assert is_refusal(reply)
    assert list(reply.json) == ["schemaVersion", "error"]
    assert reply.headers["x-request-id"]
    assert b"smuggled" not in reply.body


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED.keys())
async def test_it_is_refused_as_well_when_it_arrives_byte_by_byte(request_bytes: bytes) -> None:
    async with served(echo, raw_body_bytes=10_000) as wire:
        peer = await wire.connect()
        for at in range(len(request_bytes)):
            await peer.say(request_bytes[at : at + 1])
        await peer.say(b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n")
        (reply,) = await peer.rest()
    assert is_refusal(reply)


async def test_a_refusal_waits_for_the_answers_that_are_due_before_it() -> None:
    async with served(echo) as wire:
        good = b"GET /%d HTTP/1.1\r\n" + HOST + b"\r\n"
        replies = await wire.say(good % 1 + good % 2 + b"nonsense\r\n\r\n")
    assert [reply.body for reply in replies[:2]] == [b"GET /1? ", b"GET /2? "]
    assert is_refusal(replies[2])


async def test_a_body_that_breaks_off_in_a_queued_request_is_refused_in_its_turn() -> None:
    async with served(echo) as wire:
        replies = await wire.say(b"GET /1 HTTP/1.1\r\n" + HOST + b"\r\n" + CHUNKED + b"nonsense\r\n")
    assert replies[0].body == b"GET /1? "
    assert is_refusal(replies[1])


async def test_connect_is_not_answered_and_its_tunnel_is_closed() -> None:
    async with served(echo) as wire:
        (reply,) = await wire.say(b"CONNECT example.org:443 HTTP/1.1\r\n" + HOST + b"\r\n\x16\x03\x01")
    assert is_refusal(reply, 405, "METHOD_NOT_ALLOWED")
    assert "GET" in reply.headers["allow"]


@pytest.mark.promise("errors.target-414")
@pytest.mark.parametrize("dripped", [False, True])
async def test_a_target_over_8_kb_is_414(dripped: bool) -> None:
    async with served(echo) as wire:
        long, longest = b"GET /" + b"a" * 8192, b"GET /" + b"a" * 8191
        ending = b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
        (refused,) = await wire.say(*([long[:4000], long[4000:]] if dripped else [long + ending]))
        (answered,) = await wire.say(longest + ending)
    assert is_refusal(refused, 414, "URI_TOO_LONG")
    assert answered.status == 200


@pytest.mark.promise("errors.headers-431")
@pytest.mark.parametrize("fields", [b"A: b\r\n" * 100, b"A: " + b"b" * 16_384 + b"\r\n", b"A: " + b"b" * 70_000])
async def test_headers_over_16_kb_or_over_a_hundred_are_431(fields: bytes) -> None:
    async with served(echo) as wire:
        request = b"GET / HTTP/1.1\r\n" + HOST + fields + b"\r\n"
        replies = await wire.say(*(request[at : at + 1000] for at in range(0, len(request), 1000)))
        assert is_refusal(replies[0], 431, "HEADERS_TOO_LARGE")
        assert (await wire.get(b"/", *[b"A: b"] * 98)).status == 200


async def test_trailers_count_as_headers_and_are_not_kept() -> None:
    scopes: list[Scope] = []

    async def keep(scope: Scope, receive: Receive, send: Send) -> None:
        scopes.append(scope)
        await echo(scope, receive, send)

    async with served(keep) as wire:
        (reply,) = await wire.say(CHUNKED[:-2] + b"Connection: close\r\n\r\n0\r\nAuthorization: Bearer x\r\n\r\n")
        assert reply.status == 200
        (refused,) = await wire.say(CHUNKED + b"0\r\n" + b"A: b\r\n" * 101 + b"\r\n")
    assert is_refusal(refused, 431, "HEADERS_TOO_LARGE")
    assert b"authorization" not in dict(scopes[0]["headers"])


@pytest.mark.promise("errors.body-413")
@pytest.mark.parametrize("size", [65_537, 10**15])
async def test_a_declared_body_over_64_kb_is_413_before_it_is_sent(size: int) -> None:
    async with served(echo) as wire:
        (reply,) = await wire.say(POST + b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % size)
    assert is_refusal(reply, 413, "PAYLOAD_TOO_LARGE")


async def test_a_body_of_64_kb_is_taken_declared_or_chunked() -> None:
    body = b"x" * 65_536
    async with served(echo) as wire:
        declared = await wire.get(b"/", b"Content-Length: 65536\r\n\r\n" + body, method=b"POST")
        chunked = await wire.get(b"/", b"Transfer-Encoding: chunked\r\n\r\n10000\r\n%b\r\n0\r\n" % body, method=b"POST")
    assert declared.body == chunked.body == b"POST /? " + body


@pytest.mark.promise("errors.body-413")
async def test_a_chunked_body_is_cut_off_at_64_kb_and_the_peer_can_read_why() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        await peer.say(CHUNKED)
        for _ in range(40):
            await peer.say(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        (reply,) = await peer.rest()
    assert is_refusal(reply, 413, "PAYLOAD_TOO_LARGE")


async def test_a_body_of_tiny_chunks_is_cut_off_too() -> None:
    async with served(echo, raw_body_bytes=1000) as wire:
        replies = await wire.say(CHUNKED, *[b"1;" + b"e" * 200 + b"\r\nx\r\n"] * 10)
    assert is_refusal(replies[0], 413, "PAYLOAD_TOO_LARGE")


async def test_a_body_over_the_cap_after_the_answer_ends_the_connection_quietly() -> None:
    async def hasty(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async with served(hasty) as wire:
        peer = await wire.connect()
        await peer.say(CHUNKED)
        first = await peer.reply()
        for _ in range(40):
            await peer.say(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        assert await peer.closed() == b""
    assert first.body == b"ok"


async def test_more_than_the_bearable_number_of_pipelined_requests_is_refused_after_their_answers() -> None:
    async with served(echo, pipelined=3) as wire:
        replies = await wire.say((b"GET / HTTP/1.1\r\n" + HOST + b"\r\n") * 6)
    assert [reply.status for reply in replies] == [200] * 4 + [400]


async def test_a_refused_peer_that_never_closes_is_cut_off() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        await peer.say(b"nonsense\r\n\r\n")
        await peer.reply()
        wire.pass_time(2)
        await until(lambda: not wire.state.connections)
        peer.close()
