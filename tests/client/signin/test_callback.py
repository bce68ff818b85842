"""Where a browser returns to, asked as browsers and others ask."""

import http.client
import socket
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from service.client.browser_login import Callback
from tests.client.signin.keys import ADDRESS

STATE = "s" * 43
ONWARD = "http://127.0.0.1:8402/auth/cli/done"
ENDS = "2026-03-02T00:00:00.000Z"
PATIENCE_S = 30.0


def query(**changed: str) -> str:
    return urlencode({"state": STATE, "token": "secret-token", "wallet": ADDRESS, "expiresAt": ENDS, **changed})


@pytest.fixture
def callback() -> Iterator[Callback]:
    with Callback(STATE, ONWARD).open() as opened:
        yield opened


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()


def ask(callback: Callback, target: str, method: str = "GET", host: str = "") -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", callback.port, timeout=PATIENCE_S)
    try:
        connection.request(method, target, headers={"Host": host} if host else {})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def test_a_login_that_returns_is_taken_and_the_browser_sent_on_to_the_service(callback: Callback) -> None:
    answer = ask(callback, f"/callback?{query()}")
    assert (answer.status, answer.headers["location"]) == (303, ONWARD)
    assert "secret-token" not in answer.text + str(answer.headers)
    assert callback.wait(PATIENCE_S) == ("secret-token", ADDRESS, ENDS, None)


def test_it_listens_on_this_machine_alone(callback: Callback) -> None:
    assert callback.server_address == ("127.0.0.1", callback.port)
    assert 1024 <= callback.port <= 65_535


def test_it_returns_once(callback: Callback) -> None:
    ask(callback, f"/callback?{query()}")
    again = ask(callback, f"/callback?{query(token='other')}")
    assert (again.status, again.text) == (410, "This login has returned already.\n")
    assert callback.wait(PATIENCE_S) == ("secret-token", ADDRESS, ENDS, None)
    assert callback.wait(0) is None


def test_another_logins_text_is_refused_and_ends_nothing(callback: Callback) -> None:
    refused = ask(callback, f"/callback?{query(state='t' * 43)}")
    assert refused.status == 400
    assert "another login" in refused.text
    assert callback.wait(0) is None
    assert ask(callback, f"/callback?{query()}").status == 303


@pytest.mark.parametrize(
    ("target", "method", "status"),
    [
        ("/", "GET", 404),
        (f"/callback/?{query()}", "GET", 404),
        (f"/other?{query()}", "GET", 404),
        ("/callback", "GET", 400),
        (f"/callback?{query()}", "POST", 501),
        (f"/callback?{query()}", "HEAD", 501),
        (f"/callback?{query()}", "OPTIONS", 501),
    ],
)
def test_nothing_but_a_get_of_the_callback_is_answered(
    callback: Callback, target: str, method: str, status: int
) -> None:
    assert ask(callback, target, method).status == status
    assert callback.wait(0) is None


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1"])
def test_a_name_that_only_resolves_to_this_machine_is_refused(callback: Callback, host: str) -> None:
    assert ask(callback, f"/callback?{query()}", host=host).status == 421
    assert callback.wait(0) is None


def test_what_it_answers_may_do_nothing_and_is_kept_nowhere(callback: Callback) -> None:
    for target in ("/callback?nothing", "/", f"/callback?{query()}"):
        told = ask(callback, target).headers
        assert told["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert told["cache-control"] == "no-store"
        assert told["referrer-policy"] == "no-referrer"
        assert told["x-content-type-options"] == "nosniff"
        assert told["content-type"] == "text/plain; charset=utf-8"
        assert "Python" not in told["server"]


def test_nothing_is_logged(callback: Callback, capfd: pytest.CaptureFixture[str]) -> None:
    ask(callback, f"/callback?{query()}")
    ask(callback, "/elsewhere")
    assert capfd.readouterr() == ("", "")


def test_a_connection_on_which_nothing_is_said_holds_nobody_up(
    callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.client.browser_login._Handler.timeout", None)
    with socket.create_connection(("127.0.0.1", callback.port), PATIENCE_S):
        assert ask(callback, f"/callback?{query()}").status == 303


def test_a_browser_that_is_gone_in_the_middle_is_no_news(
    callback: Callback, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ConnectionResetError

    monkeypatch.setattr("service.client.browser_login._Handler.end_headers", fail)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(callback, f"/callback?{query()}")
    assert callback.wait(PATIENCE_S) == ("secret-token", ADDRESS, ENDS, None)
    assert capfd.readouterr().err == ""


def test_a_defect_is(callback: Callback, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("defect")

    monkeypatch.setattr("service.client.browser_login.read_session", fail)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(callback, f"/callback?{query()}")
    assert "KeyError: 'defect'" in capfd.readouterr().err


def test_nothing_listens_when_it_is_over() -> None:
    with Callback(STATE, ONWARD).open() as opened:
        port = opened.port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), PATIENCE_S)
