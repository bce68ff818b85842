"""A browser that is looked at: what it shows, what it says on its console, and whom it asks."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from eth_account import Account
from eth_account.messages import encode_defunct

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

HERE: Final = Path(__file__).resolve().parent
SCREENSHOTS: Final = HERE.parent.parent / "build" / "screenshots"
AXE: Final = HERE / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM: Final = "/usr/bin/chromium"
ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS: Final = 20_000
"""Longest wait for anything that a page does; nothing takes that long unless it fails."""

PHONE: Final = 360
DESKTOP: Final = 1280
_HEIGHTS: Final[Mapping[int, int]] = {PHONE: 740, DESKTOP: 900}
_OUTSIDE_THE_PAGE: Final = frozenset({"about", "data", "blob", "chrome-error"})


class Look(NamedTuple):
    """How a page is looked at."""

    width: int
    dark: bool

    @property
    def name(self) -> str:
        return f"{self.width}-{'dark' if self.dark else 'light'}"


LOOKS: Final = tuple(Look(width, dark) for width in (PHONE, DESKTOP) for dark in (False, True))


class Complaints:
    """What a page did that it must not: errors on its console, defects of its scripts, requests to somebody else.

    Attributes:
        said: What has been seen; a test that provokes something takes it out with `expect`.
    """

    def __init__(self) -> None:
        self.said: list[str] = []

    def watch(self, page: "Page", outside: frozenset[str]) -> None:
        """Note what a page says and whom it asks; hosts beside loopback are never reached."""
        page.on("console", lambda told: self._note(told.type in {"error", "warning"}, f"console: {told.text}"))
        page.on("pageerror", lambda error: self._note(True, f"script: {error}"))  # noqa: FBT003 - always
        page.on("request", lambda asked: self._note(_is_outside(asked.url, outside), f"outside: {asked.url}"))

    def expect(self, pattern: str) -> list[str]:
        """Take out what matches; fails if nothing does."""
        found = [line for line in self.said if re.search(pattern, line)]
        assert found, f"nothing like {pattern!r} among {self.said}"
        self.said = [line for line in self.said if line not in found]
        return found

    def _note(self, wrong: bool, line: str) -> None:
        if wrong:
            self.said.append(line)


def _is_outside(url: str, allowed: frozenset[str]) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in _OUTSIDE_THE_PAGE and (parts.hostname or "") not in allowed


def open_page(browser: "Browser", look: Look, complaints: Complaints) -> "Page":
    """A blank page in a profile of its own."""
    size: ViewportSize = {"width": look.width, "height": _HEIGHTS.get(look.width, 900)}
    context = browser.new_context(
        viewport=size,
        color_scheme="dark" if look.dark else "light",
        has_touch=look.width == PHONE,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    complaints.watch(page, frozenset({"127.0.0.1", "localhost"}))
    return page


def violations(page: "Page") -> list[str]:
    """What axe-core finds wrong with a page as it stands: all of its rules, one line a rule."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{row['impact']}: {row['id']}: {row['help']}: {[node['target'] for node in row['nodes']][:5]}"
        for row in found["violations"]
    ]


def overflow(page: "Page") -> int:
    """By how many pixels a page is wider than its window: a page that has to be scrolled sideways."""
    root = "document.documentElement"
    return int(page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth"))


class Wallet:
    """A browser's wallet (EIP-1193), announced as wallets are (EIP-6963): it signs by `eth_account`, which is not ours.

    Args:
        key: 0x and 64 hexadecimal digits.
        name: What it calls itself.

    Attributes:
        refuses: Methods that its owner says no to.
        asked: Methods in the order in which they were asked.
        signed: Texts that it signed.
        signature: Given in place of its own, if there is any.
    """

    def __init__(self, key: str, name: str = "Test wallet") -> None:
        self._account = Account.from_key(key)
        self.name = name
        self.refuses: set[str] = set()
        self.asked: list[str] = []
        self.signed: list[str] = []
        self.signature = ""

    @property
    def address(self) -> str:
        """As EIP-55 writes it."""
        return str(self._account.address)

    def answer(self, method: str, parameters: list[Any]) -> dict[str, Any]:
        """Answer a request of the page."""
        self.asked.append(method)
        if method in self.refuses:
            return {"error": {"code": 4001, "message": "User rejected the request."}}
        if method in {"eth_requestAccounts", "eth_accounts"}:
            return {"result": [self.address.lower()]}  # as most wallets do
        if method == "eth_chainId":
            return {"result": "0x1"}
        if method == "personal_sign":
            return self._sign(*parameters)
        return {"error": {"code": 4200, "message": f"{method} is not supported"}}

    def _sign(self, content: str, address: str) -> dict[str, Any]:
        assert address.lower() == self.address.lower(), f"{address} is none of this wallet's"
        assert re.fullmatch(r"0x(?:[0-9a-f]{2})+", content), f"{content[:80]!r} is no text in hexadecimal"
        text = bytes.fromhex(content[2:]).decode()
        self.signed.append(text)
        own = "0x" + bytes(self._account.sign_message(encode_defunct(text=text)).signature).hex()
        return {"result": self.signature or own}


def install(page: "Page", wallets: list[Wallet], *, legacy: bool = True, announced: bool = True) -> None:
    """Put wallets into a page, before its own scripts; one that is open already is loaded again.

    Args:
        page: Where.
        wallets: Each announces itself; the first is `window.ethereum` too.
        legacy: Whether there is `window.ethereum`.
        announced: Whether they speak EIP-6963.
    """
    page.expose_function("__wallet", lambda place, method, given: wallets[place].answer(method, given or []))
    names = json.dumps([wallet.name for wallet in wallets])
    page.add_init_script(f"({_INJECTED})({names}, {json.dumps(legacy)}, {json.dumps(announced)})")
    if page.url != "about:blank":
        page.reload()


_INJECTED: Final = """(names, legacy, announced) => {
  const providers = names.map((name, place) => ({
    request: async ({ method, params }) => {
      const { result, error } = await window.__wallet(place, method, params ?? null);
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    },
    on: () => {},
    removeListener: () => {},
  }));
  const announce = () => providers.forEach((provider, place) => {
    const info = {
      uuid: `00000000-0000-4000-8000-00000000000${place}`,
      name: names[place],
      icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'/>",
      rdns: `test.wallet${place}`,
    };
    const detail = Object.freeze({ info, provider });
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  });
  if (legacy) window.ethereum = providers[0];
  if (announced) {
    window.addEventListener("eip6963:requestProvider", announce);
    announce();
  }
}"""
