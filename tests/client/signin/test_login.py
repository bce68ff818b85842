"""Every way to sign in and out, over HTTP, against routes that check as the service's do."""

import io
import json
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from service.cli import login_commands
from service.client import browser_login, credentials
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.credentials import StoredCredential
from service.client.errors import UNAVAILABLE, UNKNOWN_CALLER, UNREACHABLE, RefusalError
from tests.client.signin.conftest import Person
from tests.client.signin.gate import Gate
from tests.client.signin.keys import ADDRESS, KEY, PASSWORD, write_keystore

PATIENCE_S = 30.0


def returned(gate: Gate, state: str, **changed: str) -> str:
    """What the page returns after a sign-in, as the query of a URL."""
    token, ends = gate.open_session(ADDRESS)
    return urlencode({"state": state, "token": token, "wallet": ADDRESS, "expiresAt": ends, **changed})


class Browser:
    """Signs in on the page it is sent to, and returns where that says; says that it could be opened."""

    def __init__(self, gate: Gate) -> None:
        self.changed: dict[str, str] = {}
        self.pages: list[str] = []
        self._gate = gate

    def __call__(self, page: str, _environment: object) -> bool:
        self.pages.append(page)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        target = f"/callback?{returned(self._gate, asked['state'], **self.changed)}"
        self._thread = Thread(target=self._return, args=(int(asked["port"]), target))
        self._thread.start()
        return True

    @property
    def answered(self) -> tuple[int, str | None]:
        """Status and target of what it was answered when it returned."""
        self._thread.join(PATIENCE_S)
        return self._answered

    def _return(self, port: int, target: str) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        connection.request("GET", target)
        response = connection.getresponse()
        self._answered = response.status, response.getheader("Location")
        connection.close()


