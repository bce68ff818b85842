"""Every way in which a connection fails has its own words, and an outage is logged when its state changes."""

import asyncio
import datetime as dt
import errno
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import IPv4Address
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.client_reqrep import ConnectionKey
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from service.upstream import websocket as sockets
from service.upstream.failures import FailureReason, Outage, reason_of
from service.upstream.session import open_session
from service.upstream.ssrf_guard import NotPublicError
from tests.fakes.clock import FakeClock
from tests.upstream import faults
from tests.upstream.conftest import OK, Venue, listening
from tests.upstream.test_session import failing

KEY = ConnectionKey("venue.example", 443, True, True, None, None, None)  # noqa: FBT003 - aiohttp's own order


def certificate(folder: Path, *, until: dt.datetime, name: str = "127.0.0.1") -> Path:
    """A self-signed certificate with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "venue")])
    alternative: x509.GeneralName = x509.IPAddress(IPv4Address(name)) if name[0].isdigit() else x509.DNSName(name)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    written = folder / "cert.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    written.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return written


@asynccontextmanager
async def tls_server(pem: Path) -> AsyncIterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context) as server:
        yield "https://{}:{}".format(*server.sockets[0].getsockname())


async def said_of(url: str) -> tuple[str, str]:
    async with open_session("hyperliquid", url, FakeClock(), weight_per_minute=1_200) as session:
        error = await failing(session)
    assert (error.code, error.upstream_status) == ("UPSTREAM_UNREACHABLE", None)
    return error.stage, error.body


@pytest.mark.promise("errors.upstream-unreachable")
async def test_a_failed_dns_lookup_is_called_that_and_not_upstream_5xx(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    assert await said_of("https://venue.example") == ("dns", "DNS lookup failed")


async def test_a_refused_connection_is_called_that() -> None:
    assert await said_of("http://127.0.0.1:9") == ("connect", "connection refused")


async def test_an_expired_certificate_is_called_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expired = certificate(tmp_path, until=dt.datetime(2021, 1, 1, tzinfo=dt.UTC))
    trusting = ssl.create_default_context(cafile=str(expired))
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting)
    async with tls_server(expired) as url:
        assert await said_of(url) == ("tls", "TLS certificate expired")


async def test_a_certificate_of_another_host_is_called_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = certificate(tmp_path, until=dt.datetime(2099, 1, 1, tzinfo=dt.UTC), name="10.0.0.1")
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", ssl.create_default_context(cafile=str(other)))
    async with tls_server(other) as url:
        assert await said_of(url) == ("tls", "TLS certificate is for another host")


async def test_an_unknown_certificate_is_called_self_signed(tmp_path: Path) -> None:
    async with tls_server(certificate(tmp_path, until=dt.datetime(2099, 1, 1, tzinfo=dt.UTC))) as url:
        assert await said_of(url) == ("tls", "TLS certificate is self-signed")


async def test_a_server_that_speaks_no_tls_is_called_that(venue: Venue) -> None:
    assert await said_of(venue.url.replace("http:", "https:")) == ("tls", "TLS handshake failed")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NotPublicError("not a public address"), FailureReason("connect", "address is not public")),
        (OSError(errno.ENETUNREACH, "x"), FailureReason("connect", "network unreachable")),
        (
            aiohttp.ClientConnectorError(KEY, OSError(errno.ECONNRESET, "x")),
            FailureReason("connect", "connection reset"),
        ),
        (aiohttp.ClientConnectionError("x"), FailureReason("connect", "connection failed (ClientConnectionError)")),
        (
            aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError("x")),
            FailureReason("tls", "TLS certificate is not trusted"),
        ),
        (
            aiohttp.WSServerHandshakeError(None, (), status=403),  # type: ignore[arg-type] # no request was made
            FailureReason("http", "status 403"),
        ),
    ],
)
def test_each_kind_of_failure_has_its_own_words(error: Exception, reason: FailureReason) -> None:
    assert reason_of(error) == reason


def said(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records if record.name == "verdict.upstream"]


@pytest.mark.promise("upstreams.reasons")
def test_an_outage_is_logged_when_it_begins_changes_and_ends_and_not_once_per_retry(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outage = Outage("hyperliquid")
    with caplog.at_level(logging.WARNING, "verdict.upstream"):
        for reason in ("DNS lookup failed",) * 50 + ("status 503",) * 50:
            outage.failed(reason)
        outage.answered()
        outage.answered()
    assert said(caplog) == [
        (logging.WARNING, "Waiting for Hyperliquid: DNS lookup failed"),
        (logging.WARNING, "Waiting for Hyperliquid: status 503"),
        (logging.WARNING, "Hyperliquid answers again (failed requests: 100)"),
    ]


@pytest.mark.promise("upstreams.reasons")
async def test_a_session_says_once_what_it_waits_for(venue: Venue, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "verdict.upstream"):
        async with venue.session() as session:
            for fault in (faults.answer(500), faults.reset, faults.html):
                venue.faults.next = fault
                await failing(session)
                await venue.clock.advance(10)
            venue.faults.next = None
            await session.post_json("/info", {}, weight=1, decoder=OK)
    assert [text for _, text in said(caplog)] == [
        "Waiting for Hyperliquid: status 500",
        "Waiting for Hyperliquid: connection closed without an answer",
        "Waiting for Hyperliquid: status 200, not the expected format",
        "Hyperliquid answers again (failed requests: 5)",
    ]


async def test_a_refusal_of_one_request_is_no_outage(venue: Venue, caplog: pytest.LogCaptureFixture) -> None:
    venue.faults.next = faults.answer(404, b"coin not found")
    with caplog.at_level(logging.WARNING, "verdict.upstream"):
        async with venue.session() as session:
            await failing(session)
    assert said(caplog) == []


async def test_while_an_upstream_is_left_alone_its_reason_is_still_told(venue: Venue) -> None:
    venue.faults.next = faults.reset
    async with venue.session() as session:
        for number in range(3):
            await failing(session, {"number": number})
        error = await failing(session)
    assert error.body == "connection closed without an answer; not asked again for 10 s"


async def test_a_connection_that_takes_too_long_is_called_a_timeout(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "CONNECT_S", 0.05)

    async def hold(request: web.Request) -> web.StreamResponse:
        return await faults.hang(request)

    app, clock = web.Application(), FakeClock()
    app.router.add_get("/ws", hold)
    async with listening(app) as url, sockets.open_socket("hyperliquid", f"{url}/ws", clock, (), {}) as socket:
        with caplog.at_level(logging.WARNING, "verdict.upstream"):
            listening_to = asyncio.create_task(socket.listen(lambda _: None))
            async with asyncio.timeout(20):
                while not said(caplog):
                    await clock.settle()
            listening_to.cancel()
            await asyncio.gather(listening_to, return_exceptions=True)
    assert said(caplog) == [(logging.WARNING, "Waiting for Hyperliquid feed: no connection within 0.05 s")]
