"""The variables of proxies, read as curl reads them."""

import pytest

from service.proxies import is_loopback, proxy_at, proxy_for
from service.settings import SettingsError

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "REQUEST_METHOD")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def set_all(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_without_a_variable_there_is_no_proxy() -> None:
    assert proxy_for("https://api.example.com/x") is None


@pytest.mark.parametrize(
    ("variables", "url", "found"),
    [
        ({"HTTPS_PROXY": "http://p.example:3128"}, "https://api.example.com/a?b", "p.example:3128 (HTTPS_PROXY)"),
        ({"https_proxy": "http://p.example:3128"}, "https://api.example.com", "p.example:3128 (HTTPS_PROXY)"),
        ({"HTTPS_PROXY": "http://p.example:3128"}, "wss://api.example.com/ws", "p.example:3128 (HTTPS_PROXY)"),
        ({"HTTP_PROXY": "p.example:8080"}, "http://api.example.com", "p.example:8080 (HTTP_PROXY)"),
        ({"HTTP_PROXY": "http://p.example/"}, "ws://api.example.com", "p.example:80 (HTTP_PROXY)"),
        ({"HTTP_PROXY": "http://p.example"}, "https://api.example.com", None),
        ({"HTTPS_PROXY": "http://p.example"}, "http://api.example.com", None),
        ({"HTTPS_PROXY": "big.example", "https_proxy": "l.example:1"}, "https://a.b", "l.example:1 (HTTPS_PROXY)"),
        ({"HTTPS_PROXY": "http://big.example", "https_proxy": ""}, "https://a.b", None),
        ({"HTTPS_PROXY": "http://[2001:db8::5]:3128"}, "https://a.b", "[2001:db8::5]:3128 (HTTPS_PROXY)"),
        ({"HTTP_PROXY": "http://p.example", "REQUEST_METHOD": "GET"}, "http://a.b", None),
        ({"http_proxy": "http://p.example", "REQUEST_METHOD": "GET"}, "http://a.b", "p.example:80 (HTTP_PROXY)"),
    ],
)  # fmt: skip
def test_a_scheme_has_its_own_variable_and_lower_case_comes_first(
    variables: dict[str, str], url: str, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, **variables)
    proxy = proxy_for(url)
    assert (None if proxy is None else str(proxy)) == found


@pytest.mark.parametrize(
    ("entries", "url", "direct"),
    [
        ("*", "https://anything.example", True),
        ("example.com", "https://example.com", True),
        ("example.com", "https://api.example.com", True),
        (".example.com", "https://api.example.com:8443", True),
        ("example.com", "https://badexample.com", False),
        ("example.com:8443", "https://api.example.com:8443", True),
        ("example.com:8443", "https://api.example.com", False),
        ("example.com:443", "https://api.example.com", True),
        ("one.example , API.Example.COM", "https://api.example.com", True),
        ("10.0.0.0/8", "https://10.20.30.40", True),
        ("10.0.0.0/8", "https://11.20.30.40", False),
        ("10.0.0.0/8", "https://ten.example", False),
        ("10.1.2.3", "https://10.1.2.3:8545", True),
        ("2001:db8::1", "https://[2001:db8::1]:8545", True),
        ("[2001:db8::1]:8545", "https://[2001:db8::1]:8545", True),
        ("2001:db8::/32", "https://[2001:db8:1::9]", True),
        ("2001:db8::1", "https://[2001:db8::2]", False),
        ("not/a/network,,", "https://10.1.2.3", False),
        ("", "https://api.example.com", False),
        ("one.example api.example.com", "https://api.example.com", True),
        ("one.example\texample.com\ttwo.example", "https://api.example.com", True),
        ("one.example , ,  example.com ", "https://api.example.com", True),
        ("one.example api.example.com:8443", "https://api.example.com:8443", True),
        ("10.0.0.0/8 192.168.0.0/16", "https://192.168.1.1", True),
        ("a.example 2001:db8::/32", "https://[2001:db8:1::9]", True),
        ("one.example two.example", "https://api.example.com", False),
        (" * ", "https://api.example.com", True),
        ("example.com.", "https://api.example.com", True),
        ("example.com", "https://api.example.com.", True),
        (".example.com.", "https://example.com.", True),
        ("example.com.:8443", "https://api.example.com.:8443", True),
        ("example.com.", "https://badexample.com", False),
        (". ..", "https://api.example.com", False),
        ("2001:DB8:0::1", "https://[2001:db8::1]", True),
        ("[2001:db8::1]", "https://[2001:db8::1]:8545", True),
        ("[2001:db8::1]:8545", "https://[2001:db8::1]", False),
    ],
)
def test_no_proxy_takes_hosts_the_names_below_them_ports_and_networks(
    entries: str, url: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, HTTPS_PROXY="http://p.example:3128", NO_PROXY=entries)
    assert (proxy_for(url) is None) is direct


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("127.1", True),
        ("2130706433", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("::", True),
        ("localhost.example", False),
        ("notlocalhost", False),
        ("10.0.0.1", False),
        ("2001:db8::1", False),
        ("", False),
    ],
)
def test_this_machine_is_never_reached_through_a_proxy(host: str, here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, HTTP_PROXY="http://p.example:3128")
    assert is_loopback(host) is here
    assert (proxy_for(f"http://[{host}]:8402" if ":" in host else f"http://{host}:8402") is None) is here


