"""What a real service answers is what the tools promise, over the whole recording, and whom it confirms."""

import json
from collections import Counter
from contextlib import closing

import pytest
from mcp import Client

from service.mcp.calls import ToolCaller
from service.mcp.gateway import Gateway
from service.mcp.server import make_server
from service.mcp.tool_results import DEFAULT_BYTES
from tests.mcp.calls import CALLS
from tests.mcp.conftest import PATIENCE_S
from tests.mcp.test_serving import HANDSHAKE, dial, listening, send
from tests.service.asking import Whole

pytestmark = pytest.mark.process


async def test_every_tool_answers_from_a_service_that_runs_and_keeps_to_its_schema(market: Whole) -> None:
    with closing(Gateway(market.url, lambda _headers: market.pro.token)) as gateway:
        server = make_server(ToolCaller(gateway, DEFAULT_BYTES, over_http=False), DEFAULT_BYTES, over_http=False)
        async with Client(server) as client:
            for call in CALLS:
                if call.tool == "walkforward":  # counted once the engine has run, a minute after a start
                    continue
                result = await client.call_tool(call.tool, dict(call.arguments))
                assert not result.is_error, (call, result.content)
                assert len(result.model_dump_json(by_alias=True).encode()) <= DEFAULT_BYTES
                assert "not live" in result.structured_content["notes"]


@pytest.mark.promise("mcp.sessions")
async def test_a_valid_key_gets_a_session_after_many_invented_and_malformed_tokens(
    market: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    handshake, valid = json.dumps(HANDSHAKE).encode(), market.pro.token
    tokens = [*(f"invented{number}" for number in range(30)), valid[:-1], valid + "x", valid.swapcase(), "eyJ.e30.x"]
    with listening(market.url, monkeypatch) as url:
        replies = [send(url, handshake, Authorization=f"Bearer {token}") for token in tokens]
        assert Counter(reply.status for reply in replies) == {401: len(tokens)}
        assert not any("mcp-session-id" in reply.headers for reply in replies)
        http, transport = dial(url, valid)
        async with http, Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
            result = await client.call_tool("coin_risk", {"symbol": "BTC", "view": "", "toolCallId": "call_1"})
    assert not result.is_error
    assert "Ignored arguments that coin_risk does not take: toolCallId." in result.structured_content["notes"]
