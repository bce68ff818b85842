"""`verdict admin doctor --health` against a real listener on loopback."""

import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from service.__main__ import run
from tests.fakes.ports import held_port


@contextmanager
def answering(status: int, context: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[str]]]:
    """A server on loopback that answers every GET with one status: its port, and the paths it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Write nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(environment: Mapping[str, str], *, as_json: bool = False) -> int:
    return run(["admin", "doctor", "--health", *(["--json"] if as_json else [])], environment)


@pytest.mark.parametrize("host", ["", "127.0.0.1", "0.0.0.0", "localhost"])
@pytest.mark.parametrize("hosts", ["", "verdict.example"])
def test_a_service_that_answers_is_healthy_whatever_host_it_listens_on(
    host: str, hosts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(200) as (port, asked):
        assert ask({"VERDICT_HOST": host, "VERDICT_PORT": str(port), "VERDICT_HOSTS": hosts}) == 0
    assert asked == ["/healthz"]
    assert capsys.readouterr().out == f"http://127.0.0.1:{port}/healthz answers.\n"


@pytest.mark.parametrize("status", [204, 301, 400, 404, 421, 500, 503])
def test_another_status_is_a_failure(status: int, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(status) as (port, _):
        assert ask({"VERDICT_PORT": str(port)}) == 1
    assert f"answers {status}, not 200" in capsys.readouterr().err


def test_a_port_that_nothing_listens_on_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with held_port() as port:
        assert ask({"VERDICT_PORT": str(port)}) == 1
    assert "start the service, or read its log" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"VERDICT_PORT": "0"}, "VERDICT_PORT=0 takes any free port"),
        ({"VERDICT_PORT": "x"}, "VERDICT_PORT takes a whole number"),
        ({"VERDICT_NOTHING": "1"}, "VERDICT_NOTHING is not a setting"),
        ({"VERDICT_HOST": "a..b"}, "VERDICT_HOST=a..b is not a known host"),
        ({"VERDICT_HOST": "x" * 300}, "is not a known host"),
        ({"VERDICT_TLS_CERT": "a.pem"}, "VERDICT_TLS_CERT and VERDICT_TLS_KEY go together"),
    ],
)
def test_settings_that_name_no_address_are_refused(
    environment: dict[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(environment) == 1
    assert message in capsys.readouterr().err


def test_json_names_the_url(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(200) as (port, _):
        assert ask({"VERDICT_PORT": str(port)}, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "url": f"http://127.0.0.1:{port}/healthz"}


@pytest.mark.process
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here to make a certificate with")
def test_with_a_certificate_https_is_asked_and_the_name_in_it_does_not_matter(tmp_path: Path) -> None:
    cert, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", "/CN=verdict.example", "-days", "2"]
    subprocess.run([*command, "-keyout", secret, "-out", cert, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, secret)
    tls = {"VERDICT_TLS_CERT": str(cert), "VERDICT_TLS_KEY": str(secret)}
    with answering(200, context) as (port, asked):
        assert ask({"VERDICT_PORT": str(port), **tls}) == 0
        assert ask({"VERDICT_PORT": str(port)}) == 1
    assert asked == ["/healthz"]
