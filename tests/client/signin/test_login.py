"""Every way to sign in, over HTTP, against doors that check as the service's do."""

import io
import json
import stat
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from service.cli import login_commands
from service.client import browser_login
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.errors import UNKNOWN_CALLER, UNREACHABLE, RefusalError
from tests.client.signin.gate import Gate
from tests.client.signin.keys import ADDRESS, KEY, PASSWORD, write_keystore
from tests.client.signin.person import Person

PATIENCE_S = 30.0


class Browser:
    """Signs in on the page it is sent to, and returns where that says; says that it could be opened.

    Args:
        gate: Where its session comes from.
    """

    def __init__(self, gate: Gate) -> None:
        self.changed: dict[str, str] = {}
        self.pages: list[str] = []
        self._answered: tuple[int, str | None] = (0, None)
        self._gate = gate

    def __call__(self, page: str, _environment: object) -> bool:
        self.pages.append(page)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        token, ends = self._gate.open_session(ADDRESS)
        given = {"state": asked["state"], "token": token, "wallet": ADDRESS, "expiresAt": ends}
        target = f"/callback?{urlencode(given | self.changed)}"
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
def test_a_keystore_signs_without_a_browser_and_the_session_is_kept(
    gate: Gate, person: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person.environment["VERDICT_KEYSTORE_PASSWORD"] = PASSWORD
    assert person.login("--keystore", write_keystore(tmp_path / "key.json")) == 0
    kept = person.credential
    assert kept is not None
    assert kept.token in gate.tokens
    assert (kept.kind, kept.wallet) == ("session", ADDRESS)
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "url": gate.url,
        "kind": "session",
        "walletAddress": ADDRESS,
        "expiresAt": kept.expires_at,
        "keptIn": str(person.state_dir / "credentials.json"),
    }
    assert stat.S_IMODE((person.state_dir / "credentials.json").stat().st_mode) == 0o600


def test_a_key_of_the_environment_signs_too(gate: Gate, person: Person, browser: Browser) -> None:
    person.environment["VERDICT_WALLET_KEY"] = KEY
    assert person.login() == 0
    assert browser.pages == []
    assert gate.messages[0].splitlines()[1] == ADDRESS


def test_what_the_service_tells_a_new_account_is_shown_once(
    gate: Gate, person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    gate.notice = {"notice": "This account has no free questions.\x1b[2J"}
    person.environment["VERDICT_WALLET_KEY"] = KEY
    assert person.login() == 0
    assert capsys.readouterr().err == "verdict: This account has no free questions.\N{REPLACEMENT CHARACTER}[2J\n"


@pytest.mark.usefixtures("terminal")
def test_what_the_service_tells_by_the_browser_is_shown_too(
    person: Person, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    browser.changed = {"notice": "This account has no free questions."}
    assert person.login() == 0
    assert browser.answered[0] == 303
    assert capsys.readouterr().err.endswith("verdict: This account has no free questions.\n")


def test_what_is_signed_is_for_the_address_that_was_asked(gate: Gate, person: Person) -> None:
    person.environment["VERDICT_WALLET_KEY"] = KEY
    gate.domains = {"api.example.org"}
    with pytest.raises(RefusedError, match=r"for another domain; this is api\.example\.org"):
        person.login()
    assert person.credential is None


def test_a_clock_that_is_wrong_here_keeps_nobody_out(gate: Gate, person: Person) -> None:
    person.environment["VERDICT_WALLET_KEY"] = KEY
    gate.clock.at_ms += 40 * 86_400_000
    assert person.login() == 0


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/api/cli/manifest", {"data": {}, "meta": {}}),
        ("/api/cli/manifest", {"data": [], "meta": {}}),
        ("/api/cli/manifest", {"data": {"networks": []}, "meta": {}}),
        ("/api/cli/manifest", {"data": {"networks": ["solana:1"]}, "meta": {}}),
        ("/api/cli/manifest", {"data": {"networks": [1]}, "meta": {}}),
        ("/api/auth/nonce", []),
        ("/api/auth/nonce", {"nonce": "abcdefgh\nURI: https://other.example", "expiresAt": "2026-01-01T00:00:00Z"}),
        ("/api/auth/nonce", {"nonce": "abcdefgh", "expiresAt": "soon"}),
        ("/api/auth/nonce", {"nonce": "abcdefgh", "expiresAt": 1}),
        ("/api/auth/login", {"token": 1}),
    ],
)
def test_a_service_that_answers_otherwise_is_told_so_and_nothing_is_kept(
    gate: Gate, person: Person, path: str, document: Any
) -> None:
    person.environment["VERDICT_WALLET_KEY"] = KEY
    gate.answers[path] = (200, document)
    with pytest.raises(UnreadableAnswerError, match="is that address a Verdict service"):
        person.login()
    assert person.credential is None


