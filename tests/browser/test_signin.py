"""The page that signs in for the command line, and `verdict login` itself, with a wallet that is not ours."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import Complaints, Look, Wallet, install, overflow
from tests.fakes.serving import PATIENCE_S, Serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEY = "0x" + "5a" * 32
STATE = "s" * 43
PutWallet = Callable[..., Wallet]
Axe = Callable[["Page"], None]


class Terminal:
    """What waits on the person's own machine: notes where a browser returns to, and sends it on as `verdict` does.

    Attributes:
        came: Each target, as it came.
    """

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.came: Queue[str] = Queue()
        self.port = server.server_port

    def returned(self, page: "Page") -> dict[str, str]:
        """The query that a page returns with, by name."""
        page.wait_for_url("**/auth/cli/done")
        target = urlsplit(self.came.get(timeout=PATIENCE_S))
        assert target.path == "/callback"
        fields = parse_qs(target.query, strict_parsing=True)
        assert all(len(values) == 1 for values in fields.values())
        return {name: values[0] for name, values in fields.items()}


@pytest.fixture
def terminal(site: str) -> Iterator[Terminal]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            waiting.came.put(self.path)
            self.send_response(303)
            self.send_header("Location", f"{site}/auth/cli/done")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        waiting = Terminal(server)
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield waiting
        server.shutdown()
        thread.join()


def page_of(site: str, port: int | None = None, state: str = STATE) -> str:
    return f"{site}/auth/cli?state={state}" + (f"&port={port}" if port else "")


@pytest.fixture(scope="module")
def closed_port() -> Iterator[int]:
    """A port that refuses connections: it is bound, so no one else gets it, and nothing listens on it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


def fail_to_return(page: "Page", port: int) -> None:
    """Sign in, and be sent to where nobody listens."""
    with page.expect_event("requestfailed", lambda asked: f":{port}/callback?" in asked.url):
        sign_in(page)
    page.wait_for_url("chrome-error://**")


def sign_in(page: "Page", name: str = "Test wallet") -> None:
    page.get_by_role("button", name=f"Sign in with {name}").click()


@pytest.mark.promise("signin.page")
def test_the_page_signs_with_the_browsers_wallet_and_returns_to_the_callback(
    service: Serving, site: str, page_at: PageAt, wallet: PutWallet, terminal: Terminal
) -> None:
    page = page_at(page_of(site, terminal.port))
    mine = wallet(page, KEY)
    sign_in(page)
    returned = terminal.returned(page)
    assert (returned["state"], returned["wallet"]) == (STATE, mine.address)
    assert returned.keys() == {"state", "token", "wallet", "expiresAt"}
    status, _, told = service.ask("/api/cli/billing/tier", returned["token"])
    assert status == 200
    assert told["data"]["identity"]["walletAddress"] == mine.address
    assert mine.asked == ["eth_requestAccounts", "personal_sign"]


def test_what_is_signed_names_the_site_and_the_account(
    site: str, page_at: PageAt, wallet: PutWallet, terminal: Terminal
) -> None:
    page = page_at(page_of(site, terminal.port))
    mine = wallet(page, KEY)
    sign_in(page)
    terminal.returned(page)
    domain, address, *_ = mine.signed[0].splitlines()
    assert domain == f"{site.removeprefix('http://')} wants you to sign in with your Ethereum account:"
    assert address == mine.address
    assert f"\nURI: {site}\n" in mine.signed[0]


@pytest.mark.parametrize("number", range(1, 9))
def test_every_address_is_written_as_the_service_reads_it(
    site: str, page_at: PageAt, wallet: PutWallet, terminal: Terminal, number: int
) -> None:
    key = f"0x{number * 7919:064x}"
    page = page_at(page_of(site, terminal.port))
    wallet(page, key)
    sign_in(page)
    assert terminal.returned(page)["wallet"] == Account.from_key(key).address


def test_a_wallet_that_only_stands_in_the_window_is_found(
    site: str, page_at: PageAt, wallet: PutWallet, terminal: Terminal
) -> None:
    page = page_at(page_of(site, terminal.port))
    wallet(page, KEY, announced=False)
    sign_in(page, "your wallet")
    assert terminal.returned(page)["state"] == STATE


def test_of_several_wallets_the_one_that_is_chosen_signs(site: str, page_at: PageAt, terminal: Terminal) -> None:
    page = page_at(page_of(site, terminal.port))
    first, second = Wallet(KEY, "Fox & <b>Co</b>"), Wallet("0x" + "5b" * 32, "Second")
    install(page, [first, second])
    assert page.get_by_role("group", name="Wallets").get_by_role("button").all_inner_texts() == [
        "Sign in with Fox & <b>Co</b>",
        "Sign in with Second",
    ]
    sign_in(page, "Second")
    assert terminal.returned(page)["wallet"] == second.address
    assert first.asked == []


