"""The login through a browser: the state that is stored, what a browser brings, and the port it returns to."""

import http.client
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call
from urllib.parse import urlencode

import pytest

from service.client import browser_login
from service.client.browser_login import Callback, open_browser, read_session
from service.client.errors import RefusalError
from tests.client.signin.keys import ADDRESS

STATE = "s" * 43
URL = "http://127.0.0.1:8402"
ONWARD = f"{URL}/auth/cli/done"
ENDS = "2026-03-02T00:00:00.000Z"
FIELDS = {"state": STATE, "token": "secret-token", "wallet": ADDRESS, "expiresAt": ENDS}
SESSION = ("secret-token", ADDRESS, ENDS, None)
PATIENCE_S = 30.0


def query(**changed: str) -> str:
    return urlencode(FIELDS | changed)


@pytest.fixture
def callback() -> Iterator[Callback]:
    with Callback(STATE, ONWARD).open() as opened:
        yield opened
    with pytest.raises(ConnectionRefusedError):  # nothing listens when it is over
        socket.create_connection(("127.0.0.1", opened.port), PATIENCE_S)


def ask(callback: Callback, target: str, method: str = "GET", host: str = "") -> tuple[int, Any, str]:
    """Status, headers and text of an answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", callback.port, timeout=PATIENCE_S)) as connection:
        connection.request(method, target, headers={"Host": host} if host else {})
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def test_a_login_returns_once_on_loopback_alone_and_the_browser_is_sent_on(callback: Callback) -> None:
    assert callback.server_address == ("127.0.0.1", callback.port)
    status, headers, text = ask(callback, f"/callback?{query()}")
    assert (status, headers["location"]) == (303, ONWARD)
    assert "secret-token" not in text + str(headers)
    again = ask(callback, f"/callback?{query(token='other')}")
    assert (again[0], again[2]) == (410, "This login has returned already.\n")
    assert (callback.wait(PATIENCE_S), callback.wait(0)) == (SESSION, None)


@pytest.mark.parametrize(
    ("target", "method", "host", "status"),
    [
        (f"/callback?{query(state='t' * 43)}", "GET", "", 400),
        ("/callback", "GET", "", 400),
        ("/", "GET", "", 404),
        (f"/callback/?{query()}", "GET", "", 404),
        *((f"/callback?{query()}", method, "", 501) for method in ("POST", "HEAD", "OPTIONS")),
        *((f"/callback?{query()}", "GET", host, 421) for host in ("evil.example", "localhost", "127.0.0.1:1")),
    ],
)
def test_anything_else_is_refused_ends_nothing_and_is_not_logged(
    callback: Callback, capfd: pytest.CaptureFixture[str], target: str, method: str, host: str, status: int
) -> None:
    found, headers, _ = ask(callback, target, method, host)
    assert (found, callback.wait(0)) == (status, None)
    if status != 501:
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert (headers["cache-control"], headers["referrer-policy"]) == ("no-store", "no-referrer")
        assert (headers["x-content-type-options"], headers["content-type"]) == ("nosniff", "text/plain; charset=utf-8")
    assert "Python" not in headers["server"]
    assert ask(callback, f"/callback?{query()}")[0] == 303
    assert capfd.readouterr() == ("", "")


def test_a_connection_on_which_nothing_is_said_delays_no_other(
    callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.client.browser_login._Handler.timeout", None)
    with socket.create_connection(("127.0.0.1", callback.port), PATIENCE_S):
        assert ask(callback, f"/callback?{query()}")[0] == 303


@pytest.mark.parametrize(
    ("name", "error", "printed"),
    [("_Handler.end_headers", ConnectionResetError(), False), ("read_session", KeyError("defect"), True)],
)
def test_a_browser_that_disconnects_is_not_reported_and_a_defect_is(
    callback: Callback, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    name: str, error: Exception, printed: bool,
) -> None:  # fmt: skip
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(f"service.client.browser_login.{name}", fail)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(callback, f"/callback?{query()}")
    assert callback.wait(0 if printed else PATIENCE_S) == (None if printed else SESSION)
    assert ("KeyError: 'defect'" in capfd.readouterr().err) == printed


def test_a_session_is_read_in_any_order_perhaps_with_a_notice_and_its_token_is_not_printed() -> None:
    session = read_session(urlencode(dict(reversed(FIELDS.items()))), STATE)
    assert session == SESSION
    assert "secret-token" not in repr(session)
    assert read_session(query(notice="No free questions."), STATE).notice == "No free questions."


OTHER_TEXT = "not the text that the sign-in page gives"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *((query(state=state), "another login") for state in ("t" * 43, STATE + "s", STATE[1:], "ß" * 43)),
        *((text, OTHER_TEXT) for text in ("", "hello", STATE, query(state=""), query(more="1"))),
        *((query(token=token), OTHER_TEXT) for token in ("two words", "tök", "", "t" * 9_000)),
        (urlencode({name: value for name, value in FIELDS.items() if name != "wallet"}), OTHER_TEXT),
        (query() + "&token=another", OTHER_TEXT),
        (query().replace("secret-token", "%ff"), OTHER_TEXT),
        (query(expiresAt="soon"), OTHER_TEXT),
        (query(expiresAt=f"{ENDS}\x1b[2J"), OTHER_TEXT),
    ],
)
def test_what_is_not_this_logins_session_is_refused_without_its_token(given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        read_session(given, STATE)
    assert "secret-token" not in str(refused.value)


def test_the_state_of_the_last_login_at_a_service_is_stored_for_its_owner_until_it_ends(tmp_path: Path) -> None:
    environment, file = {"XDG_STATE_HOME": str(tmp_path)}, tmp_path / "verdict" / "signin.json"
    assert browser_login.find_login(environment, URL) is None
    states = [browser_login.begin_login(environment, URL) for _ in range(3)]
    assert len({state for state in states if re.fullmatch(r"[A-Za-z0-9_-]{43}", state)}) == 3
    assert browser_login.find_login(environment, URL) == states[-1]
    assert browser_login.find_login(environment, "https://example.org") is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for content in ("", "{", "[]", "{}", f'{{"url": "{URL}"}}', f'{{"url": "{URL}", "state": 1}}'):
        file.write_text(content)
        assert browser_login.find_login(environment, URL) is None
    browser_login.end_login(environment)
    browser_login.end_login(environment)
    file.parent.rmdir()
    file.parent.write_text("in the way")
    with pytest.raises(RefusalError, match=r"Cannot write .*signin\.json"):
        browser_login.begin_login(environment, URL)


@pytest.mark.parametrize(
    ("platform", "variables", "opens"),
    [
        *(("linux", {name: ":0"}, True) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")),
        ("darwin", {}, True), ("win32", {}, True), ("linux", {"SSH_CONNECTION": "somewhere"}, False),
    ],
)  # fmt: skip
def test_a_browser_is_opened_on_a_desktop_and_not_one_of_text_in_the_terminal(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], opens: bool
) -> None:
    opened = Mock(return_value=True)
    monkeypatch.setattr("webbrowser.open", opened)
    monkeypatch.setattr("sys.platform", platform)
    assert open_browser(URL, variables) is opens
    assert opened.call_args_list == [call(URL)] * opens
