"""A tool server over a recorded service, and the official client in both generations of the protocol."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, closing
from typing import Any

import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from service.mcp.calls import ToolCaller
from service.mcp.gateway import Gateway
from service.mcp.server import make_server
from service.mcp.tool_results import DEFAULT_BYTES
from tests.mcp.recorded import Recorded, recorded

ERAS = ("legacy", "auto")
PATIENCE_S = 20.0

Opened = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def service() -> Iterator[Recorded]:
    with recorded() as told:
        yield told


@pytest.fixture
def gateway(service: Recorded) -> Iterator[Gateway]:
    with closing(Gateway(service.url, lambda _headers: "verdict_sk_own")) as made:
        yield made


@pytest.fixture
def tools(gateway: Gateway) -> Server[Any]:
    return make_server(ToolCaller(gateway, DEFAULT_BYTES, over_http=False), DEFAULT_BYTES, over_http=False)


@pytest.fixture(params=ERAS)
def opened(request: pytest.FixtureRequest, tools: Server[Any]) -> Opened:
    """The official client, in this process, in one generation of the protocol."""

    def open_client(**more: Any) -> AbstractAsyncContextManager[Client]:
        return Client(tools, mode=request.param, read_timeout_seconds=PATIENCE_S, **more)

    return open_client
