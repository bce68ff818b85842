"""Receivers that behave, fail, stall, flood and redirect: an attempt is one bounded request."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest import mock

import pytest
from aiohttp import web

from service.upstream import push
from service.upstream.push import PushResult, open_push_client
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import listening

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def receiver(answer: Answer) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", answer)
    async with listening(app) as url:
        yield url


async def post(url: str, *, private: bool = True) -> PushResult:
    async with asyncio.timeout(20), open_push_client(FakeClock(), private=private) as client:
        return await client.post(url, b"{}", {"Content-Type": "application/json"})


async def test_a_message_is_posted_as_it_is() -> None:
    heard: list[tuple[str, str, bytes, str]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        heard.append((request.method, request.path_qs, await request.read(), request.content_type))
        return web.Response(status=204)

    async with receiver(answer) as url:
        assert await post(f"{url}/hook/?a=b") == PushResult()
    assert heard == [("POST", "/hook/?a=b", b"{}", "application/json")]


@pytest.mark.promise("notify.hostile-receivers")
async def test_names_are_looked_up_on_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", mock.Mock(side_effect=AssertionError))
    threads: list[str] = []
    look_up = socket.getaddrinfo

    def noted(*arguments: Any, **options: Any) -> Any:
        threads.append(threading.current_thread().name)
        return look_up(*arguments, **options)

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response()

    async with receiver(answer) as url:
        monkeypatch.setattr(socket, "getaddrinfo", noted)
        assert await post(url.replace("127.0.0.1", "localhost")) == PushResult()
    assert [name.rpartition("_")[0] for name in threads] == ["verdict-push-lookup"]


async def test_a_name_that_is_unknown_is_a_failed_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = socket.gaierror(socket.EAI_NONAME, "unknown")
    monkeypatch.setattr(socket, "getaddrinfo", mock.Mock(side_effect=unknown))
    result = await post("http://receiver.example/")
    assert result.error is not None
    assert result.error.startswith("Connection failed: ")


@pytest.mark.parametrize(
    ("status", "headers", "result"),
    [
        (200, {}, PushResult()),
        (299, {}, PushResult()),
        (404, {}, PushResult("The receiver answered 404.")),
        (410, {}, PushResult("The receiver answered 410.", gone=True)),
        (429, {}, PushResult("The receiver answered 429.", 10.0)),
        (503, {"Retry-After": "7"}, PushResult("The receiver answered 503.", 7.0)),
    ],
)
async def test_its_status_decides(status: int, headers: dict[str, str], result: PushResult) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers=headers, text="not repeated")

    async with receiver(answer) as url:
        assert await post(url) == result


@pytest.mark.promise("notify.hostile-receivers")
async def test_a_redirect_is_not_followed() -> None:
    heard: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        heard.append(request.path)
        raise web.HTTPTemporaryRedirect("/inside")

    async with receiver(answer) as url:
        assert await post(f"{url}/hook") == PushResult("The receiver answered 307.")
    assert heard == ["/hook"]


@pytest.mark.promise("notify.hostile-receivers")
async def test_a_body_without_an_end_is_not_read() -> None:
    sent = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)
            sent += 65_536

    async with receiver(answer) as url:
        assert await post(url) == PushResult()
    assert sent < 16 * 2**20, "what the buffers of two sockets hold"


@pytest.mark.promise("notify.hostile-receivers")
async def test_a_receiver_that_stalls_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push, "DEADLINE_S", 0.05)

    async def answer(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with receiver(answer) as url:
        assert await post(url) == PushResult("No answer within 0.05 s.")


@pytest.mark.promise("notify.hostile-receivers")
@pytest.mark.parametrize("head", [b"nonsense\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000])
async def test_what_is_not_http_is_a_failed_attempt(head: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(head)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        result = await post(f"http://127.0.0.1:{port}/")
    assert result.error is not None
    assert result.error.startswith("Connection failed: ")


@pytest.mark.promise("notify.no-private-targets")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "0.0.0.0"])
async def test_an_address_that_is_not_public_is_not_connected_to(host: str) -> None:
    heard: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        heard.append(request.path)
        return web.Response()

    async with receiver(answer) as url:
        port = url.rpartition(":")[2]
        assert await post(f"http://{host}:{port}/", private=False) == PushResult(
            "Connection failed: address is not public."
        )
    assert heard == []