@pytest.mark.promise("signin.login-command")
def test_the_browser_is_sent_to_the_page_and_its_session_kept(
    gate: Gate, person: Person, browser: Browser, terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert person.login() == 0
    page = urlsplit(browser.pages[0])
    assert f"{page.scheme}://{page.netloc}{page.path}" == f"{gate.url}/auth/cli"
    assert parse_qs(page.query).keys() == {"state", "port"}
    assert browser.answered == (303, f"{gate.url}/auth/cli/done")
    kept = person.credential
    assert kept is not None
    assert (kept.token, kept.wallet) == ("session.0", ADDRESS)
    told = capsys.readouterr()
    assert told.out == (
        f"Signed in to {gate.url} as {ADDRESS} until {str(kept.expires_at)[:10]}. "
        f"It is kept in {person.state_dir / 'credentials.json'}.\n"
    )
    assert "Your browser opens this page to sign in:" in told.err
    assert "session.0" not in told.out + told.err
    assert browser_login.find_login(person.environment, gate.url) is None


@pytest.mark.usefixtures("terminal")
def test_where_no_browser_is_opened_its_address_is_printed(
    person: Person, browser: Browser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(page: str, environment: object) -> bool:
        browser(page, environment)
        return False

    monkeypatch.setattr(login_commands, "open_browser", read)
    person.login()
    assert f"Open this page to sign in:\n  {browser.pages[0]}\n" in capsys.readouterr().err


@pytest.mark.parametrize(("is_terminal", "given"), [(False, []), (True, ["--no-browser"])])
def test_nothing_is_opened_for_a_program_or_where_it_is_not_wanted(
    person: Person, browser: Browser, monkeypatch: pytest.MonkeyPatch, is_terminal: bool, given: list[str]
) -> None:
    monkeypatch.setattr(login_commands, "is_terminal", lambda _: is_terminal)
    monkeypatch.setattr(login_commands, "PATIENCE_S", 0.0)
    with pytest.raises(RefusalError, match="did not return"):
        person.login(*given)
    assert browser.pages == []


@pytest.mark.usefixtures("terminal")
def test_a_browser_that_never_returns_is_given_up_and_can_be_finished_by_hand(
    gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_commands, "open_browser", lambda *_: True)
    monkeypatch.setattr(login_commands, "PATIENCE_S", 0.0)
    with pytest.raises(RefusalError, match="verdict login --paste") as refused:
        person.login()
    assert refused.value.code == UNREACHABLE
    assert browser_login.find_login(person.environment, gate.url) is not None


@pytest.mark.usefixtures("terminal")
def test_a_token_that_is_not_the_wallets_it_comes_with_is_not_kept(person: Person, browser: Browser) -> None:
    browser.changed = {"wallet": "0x" + "11" * 20}
    with pytest.raises(RefusalError, match="not the wallet's that it names") as refused:
        person.login()
    assert refused.value.code == UNKNOWN_CALLER
    assert person.credential is None


@pytest.mark.usefixtures("terminal")
def test_a_token_that_the_service_does_not_know_is_not_kept(person: Person, browser: Browser) -> None:
    browser.changed = {"token": "made-up"}
    with pytest.raises(RefusedError, match="not known"):
        person.login()
    assert person.credential is None


@pytest.mark.parametrize("given", [[], ["--paste"]])
def test_a_service_without_a_page_is_told_with_what_to_do(gate: Gate, person: Person, given: list[str]) -> None:
    gate.has_page = False
    with pytest.raises(RefusalError, match="verdict login --keystore FILE"):
        person.login(*given)


def test_a_service_that_fails_says_why_before_any_browser_is_opened(gate: Gate, person: Person) -> None:
    gate.answers["/auth/cli"] = (503, {"error": {"code": "UNAVAILABLE", "message": "Not yet."}})
    with pytest.raises(RefusedError, match="Not yet"):
        person.login()


def test_a_service_that_is_not_there_is_told_before_any_browser_is_opened(person: Person) -> None:
    person.environment["VERDICT_URL"] = "http://127.0.0.1:1"
    with pytest.raises(UnreachableError):
        person.login()


def returned(gate: Gate, state: str) -> str:
    token, ends = gate.open_session(ADDRESS)
    return urlencode({"state": state, "token": token, "wallet": ADDRESS, "expiresAt": ends})


@pytest.mark.promise("signin.paste")
@pytest.mark.parametrize("before", ["", "http://127.0.0.1:40404/callback?"])
def test_a_login_whose_browser_could_not_return_is_finished_by_pasting_what_it_has(
    gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    monkeypatch.setattr(login_commands, "PATIENCE_S", 0.0)
    with pytest.raises(RefusalError):
        person.login()
    state = browser_login.find_login(person.environment, gate.url)
    assert state is not None
    pipe(monkeypatch, f" {before}{returned(gate, state)} \n")
    assert person.login("--paste") == 0
    assert person.credential is not None
    assert person.credential.token == "session.0"
    assert browser_login.find_login(person.environment, gate.url) is None


def test_pasting_begins_a_login_where_there_is_none_whose_page_shows_what_to_paste(
    gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RefusalError, match="nothing was given"):
        person.login("--paste")
    state = browser_login.find_login(person.environment, gate.url)
    assert f"  {gate.url}/auth/cli?state={state}\n" in capsys.readouterr().err
    assert state is not None
    pipe(monkeypatch, returned(gate, state))
    assert person.login("--paste") == 0


def test_what_another_login_gave_is_not_taken(gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, returned(gate, "t" * 43))
    with pytest.raises(RefusalError, match="another login"):
        person.login("--paste")
    assert person.credential is None


def test_a_key_is_kept_once_the_service_has_said_whose_it_is(
    gate: Gate, person: Person, terminal: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate.tokens["verdict_sk_x"] = {"kind": "api_key", "userId": 1, "walletAddress": None}
    monkeypatch.setattr("service.client.wallet.getpass", lambda *_: "verdict_sk_x")
    assert person.login("--token") == 0
    assert person.credential == ("verdict_sk_x", "api_key", None, None, None)
    out = capsys.readouterr().out
    assert out.startswith(f"The key works at {gate.url}. It is kept in ")
    assert "verdict_sk_x" not in out


def test_a_session_from_elsewhere_is_kept_as_one(gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    token, _ = gate.open_session(ADDRESS)
    pipe(monkeypatch, f"{token}\n")
    assert person.login("--token") == 0
    assert person.credential == (token, "session", ADDRESS, None, None)


def test_a_key_that_is_nobodys_is_not_kept(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, "verdict_sk_x\n")
    with pytest.raises(RefusedError, match="not known"):
        person.login("--token")
    assert person.credential is None


def test_what_could_be_no_key_is_not_sent(gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, "two words\n")
    with pytest.raises(RefusalError, match="no API key"):
        person.login("--token")
    assert gate.asked == []


@pytest.mark.parametrize("identity", [None, {}, {"kind": "session", "walletAddress": "somebody\x1b[2J"}])
def test_an_identity_that_is_none_is_not_believed(
    gate: Gate, person: Person, monkeypatch: pytest.MonkeyPatch, identity: Any
) -> None:
    gate.tokens["key"] = identity
    pipe(monkeypatch, "key\n")
    with pytest.raises(UnreadableAnswerError):
        person.login("--token")
    assert person.credential is None


def test_a_token_of_the_environment_is_said_to_go_before_what_is_kept(
    person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    person.environment |= {"VERDICT_WALLET_KEY": KEY, "VERDICT_TOKEN": "other"}
    assert person.login("--json") == 0
    assert "VERDICT_TOKEN is set" in capsys.readouterr().err
