"""The harness sees what it is there to see: checked on pages that are wrong on purpose."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import PHONE, SCREENSHOTS, Complaints, Wallet, overflow, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEY = "0x" + "11" * 32
STRICT = "default-src 'none'"
GOOD = "<!doctype html><html lang=en><title>Good</title><main><h1>Good</h1></main>"
PAGES = {
    "/good": GOOD,
    "/wide": GOOD.replace("<h1>", "<h1>" + "wide" * 200),
    "/unnamed": GOOD.replace("<h1>", "<button></button><h1>"),
    "/inline": GOOD + "<script>document.title = 'Run'</script>",
    "/outside": GOOD + "<img alt='' src='https://example.org/pixel.png'>",
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = PAGES.get(self.path, GOOD).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", STRICT)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def at() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_axe_runs_under_a_strict_policy_and_finds_a_button_without_a_name(at: str, page_at: PageAt) -> None:
    assert violations(page_at(f"{at}/good")) == []
    assert "button-name" in "".join(violations(page_at(f"{at}/unnamed")))


def test_a_page_that_has_to_be_scrolled_sideways_is_seen(at: str, page_at: PageAt) -> None:
    assert overflow(page_at(f"{at}/good", width=PHONE)) == 0
    assert overflow(page_at(f"{at}/wide", width=PHONE)) > 1000


def test_an_inline_script_under_a_strict_policy_is_a_complaint(
    at: str, page_at: PageAt, complaints: Complaints
) -> None:
    assert page_at(f"{at}/inline").title() == "Good"
    complaints.expect("Content Security Policy")


def test_a_request_to_somebody_else_is_a_complaint(at: str, page_at: PageAt, complaints: Complaints) -> None:
    page_at(f"{at}/outside")
    assert any("example.org" in line for line in complaints.said)
    complaints.said.clear()


def test_a_wallet_answers_under_a_strict_policy_and_refuses_what_it_is_told_to(
    at: str, page_at: PageAt, wallet: "Callable[[Page, str], Wallet]"
) -> None:
    page = page_at(f"{at}/good")
    mine = wallet(page, KEY)
    ask = "m => window.ethereum.request({ method: m }).catch(e => e.code)"
    assert page.evaluate(ask, "eth_requestAccounts") == [mine.address.lower()]
    mine.refuses.add("eth_requestAccounts")
    assert page.evaluate(ask, "eth_requestAccounts") == 4001
    assert page.evaluate(ask, "eth_sendTransaction") == 4200


def test_a_picture_is_kept(at: str, page_at: PageAt, shoot: Shoot) -> None:
    kept = shoot(page_at(f"{at}/good", width=PHONE, dark=True), "harness")
    assert kept == Path(SCREENSHOTS / "harness.png")
    assert kept.read_bytes().startswith(b"\x89PNG")
    kept.unlink()
