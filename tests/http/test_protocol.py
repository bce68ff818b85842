"""What is well-formed on the wire, and how answers leave."""

import asyncio
import logging
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.protocol import VerdictProtocol
from service.http.request import DELIVERY
from tests.http.test_limits import health
from tests.http.wire import HOST, Peer, echo, served, until

GET = b"GET /%d HTTP/1.1\r\n" + HOST + b"\r\n"


def constant(*headers: tuple[bytes, bytes], status: int = 200, pieces: tuple[bytes, ...] = (b"ok",)) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            await send({"type": "http.response.body", "body": piece, "more_body": bool(left)})

    return answer


async def test_a_connection_serves_one_request_after_another() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        for number in range(3):
            await peer.say(GET % number)
            assert (await peer.reply()).body == b"GET /%d? " % number
        peer.close()
        assert wire.state.total_requests == 3


async def test_answers_to_pipelined_requests_keep_the_order_of_the_requests() -> None:
    async def slower_first(scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(20 - int(scope["raw_path"][1:])):
            await asyncio.sleep(0)
        await echo(scope, receive, send)

    async with served(slower_first) as wire:
        peer = await wire.connect()
        await peer.say(b"".join(GET % number for number in range(20)))
        assert [(await peer.reply()).body for _ in range(20)] == [b"GET /%d? " % number for number in range(20)]
        peer.close()


async def test_pipelined_bodies_reach_their_own_requests() -> None:
    one = b"POST /1 HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\none"
    two = b"POST /2 HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"
    async with served(echo) as wire:
        peer = await wire.connect()
        await peer.say(one + two)
        assert [(await peer.reply()).body for _ in range(2)] == [b"POST /1? one", b"POST /2? two"]
        peer.close()


async def test_head_and_body_leave_in_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    write = VerdictProtocol.write

    def recording(connection: VerdictProtocol, data: bytes) -> None:
        written.append(data)
        write(connection, data)

    monkeypatch.setattr(VerdictProtocol, "write", recording)
    async with served(echo) as wire:
        await wire.get()
    (whole,) = written
    assert whole.endswith(b"\r\n\r\nGET /? ")


async def test_the_meter_is_told_right_before_the_answer_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    write = VerdictProtocol.write

    def recording(connection: VerdictProtocol, data: bytes) -> None:
        if data.startswith(b"HTTP/"):
            order.append("written")
        write(connection, data)

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        scope["extensions"][DELIVERY].before_write = lambda: order.append("told")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"ok", "more_body": True})
        await send({"type": "http.response.body", "body": b"ok"})

    monkeypatch.setattr(VerdictProtocol, "write", recording)
    async with served(counted) as wire:
        await wire.get()
    assert order == ["told", "written"]


async def test_a_head_leaves_by_itself_when_an_empty_piece_follows_it() -> None:
    more = asyncio.Event()

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await more.wait()
        await send({"type": "http.response.body", "body": b"late"})

    async with served(waiting) as wire:
        peer = await wire.connect()
        await peer.say(GET % 1)
        assert b"chunked" in await asyncio.wait_for(peer.reader.readuntil(b"\r\n\r\n"), 20)
        more.set()
        assert await asyncio.wait_for(peer.reader.readuntil(b"0\r\n\r\n"), 20) == b"4\r\nlate\r\n0\r\n\r\n"
        peer.close()


async def test_every_answer_carries_the_date_and_names_no_software() -> None:
    async with served(echo) as wire:
        reply = await wire.get()
    assert reply.headers["date"] == "Fri, 25 Jul 2025 12:00:00 GMT"
    assert "server" not in reply.headers


async def test_an_answer_without_length_is_chunked_for_http_1_1_and_ends_with_the_connection_for_http_1_0() -> None:
    async with served(constant(pieces=(b"one", b"two", b""))) as wire:
        chunked = await wire.get()
        peer = await wire.connect()
        await peer.say(b"GET / HTTP/1.0\r\n" + HOST + b"\r\n")
        raw = await peer.closed()
    assert chunked.headers["transfer-encoding"] == "chunked"
    assert chunked.body == b"onetwo"
    assert raw.endswith(b"connection: close\r\n\r\nonetwo")
    assert b"transfer-encoding" not in raw


