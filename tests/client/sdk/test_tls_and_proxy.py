"""The connection over TLS and through the proxy of the environment."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from service.client.answer import RefusedError, UnreachableError
from service.client.connection import ApiConnection
from tests.client.sdk.peer import peer, says
from tests.fakes.ports import held_port
from tests.fakes.proxy import FakeProxy, proxy, unset_variables

PASSWORD = "correct-horse-7"
BASIC = "Basic YW5uYTpjb3JyZWN0LWhvcnNlLTc="


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    unset_variables(monkeypatch)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=here"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    command = ["openssl", *asked.split(), "-addext", "subjectAltName=IP:127.0.0.1", *files]
    subprocess.run(command, capture_output=True, check=True, timeout=60)
    return folder / "cert.pem"


@pytest.mark.process
def test_only_a_trusted_certificate_of_the_host_gets_the_token(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with peer(says([1]), context=context) as there:
        with pytest.raises(UnreachableError, match=r"not trusted: self.signed certificate\. .*SSL_CERT_FILE") as caught:
            ApiConnection(there.url, "secret").ask("GET", "/")
        assert (there.heard, caught.value.sent) == ([], False)
        with pytest.raises(UnreachableError, match=r"is it https:// instead|broke"):
            ApiConnection(there.url.replace("https:", "http:")).ask("GET", "/")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with peer(says([1]), says([2]), context=context) as there:
        with pytest.raises(UnreachableError, match=r"is not trusted: .*not valid for 'localhost'"):
            ApiConnection(there.url.replace("127.0.0.1", "localhost")).ask("GET", "/")
        client = ApiConnection(there.url, "secret")
        before = client.tls
        assert before is None
        assert [client.ask("GET", "/").document for _ in range(2)] == [[1], [2]]
        command = ["openssl", "x509", "-in", str(certificate), "-noout", "-enddate"]
        ends = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        found = client.tls
        assert found is not None
        assert found.version.startswith("TLSv1.")
        assert found.ends_s == ssl.cert_time_to_seconds(ends.removeprefix("notAfter="))
        client.close()


def test_a_peer_without_tls_is_named() -> None:
    with peer(hello=b"220 smtp.example ESMTP\r\n") as there:
        url = there.url.replace("http:", "https:")
        with pytest.raises(UnreachableError, match=r"No TLS connection to .* is possible: .*\. Is it http:// instead"):
            ApiConnection(url).ask("GET", "/")


def use(monkeypatch: pytest.MonkeyPatch, made: FakeProxy) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://anna:{PASSWORD}@127.0.0.1:{made.port}")


def test_a_service_elsewhere_is_asked_through_the_proxy_and_one_on_this_machine_directly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with peer(says([1]), says([2])) as there, proxy(verdict_test=int(there.url.rpartition(":")[2])) as made:
        use(monkeypatch, made)
        client = ApiConnection("http://verdict.test:8402", "token")
        assert [client.ask("GET", "/a", {"b": "c d"}).document for _ in range(2)] == [[1], [2]]
        client.close()
        assert [heard.target for heard in there.heard] == ["/a?b=c+d", "http://verdict.test:8402/a?b=c+d"]
        assert there.heard[0].headers["host"] == "verdict.test:8402"
        assert there.heard[0].headers["authorization"] == "Bearer token"
        [asked] = made.asked
        assert (asked.target, asked.headers["proxy-authorization"]) == ("http://verdict.test:8402/a?b=c+d", BASIC)
    with peer(says([1]), says([1])) as there, proxy() as made:
        use(monkeypatch, made)
        for host in ("127.0.0.1", "localhost"):
            assert ApiConnection(there.url.replace("127.0.0.1", host)).ask("GET", "/").document == [1]
        assert made.asked == []


@pytest.mark.parametrize("status", [403, 502, 407])
def test_a_refusal_of_the_proxy_names_it_without_its_credentials(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wants = " and requires a valid user and password" if status == 407 else ""
    with proxy() as made:
        use(monkeypatch, made)
        made.status = status
        with pytest.raises(UnreachableError) as refused:
            ApiConnection("https://verdict.test", "token").ask("GET", "/")
        [asked] = made.asked
        kind = UnreachableError if status == 407 else RefusedError  # over HTTP it may be the service's own refusal
        with pytest.raises(kind):
            ApiConnection("http://verdict.test").ask("POST", "/", body={})
    assert (asked.method, asked.target) == ("CONNECT", "verdict.test:443")
    assert asked.headers["proxy-authorization"] == BASIC
    assert "authorization" not in asked.headers
    assert str(refused.value) == (
        f"Cannot reach https://verdict.test through the proxy 127.0.0.1:{made.port} (HTTPS_PROXY): it answered "
        f"{status}{wants}. Correct HTTPS_PROXY, or add the host to NO_PROXY."
    )


def test_a_proxy_that_cannot_be_used_is_named_without_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    with held_port() as port:
        for value, said in (
            (
                f"http://anna:{PASSWORD}@127.0.0.1:{port}",
                rf"127.0.0.1:{port} \(HTTPS_PROXY\): nothing listens there\. C",
            ),
            (f"http://anna:{PASSWORD}@proxy.invalid:1", r"proxy.invalid:1 \(HTTPS_PROXY\): the host name is unknown"),
            (f"socks5://anna:{PASSWORD}@proxy.example", "HTTPS_PROXY is not the address of a proxy"),
        ):
            monkeypatch.setenv("HTTPS_PROXY", value)
            with pytest.raises(UnreachableError, match=said) as refused:
                ApiConnection("https://verdict.test").ask("GET", "/")
            assert PASSWORD not in str(refused.value)
