"""The tool server over HTTP against what raw sockets send, and against callers that take all sessions."""

import contextlib
import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from mcp import Client

from service.mcp import http_guard, sessions
from tests.mcp.conftest import PATIENCE_S
from tests.mcp.recorded import Heard, Recorded, Refusal
from tests.mcp.test_serving import HANDSHAKE, dial, listening, send

LEGACY, MODERN = b"2025-11-25", b"2026-07-28"


@pytest.fixture
def url(service: Recorded, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with listening(service.url, monkeypatch) as address:
        yield address


def say(url: str, head: str, body: bytes = b"") -> str:
    """Send bytes; the answer until the connection is closed. `HOST` stands for the server's own."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S) as connection:
        connection.sendall(head.replace("HOST", parts.netloc).replace("\n", "\r\n").encode() + b"\r\n" + body)
        with contextlib.suppress(ConnectionResetError):  # what was not read when it closed
            return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    return ""


@pytest.mark.slow
@pytest.mark.promise("mcp.host")
@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        ("Host: evil.example\n", 421),
        ("Host: 127.0.0.1\n", 421),
        ("Host: HOST\nHost: HOST\n", 400),
        ("Host: HOST\nHost: evil.example\n", 400),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/elsewhere"])
def test_the_host_is_checked_first_whatever_the_path(url: str, hosts: str, status: int, path: str) -> None:
    answer = say(url, f"GET {path} HTTP/1.1\n{hosts}")
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert "location" not in answer.lower()
    assert "connection: close" in answer
    assert json.loads(answer.partition("\r\n\r\n")[2])["error"]["code"] == -32600


@pytest.mark.promise("mcp.body")
def test_a_body_that_does_not_arrive_in_time_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert http_guard.BODY_S == 15
    monkeypatch.setattr(http_guard, "BODY_S", 0.05)
    answer = say(url, "POST /mcp HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Length: 50\n", b"{")
    assert answer.startswith("HTTP/1.1 408 ")


@pytest.mark.promise("mcp.largest")
def test_a_body_without_a_declared_length_is_capped_too(url: str) -> None:
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    head = "POST /mcp HTTP/1.1\nHost: HOST\nContent-Type: application/json\nTransfer-Encoding: chunked\n"
    assert say(url, head, chunk * 64 + b"1\r\n \r\n").startswith("HTTP/1.1 413 ")


@pytest.mark.slow
@pytest.mark.promise("mcp.sessions")
async def test_a_caller_beyond_its_sessions_ends_its_oldest_and_no_one_else_s(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_PER_HOLDER", 2)
    first, second, third, other = [open_session(url, key) for key in ("a", "a", "a", "b")]
    anonymous = open_session(url)
    assert [ping(url, session, key) for session, key in [(first, "a"), (second, "a"), (third, "a"), (other, "b")]] == [
        404, 200, 200, 200,
    ]  # fmt: skip
    assert ping(url, anonymous) == 200
    for mode in ("auto", "legacy"):
        http, transport = dial(url, f"verdict_sk_{mode}")
        async with http, Client(transport, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
            assert (await client.list_tools()).tools


def open_session(url: str, key: str | None = None, **headers: str) -> str:
    """Open a session by hand, and tell its id."""
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    reply = send(url, json.dumps(HANDSHAKE).encode(), **bearer, **headers)
    assert reply.status == 200, reply
    return reply.headers["mcp-session-id"]


def ping(url: str, session: str, key: str | None = None) -> int:
    """The status of a request of a session."""
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    message = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}).encode()
    return send(url, message, Mcp_Session_Id=session, **bearer).status


VALID = "Bearer verdict_sk_valid"
REFUSED = Refusal(401, {"error": {"code": "AUTH_INVALID", "message": "The token is unknown."}})


@pytest.fixture
def revoked(service: Recorded, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """A service that accepts one token, while it is not in this set."""
    answered = service.answer
    out: set[str] = set()

    def answer(heard: Heard) -> Refusal:
        return answered(heard) if heard.bearer == VALID and heard.bearer not in out else REFUSED

    monkeypatch.setattr(service, "answer", answer)
    return out


@pytest.mark.usefixtures("revoked")
@pytest.mark.promise("mcp.sessions")
async def test_invented_tokens_take_no_sessions_from_a_valid_key(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 4)
    handshake = json.dumps(HANDSHAKE).encode()
    for number in range(12):
        reply = send(url, handshake, Authorization=f"Bearer verdict_sk_{number}")
        assert reply.status == 401
        assert reply.headers["www-authenticate"] == 'Bearer realm="verdict", error="invalid_token"'
        assert "mcp-session-id" not in reply.headers
        assert json.loads(reply.body)["error"]["message"].endswith("Send a valid API key.")
    strangers = [open_session(url) for _ in range(8)]
    http, transport = dial(url, "verdict_sk_valid")
    async with http, Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
        result = await client.call_tool("coin_risk", {"symbol": "BTC"})
    assert not result.is_error
    assert [ping(url, session) for session in strangers[:5]] == [404] * 5
    assert ping(url, strangers[-1]) == 200


@pytest.mark.usefixtures("revoked")
@pytest.mark.parametrize(
    "authorization",
    ["Basic abc", "Bearer", "Bearer ", "Bearer a b", "verdict_sk_valid", "", "Bearer verdict_sk_valid,x", "Token x"],
)
@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_what_is_no_valid_token_gets_a_challenge(url: str, authorization: str, version: bytes) -> None:
    handshake = json.dumps(HANDSHAKE).encode()
    reply = send(url, handshake, Authorization=authorization, Mcp_Protocol_Version=version.decode())
    assert reply.status == 401
    assert reply.headers["www-authenticate"].startswith('Bearer realm="verdict", error="invalid_')


@pytest.mark.slow
def test_a_session_is_only_its_opener_s(url: str) -> None:
    own, anonymous = open_session(url, "a"), open_session(url)
    assert [ping(url, own, key) for key in ("a", "b", None)] == [200, 404, 404]
    assert [ping(url, anonymous, key) for key in (None, "a")] == [200, 404]
    assert send(url, b"", "DELETE", Mcp_Session_Id=own, Authorization="Bearer b").status == 404
    assert ping(url, own, "a") == 200
    assert ping(url, "invented", "a") == 404


TAKEN = [
    (None, "application/json"),
    ("", "application/json"),
    ("*/*", "application/json"),
    ("application/json", "application/json"),
    ("application/*", "application/json"),
    ("Application/JSON; charset=utf-8", "application/json"),
    ("application/json, text/event-stream;q=0", "application/json"),
    ("text/html, */*;q=0.8", "application/json"),
    ("application/json, text/event-stream", "text/event-stream"),
    ("text/event-stream", "text/event-stream"),
    ("text/*, application/json;q=0.5", "text/event-stream"),
    ("application/json; q=0, */*", "text/event-stream"),
    ("application/*;Q=0.000, */*;q=0.1", "text/event-stream"),
    ("application/json;q=0.9, text/event-stream;q=0.8", "application/json"),
    ("text/event-stream;q=.2, */*;q=0.1", "text/event-stream"),
    ("application/*;q=0, application/json, */*;q=0", "application/json"),
    ("text/event-stream;q=0.0, text/*, application/json;charset=utf-8;q=0.001", "application/json"),
    ("application/json;q=0.5, text/event-stream;q=0.5", "text/event-stream"),
]


@pytest.mark.parametrize(("accept", "form"), TAKEN)
def test_an_answer_has_a_form_that_the_caller_takes(url: str, accept: str | None, form: str) -> None:
    reply = send(url, json.dumps(HANDSHAKE).encode(), Accept=accept)
    assert reply.status == 200
    assert reply.headers["content-type"].partition(";")[0] == form
    session = reply.headers["mcp-session-id"]
    called = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "coin_risk", "arguments": {}}}
    reply = send(url, json.dumps(called).encode(), Accept=accept, Mcp_Session_Id=session)
    text = reply.body.decode()
    answer = json.loads(text if form == "application/json" else text.partition("data: ")[2])
    assert answer["id"] == 5
    assert answer["result"]["content"][0]["text"].startswith("BAD_REQUEST: coin_risk needs symbol")
    notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    assert send(url, notice, Accept=accept, Mcp_Session_Id=session).status == 202


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "image/*",
        "application/xml",
        "*/*;q=0",
        "application/json;q=0.0",
        "text/event-stream;q=0., application/*; q=0",
        "*/*, */json;q=1, application/*;q=0, text/*;q=0",
    ],
)
def test_a_caller_that_takes_neither_form_is_refused(url: str, accept: str) -> None:
    assert send(url, json.dumps(HANDSHAKE).encode(), Accept=accept).status == 406


@pytest.mark.slow
@pytest.mark.parametrize("accept", ["application/json", "*/*"])
def test_a_caller_that_takes_no_stream_is_not_asked_and_gets_the_candidates(url: str, accept: str) -> None:
    asking = json.dumps(HANDSHAKE).replace('"capabilities": {}', '"capabilities": {"elicitation": {}}')
    session = send(url, asking.encode()).headers["mcp-session-id"]
    params = {"name": "coin_risk", "arguments": {"symbol": "NOPE"}}
    called = json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params}).encode()
    answer = json.loads(send(url, called, Accept=accept, Mcp_Session_Id=session).body)
    assert answer["id"] == "x"
    assert answer["result"]["content"][0]["text"].startswith("UNKNOWN_SYMBOL: ")


@pytest.mark.slow
@pytest.mark.promise("mcp.sessions")
async def test_an_ended_session_makes_room_for_the_next(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_PER_HOLDER", 1)
    for _ in range(3):
        http, transport = dial(url, "verdict_sk_caller")
        async with http, Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
            assert (await client.list_tools()).tools


@pytest.mark.promise("mcp.unreadable")
@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize(
    ("body", "code", "request_id"),
    [
        (b"[]", -32600, None),
        (b"null", -32600, None),
        (b"3", -32600, None),
        (b'"x"', -32600, None),
        (b"{}", -32600, None),
        (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', -32600, None),
        (b'{"id": 3, "method": "ping"}', -32600, 3),
        (b'{"jsonrpc": "2.0", "id": "a", "method": 5}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": true, "method": 5}', -32600, None),
        (b"", -32700, None),
        (b"{oops", -32700, None),
        (b'"\xff"', -32700, None),
    ],
)
def test_a_body_that_is_no_message_gets_an_error_in_plain_words(
    url: str, body: bytes, code: int, request_id: object, version: bytes
) -> None:
    reply = send(url, body, Mcp_Protocol_Version=version.decode())
    answer = json.loads(reply.body)
    assert (reply.status, answer["jsonrpc"], answer["id"], answer["error"]["code"]) == (400, "2.0", request_id, code)
    message = "This is not a JSON-RPC 2.0 message." if code == -32600 else "This is not valid JSON."
    assert answer["error"]["message"].startswith(message)
