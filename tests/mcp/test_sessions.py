"""Sessions of the tool server over HTTP, in this process: who holds them, and which end."""

import asyncio
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.mcp import sessions
from service.mcp.gateway import TokenStatus
from service.mcp.http_guard import HttpGuard
from service.mcp.sessions import SESSION_IDLE_S, SESSIONS_PER_HOLDER
from tests.fakes.clock import FakeClock
from tests.mcp.test_http_guard import MODERN


class Tools:
    """A tool server that opens a session for each request without one, or fails."""

    def __init__(self) -> None:
        self.opened = 0
        self.ended: list[int] = []
        self.status = 200
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        headers = dict(scope["headers"])
        if scope["method"] == "DELETE":
            self.ended.append(int(headers[b"mcp-session-id"]))
        await self.may_answer.wait()
        if b"mcp-session-id" not in headers and b"mcp-protocol-version" not in headers:
            self.opened += 1
        fields = [(b"mcp-session-id", b"%d" % self.opened), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": self.status, "headers": fields})
        await send({"type": "http.response.body", "body": b""})


async def standing_of(token: str) -> TokenStatus:
    """What a token says of itself: `valid-1` is accepted, `limited` and `unknown` are so, others are refused."""
    kind: Any = "accepted" if token.startswith("valid") else token if token in {"limited", "unknown"} else "refused"
    return TokenStatus(kind, "7")


def guarding(app: ASGIApp, clock: FakeClock | None = None) -> HttpGuard:
    """A guard that knows callers by the first item of their scope's client."""
    return HttpGuard(app, ["here"], clock or FakeClock(), standing_of, lambda scope: scope["client"][0])


PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


async def ask(
    guard: HttpGuard,
    *messages: Message,
    method: str = "POST",
    key: str | None = None,
    network: str = "192.0.2.1",
    sent: list[Message] | None = None,
    **fields: bytes,
) -> int | None:
    """The status of one request to a guard; None where there was no answer."""
    given = [*messages] or [{"type": "http.request", "body": PING}]
    sent = [] if sent is None else sent

    async def receive() -> Message:
        return given.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"here"), *((name.replace("_", "-").encode(), value) for name, value in fields.items())]
    if key is not None:
        headers.append((b"authorization", f"Bearer {key}".encode()))
    scope = {"type": "http", "method": method, "path": "/mcp", "client": (network, 1), "headers": headers}
    await guard(scope, receive, send)
    return sent[0]["status"] if sent else None


@pytest.mark.promise("mcp.sessions")
async def test_sessions_idle_for_five_minutes_end() -> None:
    clock, tools = FakeClock(), Tools()
    guard = guarding(tools, clock)
    assert (SESSION_IDLE_S, SESSIONS_PER_HOLDER) == (300, 16)
    assert [await ask(guard) for _ in range(SESSIONS_PER_HOLDER)] == [200] * SESSIONS_PER_HOLDER
    await clock.advance(SESSION_IDLE_S - 1)
    assert await ask(guard, mcp_session_id=b"1") == 200
    assert tools.ended == []
    await clock.advance(1)
    assert await ask(guard, mcp_session_id=b"2") == 404
    assert tools.ended == [*range(2, SESSIONS_PER_HOLDER + 1)]
    assert await ask(guard, mcp_session_id=b"1") == 200
    assert await ask(guard, method="DELETE", mcp_session_id=b"1") == 200
    assert await ask(guard, mcp_session_id=b"1") == 404


@pytest.mark.promise("mcp.sessions")
@pytest.mark.parametrize("key", ["valid-1", None, "unknown"])
async def test_a_holder_s_next_session_ends_its_oldest_idle_one(key: str | None) -> None:
    clock, tools = FakeClock(), Tools()
    guard = guarding(tools, clock)
    for _ in range(SESSIONS_PER_HOLDER):
        await ask(guard, key=key)
        await clock.advance(1)
    assert await ask(guard, key=key, mcp_session_id=b"1") == 200
    assert [await ask(guard, key=key) for _ in range(3)] == [200] * 3
    assert tools.ended == [2, 3, 4]
    assert await ask(guard, key=key, mcp_session_id=b"1") == 200
    assert await ask(guard, key=key, mcp_session_id=b"3") == 404
    assert await ask(guard, key=key, mcp_protocol_version=MODERN) == 200
    assert tools.ended == [2, 3, 4]


@pytest.mark.promise("mcp.sessions")
async def test_a_holder_whose_sessions_are_all_at_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_PER_HOLDER", 2)
    tools = Tools()
    guard = guarding(tools)
    tools.may_answer.clear()
    async with asyncio.TaskGroup() as group:
        opening = [group.create_task(ask(guard)) for _ in range(2)]
        await asyncio.sleep(0)
        assert await ask(guard) == 429
        tools.may_answer.set()
    assert [task.result() for task in opening] == [200, 200]
    tools.may_answer.clear()
    async with asyncio.TaskGroup() as group:
        calling = [group.create_task(ask(guard, mcp_session_id=b"%d" % number)) for number in (1, 2)]
        await asyncio.sleep(0)
        assert await ask(guard) == 429
        tools.may_answer.set()
    assert [task.result() for task in calling] == [200, 200]
    assert await ask(guard) == 200


