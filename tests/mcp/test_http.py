"""The tool server over HTTP: the official client, requests by hand, and what raw sockets send."""

import contextlib
import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from service.client.errors import RefusalError
from service.mcp import http_guard
from tests.mcp.calls import CALLS
from tests.mcp.conftest import ERAS, PATIENCE_S, serve, text_of
from tests.mcp.recorded import Recorded, Refusal, load

LEGACY, MODERN = "2025-11-25", "2026-07-28"
CLIENT = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
HANDSHAKE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}).encode()


def dial(url: str, key: str | None, mode: str) -> tuple[httpx2.AsyncClient, Client]:
    caller = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=PATIENCE_S)
    transport = streamable_http_client(url, http_client=caller)
    return caller, Client(transport, mode=mode, read_timeout_seconds=PATIENCE_S)


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_answers_and_each_caller_is_who_it_says(service: Recorded, over_http: str, era: str) -> None:
    caller, client = dial(over_http, "verdict_sk_caller", era)
    async with caller, client:
        for call in CALLS:  # the client holds every result against the tool's schema
            result = await client.call_tool(call.tool, dict(call.arguments))
            assert not result.is_error, text_of(result)
        assert {tool.name for tool in (await client.list_tools()).tools} == {call.tool for call in CALLS}
        assert (await client.read_resource("verdict://billing/tier")).contents
    assert {heard.bearer for heard in service.heard} == {"Bearer verdict_sk_caller"}
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(403, load("refused.no-token"))
    nobody, client = dial(over_http, None, era)
    async with nobody, client:
        result = await client.call_tool("coin_risk", {"symbol": "BTC"})
    assert service.heard[-1].bearer is None
    assert result.is_error
    assert "must send an API key to this tool server" in text_of(result)


def send(url: str, body: bytes, method: str = "POST", **headers: str | None) -> tuple[http.client.HTTPResponse, bytes]:
    """Send one request by hand. A header that is None is left out."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    given = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    fields = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    with contextlib.closing(connection):
        connection.request(method, parts.path, body, fields)
        response = connection.getresponse()
        return response, response.read()


@pytest.mark.promise("mcp.sessions")
@pytest.mark.parametrize("accept", [None, "", "*/*", "application/json", "text/event-stream", "text/html"])
def test_each_request_is_answered_by_itself_in_json(over_http: str, accept: str | None) -> None:
    called = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "coin_risk", "arguments": {}}}
    for headers in ({}, {"Mcp_Session_Id": "invented"}, {"Mcp_Protocol_Version": LEGACY}):
        opened, _ = send(over_http, HANDSHAKE, Accept=accept, **headers)
        reply, body = send(over_http, json.dumps(called).encode(), Accept=accept, **headers)
        assert (opened.status, reply.status) == (200, 200)
        assert not {"mcp-session-id"} & {name.lower() for name in (*opened.headers, *reply.headers)}
        assert reply.headers["content-type"] == "application/json"
        answer = json.loads(body)
        assert answer["id"] == 5
        assert answer["result"]["content"][0]["text"].startswith("BAD_REQUEST: The argument symbol is required.")
    notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    assert send(over_http, notice, Accept=accept)[0].status == 202


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_another_method_is_refused_with_the_one_to_use(over_http: str, method: str, version: str) -> None:
    reply, _ = send(over_http, b"", method, Mcp_Session_Id="x", Mcp_Protocol_Version=version)
    assert (reply.status, reply.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("authorization", ["Basic abc", "Bearer", "Bearer ", "Bearer a b", "verdict_sk_valid", ""])
def test_what_is_no_bearer_gets_a_challenge(service: Recorded, over_http: str, authorization: str) -> None:
    reply, _ = send(over_http, HANDSHAKE, Authorization=authorization)
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == 'Bearer realm="verdict", error="invalid_request"'
    assert service.heard == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:PORT", "Origin": "http://localhost:PORT"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:80"}, 421),
    ],
)
def test_a_page_from_elsewhere_and_another_name_are_refused(
    over_http: str, headers: dict[str, str], status: int
) -> None:
    port = str(urlsplit(over_http).port)
    reply, _ = send(over_http, HANDSHAKE, **{name: text.replace("PORT", port) for name, text in headers.items()})
    assert reply.status == status


def say(url: str, head: str, body: bytes = b"") -> str:
    """Send bytes; the answer until the connection is closed. `HOST` stands for the server's own."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S) as connection:
        connection.sendall(head.replace("HOST", parts.netloc).replace("\n", "\r\n").encode() + b"\r\n" + body)
        with contextlib.suppress(ConnectionResetError):  # what was not read when it closed
            return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    return ""


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
def test_the_host_is_checked_first_whatever_the_path(over_http: str, hosts: str, status: int) -> None:
    for path in ("/mcp", "/mcp/", "/elsewhere"):
        answer = say(over_http, f"GET {path} HTTP/1.1\n{hosts}")
        assert answer.startswith(f"HTTP/1.1 {status} ")
        assert "location" not in answer.lower()
        assert "connection: close" in answer
        assert json.loads(answer.partition("\r\n\r\n")[2])["error"]["code"] == -32600