@pytest.mark.parametrize(
    ("value", "user", "password", "header"),
    [
        ("http://anna:secret@p.example:1", "anna", "secret", "Basic YW5uYTpzZWNyZXQ="),
        ("anna:secret@p.example:1", "anna", "secret", "Basic YW5uYTpzZWNyZXQ="),
        ("http://anna@p.example:1", "anna", "", "Basic YW5uYTo="),
        ("http://a%40b:p%3Aq%2Fr@p.example:1", "a@b", "p:q/r", "Basic YUBiOnA6cS9y"),
        ("http://%C3%A9:%E2%82%AC@p.example:1", "é", "€", "Basic w6k64oKs"),
        ("http://:onlypass@p.example:1", "", "onlypass", "Basic Om9ubHlwYXNz"),
        ("http://p.example:1", None, "", None),
        ("http://p.example:1/", None, "", None),
        ("HTTP://http:3128@p.example:1", "http", "3128", "Basic aHR0cDozMTI4"),
        ("http://an na:a:b@p.example:1", "an na", "a:b", "Basic YW4gbmE6YTpi"),
    ],
)
def test_credentials_are_sent_and_never_shown(
    value: str, user: str | None, password: str, header: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, HTTPS_PROXY=value)
    proxy = proxy_for("https://api.example.com")
    assert proxy is not None
    assert (proxy.user, proxy.password, proxy.authorization) == (user, password, header)
    assert str(proxy) == repr(proxy) == f"{[proxy]}"[1:-1] == "p.example:1 (HTTPS_PROXY)"


@pytest.mark.parametrize(
    "value",
    [
        "socks5://secret@p.example:1080",
        "https://p.example",
        "http://",
        "http://p.example:99999",
        "http://p.example:0",
        "http://[::1",
        "http://a%3Asecret:x@p.example",
        "://secret",
        "ftp://secret@p.example",
        "http:/user:secret@p.example",
        "http:/p.example:3128",
        "http:user:secret@p.example",
        "HTTP:user:secret@p.example",
        "https:p.example",
        "http//user:secret@p.example",
        "http:///user:secret@p.example",
        "http://user:sec/ret@p.example",
        "http://user:sec#ret@p.example",
        "user:sec?ret@p.example:1",
        "http://user:secret@p example:1",
        "user:secret@p.example :1",
        "http://p.example: 1",
        "http://p%20secret.example",
        "http://p.\texample",
        "http://p.example\n:1",
        "http://[::1]secret:1",
        "http://p.example;secret:1",
        "http://p.example\\secret:1",
        "http://user:secret@",
    ],
)
def test_a_value_that_is_no_http_proxy_is_refused_by_the_name_of_its_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, HTTPS_PROXY=value)
    with pytest.raises(SettingsError) as refused:
        proxy_for("https://api.example.com")
    assert str(refused.value) == (
        "HTTPS_PROXY is not the address of a proxy that can be used. Write it like http://proxy.example:3128."
    )
    assert proxy_for("https://localhost") is None
    assert proxy_at("p.example", 80) is None


@pytest.mark.parametrize(
    ("url", "entries", "direct"),
    [
        ("https://10.1.2.3", "2.3", False),
        ("https://9.1.2.3", "1.2.3", False),
        ("https://9.1.2.3", "9.1.2.3", True),
        ("https://9.1.2.3:8443", "9.1.2.3:8443", True),
        ("https://9.1.2.3", "9.1.2.3:8443", False),
        ("https://[2001:db8::1]", "::1", False),
        ("https://9.1.2.3", "*", True),
    ],
)
def test_an_address_has_no_parent_domains(
    monkeypatch: pytest.MonkeyPatch, url: str, entries: str, direct: bool
) -> None:
    set_all(monkeypatch, HTTPS_PROXY="http://p.example:3128", NO_PROXY=entries)
    assert (proxy_for(url) is None) is direct
