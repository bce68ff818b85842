"""The command line's connection through a proxy of the environment."""

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


def use(monkeypatch: pytest.MonkeyPatch, made: FakeProxy) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://anna:{PASSWORD}@127.0.0.1:{made.port}")


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def test_a_service_elsewhere_is_asked_through_the_proxy_over_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(says([1]), says([2])) as there, proxy(verdict_test=port_of(there.url)) as made:
        use(monkeypatch, made)
        client = ApiConnection("http://verdict.test:8402", "token")
        assert [client.ask("GET", "/a", {"b": "c d"}).document for _ in range(2)] == [[1], [2]]
        client.close()
        assert [heard.target for heard in there.heard] == ["/a?b=c+d", "http://verdict.test:8402/a?b=c+d"]
        assert there.heard[0].headers["host"] == "verdict.test:8402"
        assert there.heard[0].headers["authorization"] == "Bearer token"
        [asked] = made.asked
        assert asked.target == "http://verdict.test:8402/a?b=c+d"
        assert asked.headers["proxy-authorization"] == BASIC


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_service_on_this_machine_is_asked_directly(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(says([1])) as there, proxy() as made:
        use(monkeypatch, made)
        client = ApiConnection(f"http://{host}:{port_of(there.url)}")
        assert client.ask("GET", "/").document == [1]
        client.close()
        assert made.asked == []


@pytest.mark.parametrize("status", [403, 502, 407])
def test_https_goes_through_connect_and_a_refusal_names_the_proxy(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as made:
        use(monkeypatch, made)
        made.status = status
        with pytest.raises(UnreachableError) as refused:
            ApiConnection("https://verdict.test", "token").ask("GET", "/")
        [asked] = made.asked
    assert (asked.method, asked.target) == ("CONNECT", "verdict.test:443")
    assert asked.headers["proxy-authorization"] == BASIC
    assert "authorization" not in asked.headers
    wants = ", because it requires a user and a password that it accepts" if status == 407 else ""
    assert str(refused.value) == (
        f"https://verdict.test cannot be reached through the proxy 127.0.0.1:{made.port} (HTTPS_PROXY): it answered "
        f"{status}{wants}. Correct HTTPS_PROXY, or add the host to NO_PROXY"
    )


def test_a_proxy_that_requires_credentials_for_http_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as made:
        use(monkeypatch, made)
        made.status = 407
        with pytest.raises(UnreachableError, match=r"through the proxy .* \(HTTP_PROXY\): it answered 407"):
            ApiConnection("http://verdict.test").ask("POST", "/", body={})


def test_another_refusal_over_http_may_be_the_services_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as made:
        use(monkeypatch, made)
        made.status = 403
        with pytest.raises(RefusedError):
            ApiConnection("http://verdict.test").ask("GET", "/")


def test_a_proxy_that_is_not_there_is_named_without_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    with held_port() as port:
        monkeypatch.setenv("https_proxy", f"http://anna:{PASSWORD}@127.0.0.1:{port}")
        with pytest.raises(UnreachableError) as gone:
            ApiConnection("https://verdict.test").ask("GET", "/")
    assert str(gone.value) == (
        f"https://verdict.test cannot be reached through the proxy 127.0.0.1:{port} (HTTPS_PROXY): nothing listens "
        "there. Correct HTTPS_PROXY, or add the host to NO_PROXY"
    )
    monkeypatch.setenv("https_proxy", f"http://anna:{PASSWORD}@proxy.invalid:1")
    with pytest.raises(UnreachableError, match=r"proxy.invalid:1 \(HTTPS_PROXY\): no such name is known here"):
        ApiConnection("https://verdict.test").ask("GET", "/")


def test_a_variable_that_is_no_proxy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"socks5://anna:{PASSWORD}@proxy.example")
    with pytest.raises(UnreachableError, match="HTTPS_PROXY is not the address of a proxy") as refused:
        ApiConnection("https://verdict.test").ask("GET", "/")
    assert PASSWORD not in str(refused.value)
