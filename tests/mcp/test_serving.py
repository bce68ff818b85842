"""The command `verdict mcp`: the official client over standard input and output, and over HTTP."""

import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from service.client.errors import RefusalError
from service.mcp import serving
from service.networks import network_of
from tests.fakes.ports import held_port
from tests.fakes.serving import environment, wait_until
from tests.fakes.stuck_pipe import status_at, stuck_pipe
from tests.mcp.calls import CALLS
from tests.mcp.conftest import ERAS, PATIENCE_S
from tests.mcp.recorded import Recorded, Refusal, load
from tests.mcp.test_calls import User, text_of

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def serve(environment: Mapping[str, str], **given: Any) -> None:
    """Serve as `verdict mcp` does."""
    chosen: dict[str, Any] = {"http": False, "port": None, "budget": None, "pay": False, **given}
    serving.serve(environment.get("VERDICT_URL", "http://127.0.0.1:8402"), environment, **chosen)


async def every_tool_answers(client: Client) -> None:
    listed = (await client.list_tools()).tools
    for call in CALLS:  # the client holds every result against the tool's schema
        result = await client.call_tool(call.tool, dict(call.arguments))
        assert not result.is_error, text_of(result)
    assert {tool.name for tool in listed} == {call.tool for call in CALLS}


@pytest.mark.process
@pytest.mark.promise("clients.both", "clients.settings")
async def test_every_tool_answers_over_standard_input_and_output_where_nothing_else_is_written(
    service: Recorded, tmp_path: Path
) -> None:
    written = tmp_path / "stdout"
    started = StdioServerParameters(
        command="sh",
        args=["-c", '"$1" -m service mcp | tee "$2"', "sh", sys.executable, str(written)],
        env={**os.environ, "VERDICT_URL": service.url, "VERDICT_TOKEN": "verdict_sk_mine"},
    )
    async with Client(stdio_client(started), mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
        await every_tool_answers(client)
    assert {heard.bearer for heard in service.heard} == {"Bearer verdict_sk_mine"}
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert {line["jsonrpc"] for line in lines} == {"2.0"}
    assert len(lines) >= len(CALLS) + 2


@pytest.mark.parametrize(("somebody", "told"), [(True, 1), (False, 0)])
def test_who_starts_it_at_a_terminal_is_told_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], somebody: bool, told: int
) -> None:
    monkeypatch.setattr(anyio, "run", lambda *_: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: somebody)
    serve({})
    said = capsys.readouterr()
    assert (said.out, said.err.count("Ctrl-C ends it")) == ("", told)


