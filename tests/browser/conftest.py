"""Chromium, driven over pages of a service that runs: `make browser`.

Every test fails on what its pages say on their console and on requests to anybody else, unless it expects them.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.harness import (
    ARGUMENTS,
    AXE,
    CHROMIUM,
    DESKTOP,
    LOOKS,
    SCREENSHOTS,
    Complaints,
    Look,
    Wallet,
    install,
    open_page,
    violations,
)
from tests.fakes.serving import WHOLE, Serving, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).resolve().parent

PageAt = Callable[..., "Page"]
"""(url or None for a blank page, width=1280, dark=False) -> Page."""

Shoot = Callable[["Page", str], Path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, and say what is missing where it cannot run."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.skipif(shutil.which(CHROMIUM) is None, reason=f"no {CHROMIUM} here"))
            item.add_marker(pytest.mark.skipif(not AXE.exists(), reason="no npm here to bring axe-core"))


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """One Chromium for all; each page has a profile of its own."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - half a second that only these tests need

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service over the whole recording, which lets everybody ask as often as they like."""
    generous = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}
    with serving(tmp_path_factory.mktemp("browser"), **WHOLE, **generous, alert_targets="any") as running:
        yield running


@pytest.fixture(scope="session")
def site(service: Serving) -> str:
    """The address of its pages."""
    return f"http://127.0.0.1:{service.port}"


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """What the test's pages did that they must not; there is none at its end."""
    seen = Complaints()
    yield seen
    assert seen.said == []


@pytest.fixture
def page_at(browser: "Browser", complaints: Complaints) -> Iterator[PageAt]:
    """Opens a page, each in a profile of its own."""
    opened: list[Page] = []

    def page_at(url: str | None = None, width: int = DESKTOP, dark: bool = False) -> "Page":
        page = open_page(browser, Look(width, dark), complaints)
        opened.append(page)
        if url is not None:
            page.goto(url)
        return page

    yield page_at
    for page in opened:
        page.context.close()


@pytest.fixture(params=LOOKS, ids=[look.name for look in LOOKS])
def look(request: pytest.FixtureRequest) -> Look:
    """Phone and desktop, light and dark, one after the other."""
    chosen: Look = request.param
    return chosen


@pytest.fixture
def axe() -> Callable[["Page"], None]:
    """Fails where axe-core finds anything."""
    assert AXE.exists(), "npm has not been run: make browser"

    def check(page: "Page") -> None:
        assert violations(page) == []

    return check


@pytest.fixture
def shoot() -> Shoot:
    """Takes a picture of a whole page: `build/screenshots/NAME.png`."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def shoot(page: "Page", name: str) -> Path:
        path = SCREENSHOTS / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        return path

    return shoot


@pytest.fixture
def wallet() -> Callable[..., Wallet]:
    """Puts a wallet with a key into a page: (page, key, legacy=True, announced=True) -> Wallet."""

    def put(page: "Page", key: str, *, legacy: bool = True, announced: bool = True) -> Wallet:
        made = Wallet(key)
        install(page, [made], legacy=legacy, announced=announced)
        return made

    return put
