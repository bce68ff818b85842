"""Encrypted connections inside a proxy's tunnel, ended by a real certificate."""

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from service.client.connection import ApiConnection
from service.upstream.session import open_session
from service.upstream.websocket import open_socket
from tests.client.sdk.peer import peer, says
from tests.fakes.clock import FakeClock
from tests.fakes.proxy import proxy
from tests.upstream.conftest import OK, Ok

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here to make a certificate with"),
]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=here"
    names = ["-addext", "subjectAltName=DNS:secure.test"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", *asked.split(), *names, *files], capture_output=True, check=True, timeout=60)
    return folder / "cert.pem"


@pytest.fixture
def context(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    for name in ("https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", ssl.create_default_context())
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return made


def test_a_command_checks_the_services_certificate_through_the_proxy(
    context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    with peer(says([1]), says([2]), context=context) as there:
        with proxy(secure_test=int(there.url.rpartition(":")[2])) as made:
            monkeypatch.setenv("HTTPS_PROXY", f"http://anna:secret@127.0.0.1:{made.port}")
            client = ApiConnection("https://secure.test", "token")
            assert [client.ask("GET", "/").document for _ in range(2)] == [[1], [2]]
            assert client.tls
            client.close()
            assert [(asked.method, asked.target) for asked in made.asked] == [("CONNECT", "secure.test:443")]
        assert {(heard.target, heard.headers["host"]) for heard in there.heard} == {("/", "secure.test")}
        assert not any("proxy-authorization" in heard.headers for heard in there.heard)


async def test_requests_and_frames_come_through_the_tunnel(
    context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    async def info(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Proxy-Authorization"))
        return web.json_response({"ok": True})

    async def feed(request: web.Request) -> web.WebSocketResponse:
        seen.append(request.headers.get("Proxy-Authorization"))
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str('{"channel":"ok","data":{"ok":true}}')
        await socket.receive()
        return socket

    app = web.Application()
    app.router.add_post("/info", info)
    app.router.add_get("/ws", feed)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    clock = FakeClock()
    try:
        with proxy(secure_test=runner.addresses[0][1]) as made:
            monkeypatch.setenv("HTTPS_PROXY", f"http://anna:secret@127.0.0.1:{made.port}")
            async with open_session("hyperliquid", "https://secure.test", clock, weight_per_minute=99) as session:
                assert (await session.post_json("/info", {}, weight=1, decoder=OK)).value == Ok(ok=True)
            async with (
                asyncio.timeout(20),
                open_socket("hyperliquid", "wss://secure.test/ws", clock, [], {"ok": OK}) as socket,
            ):
                assert (await socket.first()).value == Ok(ok=True)
    finally:
        await runner.cleanup()
    assert [asked.target for asked in made.asked] == ["secure.test:443"] * 2
    assert {asked.headers["proxy-authorization"] for asked in made.asked} == {"Basic YW5uYTpzZWNyZXQ="}
    assert seen == [None, None]