@pytest.mark.promise("mcp.body")
def test_a_body_that_does_not_arrive_in_time_is_refused(over_http: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert http_guard.BODY_S == 15
    monkeypatch.setattr(http_guard, "BODY_S", 0.05)
    head = "POST /mcp HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Length: 50\n"
    answer = say(over_http, head, b"{")
    assert answer.startswith("HTTP/1.1 408 ")


@pytest.mark.promise("mcp.largest")
def test_a_body_is_capped_with_a_declared_length_and_without(over_http: str) -> None:
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    head = "POST /mcp HTTP/1.1\nHost: HOST\nContent-Type: application/json\nTransfer-Encoding: chunked\n"
    assert say(over_http, head, chunk * 64 + b"1\r\n \r\n").startswith("HTTP/1.1 413 ")
    filled = HANDSHAKE + b" " * (4 * 1024 * 1024 - len(HANDSHAKE))
    assert send(over_http, filled)[0].status == 200
    assert send(over_http, filled + b" ")[0].status == 413


@pytest.mark.promise("mcp.unreadable")
@pytest.mark.parametrize(
    ("body", "code", "request_id"),
    [
        (b"{}", -32600, None),
        (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', -32600, None),
        (b'{"id": 3, "method": "ping"}', -32600, 3),
        (b'{"jsonrpc": "2.0", "id": "a", "method": 5}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": true, "method": 5}', -32600, None),
        (b"", -32700, None),
        (b'"\xff"', -32700, None),
    ],
)
def test_a_body_that_is_no_message_gets_an_error_in_plain_words(
    over_http: str, body: bytes, code: int, request_id: object
) -> None:
    for version in (LEGACY, MODERN):
        reply, said = send(over_http, body, Mcp_Protocol_Version=version)
        answer = json.loads(said)
        assert (reply.status, answer["id"], answer["error"]["code"]) == (400, request_id, code)
        assert answer["error"]["message"].startswith("This is not ")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"http": True, "pay": True}, "--pay is unsafe with --http"),
        ({"budget": 100}, "100 bytes are too few for a useful answer. Use at least 4096."),
        ({"port": 8403}, "--port has no effect without --http"),
        ({"pay": True}, "There is no wallet to pay with"),
        ({"http": True, "port": 70_000}, "--port: 70000 is not a port"),
    ],
)
def test_what_cannot_be_served_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(RefusalError, match=told):
        serve({}, **given)


def test_a_port_that_is_taken_is_said(over_http: str) -> None:
    with pytest.raises(RefusalError, match="cannot be used: Address already in use"):
        serve({}, http=True, port=urlsplit(over_http).port)