async def test_head_and_204_have_no_body_and_keep_the_connection() -> None:
    async with served(constant((b"content-length", b"2"))) as wire:
        peer = await wire.connect()
        await peer.say(b"HEAD / HTTP/1.1\r\n" + HOST + b"\r\n" + GET % 1)
        head = await peer.reply(bodiless=True)
        assert (await peer.reply()).body == b"ok"
        peer.close()
    async with served(constant(status=204, pieces=(b"",))) as wire:
        nothing = await wire.get()
    assert (head.status, head.headers["content-length"]) == (200, "2")
    assert (nothing.status, "content-length" in nothing.headers) == (204, False)


async def test_connection_close_is_kept_by_either_side() -> None:
    async with served(echo) as wire:
        assert (await wire.get()).headers["connection"] == "close"
        (old,) = await wire.say(b"GET / HTTP/1.0\r\n" + HOST + b"\r\n")
    assert old.headers["connection"] == "close"
    async with served(constant((b"content-length", b"2"), (b"connection", b"Close"))) as wire:
        (ours,) = await wire.say(GET % 1)
    assert ours.headers["connection"] == "Close"


@pytest.mark.parametrize("shortcut", [True, False])
@pytest.mark.parametrize(
    ("lines", "connection"),
    [
        ("", "close"),
        ("Connection: keep-alive\r\n", "keep-alive"),
        ("Connection: Keep-Alive\r\n", "keep-alive"),
        ("Connection: keep-alive, x-hop\r\n", "keep-alive"),
        ("Connection: close\r\n", "close"),
        ("Connection: x-hop\r\n", "close"),
        ("Keep-Alive: timeout=5\r\n", "close"),
    ],
)
async def test_http_1_0_closes_the_connection_unless_it_asks_to_keep_it(
    lines: str, connection: str, shortcut: bool
) -> None:
    async with served(health(), shortcut=shortcut) as wire:
        peer = await wire.connect()
        for _ in range(3 if connection == "keep-alive" else 1):
            await peer.say(f"GET /readyz HTTP/1.0\r\n{lines}\r\n".encode())
            reply = await peer.reply()
            assert (reply.status, reply.headers["connection"]) == (200, connection)
        if connection == "close":
            assert await peer.closed() == b""
        peer.close()


async def test_what_follows_a_request_that_closes_the_connection_is_not_answered() -> None:
    async with served(echo) as wire:
        replies = await wire.say(b"GET /1 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n" + GET % 2)
    assert [reply.body for reply in replies] == [b"GET /1? "]


async def test_a_peer_that_expects_100_is_told_to_continue_once_and_only_when_the_body_is_wanted() -> None:
    head = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n"
    async with served(echo) as wire:
        peer = await wire.connect()
        await peer.say(head)
        assert await asyncio.wait_for(peer.reader.readuntil(b"\r\n\r\n"), 20) == b"HTTP/1.1 100 Continue\r\n\r\n"
        await peer.say(b"ok")
        assert (await peer.reply()).body == b"POST /? ok"
        peer.close()
    async with served(constant((b"content-length", b"2"))) as wire:
        peer = await wire.connect()
        await peer.say(head)
        assert (await peer.reply()).status == 200
        peer.close()


async def test_http_1_0_is_never_told_to_continue() -> None:
    async with served(echo) as wire:
        (reply,) = await wire.say(
            b"POST / HTTP/1.0\r\n" + HOST + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n", b"ok"
        )
    assert (reply.status, reply.body) == (200, b"POST /? ok")


