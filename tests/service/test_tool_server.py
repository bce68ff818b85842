"""What a real service answers is what the tools promise, over the whole recording, and whom it serves."""

from contextlib import closing

import pytest
from mcp import Client

from service.mcp.calls import Gateway
from service.mcp.server import make_server
from service.mcp.tool_results import DEFAULT_BYTES
from tests.mcp.calls import CALLS
from tests.mcp.conftest import listening, text_of
from tests.mcp.test_http import dial
from tests.service.asking import Whole

pytestmark = pytest.mark.process


async def test_every_tool_answers_from_a_service_that_runs_and_keeps_to_its_schema(market: Whole) -> None:
    with closing(Gateway(market.url, lambda _headers: market.pro.token)) as gateway:
        async with Client(make_server(gateway)) as client:
            for call in CALLS:
                if call.tool == "walkforward":  # counted once the engine has run, a minute after a start
                    continue
                result = await client.call_tool(call.tool, dict(call.arguments))
                assert not result.is_error, (call, result.content)
                assert len(result.model_dump_json(by_alias=True).encode()) <= DEFAULT_BYTES
                assert "not live" in result.structured_content["notes"]


async def test_over_http_an_invented_token_is_refused_by_the_service_and_a_valid_one_is_served(market: Whole) -> None:
    valid = market.pro.token
    with listening(market.url) as url:
        for token, refused in ((valid[:-1], True), (valid + "x", True), ("eyJ.e30.x", True), (valid, False)):
            http, client = dial(url, token, "legacy")
            async with http, client:
                result = await client.call_tool("coin_risk", {"symbol": "BTC", "view": "", "toolCallId": "call_1"})
            assert result.is_error is refused
            assert ("AUTH_INVALID: " in text_of(result)) is refused
            assert "because coin_risk does not take them: toolCallId." in text_of(result)