@pytest.fixture
def over_http(service: Recorded, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a tool server that listens; started with a credential of its own, which nobody may use."""
    with listening(service.url, monkeypatch) as url:
        yield url


@contextmanager
def listening(service_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    said: list[str] = []
    heard, servers = threading.Event(), []

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            servers.append(self)
            heard.set()

    monkeypatch.setattr(uvicorn, "Server", Server)
    monkeypatch.setattr(serving, "tell", said.append)
    environment = {"VERDICT_URL": service_url, "VERDICT_TOKEN": "verdict_sk_operator"}
    thread = threading.Thread(target=serve, args=(environment,), kwargs={"http": True, "port": 0})
    thread.start()
    try:
        assert heard.wait(PATIENCE_S)
        yield said[0].removeprefix("Tools at ")
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(PATIENCE_S)
    assert not thread.is_alive()


def dial(url: str, key: str | None) -> tuple[httpx2.AsyncClient, Any]:
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    client = httpx2.AsyncClient(headers=bearer, timeout=PATIENCE_S)
    return client, streamable_http_client(url, http_client=client)


@pytest.mark.slow
async def test_every_tool_answers_over_http_and_each_caller_is_who_it_says(service: Recorded, over_http: str) -> None:
    first, transport = dial(over_http, "verdict_sk_caller")
    async with first, Client(transport, read_timeout_seconds=PATIENCE_S) as client:
        await every_tool_answers(client)
    assert {heard.bearer for heard in service.heard} == {"Bearer verdict_sk_caller"}
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(403, load("refused.no-token"))
    nobody, transport = dial(over_http, None)
    async with nobody, Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
        result = await client.call_tool("coin_risk", {"symbol": "BTC"})
    assert service.heard[-1].bearer is None
    assert result.is_error
    assert "send an API key to this tool server" in text_of(result)


@pytest.mark.parametrize("era", ERAS)
async def test_a_user_is_asked_over_http_too(service: Recorded, over_http: str, era: str) -> None:
    user = User(content={"symbol": "BTC"})
    caller, transport = dial(over_http, "verdict_sk_caller")
    async with (
        caller,
        Client(transport, mode=era, read_timeout_seconds=PATIENCE_S, elicitation_callback=user) as client,
    ):
        result = await client.call_tool("coin_risk", {"symbol": "NOPE"})
    assert len(user.asked) == 1
    assert isinstance(result, types.CallToolResult)
    assert result.structured_content["symbol"] == "BTC"


class Reply(NamedTuple):
    """An answer by hand."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send(url: str, body: bytes, method: str = "POST", **headers: str | None) -> Reply:
    """Send one request by hand. A header that is None is left out."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    given = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    fields = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    try:
        connection.request(method, parts.path, body, fields)
        response = connection.getresponse()
        return Reply(response.status, {n.lower(): v for n, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def post(url: str, body: bytes, **headers: str) -> int:
    """Send one request by hand, and tell the status."""
    return send(url, body, **headers).status


def test_a_page_from_elsewhere_and_another_name_are_refused(over_http: str, service: Recorded) -> None:
    handshake = json.dumps(HANDSHAKE).encode()
    port = urlsplit(over_http).port
    assert post(over_http, handshake) == 200
    assert post(over_http, handshake, Host=f"localhost:{port}", Origin=f"http://localhost:{port}") == 200
    assert post(over_http, handshake, Origin="https://evil.example") == 403
    assert post(over_http, handshake, Origin=f"http://127.0.0.1:{(port or 0) + 1}") == 403
    assert post(over_http, handshake, Origin="null") == 403
    assert post(over_http, handshake, Host="evil.example") == 421
    assert post(over_http, handshake, Host="127.0.0.1:80") == 421
    assert post(over_http, b" " * (4 * 1024 * 1024)) == 400
    assert post(over_http, b" " * (4 * 1024 * 1024 + 1)) == 413
    assert service.heard == []


@pytest.mark.parametrize("proxies", ["nobody", "10.0.0.0/33", "192.0.2.1,x", "10.0.0.1/8"])
def test_proxies_that_are_no_networks_are_refused(service: Recorded, proxies: str) -> None:
    environment = {"VERDICT_URL": service.url, "VERDICT_TRUSTED_PROXIES": proxies}
    with pytest.raises(RefusalError, match="VERDICT_TRUSTED_PROXIES takes addresses or networks"):
        serve(environment, http=True, port=0)


@pytest.mark.parametrize(
    ("trusted", "forwarded", "network"),
    [
        ("", b"198.51.100.7", "127.0.0.1"),
        ("10.0.0.0/8", b"198.51.100.7", "127.0.0.1"),
        ("127.0.0.1", b"198.51.100.7", "198.51.100.7"),
        ("127.0.0.0/8, 10.0.0.0/8", b"203.0.113.9, 198.51.100.7, 10.1.1.1", "198.51.100.7"),
        ("127.0.0.1", b"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("127.0.0.1", b"::ffff:198.51.100.7", "198.51.100.7"),
        ("127.0.0.1", b"nonsense", "127.0.0.1"),
    ],
)
def test_a_caller_s_network_is_the_one_that_a_trusted_proxy_names(trusted: str, forwarded: bytes, network: str) -> None:
    proxies = serving.trusted_proxies({"VERDICT_TRUSTED_PROXIES": trusted})
    scope = {"client": ("127.0.0.1", 1), "headers": [(b"x-forwarded-for", forwarded)]}
    assert network_of(proxies.host_of(scope)) == network


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"http": True, "pay": True}, "over HTTP nothing is paid"),
        ({"budget": 100}, "no answer is worth its question in less than 4096 bytes"),
        ({"port": 8403}, "only --http listens on one"),
        ({"pay": True}, "there is no wallet to pay with"),
        ({"http": True, "port": 70_000}, "--port: 70000 is none"),
    ],
)
def test_what_cannot_be_served_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(RefusalError, match=told):
        serve({}, **given)


def test_a_port_that_is_taken_is_said(over_http: str) -> None:
    with pytest.raises(RefusalError, match="cannot be listened on"):
        serve({}, http=True, port=urlsplit(over_http).port)


def test_paying_is_arranged_before_anything_is_served(
    service: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Any] = []
    monkeypatch.setattr(anyio, "run", lambda _function, server: served.append(server))
    environment = {"VERDICT_URL": service.url, "VERDICT_WALLET_KEY": "11" * 32, "VERDICT_TOKEN": "verdict_sk_mine"}
    serve(environment, pay=True)
    assert len(served) == 1
    serving.tell("paid 0.005 USDC; it could not be fetched (\x1b[2J)")
    assert capsys.readouterr() == ("", "paid 0.005 USDC; it could not be fetched (\ufffd[2J)\n")


def test_an_interrupt_ends_what_waits_for_standard_input(service: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop's own way is to cancel what runs, which a thread that reads does not hear."""
    during: list[Any] = []
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(anyio, "run", lambda *_: during.append(signal.getsignal(signal.SIGINT)))
    serve({"VERDICT_URL": service.url})
    assert during == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.process
def test_tools_whose_log_nobody_reads_are_served_and_stop() -> None:
    with held_port() as port, stuck_pipe() as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "service", "mcp", "--http", "--port", str(port)],
            env=environment({"url": "http://127.0.0.1:9"}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
        try:
            wait_until(lambda: status_at(port, "/nothing") == 404)
            process.terminate()
            process.wait(PATIENCE_S)
        finally:
            process.kill()
            process.wait(PATIENCE_S)