@pytest.mark.parametrize(
    ("framing", "body"),
    [(b"Content-Length: 3\r\n", b"abc"), (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\r\n\r\n"), (b"", b"")],
)
@pytest.mark.parametrize("split", [False, True])
async def test_an_offered_upgrade_is_ignored_and_costs_neither_body_nor_next_request(
    framing: bytes, body: bytes, split: bool
) -> None:
    head = b"POST /1 HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n" + framing + b"\r\n"
    whole = head + body + GET % 2
    async with served(echo) as wire:
        peer = await wire.connect()
        for part in (whole[: len(head) + 1], whole[len(head) + 1 :]) if split else (whole,):
            await peer.say(part)
        first, second = [await peer.reply() for _ in range(2)]
        peer.close()
    assert first.body == (b"POST /1? abc" if body else b"POST /1? ")
    assert second.body == b"GET /2? "


async def test_a_body_that_a_get_carries_is_read_past() -> None:
    async with served(constant((b"content-length", b"2"))) as wire:
        peer = await wire.connect()
        await peer.say(b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nab")
        assert (await peer.reply()).body == b"ok"
        await peer.say(b"cde" + GET % 2)
        assert (await peer.reply()).body == b"ok"
        peer.close()


async def test_options_may_be_asked_of_the_service_as_a_whole() -> None:
    async with served(echo) as wire:
        assert (await wire.get(b"*", method=b"OPTIONS")).body == b"OPTIONS *? "


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        (b"http://api.example.org/a?b=c", b"GET /a?b=c "),
        (b"HTTP://API.EXAMPLE.ORG", b"GET /? "),
        (b"http://api.example.org?b", b"GET /?b "),
        (b"/a%20b?c=%20", b"GET /a%20b?c=%20 "),
        (b"//a/../b/?", b"GET //a/../b/? "),
    ],
)
async def test_a_target_reaches_the_application_as_it_was_sent(target: bytes, seen: bytes) -> None:
    async with served(echo) as wire:
        assert (await wire.get(target)).body == seen


async def test_a_path_is_percent_decoded_beside() -> None:
    paths: list[str] = []

    async def keep(scope: Scope, receive: Receive, send: Send) -> None:
        paths.append(scope["path"])
        await echo(scope, receive, send)

    async with served(keep) as wire:
        await wire.get(b"/a%20%C3%A9")
        await wire.get(b"/a")
    assert paths == ["/a é", "/a"]


async def test_empty_lines_before_a_request_are_skipped() -> None:
    async with served(echo) as wire:
        (reply,) = await wire.say(b"\r\n\r\nGET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    assert reply.status == 200


async def test_a_peer_that_only_closes_its_sending_half_still_gets_its_answers() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        peer.writer.write(GET % 1 + GET % 2)
        peer.writer.write_eof()
        assert [reply.body for reply in await peer.rest()] == [b"GET /1? ", b"GET /2? "]


async def test_a_peer_that_leaves_is_noticed_by_whoever_waits_for_it() -> None:
    noticed = asyncio.Event()

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await receive()
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b"into the void", "more_body": True})
        noticed.set()

    async with served(listening) as wire:
        peer = await wire.connect()
        await peer.say(GET % 1)
        await peer.reader.readuntil(b"x\r\n")
        peer.close()
        await asyncio.wait_for(noticed.wait(), 20)
        assert not wire.state.connections


async def test_queued_requests_of_a_connection_that_broke_are_never_started() -> None:
    started = 0
    release = asyncio.Event()

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal started
        started += 1
        await release.wait()
        await echo(scope, receive, send)

    async with served(held) as wire:
        peer = await wire.connect()
        await peer.say((GET % 1) * 3)
        await until(lambda: bool(started))
        (connection,) = wire.state.connections
        connection.transport.abort()
        await peer.closed()
        release.set()
        await until(lambda: not wire.state.tasks)
    assert started == 1