@pytest.fixture
def browser(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> Browser:
    made = Browser(gate)
    monkeypatch.setattr(login_commands, "open_browser", made)
    return made


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.promise("signin.keystore")
def test_a_keystore_signs_without_a_browser_and_the_session_is_stored(
    gate: Gate, person: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person.environment["VERDICT_KEYSTORE_PASSWORD"] = PASSWORD
    gate.notice = {"notice": "This account has no free questions.\x1b[2J"}
    gate.clock.at_ms += 40 * 86_400_000  # a wrong clock here does no harm
    assert person.login("--keystore", write_keystore(tmp_path / "key.json")) == 0
    kept, file = person.credential, person.state_dir / "credentials.json"
    assert kept is not None
    assert (kept.token in gate.tokens, kept.kind, kept.wallet) == (True, "session", ADDRESS)
    told = capsys.readouterr()
    assert json.loads(told.out) == {
        "url": gate.url, "kind": "session", "walletAddress": ADDRESS, "expiresAt": kept.expires_at, "keptIn": str(file),
    }  # fmt: skip
    assert told.err == "verdict: This account has no free questions.\N{REPLACEMENT CHARACTER}[2J\n"


def test_a_key_of_the_environment_signs_the_message_of_eip_4361_for_the_address_that_was_asked(
    gate: Gate, person: Person, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    person.environment |= {"VERDICT_WALLET_KEY": KEY, "VERDICT_TOKEN": "other"}
    assert person.login("--json") == 0
    assert browser.pages == []
    assert "VERDICT_TOKEN is set, and takes precedence over this login" in capsys.readouterr().err
    authority = gate.url.removeprefix("http://")
    lines = gate.messages[0].splitlines()
    assert lines[:8] == [
        f"{authority} wants you to sign in with your Ethereum account:", ADDRESS, "", "Sign in to Verdict.", "",
        f"URI: {gate.url}", "Version: 1", "Chain ID: 84532",
    ]  # fmt: skip
    assert [line.partition(": ")[0] for line in lines[8:]] == ["Nonce", "Issued At", "Expiration Time"]
    credentials.forget(person.environment, gate.url)
    gate.domains = {"api.example.org"}
    with pytest.raises(RefusedError, match=r"for another domain\. This service is api\.example\.org"):
        person.login()
    assert person.credential is None


@pytest.mark.parametrize(
    ("path", "document"),
    [
        *(
            ("/api/cli/manifest", {"data": data, "meta": {}})
            for data in list[Any](({}, [], {"networks": []}, {"networks": ["solana:1"]}, {"networks": [1]}))
        ),
        ("/api/auth/nonce", []),
        ("/api/auth/nonce", {"nonce": "abcdefgh\nURI: https://other.example", "expiresAt": "2026-01-01T00:00:00Z"}),
        ("/api/auth/nonce", {"nonce": "abcdefgh", "expiresAt": "soon"}),
        ("/api/auth/login", {"token": 1}),
        ("/api/auth/login", {"token": "two\r\nlines", "expiresAt": "2026-01-01T00:00:00Z"}),
    ],
)
def test_answers_of_another_form_are_refused_and_nothing_is_stored(
    gate: Gate, person: Person, path: str, document: Any
) -> None:
    person.environment["VERDICT_WALLET_KEY"] = KEY
    gate.answers[path] = (200, document)
    with pytest.raises(UnreadableAnswerError, match="Check that the URL is that of a Verdict service"):
        person.login()
    assert person.credential is None


@pytest.mark.promise("signin.login-command")
@pytest.mark.usefixtures("terminal")
def test_the_browser_is_sent_to_the_page_or_its_address_printed_and_its_session_stored(
    gate: Gate, person: Person, browser: Browser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    browser.changed = {"notice": "This account has no free questions."}
    assert person.login() == 0
    page = urlsplit(browser.pages[0])
    assert f"{page.scheme}://{page.netloc}{page.path}" == f"{gate.url}/auth/cli"
    assert parse_qs(page.query).keys() == {"state", "port"}
    assert browser.answered == (303, f"{gate.url}/auth/cli/done")
    kept, told = person.credential, capsys.readouterr()
    assert kept is not None
    assert (kept.token, kept.wallet) == ("session.0", ADDRESS)
    assert told.out == (
        f"Signed in to {gate.url} as {ADDRESS} until {str(kept.expires_at)[:10]}. "
        f"It is stored in {person.state_dir / 'credentials.json'}.\n"
    )
    assert f"Your browser opens this page to sign in:\n  {browser.pages[0]}\n" in told.err
    assert told.err.endswith("verdict: This account has no free questions.\n")
    assert "session.0" not in told.out + told.err
    assert browser_login.find_login(person.environment, gate.url) is None
    monkeypatch.setattr(login_commands, "open_browser", lambda *given: browser(*given) is None)
    assert person.login() == 0
    assert f"Open this page to sign in:\n  {browser.pages[1]}\n" in capsys.readouterr().err


@pytest.mark.parametrize(("is_terminal", "given"), [(False, []), (True, ["--no-browser"])])
def test_nothing_is_opened_for_a_program_or_if_not_wanted_and_the_login_can_be_finished_by_hand(
    gate: Gate, person: Person, browser: Browser, monkeypatch: pytest.MonkeyPatch, is_terminal: bool, given: list[str]
) -> None:
    monkeypatch.setattr(login_commands, "is_terminal", lambda _: is_terminal)
    monkeypatch.setattr(login_commands, "PATIENCE_S", 0.0)
    with pytest.raises(RefusalError, match=r"did not return.*verdict login --paste") as refused:
        person.login(*given)
    assert (refused.value.code, browser.pages) == (UNREACHABLE, [])
    assert browser_login.find_login(person.environment, gate.url) is not None


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("changed", "said"),
    [({"wallet": "0x" + "11" * 20}, "another wallet than it names"), ({"token": "made-up"}, "not known")],
)
def test_a_session_that_the_service_does_not_confirm_is_not_stored(
    person: Person, browser: Browser, changed: dict[str, str], said: str
) -> None:
    browser.changed = changed
    with pytest.raises((RefusalError, RefusedError), match=said) as refused:
        person.login()
    assert getattr(refused.value, "code", None) in {UNKNOWN_CALLER, "AUTH_INVALID"}
    assert person.credential is None


def test_a_service_without_a_page_or_that_fails_is_named_before_a_browser_is_opened(gate: Gate, person: Person) -> None:
    gate.answers["/auth/cli"] = (404, {"error": {"code": "NOT_FOUND", "message": "Path not found."}})
    for given in ([], ["--paste"]):
        with pytest.raises(RefusalError, match="verdict login --keystore FILE"):
            person.login(*given)
    gate.answers["/auth/cli"] = (503, {"error": {"code": "UNAVAILABLE", "message": "Not yet."}})
    with pytest.raises(RefusedError, match="Not yet"):
        person.login()
    person.environment["VERDICT_URL"] = "http://127.0.0.1:1"
    with pytest.raises(UnreachableError):
        person.login()


@pytest.mark.promise("signin.paste")
@pytest.mark.parametrize("before", ["", "http://127.0.0.1:40404/callback?"])
def test_a_login_whose_browser_could_not_return_is_finished_by_pasting_what_the_page_shows(
    gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], before: str
) -> None:
    pipe(monkeypatch, returned(gate, "t" * 43))
    with pytest.raises(RefusalError, match="another login"):
        person.login("--paste")
    state = browser_login.find_login(person.environment, gate.url)
    assert f"  {gate.url}/auth/cli?state={state}\n" in capsys.readouterr().err
    assert state is not None
    pipe(monkeypatch, f" {before}{returned(gate, state)} \n")
    assert person.login("--paste") == 0
    assert person.credential is not None
    assert person.credential.token == "session.1"
    assert browser_login.find_login(person.environment, gate.url) is None


@pytest.mark.parametrize(
    ("kind", "wallet", "said"),
    [("api_key", None, "The key works at {url}. It is stored in "), ("session", ADDRESS, "Signed in to {url} as ")],
)
def test_a_key_is_stored_once_the_service_has_confirmed_its_owner(
    gate: Gate, person: Person, terminal: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    kind: str, wallet: str | None, said: str,
) -> None:  # fmt: skip
    gate.tokens["verdict_sk_x"] = {"kind": kind, "userId": 1, "walletAddress": wallet}
    monkeypatch.setattr("service.client.wallet.getpass", lambda *_: "verdict_sk_x")
    assert person.login("--token") == 0
    assert person.credential == ("verdict_sk_x", kind, wallet, None, None)
    out = capsys.readouterr().out
    assert out.startswith(said.format(url=gate.url))
    assert "verdict_sk_x" not in out


@pytest.mark.parametrize(
    ("typed", "identity", "error", "said"),
    [
        ("verdict_sk_x", ..., RefusedError, "not known"),
        ("two words", ..., RefusalError, "not an API key"),
        *(
            ("key", own, UnreadableAnswerError, "sign-in needs")
            for own in (None, {}, {"kind": "session", "walletAddress": "a\x1b[2J"})
        ),
    ],
)
def test_a_key_that_is_not_confirmed_is_not_stored(
    gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch, typed: str, identity: Any, error: Any, said: str
) -> None:
    if identity is not ...:
        gate.tokens[typed] = identity
    pipe(monkeypatch, f"{typed}\n")
    with pytest.raises(error, match=said):
        person.login("--token")
    assert person.credential is None
    assert bool(gate.asked) == (typed != "two words")


def keep(gate: Gate, person: Person, kind: Any = "session") -> None:
    token, ends = gate.open_session(ADDRESS)
    credentials.keep(person.environment, person.url, StoredCredential(token, kind, ADDRESS, ends))


def test_a_session_is_ended_at_the_service_and_deleted_here_also_if_it_had_ended_and_a_key_only_here(
    gate: Gate, person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    person.environment["VERDICT_TOKEN"] = "other"
    for has_ended in (False, True):
        keep(gate, person)
        if has_ended:
            gate.tokens.clear()
        assert person.logout() == 0
        assert (gate.tokens, person.credential) == ({}, None)
    told = capsys.readouterr()
    assert told.out.startswith(f"Signed out of {gate.url}.\n")
    assert "VERDICT_TOKEN is still set" in told.err
    assert person.logout() == 0
    assert capsys.readouterr().out == f"You were not signed in to {gate.url}.\n"
    keep(gate, person, "api_key")
    gate.asked.clear()
    assert person.logout() == 0
    assert (gate.asked, person.credential) == ([], None)
    assert "It works until it is revoked by `verdict keys revoke` with a wallet's" in capsys.readouterr().out


@pytest.mark.parametrize("status", [429, 500, None])
def test_a_session_that_the_service_does_not_end_is_deleted_here_and_said_to_go_on(
    gate: Gate, person: Person, status: int | None
) -> None:
    if status is None:
        person.environment["VERDICT_URL"] = "http://127.0.0.1:1"
    gate.answers["/api/auth/logout"] = (status or 0, {"error": {"code": "X", "message": "Not now."}})
    keep(gate, person)
    with pytest.raises(
        RefusalError, match="until 20" if status is None else r"still accepts it until 20.*: Not now\."
    ) as refused:
        person.logout()
    assert refused.value.code == (UNREACHABLE if status is None else UNAVAILABLE)
    assert person.credential is None
