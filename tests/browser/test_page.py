"""The pages, as a browser shows them: whole, calm, and usable by whoever comes, with a script and without."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from service.pages.files import FOLDER
from service.verdict.ledger import HORIZONS
from service.verdict.scorecard import LABELS
from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import PHONE, Complaints, Look, Wallet, overflow
from tests.fakes.serving import PATIENCE_S, Serving, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

KEY = "0x" + "6b" * 32
PAGES = {"market": "/", "coin": "/coin/SOL", "scorecard": "/scorecard", "account": "/account"}
CHARTED = "figure[data-plot] canvas"
Axe = Callable[["Page"], None]


@pytest.fixture(scope="module", autouse=True)
def _published(site: str) -> None:
    """Every coin has been asked for its history, so that there are days of breadth."""

    def is_published() -> bool:
        with urlopen(Request(site, headers={"Accept": "text/html"}), timeout=PATIENCE_S) as said:  # noqa: S310 - ours
            return b"Every day as a table" in said.read()

    wait_until(is_published)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_nobody_is_kept_out(
    page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot, name: str
) -> None:
    page = page_at(site + PAGES[name], look.width, look.dark)
    if name in {"market", "coin"}:
        page.locator(CHARTED).wait_for()
    assert overflow(page) == 0
    axe(page)
    shoot(page, f"{name}-{look.name}")


def test_the_scorecard_shows_every_figure_on_a_phone_without_scrolling_sideways(
    page_at: PageAt, site: str, shoot: Shoot
) -> None:
    page = page_at(site + "/scorecard", 390)

    def is_counted() -> bool:
        page.reload()
        return bool(page.locator(".record td.num").count() > len(HORIZONS) * len(LABELS))

    wait_until(is_counted)
    assert overflow(page) == 0
    for region in page.locator(".scroll").all():
        assert region.evaluate("node => node.scrollWidth - node.clientWidth") == 0
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
    assert page.locator(".record :is(th, td)").evaluate_all(cut) == []
    backtested = page.get_by_role("region", name="Backtested record").locator("tbody tr").first
    right, base = (backtested.locator("td").nth(place).bounding_box() for place in (3, 5))
    assert right is not None
    assert base is not None
    assert (right["y"], right["x"] < base["x"] < 390) == (base["y"], True), "both are read in one line"
    shoot(page, "scorecard-390-light")


def test_an_unknown_coin_is_a_page_that_helps(
    page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot, complaints: Complaints
) -> None:
    page = page_at(f"{site}/coin/BTCC", look.width, look.dark)
    complaints.expect("404")
    axe(page)
    shoot(page, f"unknown-{look.name}")
    page.get_by_role("link", name="BTC", exact=True).click()
    page.wait_for_url("**/coin/BTC")


@pytest.mark.parametrize("path", ["/", "/coin/BTC", "/scorecard"])
def test_without_a_script_everything_but_what_is_live_is_there(
    browser: "Browser", site: str, path: str, shoot: Shoot
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(site + path)
    assert page.locator("h1").is_visible()
    for drawing in page.locator("figure[data-plot] svg").all():
        assert drawing.is_visible()
    assert page.locator("[hidden]:visible").count() == 0
    shoot(page, f"plain{path.replace('/', '-')}")
    context.close()


def test_a_chart_has_a_table_behind_it_and_tells_what_is_pointed_at(page_at: PageAt, site: str) -> None:
    page = page_at(f"{site}/coin/BTC")
    page.locator(CHARTED).wait_for()
    rows = page.locator("#t-price tbody tr")
    assert rows.count() == 90
    page.locator("figure[data-plot] .u-over").hover()
    told = page.locator("figcaption").inner_text()
    assert re.fullmatch(r"\d{1,2} \w{3,4} 20\d\d: [\d,.]+ USD", told)
    page.get_by_text("The chart as a table").click()
    assert rows.first.is_visible()


def test_a_keyboard_reaches_the_content_first_and_everything_after(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_label("Find a coin").focus()
    page.keyboard.type("xmr")
    assert page.locator("#t-coins tbody tr:visible").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url("**/coin/XMR")


def test_coins_are_sorted_by_whatever_column_is_asked_for(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    head = page.get_by_role("columnheader", name="Funding, a year")

    def rates() -> list[float]:
        cells = page.locator("#t-coins tbody td:nth-child(6)").all()
        return [float(cell.get_attribute("data-v") or "nan") for cell in cells]

    before = rates()
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert rates() == sorted(before, reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert rates() == sorted(before)


def test_whoever_has_a_key_sees_what_is_left_and_looking_costs_nothing(
    page_at: PageAt, site: str, service: Serving, look: Look, axe: Axe, shoot: Shoot
) -> None:
    key = service.make_key()
    page = page_at(site + "/account", look.width, look.dark)
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    assert "10 of 10 to start with" in " ".join(page.locator("#standing").inner_text().split())
    assert page.get_by_text("You have not paid for anything.").is_visible()
    assert key not in page.content()
    axe(page)
    shoot(page, f"account-in-{look.name}")
    page.reload()
    page.get_by_text("Questions left").wait_for()
    assert "10 of 10" in " ".join(page.locator("#standing").inner_text().split())
    page.get_by_role("button", name="Sign out").click()
    assert page.get_by_label("API key").is_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_receipts_are_listed_and_what_they_say_is_text(page_at: PageAt, site: str, service: Serving) -> None:
    row = {"settled_at": "2026-11-20T09:30:01.000Z", "route": "coin.risk", "price_usdc": "0.005", "id": "<b>rcp</b>"}
    page = page_at()
    page.route("**/api/receipts?*", lambda route: route.fulfill(json={"receipts": [row], "next_cursor": None}))
    page.goto(site + "/account")
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    said = page.locator("#receipts tbody").inner_text().split()
    assert said == ["2026-11-20", "09:30", "coin.risk", "0.005", "<b>rcp</b>"]


def test_a_key_that_is_not_good_is_said_and_not_kept(page_at: PageAt, site: str, complaints: Complaints) -> None:
    page = page_at(site + "/account")
    page.get_by_label("API key").fill("verdict_sk_nonsense")
    page.get_by_role("button", name="Use this key").click()
    page.get_by_role("alert").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    complaints.expect("401")


def test_a_wallet_signs_in_and_out(
    page_at: PageAt, site: str, wallet: Callable[..., Wallet], complaints: Complaints
) -> None:
    page = page_at()
    made = wallet(page, KEY)
    page.goto(site + "/account")
    page.get_by_role("button", name="Sign in with").click()
    page.get_by_text("Questions left").wait_for()
    assert made.address in page.locator("#standing").inner_text()
    token = page.evaluate("sessionStorage['verdict.token']")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("API key").wait_for()
    status = page.evaluate(
        "t => fetch('/api/cli/billing/tier', {headers: {Authorization: `Bearer ${t}`}}).then(r => r.status)", token
    )
    assert status == 401
    complaints.expect("401")


def test_live_prices_are_followed_for_one_question_and_written_into_the_page(
    page_at: PageAt, site: str, service: Serving, look: Look, axe: Axe, shoot: Shoot
) -> None:
    page = page_at(site + "/account", look.width, look.dark)
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    page.goto(site + "/")
    page.evaluate("document.querySelector('#t-coins [data-symbol=BTC] [data-price]').textContent = 'waiting'")
    page.get_by_role("button", name="Follow: costs one question").click()
    page.get_by_text("following prices, live").wait_for()
    page.wait_for_function("document.querySelector('#t-coins [data-symbol=BTC] [data-price]').textContent != 'waiting'")
    assert re.fullmatch(r"\d{2,3},\d{3}", page.locator("#t-coins [data-symbol=BTC] [data-price]").inner_text())
    axe(page)
    shoot(page, f"live-{look.name}")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("not following").wait_for()
    page.goto(site + "/account")
    page.get_by_text("Questions left").wait_for()
    assert "9 of 10" in " ".join(page.locator("#standing").inner_text().split())


@pytest.mark.parametrize("stream", ["funding", "regime", "sentiment"])
def test_every_state_of_the_market_can_be_followed(page_at: PageAt, site: str, service: Serving, stream: str) -> None:
    page = page_at(site + "/account")
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    page.goto(site + "/")
    page.get_by_label("Stream").select_option(stream)
    page.get_by_role("button", name="Follow: costs one question").click()
    page.locator("#live ol li").first.wait_for()
    assert "undefined" not in page.locator("#live").inner_text()


def test_a_coin_is_followed_live_on_its_own_page(page_at: PageAt, site: str, service: Serving) -> None:
    page = page_at(site + "/account", PHONE)
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    page.goto(site + "/coin/BTC")
    page.evaluate("document.querySelector('.ticker [data-price]').textContent = 'waiting'")
    page.get_by_role("button", name="Follow live").click()
    page.wait_for_function("document.querySelector('.ticker [data-price]').textContent != 'waiting'")
    assert overflow(page) == 0
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Follow live").wait_for()


def test_ages_go_on_growing(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    age = page.locator("time[data-bare]")
    before = age.inner_text()
    page.wait_for_function("before => document.querySelector('time[data-bare]').textContent != before", arg=before)
    assert re.fullmatch(r"\d+\u202f(s|min)", age.inner_text())


def test_what_was_brought_along_is_what_the_registry_has() -> None:
    modules = Path(__file__).parent / "node_modules"
    assert modules.is_dir(), "npm has not been run: make browser"
    pinned = json.loads((FOLDER / "vendor" / "vendor.json").read_text())
    for name, row in pinned.items():
        theirs = (modules / row["package"] / row["path"]).read_bytes()
        assert (FOLDER / "vendor" / name).read_bytes() == theirs
        assert hashlib.sha256(theirs).hexdigest() == row["sha256"]
