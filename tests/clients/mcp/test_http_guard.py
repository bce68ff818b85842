"""The tool server over HTTP against what raw sockets send, and against one client that takes all sessions."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Message, Receive, Scope, Send

from service.clients.mcp import http_guard
from service.clients.mcp.http_guard import SESSION_IDLE_S, SESSIONS_PER_CLIENT, HttpGuard
from tests.clients.mcp.conftest import PATIENCE_S
from tests.clients.mcp.recorded import Recorded
from tests.clients.mcp.test_serving import HANDSHAKE, dial, listening, post
from tests.fakes.clock import FakeClock

LEGACY, MODERN = b"2025-11-25", b"2026-07-28"


@pytest.fixture
def url(service: Recorded, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with listening(service, monkeypatch) as address:
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
async def test_a_client_has_so_many_sessions_and_others_and_modern_callers_are_served(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_guard, "SESSIONS_PER_CLIENT", 2)
    handshake = json.dumps(HANDSHAKE).encode()
    assert [post(url, handshake, Authorization="Bearer a") for _ in range(3)] == [200, 200, 429]
    assert post(url, handshake, Authorization="Bearer b") == 200
    assert post(url, handshake) == 200
    for mode in ("auto", "legacy"):
        http, transport = dial(url, f"verdict_sk_{mode}")
        async with http, Client(transport, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
            assert (await client.list_tools()).tools
    again = httpx2.AsyncClient(headers={"Authorization": "Bearer a"}, timeout=PATIENCE_S)
    async with again, Client(streamable_http_client(url, http_client=again), mode="auto") as client:
        assert (await client.list_tools()).tools  # a request that stands alone opens no session


@pytest.mark.slow
@pytest.mark.promise("mcp.sessions")
async def test_an_ended_session_makes_room_for_the_next(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_guard, "SESSIONS_PER_CLIENT", 1)
    for _ in range(3):
        http, transport = dial(url, "verdict_sk_caller")
        async with http, Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
            assert (await client.list_tools()).tools


class Tools:
    """A tool server that opens a session for each request without one, or fails."""

    def __init__(self) -> None:
        self.opened = 0
        self.status = 200
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        await self.may_answer.wait()
        self.opened += 1
        headers = [(b"mcp-session-id", b"%d" % self.opened), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def ask(guard: HttpGuard, *messages: Message, method: str = "POST", **fields: bytes) -> int | None:
    """The status of one request to a guard; None where there was no answer."""
    given = [*messages] or [{"type": "http.request", "body": b"{}"}]
    sent: list[Message] = []

    async def receive() -> Message:
        return given.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"here"), *((name.replace("_", "-").encode(), value) for name, value in fields.items())]
    await guard({"type": "http", "method": method, "headers": headers}, receive, send)
    return sent[0]["status"] if sent else None


@pytest.mark.promise("mcp.sessions")
async def test_sessions_idle_for_five_minutes_no_longer_count() -> None:
    clock, tools = FakeClock(), Tools()
    guard = HttpGuard(tools, ["here"], clock)
    assert SESSION_IDLE_S == 300
    assert [await ask(guard) for _ in range(SESSIONS_PER_CLIENT + 1)] == [200] * SESSIONS_PER_CLIENT + [429]
    await clock.advance(SESSION_IDLE_S - 1)
    assert await ask(guard, mcp_session_id=b"1") == 200
    await clock.advance(1)
    assert [await ask(guard) for _ in range(SESSIONS_PER_CLIENT)] == [200] * (SESSIONS_PER_CLIENT - 1) + [429]
    assert await ask(guard, mcp_protocol_version=MODERN) == 200
    assert await ask(guard, mcp_protocol_version=LEGACY) == 429
    assert await ask(guard, method="DELETE", mcp_session_id=b"1") == 200
    assert await ask(guard, mcp_protocol_version=LEGACY) == 200


@pytest.mark.promise("mcp.sessions")
async def test_sessions_that_are_being_opened_count_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_guard, "SESSIONS_PER_CLIENT", 2)
    tools = Tools()
    guard = HttpGuard(tools, ["here"], FakeClock())
    tools.may_answer.clear()
    async with asyncio.TaskGroup() as group:
        opening = [group.create_task(ask(guard)) for _ in range(2)]
        await asyncio.sleep(0)
        assert await ask(guard) == 429
        tools.may_answer.set()
    assert [task.result() for task in opening] == [200, 200]
    assert await ask(guard) == 429


async def test_a_refused_handshake_takes_no_place_and_a_peer_that_left_gets_no_answer() -> None:
    tools = Tools()
    guard = HttpGuard(tools, ["here"], FakeClock())
    tools.status = 400
    assert {await ask(guard) for _ in range(2 * SESSIONS_PER_CLIENT)} == {400}
    left: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    assert await ask(guard, *left) is None


async def test_the_start_and_the_stop_of_the_server_pass() -> None:
    passed: list[Any] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        passed.append(scope["type"])

    async def unused(*_: object) -> Any:
        raise AssertionError

    await HttpGuard(app, [], FakeClock())({"type": "lifespan"}, unused, unused)
    assert passed == ["lifespan"]
