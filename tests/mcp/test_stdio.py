"""The tool server over standard input and output: in this process with a pipe, and as a process of its own."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from service.mcp import serving
from tests.fakes.ports import held_port
from tests.fakes.serving import environment, wait_until
from tests.fakes.stuck_pipe import status_at, stuck_pipe
from tests.mcp.calls import CALLS
from tests.mcp.conftest import PATIENCE_S, serve, text_of
from tests.mcp.recorded import Recorded
from tests.mcp.test_http import HANDSHAKE

PING = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}'
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class Input(io.BytesIO):
    """Standard input that ends, which is a terminal or not."""

    def __init__(self, said: bytes, *, terminal: bool = False) -> None:
        super().__init__(said)
        self.buffer = self
        self.isatty = lambda: terminal  # type: ignore[method-assign]


def answers(monkeypatch: pytest.MonkeyPatch, said: bytes) -> list[Any]:
    """What is written for lines of standard input, after a handshake."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", Input(HANDSHAKE + b"\n" + said))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    serve({})
    told = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [one["result"]["serverInfo"]["name"] for one in told if one["id"] == 1] == ["verdict"]
    return told


@pytest.mark.promise("mcp.unreadable")
@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"hello", PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": 1,', PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": "\xff", "method": "ping"}', PARSE_ERROR, None),
        (b"[" * 100_000, PARSE_ERROR, None),
        (b"[" + PING + b"]", INVALID_REQUEST, None),
        (b'"ping"', INVALID_REQUEST, None),
        (b'{"id": 3, "method": "ping"}', INVALID_REQUEST, 3),
        (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', INVALID_REQUEST, "a"),
    ],
)
def test_what_is_no_message_is_answered_with_an_error_and_reading_goes_on(
    monkeypatch: pytest.MonkeyPatch, line: bytes, code: int, request_id: object
) -> None:
    (error,) = [one for one in answers(monkeypatch, line + b"\n \r\n" + PING) if "error" in one]
    assert (error["jsonrpc"], error["id"], error["error"]["code"]) == ("2.0", request_id, code)
    assert error["error"]["message"].startswith("This is not ")


@pytest.mark.promise("mcp.largest")
@pytest.mark.parametrize("over", [b"", b"x", b"x" * 10_000])
def test_a_line_over_the_limit_is_refused_and_not_kept(monkeypatch: pytest.MonkeyPatch, over: bytes) -> None:
    monkeypatch.setattr(serving, "MOST_BYTES", 400)
    told = answers(monkeypatch, PING + b" " * (400 - len(PING)) + over + b"\n" + PING + b"\n")
    errors = [one["error"] for one in told if "error" in one]
    assert [error["code"] for error in errors] == ([INVALID_REQUEST] if over else [])
    assert all("at most 400 bytes" in error["message"] for error in errors)


@pytest.mark.parametrize(
    ("said", "terminal", "told"),
    [
        (b"", True, "This MCP server waits for"),
        (PING, False, ""),
        (b"", False, "Standard input ended before a message arrived."),
    ],
)
def test_who_starts_it_by_hand_is_told_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: bytes, terminal: bool, told: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Input(said, terminal=terminal))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    serve({})
    shown = capsys.readouterr().err
    assert shown.startswith(told)
    assert ("verdict mcp install --client claude|cursor" in shown) is bool(told)


def test_paying_is_arranged_and_an_interrupt_ends_the_process_while_it_serves(
    service: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The loop's own way is to cancel what runs, which a thread that reads does not hear."""
    during: list[Any] = []
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(anyio, "run", lambda *_: during.append(signal.getsignal(signal.SIGINT)))
    serve({"VERDICT_URL": service.url, "VERDICT_WALLET_KEY": "11" * 32, "VERDICT_TOKEN": "verdict_sk_mine"}, pay=True)
    assert during == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) is before
    serving.tell("paid 0.005 USDC; it could not be fetched (\x1b[2J)")
    assert capsys.readouterr().err.endswith("paid 0.005 USDC; it could not be fetched (\ufffd[2J)\n")


@pytest.mark.process
@pytest.mark.promise("clients.both", "clients.settings")
async def test_every_tool_answers_over_standard_output_where_nothing_else_is_written(
    service: Recorded, tmp_path: Path
) -> None:
    written = tmp_path / "stdout"
    started = StdioServerParameters(
        command="sh",
        args=["-c", '"$1" -m service mcp | tee "$2"', "sh", sys.executable, str(written)],
        env={**os.environ, "VERDICT_URL": service.url, "VERDICT_TOKEN": "verdict_sk_mine"},
    )
    async with Client(stdio_client(started), mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
        for call in CALLS:  # the client holds every result against the tool's schema
            result = await client.call_tool(call.tool, dict(call.arguments))
            assert not result.is_error, text_of(result)
    assert {heard.bearer for heard in service.heard} == {"Bearer verdict_sk_mine"}
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert {line["jsonrpc"] for line in lines} == {"2.0"}
    assert len(lines) > len(CALLS)


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