def test_what_a_wallet_calls_itself_cannot_make_its_button_say_something_else(
    site: str, page_at: PageAt, terminal: Terminal
) -> None:
    page = page_at(page_of(site, terminal.port))
    page.evaluate(
        """(names) => names.forEach((name, place) => dispatchEvent(new CustomEvent("eip6963:announceProvider", {
            detail: { info: { uuid: `${place}`, name, icon: "javascript:alert(1)" }, provider: { request() {} } },
        })))""",
        ["\u202egnp.exe\u2066", "Meta\u200bMask\n\x07", " \u200b ", {"toString": 1}, *map(str, range(50))],
    )
    names = page.get_by_role("group", name="Wallets").get_by_role("button").all_text_contents()
    nameless = "Sign in with a wallet without a name"
    assert names[:5] == ["Sign in with gnp.exe", "Sign in with MetaMask", nameless, nameless, "Sign in with 0"]
    assert len(names) == 20
    assert page.locator("#wallets img").count() == 0


def test_everything_can_be_done_with_the_keyboard(
    site: str, page_at: PageAt, wallet: PutWallet, terminal: Terminal
) -> None:
    page = page_at(page_of(site, terminal.port))
    wallet(page, KEY)
    for _ in range(20):
        page.keyboard.press("Tab")
        if "Sign in with" in page.evaluate("() => document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    assert terminal.returned(page)["state"] == STATE


@pytest.mark.parametrize("method", ["eth_requestAccounts", "personal_sign"])
def test_who_says_no_in_the_wallet_is_told_and_can_try_again(
    site: str, page_at: PageAt, wallet: PutWallet, terminal: Terminal, method: str
) -> None:
    page = page_at(page_of(site, terminal.port))
    mine = wallet(page, KEY)
    mine.refuses.add(method)
    sign_in(page)
    page.get_by_role("alert").get_by_text("You said no in your wallet. Nothing was signed.").wait_for()
    mine.refuses.clear()
    sign_in(page)
    assert terminal.returned(page)["state"] == STATE


def test_a_signature_that_is_not_the_accounts_is_told_in_the_services_words(
    site: str, page_at: PageAt, wallet: PutWallet, complaints: Complaints
) -> None:
    page = page_at(page_of(site, 40_404))
    mine = wallet(page, KEY)
    other = Account.from_key("0x" + "5b" * 32).sign_message(encode_defunct(text="something else"))
    mine.signature = "0x" + bytes(other.signature).hex()
    sign_in(page)
    page.get_by_role("alert").get_by_text("not the one of the wallet the message names").wait_for()
    complaints.expect("401")


def test_a_contract_wallet_is_refused_with_what_it_needs_where_no_node_is_set(
    site: str, page_at: PageAt, wallet: PutWallet, complaints: Complaints
) -> None:
    page = page_at(page_of(site, 40_404))
    mine = wallet(page, KEY)
    mine.signature = "0x" + "00" * 300
    sign_in(page)
    page.get_by_role("alert").get_by_text("an operator who sets VERDICT_RPC_URL").wait_for()
    assert page.url == page_of(site, 40_404)
    complaints.expect("401")


@pytest.mark.promise("signin.paste")
def test_without_a_way_back_the_page_shows_what_verdict_login_paste_takes(
    site: str, page_at: PageAt, wallet: PutWallet
) -> None:
    page = page_at(page_of(site))
    mine = wallet(page, KEY)
    sign_in(page)
    page.get_by_role("heading", name="You are signed in").wait_for()
    code = page.get_by_label("What to paste").input_value()
    fields = parse_qs(code, strict_parsing=True)
    assert (fields["state"], fields["wallet"]) == ([STATE], [mine.address])
    assert page.url == page_of(site)
    assert page.evaluate("() => document.activeElement.textContent") == "You are signed in"


def test_who_comes_back_from_a_terminal_that_cannot_be_reached_finds_what_to_paste(
    site: str, page_at: PageAt, wallet: PutWallet, closed_port: int
) -> None:
    port = closed_port
    page = page_at(page_of(site, port))
    wallet(page, KEY)
    fail_to_return(page, port)
    page.goto(page_of(site, port))
    page.get_by_role("heading", name="You are signed in").wait_for()
    assert f"state={STATE}&token=" in page.get_by_label("What to paste").input_value()
    back = page.get_by_role("link", name="Tell the terminal again").get_attribute("href")
    assert back is not None
    assert back.startswith(f"http://127.0.0.1:{port}/callback?state={STATE}&token=")


def test_what_to_paste_is_forgotten_once_the_terminal_has_it_and_is_no_other_logins(
    site: str, page_at: PageAt, wallet: PutWallet
) -> None:
    page = page_at(page_of(site))
    wallet(page, KEY)
    for elsewhere in (page_of(site, state="t" * 43), f"{site}/auth/cli/done"):
        sign_in(page)
        page.get_by_role("heading", name="You are signed in").wait_for()
        page.reload()
        page.get_by_role("heading", name="You are signed in").wait_for()
        page.goto(elsewhere)
        page.goto(page_of(site))
        page.get_by_role("button", name="Sign in with").wait_for()


def test_what_to_paste_can_be_copied(site: str, page_at: PageAt, wallet: PutWallet) -> None:
    page = page_at(page_of(site))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
    wallet(page, KEY)
    sign_in(page)
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == page.get_by_label("What to paste").input_value() != ""


def test_without_a_wallet_the_page_says_what_to_do(site: str, page_at: PageAt) -> None:
    page = page_at(page_of(site, 40_404))
    page.get_by_text("No wallet answers in this browser.").wait_for()
    assert "verdict login --keystore FILE" in page.get_by_role("region", name="Sign in").inner_text()


def test_without_a_script_the_page_says_what_to_do(site: str, browser: object, page_at: PageAt) -> None:
    page = page_at()
    context = page.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    plain = context.new_page()
    plain.goto(page_of(site, 40_404))
    assert "verdict login --keystore FILE" in plain.locator("noscript").inner_text()
    context.close()


@pytest.mark.parametrize(
    "query",
    [
        "",
        "state=short&port=40404",
        f"state={STATE}%22%3E&port=40404",
        f"state={STATE}&port=80",
        f"state={STATE}&port=65536",
        f"state={STATE}&port=4040x",
        f"state={STATE}&port=@evil.example",
        f"state={STATE}&port=40404&next=https://evil.example",
        f"state={STATE}&port=40404&port=40405",
    ],
)
def test_what_no_command_line_gives_is_refused(site: str, page_at: PageAt, complaints: Complaints, query: str) -> None:
    page = page_at(f"{site}/auth/cli?{query}")
    complaints.expect("400")
    assert page.get_by_role("button").count() == 0
    assert "BAD_REQUEST" in page.get_by_role("main").inner_text()


@pytest.mark.promise("signin.login-command")
def test_verdict_login_keeps_the_session_that_the_browser_brings(
    site: str, page_at: PageAt, wallet: PutWallet, tmp_path: Path
) -> None:
    home = {name: value for name, value in os.environ.items() if not name.startswith(("VERDICT_", "XDG_"))}
    home |= {"HOME": str(tmp_path), "VERDICT_URL": site, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    command = [sys.executable, "-m", "service", "login", "--no-browser"]
    with subprocess.Popen(
        command, env=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as typed:
        try:
            assert typed.stderr is not None
            printed = next(line.strip() for line in typed.stderr if "/auth/cli?" in line)
            page = page_at(printed)
            mine = wallet(page, KEY)
            sign_in(page)
            page.get_by_role("heading", name="Back to your terminal").wait_for()
            assert page.url == f"{site}/auth/cli/done"
            out, err = typed.communicate(timeout=PATIENCE_S)
        finally:
            typed.kill()
    assert typed.returncode == 0, err
    told = json.loads(out)
    assert (told["url"], told["walletAddress"], told["kind"]) == (site, mine.address, "session")
    kept = json.loads((tmp_path / ".local/state/verdict/credentials.json").read_text())[site]
    assert kept["wallet"] == mine.address
    assert kept["token"] not in out + err


def test_it_can_be_used_by_everybody_at_every_size_and_in_the_dark(
    site: str, page_at: PageAt, look: Look, wallet: PutWallet, axe: Axe, shoot: Shoot, closed_port: int
) -> None:
    def check(page: "Page", name: str) -> None:
        axe(page)
        assert overflow(page) == 0
        shoot(page, f"signin-{name}-{look.name}")

    alone = page_at(page_of(site, 40_404), look.width, look.dark)
    alone.get_by_text("No wallet answers").wait_for()
    check(alone, "without")
    page = page_at(page_of(site), look.width, look.dark)
    mine = Wallet(KEY, "Test wallet")
    install(page, [mine, Wallet("0x" + "5b" * 32, "A wallet with quite a long name of forty")])
    page.get_by_role("button", name="Sign in with Test wallet").wait_for()
    check(page, "wallets")
    mine.refuses.add("personal_sign")
    sign_in(page)
    page.get_by_role("alert").get_by_text("You said no").wait_for()
    check(page, "refused")
    mine.refuses.clear()
    sign_in(page)
    page.get_by_role("heading", name="You are signed in").wait_for()
    check(page, "signed-in")
    back = page_at(page_of(site, closed_port), look.width, look.dark)
    install(back, [mine])
    fail_to_return(back, closed_port)
    back.goto(page_of(site, closed_port))
    back.get_by_role("heading", name="You are signed in").wait_for()
    check(back, "back")
    done = page_at(f"{site}/auth/cli/done", look.width, look.dark)
    check(done, "done")
