"""A tool server over a recorded service, and the official client in both generations of the protocol."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, closing, contextmanager
from typing import Any
from unittest import mock

import pytest
import uvicorn
from mcp import Client, types
from mcp.server.lowlevel import Server

from service.mcp import serving
from service.mcp.calls import Gateway
from service.mcp.server import make_server
from tests.mcp.recorded import Recorded, recorded

ERAS = ("legacy", "auto")
PATIENCE_S = 20.0

Opened = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="module")
def running() -> Iterator[Recorded]:
    with recorded() as told:
        yield told


@pytest.fixture
def service(running: Recorded) -> Recorded:
    running.forget()
    return running


@pytest.fixture
def gateway(service: Recorded) -> Iterator[Gateway]:
    with closing(Gateway(service.url, lambda _headers: "verdict_sk_own")) as made:
        yield made


@pytest.fixture
def tools(gateway: Gateway) -> Server[Any]:
    return make_server(gateway)


@pytest.fixture(params=ERAS)
def opened(request: pytest.FixtureRequest, tools: Server[Any]) -> Opened:
    """The official client, in this process, in one generation of the protocol."""
    return lambda: Client(tools, mode=request.param, read_timeout_seconds=PATIENCE_S)


@pytest.fixture(scope="module")
def listens(running: Recorded) -> Iterator[str]:
    with listening(running.url) as url:
        yield url


@pytest.fixture
def over_http(listens: str, service: Recorded) -> str:
    """The address of a tool server that listens, over a service as it was at the start."""
    return listens


def serve(environment: Mapping[str, str], **given: Any) -> None:
    """Serve as `verdict mcp` does."""
    chosen: dict[str, Any] = {"http": False, "port": None, "budget": None, "pay": False, **given}
    serving.serve(environment.get("VERDICT_URL", "http://127.0.0.1:8402"), environment, **chosen)


@contextmanager
def listening(service_url: str) -> Iterator[str]:
    """Serve over HTTP; started with a credential of its own, which nobody may use."""
    said: list[str] = []
    heard, servers = threading.Event(), []

    class Listening(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            servers.append(self)
            heard.set()

    environment = {"VERDICT_URL": service_url, "VERDICT_TOKEN": "verdict_sk_operator"}
    thread = threading.Thread(target=serve, args=(environment,), kwargs={"http": True, "port": 0})
    with mock.patch.object(uvicorn, "Server", Listening), mock.patch.object(serving, "tell", said.append):
        thread.start()
        try:
            assert heard.wait(PATIENCE_S)
            yield said[0].split()[3]
        finally:
            for server in servers:
                server.should_exit = True
            thread.join(PATIENCE_S)
    assert not thread.is_alive()


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text
