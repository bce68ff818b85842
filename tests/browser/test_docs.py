"""The reference of the API, as a browser shows it: whole under the site's policy, searched, walked through, copied."""

import os
import shlex
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from service.wire.offers import OFFERS
from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import DESKTOP, PHONE, SCREENSHOTS, Complaints, Look, open_page, overflow
from tests.fakes.serving import PATIENCE_S, Serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Axe = Callable[["Page"], None]

LEFT_OUT = {"alerts.delete", "alerts.test", "auth.login", "receipts.get", "watch"}
"""Routes that want a signature, an alert rule or a receipt of one's own, and one that has no end."""

ASKED = [offer.id for offer in OFFERS if offer.gate != "session" and offer.id not in LEFT_OUT]
TO_STATUS = "curl --silent --max-time 20 --output /dev/null --write-out %{http_code} "


def in_view(page: "Page", place: str) -> bool:
    at = "const { top } = document.getElementById(place).getBoundingClientRect()"
    return bool(page.evaluate(f"place => {{ {at}; return top >= 0 && top < innerHeight; }}", place))


def test_it_fits_and_nobody_is_kept_out(page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot) -> None:
    page = page_at(f"{site}/docs", look.width, look.dark)
    assert overflow(page) == 0
    axe(page)
    shoot(page, f"docs-{look.name}")


def test_what_is_found_is_opened_where_it_stands(
    page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot
) -> None:
    page = page_at(f"{site}/docs", look.width, look.dark)
    page.get_by_label("Find a route or a field").fill("Funding_APR")
    assert page.get_by_role("status").filter(has_text="route").inner_text() == "2 routes, 3 schemas"
    assert page.locator("article:visible").count() == 2
    assert page.get_by_text("funding_apr", exact=True).first.is_visible()
    assert page.locator("#headers").is_hidden()
    assert overflow(page) == 0
    axe(page)
    shoot(page, f"docs-found-{look.name}")
    page.get_by_label("Find a route or a field").fill("")
    assert page.locator("article:visible").count() == len(OFFERS)
    assert page.locator("details.found[open]").count() == 0


def test_a_keyboard_finds_a_route_and_a_schema(page_at: PageAt, site: str) -> None:
    page = page_at(f"{site}/docs")
    field = page.get_by_label("Find a route or a field")
    field.focus()
    page.keyboard.type("/api/cli/market/crossing")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "market.crossing"
    assert in_view(page, "market.crossing")
    field.fill("hold positions of a coin that nobody knows")
    field.press("Enter")
    assert page.evaluate("document.activeElement.id") == "find"
    assert page.locator("h2:visible").count() == 0
    field.fill("what is left of the free questions")
    field.press("Enter")
    assert page.evaluate("document.activeElement.matches('details[open] > summary')")
    assert page.evaluate("document.activeElement.textContent").startswith("Quota")


def test_a_link_leads_to_a_schema_also_where_the_search_has_hidden_it(page_at: PageAt, site: str) -> None:
    page = page_at(f"{site}/docs")
    page.get_by_label("Find a route or a field").fill("coin/risk")
    page.locator("article:visible").get_by_role("link", name="Meta", exact=True).click()
    page.wait_for_url("**/docs#schema-Meta")
    assert page.get_by_label("Find a route or a field").input_value() == ""
    assert page.locator("#schema-Meta").is_visible()
    assert in_view(page, "schema-Meta")


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_an_address_opens_what_it_names(page_at: PageAt, site: str, width: int) -> None:
    page = page_at(f"{site}/docs#schema-Claim", width)
    assert page.get_by_text("fitted_until", exact=True).first.is_visible()
    assert in_view(page, "schema-Claim")
    page.goto(f"{site}/docs#signal")
    assert in_view(page, "signal")
    page.screenshot(path=SCREENSHOTS / f"docs-address-{width}.png")


def test_the_contents_are_folded_where_there_is_no_room_for_them(page_at: PageAt, site: str) -> None:
    assert page_at(f"{site}/docs", PHONE).get_by_role("link", name="coin.risk", exact=True).is_hidden()
    assert page_at(f"{site}/docs", DESKTOP).get_by_role("link", name="coin.risk", exact=True).is_visible()


def test_a_line_is_copied_whole(page_at: PageAt, site: str, axe: Axe) -> None:
    page = page_at(f"{site}/docs")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("#coin\\.risk").get_by_role("button", name="Copy").first
    button.click()
    page.locator("#said", has_text="Copied").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f'curl -H "Authorization: Bearer $VERDICT_TOKEN" {site}/api/cli/coin/risk/BTC'
    axe(page)
    button.blur()
    assert button.inner_text() == "Copy"


def test_without_a_script_all_of_it_is_there(browser: "Browser", site: str, shoot: Shoot) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": PHONE, "height": 740})
    page = context.new_page()
    page.goto(f"{site}/docs#schema-Claim")
    assert page.locator("article:visible").count() == len(OFFERS)
    assert page.get_by_text("fitted_until", exact=True).first.is_visible()
    assert page.get_by_label("Find a route or a field").is_hidden()
    assert page.get_by_role("link", name="coin.risk", exact=True).is_visible()
    shoot(page, "docs-plain")
    context.close()


@pytest.fixture(scope="module")
def lines(browser: "Browser", site: str) -> dict[str, str]:
    """Route → the first line that stands with it."""
    complaints = Complaints()
    page = open_page(browser, Look(DESKTOP, dark=False), complaints)
    page.goto(f"{site}/docs")
    found: dict[str, str] = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('article.found')]"
        ".map((place) => [place.id, place.querySelector('.line code').textContent]))"
    )
    page.context.close()
    assert complaints.said == []
    return found


@pytest.mark.parametrize("offer_id", ASKED)
def test_a_line_works_as_it_stands(lines: dict[str, str], service: Serving, offer_id: str) -> None:
    silent = lines[offer_id].replace(
        "curl ", "curl --silent --max-time 20 --output /dev/null --write-out %{http_code} ", 1
    )
    environment = {"PATH": os.environ["PATH"], "VERDICT_TOKEN": service.make_key()}
    ran = subprocess.run(
        ["/bin/sh", "-c", silent], env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "200"), shlex.quote(silent)
