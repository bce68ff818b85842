"""What a real service answers is what the tools promise, over the whole recording."""

from contextlib import closing

import pytest
from mcp import Client

from service.clients.mcp.calls import ToolCaller
from service.clients.mcp.gateway import Gateway
from service.clients.mcp.server import make_server
from service.clients.mcp.tool_results import DEFAULT_BYTES
from tests.clients.mcp.calls import CALLS
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