@pytest.mark.promise("mcp.sessions")
async def test_strangers_make_room_for_a_confirmed_key_even_while_they_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 6)
    clock, tools = FakeClock(), Tools()
    guard = guarding(tools, clock)
    for number in range(6):
        assert await ask(guard, key="unknown" if number % 2 else None, network=f"192.0.2.{number}") == 200
        await clock.advance(1)
    tools.may_answer.clear()
    async with asyncio.TaskGroup() as group:
        for number in range(6):
            key = "unknown" if number % 2 else None
            group.create_task(ask(guard, key=key, network="192.0.2.9", mcp_session_id=b"%d" % (number + 1)))
        await asyncio.sleep(0)
        assert await ask(guard, network="203.0.113.1") == 429
        confirmed = group.create_task(ask(guard, key="valid-1"))
        await asyncio.sleep(0)
        tools.may_answer.set()
    assert confirmed.result() == 200
    assert len(tools.ended) == 1


@pytest.mark.promise("mcp.sessions")
async def test_confirmed_keys_share_and_strangers_take_nothing_from_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 6)
    tools = Tools()
    guard = guarding(tools)
    assert [await ask(guard, key="valid-1") for _ in range(5)] == [200] * 5
    assert await ask(guard, network="192.0.2.1") == 200
    assert await ask(guard, network="2001:db8::/64") == 200
    assert tools.ended == [6]
    assert await ask(guard, key="valid-2") == 200
    assert tools.ended == [6, 7]
    assert await ask(guard, network="192.0.2.1") == 429
    assert [await ask(guard, key=f"valid-{number}") for number in (3, 4, 5, 6)] == [200] * 4
    assert tools.ended == [6, 7, 1, 2, 3, 4]
    assert await ask(guard, key="valid-1", mcp_session_id=b"5") == 200


async def test_an_open_stream_keeps_a_session_but_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_PER_HOLDER", 1)
    clock, tools = FakeClock(), Tools()
    guard = guarding(tools, clock)
    assert await ask(guard, key="valid-1") == 200
    tools.may_answer.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(ask(guard, key="valid-1", method="GET", mcp_session_id=b"1"))
        await asyncio.sleep(0)
        await clock.advance(SESSION_IDLE_S)
        tools.may_answer.set()
        assert await ask(guard, key="valid-1", mcp_session_id=b"1") == 200
        assert await ask(guard, key="valid-1") == 200
    assert tools.ended == [1]


@pytest.mark.promise("mcp.sessions")
async def test_a_refused_credential_ends_its_sessions_and_no_others() -> None:
    tools, out = Tools(), set[str]()

    async def token_status(token: str) -> TokenStatus:
        return TokenStatus("refused" if token in out else "accepted")

    guard = HttpGuard(tools, ["here"], FakeClock(), token_status, lambda _: "192.0.2.1")
    for key in ("one", "two", "one", None):
        assert await ask(guard, key=key) == 200
    out.add("one")
    sent: list[Message] = []
    assert await ask(guard, key="one", mcp_session_id=b"1", sent=sent) == 401
    assert (b"www-authenticate", b'Bearer realm="verdict", error="invalid_token"') in sent[0]["headers"]
    assert tools.ended == [1, 3]
    assert await ask(guard, key="two", mcp_session_id=b"2") == 200
    assert await ask(guard, mcp_session_id=b"4") == 200
    out.clear()
    assert await ask(guard, key="one", mcp_session_id=b"1") == 404


async def test_a_token_that_the_service_does_not_judge_for_now_has_to_wait() -> None:
    tools, sent = Tools(), list[Message]()
    assert await ask(guarding(tools), key="limited", sent=sent) == 429
    assert (b"retry-after", b"7") in sent[0]["headers"]
    assert tools.opened == 0


async def test_a_refused_handshake_takes_no_place_and_a_peer_that_left_gets_no_answer() -> None:
    tools = Tools()
    guard = guarding(tools)
    assert await ask(guard) == 200
    tools.status = 400
    assert {await ask(guard) for _ in range(2 * SESSIONS_PER_HOLDER)} == {400}
    assert tools.ended == []
    left: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    assert await ask(guard, *left) is None


async def test_the_start_and_the_stop_of_the_server_pass() -> None:
    passed: list[Any] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        passed.append(scope["type"])

    async def unused(*_: object) -> Any:
        raise AssertionError

    await guarding(app)({"type": "lifespan"}, unused, unused)
    assert passed == ["lifespan"]


async def test_a_stream_of_events_without_an_answer_is_an_error_and_other_answers_pass() -> None:
    for kind, body, sent_body in (
        (b"text/event-stream", b': ping\r\n\r\ndata: {"method":"x"}\r\n\r\n', b"ended without an answer"),
        (b"text/event-stream", b'data: \r\n\r\ndata: {"id":1,"error":{}}\r\n\r\n', b'{"id":1,"error":{}}'),
        (b"application/json", b"{}", b"{}"),
    ):

        async def app(_scope: Scope, _receive: Receive, send: Send, kind: bytes = kind, body: bytes = body) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
            await send({"type": "http.response.body", "body": body[:9], "more_body": True})
            await send({"type": "http.response.body", "body": body[9:]})

        sent: list[Message] = []
        await ask(guarding(app), sent=sent, accept=b"application/json")
        assert sent_body in b"".join(message.get("body", b"") for message in sent)
        assert (b"content-type", b"application/json") in sent[0]["headers"]