async def test_a_whole_body_is_waited_for_and_the_end_of_the_exchange_is_told_after_it() -> None:
    seen: list[str] = []

    async def curious(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((await receive())["type"])
        await constant((b"content-length", b"2"))(scope, receive, send)
        seen.append((await receive())["type"])

    async with served(curious) as wire:
        await wire.get()
        await until(lambda: not wire.state.tasks)
    assert seen == ["http.request", "http.disconnect"]


@pytest.mark.parametrize("value", [b"a\r\nset-cookie: b", b"a\nb", b"a\rb", b"a\0b"], ids=["CRLF", "LF", "CR", "NUL"])
async def test_a_line_break_in_a_header_never_leaves(value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with served(constant((b"content-length", b"2"), (b"x", value))) as wire:
        peer = await wire.connect()
        await peer.say(GET % 1)
        assert await peer.closed() == b""
    assert "line break" in caplog.text


@pytest.mark.parametrize(
    "answer",
    [
        constant((b"content-length", b"3")),
        constant((b"content-length", b"1")),
        constant((b"content-length", b"4"), pieces=(b"one", b"")),
    ],
    ids=["too short", "too long", "too short in the end"],
)
async def test_an_answer_of_another_length_than_promised_breaks_off(
    answer: ASGIApp, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(answer) as wire:
        peer = await wire.connect()
        await peer.say(GET % 1)
        raw = await peer.closed()
    assert b"ok" not in raw
    assert "the length that Content-Length says" in caplog.text


async def test_an_application_that_never_answers_or_answers_twice_loses_its_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        return

    async def twice(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def headless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.body", "body": b"x"})

    for broken in (silent, twice, headless):
        async with served(broken) as wire:
            peer = await wire.connect()
            await peer.say(GET % 1)
            assert await peer.closed() == b""
    assert "started twice" in caplog.text
    assert "outside of a response" in caplog.text


async def test_a_body_after_the_end_of_an_answer_is_a_failure_of_the_application(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def chatty(scope: Scope, receive: Receive, send: Send) -> None:
        await constant((b"content-length", b"2"))(scope, receive, send)
        await send({"type": "http.response.body", "body": b"more"})

    async with served(chatty) as wire:
        assert (await wire.get()).body == b"ok"
        await until(lambda: not wire.state.tasks)
    assert "outside of a response" in caplog.text


@pytest.mark.slow
async def test_a_large_answer_reaches_a_slow_reader_whole() -> None:
    piece = b"x" * 300_000

    async with served(constant(pieces=(piece,) * 20)) as wire:
        reply = await wire.get()
    assert reply.body == piece * 20


async def test_nothing_is_written_once_the_connection_is_closing() -> None:
    held = asyncio.Event()

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        await held.wait()
        await echo(scope, receive, send)

    async with served(late) as wire:
        peer = await wire.connect()
        await peer.say(GET % 1)
        await until(lambda: bool(wire.state.tasks))
        (connection,) = wire.state.connections
        connection.transport.abort()
        held.set()
        assert await peer.closed() == b""


async def test_a_failure_while_a_request_waits_for_its_task_is_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError

    async with served(broken) as wire:
        peer = await wire.connect()
        with caplog.at_level(logging.ERROR, "verdict.http"):
            await peer.say(GET % 1)
            assert await peer.closed() == b""
    assert caplog.records[0].exc_info is not None


@pytest.mark.process
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here to make a certificate with")
async def test_https_is_served_and_refuses_as_plain_http_does(tmp_path: Path) -> None:
    cert, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*command, "-keyout", secret, "-out", cert, *subject], check=True, capture_output=True)  # noqa: ASYNC221
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(cert, secret)
    client_side = ssl.create_default_context(cafile=str(cert))
    async with served(echo, tls=server_side) as wire:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", wire.port, ssl=client_side, server_hostname="localhost"
        )
        peer = Peer(reader, writer)
        await peer.say(GET % 1)
        assert (await peer.reply()).body == b"GET /1? "
        await peer.say(b"nonsense\r\n\r\n")
        (refusal,) = await peer.rest()
    assert (refusal.status, refusal.code) == (400, "BAD_REQUEST")
