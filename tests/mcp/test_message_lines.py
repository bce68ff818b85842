"""What is no message on standard input: answered with an error, and the tools are served all the same."""

import io
import json
import os
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage

from service.mcp import serving
from service.mcp.serving import MessageLines
from tests.mcp.conftest import PATIENCE_S

PING = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}'
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


async def read(said: bytes) -> tuple[list[str], list[dict[str, Any]]]:
    """Messages that came through, and the errors that were answered."""
    sender, receiver = anyio.create_memory_object_stream[SessionMessage](100)
    source = MessageLines(io.BytesIO(said))
    source.answers = sender
    with receiver:
        passed = [line async for line in source]
        sender.close()
        return passed, [json.loads(sent.message.model_dump_json(exclude_unset=True)) async for sent in receiver]


@pytest.mark.promise("mcp.unreadable")
@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"hello", PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": 1,', PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": "\xff", "method": "ping"}', PARSE_ERROR, None),
        (b"[" * 100_000, PARSE_ERROR, None),
        (b"[]", INVALID_REQUEST, None),
        (b"[" + PING + b"]", INVALID_REQUEST, None),
        (b'"ping"', INVALID_REQUEST, None),
        (b'{"id": 3, "method": "ping"}', INVALID_REQUEST, 3),
        (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', INVALID_REQUEST, "a"),
        (b'{"jsonrpc": "2.0", "id": true, "method": 5}', INVALID_REQUEST, None),
    ],
)
async def test_what_is_no_message_is_answered_with_an_error_and_reading_goes_on(
    line: bytes, code: int, request_id: object
) -> None:
    passed, (error,) = await read(line + b"\n" + PING + b"\n")
    assert [json.loads(one)["id"] for one in passed] == [7]
    assert (error["jsonrpc"], error["id"], error["error"]["code"]) == ("2.0", request_id, code)
    assert error["error"]["message"]


@pytest.mark.promise("mcp.largest")
@pytest.mark.parametrize("end", [b"", b"\n", b"x\n", b"x" * 10_000])
async def test_a_line_over_the_limit_is_refused_and_not_kept(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_BYTES", 64)
    passed, errors = await read(b"x" * 65 + end + (b"\n" + PING if end.endswith(b"\n") else b""))
    assert [error["error"]["code"] for error in errors] == [INVALID_REQUEST]
    assert "at most 64 bytes" in errors[0]["error"]["message"]
    assert len(passed) == (1 if end.endswith(b"\n") else 0)


@pytest.mark.promise("mcp.largest")
async def test_a_message_of_the_limit_and_the_last_one_without_a_line_end_are_read() -> None:
    assert serving.MOST_BYTES == 4 * 1024 * 1024
    filled = PING + b" " * (serving.MOST_BYTES - len(PING))
    passed, errors = await read(b"\n \r\n" + filled + b"\n" + PING)
    assert len(passed) == 2
    assert errors == []


@pytest.mark.process
@pytest.mark.promise("mcp.unreadable")
def test_the_command_answers_an_unreadable_line_and_the_next_message() -> None:
    handshake = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    with subprocess.Popen(
        [sys.executable, "-m", "service", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "VERDICT_URL": "http://127.0.0.1:9"},
    ) as process:
        said, _ = process.communicate(b"{oops\n" + json.dumps(handshake).encode() + b"\n", timeout=PATIENCE_S)
    error, answer = [json.loads(line) for line in said.splitlines()]
    assert (error["id"], error["error"]["code"]) == (None, PARSE_ERROR)
    assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (1, "verdict")
