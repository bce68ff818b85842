"""What is said of encryption that does not come about, and of one that does."""

import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from service.client.answer import UnreachableError
from service.client.connection import ApiConnection, _why_unconnected
from tests.client.sdk.peer import peer, says

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here to make a certificate with")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=here"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", *asked.split(), *names, *files], capture_output=True, check=True, timeout=60)
    return folder / "cert.pem"


@pytest.fixture
def context(certificate: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return made


@pytest.mark.process
def test_a_certificate_that_is_trusted_by_ssl_cert_file_is_good(
    certificate: Path, context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with peer(says([1]), says([2]), context=context) as there:
        client = ApiConnection(there.url, "secret")
        before = client.tls
        assert before is None
        assert [client.ask("GET", "/").document for _ in range(2)] == [[1], [2]]
        found = client.tls
        assert found
        assert found.version.startswith("TLSv1.")
        shown = subprocess.run(
            ["openssl", "x509", "-in", str(certificate), "-noout", "-enddate"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.ends_s == ssl.cert_time_to_seconds(shown.stdout.strip().removeprefix("notAfter="))
        client.close()
        assert not client.tls


@pytest.mark.process
def test_a_certificate_nobody_knows_is_refused_before_the_token_is_sent(context: ssl.SSLContext) -> None:
    with peer(says([1]), context=context) as there:
        with pytest.raises(
            UnreachableError, match=r"is not trusted: self.signed certificate; .*SSL_CERT_FILE"
        ) as caught:
            ApiConnection(there.url, "secret").ask("GET", "/")
        assert there.heard == []
        assert not caught.value.sent


@pytest.mark.process
def test_another_hosts_certificate_is_refused(
    certificate: Path, context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with peer(says([1]), context=context) as there:
        with pytest.raises(UnreachableError, match=r"is not trusted: .*not valid for 'localhost'"):
            ApiConnection(there.url.replace("127.0.0.1", "localhost")).ask("GET", "/")
        assert there.heard == []


def test_a_peer_that_speaks_no_tls_is_said_to() -> None:
    with peer(hello=b"220 smtp.example ESMTP\r\n") as there:
        url = there.url.replace("http:", "https:")
        with pytest.raises(UnreachableError, match=r"speaks no TLS that is understood here .*; is it http:// instead"):
            ApiConnection(url).ask("GET", "/")


@pytest.mark.process
def test_http_to_a_peer_of_tls_says_that_it_hung_up(context: ssl.SSLContext) -> None:
    with peer(context=context) as there, pytest.raises(UnreachableError, match=r"is it https:// instead|broke"):
        ApiConnection(there.url.replace("https:", "http:")).ask("GET", "/")


def test_a_name_that_is_not_known_is_said_to_be_none() -> None:
    said = _why_unconnected(socket.gaierror(-2, "Name or service not known"), "http://nowhere.invalid")
    assert said == "http://nowhere.invalid cannot be reached: no such name is known here; is it spelt right?"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TimeoutError("timed out"), "no connection within 10 s"),
        (OSError(113, "No route to host"), "No route to host"),
        (OSError("odd"), "odd"),
        (OSError(), "OSError"),
    ],
)
def test_why_there_is_no_connection(error: OSError, said: str) -> None:
    assert _why_unconnected(error, "http://h") == f"http://h cannot be reached: {said}"
