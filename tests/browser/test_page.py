"""The pages, as a browser shows them: whole, calm, and usable by whoever comes, with a script and without."""

import hashlib
import json
import re
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from service.pages.chart import SPANS
from service.pages.static_files import FOLDER
from service.verdict.ledger import HORIZONS
from service.verdict.scorecard import LABELS
from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import PHONE, Complaints, Look, Wallet, overflow
from tests.fakes.serving import PATIENCE_S, Serving, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

KEY = "0x" + "6b" * 32
PAGES = {
    **{name: f"/{name}" for name in ("funding", "categories", "walk-forward", "shows", "wallets")},
    "market": "/",
    "search": "/search?q=bit",
    "coin": "/coin/SOL",
    "scorecard": "/scorecard",
    "account": "/account",
}
CHARTED = "figure[data-plot] canvas"
CANDLES = "#chart canvas"
DRAWN = {"market": CHARTED, "coin": CANDLES}
Axe = Callable[["Page"], None]


@pytest.fixture(scope="module", autouse=True)
def _published(site: str) -> None:
    """Every coin has been asked for its history, so that there are days of breadth."""

    def is_published() -> bool:
        with urlopen(Request(site, headers={"Accept": "text/html"}), timeout=PATIENCE_S) as said:  # noqa: S310 - ours
            return b"Every day as a table" in said.read()

    wait_until(is_published)


@pytest.fixture
def page(page_at: PageAt) -> "Page":
    """A blank page."""
    blank: Page = page_at()
    return blank


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_nobody_is_kept_out(
    page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot, name: str
) -> None:
    page = page_at(site + PAGES[name], look.width, look.dark)
    if name in DRAWN:
        page.locator(DRAWN[name]).first.wait_for()
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
    for drawing in page.locator("figure svg").all():
        assert drawing.is_visible()
    assert page.locator("[hidden]:visible").count() == 0
    shoot(page, f"plain{path.replace('/', '-')}")
    context.close()


def test_a_chart_has_a_table_behind_it_and_tells_what_is_pointed_at(page_at: PageAt, site: str) -> None:
    page = page_at(f"{site}/coin/BTC")
    page.locator(CANDLES).first.wait_for()
    rows = page.locator("#t-price tbody tr")
    assert rows.count() == 90
    page.locator(".candles").hover()
    page.locator("#pointed", has_text="USD").wait_for()
    told = page.locator("#pointed").inner_text()
    assert re.fullmatch(
        r"(20\d\d-\d\d-\d\d 00:00|so far): [\d,.]+ USD, volume \$[\d.]+[BM](, funding -?[\d.]+ % a year)?", told
    )
    page.get_by_text("The chart as a table").click()
    assert rows.first.is_visible()


def test_a_chart_tells_the_end_of_a_bar_and_of_gaps_and_small_prices(page: "Page", site: str) -> None:
    day, first = 86_400, 1_735_689_600  # 2025-01-01
    bars = [[first + place * day, *[4.5e-8] * 4, 1e9, rate, None] for place, rate in enumerate((1, None, 2.5))]
    page.route("**/chart/BTC?*", lambda route: route.fulfill(json={"symbol": "BTC", "bars": bars}))
    page.goto(f"{site}/coin/BTC")
    page.locator(CANDLES).first.wait_for()
    box = page.locator(".candles").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + (box["width"] - 80) / 2, box["y"] + 50)
    said = page.locator("#pointed", has_text="USD")
    said.wait_for()
    assert said.inner_text() == "2025-01-03 00:00: 0.000000045 USD, volume $1B"
    page.clock.install(time=first + 2 * day)
    page.mouse.move(box["x"] + (box["width"] - 80) * 5 / 6, box["y"] + 50)
    page.locator("#pointed", has_text="so far: 0.000000045 USD, volume $1B, funding 2.5 % a year").wait_for()


def test_every_span_is_drawn_and_a_coin_is_compared_with_bitcoin(
    page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot
) -> None:
    page = page_at(None, look.width, look.dark)
    for span in SPANS:
        page.goto(f"{site}/coin/SOL?span={span}")
        page.locator(CANDLES).first.wait_for()
    page.get_by_label("Log scale").check()
    page.get_by_label("Compare with BTC").check()
    page.locator("#log:disabled").wait_for()
    axe(page)
    assert overflow(page) == 0
    shoot(page, f"versus-{look.name}")
    page.get_by_label("Compare with BTC").uncheck()
    page.locator("#log:enabled").wait_for()


def test_a_keyboard_reaches_the_content_first_and_everything_after(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    page.keyboard.type("xmr")
    assert page.locator("#t-coins tbody tr:visible").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url("**/coin/XMR")


def test_every_page_has_a_search_that_leads_to_a_coin(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/scorecard", PHONE)
    page.keyboard.press("/")
    page.keyboard.type("ethereum")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/coin/ETH$|/search"))
    page.goto(site + "/search?q=eth")
    page.wait_for_url("**/coin/ETH")


def test_a_question_is_answered_on_the_page_and_a_spent_device_is_told_the_next_step(
    page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot, complaints: Complaints
) -> None:
    page = page_at(site + "/", look.width, look.dark)
    page.get_by_text("One free question on this device").wait_for()
    page.get_by_label("Your question").fill("How is SOL doing?")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Read as: SOL").wait_for()
    assert re.search(r"SOL: price \$[\d,.]+", page.locator("#answer").inner_text())
    assert page.get_by_text("This device's free question is spent.").is_visible()
    axe(page)
    shoot(page, f"answer-{look.name}")
    page.reload()
    page.locator(".chip").first.click()
    page.get_by_role("link", name="Sign in with a wallet or an API key").wait_for()
    complaints.expect("403")
    axe(page)
    assert overflow(page) == 0


def test_only_whole_answers_that_fit_are_sent_with_the_next_question(page: "Page", site: str) -> None:
    answers = ["a" * 3_000, "b" * 3_000, "cut", "d"]
    sent: list[list[str]] = []

    def answer(route: "Route") -> None:
        sent.append([message["content"][:2] for message in json.loads(route.request.post_data or "")["messages"]])
        text = answers[len(sent) - 1]
        end = "" if text == "cut" else 'event: done\ndata: {"text": ""}\n\n'
        body = f"event: text\ndata: {json.dumps({'text': text})}\n\n{end}"
        route.fulfill(body=body, content_type="text/event-stream")

    page.route("**/api/cli", answer)
    page.goto(site + "/")
    for question, said in zip(("q1", "q2", "q3", "q4" + "x" * 1_998), answers, strict=True):
        page.get_by_label("Your question").fill(question)
        page.keyboard.press("Enter")
        page.locator("#answer:not([aria-busy]) .told-text", has_text=said).wait_for()
    assert sent == [["q1"], ["q1", "aa", "q2"], ["q1", "aa", "q2", "bb", "q3"], ["q2", "bb", "q4"]]


def test_a_key_asks_without_the_device(page_at: PageAt, site: str, service: Serving) -> None:
    page = page_at(site + "/account")
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    page.goto(site + "/")
    for coin in ("BTC", "ETH"):
        page.get_by_label("Your question").fill(f"price of {coin}")
        page.keyboard.press("Enter")
        page.get_by_text(f"Read as: {coin}").wait_for()
    assert page.evaluate("localStorage.length") == 0


def test_watched_coins_are_kept_in_the_browser(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    page.get_by_role("button", name="Watch ETH", exact=True).click()
    page.reload()
    assert page.get_by_role("button", name="Watch ETH", exact=True).get_attribute("aria-pressed") == "true"
    page.get_by_label("Watched").check()
    assert page.locator("#t-coins tbody tr:visible").count() == 1
    page.get_by_role("button", name="Watch ETH", exact=True).click()
    page.get_by_text("No coin is watched yet").wait_for()


def test_coins_are_filtered_by_trend_and_verdict(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    rows = page.locator("#t-coins tbody tr:visible")
    page.get_by_label("Daily trend").select_option("1")
    ups = rows.count()
    assert 0 < ups < page.locator("#t-coins tbody tr").count()
    assert all("UP" in row.locator("td").nth(7).inner_text() for row in rows.all())
    assert page.locator("#shown").inner_text() == f"{ups} coins"
    page.get_by_label("Verdict").select_option("bear")
    assert rows.count() < ups
    assert all("bear" in row.locator("td").nth(9).inner_text() for row in rows.all())


class SharedSnapshot:
    """The snapshot of the service, changed at will, as a page with a clock of its own gets it."""

    def __init__(self, page: "Page", site: str) -> None:
        with urlopen(site + "/snapshot.json", timeout=PATIENCE_S) as said:  # noqa: S310 - ours
            self.content = json.load(said)
        self.content["quotes_ms"] += 60_000
        self.asked = 0
        self.status = 200
        self._page = page
        page.clock.install()
        page.route("**/snapshot.json", self._answer)

    def wait(self, asked: int) -> None:
        """Wait until the page has asked so many times."""

        def has_asked() -> bool:
            self._page.context.cookies()  # lets the browser report what happened
            return self.asked >= asked

        wait_until(has_asked)
        assert self.asked == asked

    def _answer(self, route: "Route") -> None:
        self.asked += 1
        date = formatdate(self.content["quotes_ms"] / 1000 + 125, usegmt=True)
        route.fulfill(status=self.status, json=self.content, headers={"Date": date})


def test_an_open_page_is_refreshed_from_the_snapshot(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    page.goto(site + "/")
    price = page.locator("#t-coins [data-symbol=BTC] [data-price]")
    shared.wait(1)
    shared.content["coins"]["BTC"][0] = ["1,234,567", 1234567.0, "", False]
    shared.content["tiles"]["BTC"]["figure"] = ["1,234,567", 1234567.0, "", True]
    shared.content["notices"] = ["The venue does not answer."]
    page.clock.run_for(15_000)
    price.filter(has_text="1,234,567").wait_for()
    assert "rose" in str(price.get_attribute("class"))
    assert page.locator('[data-tile="BTC"] b').inner_text() == "1,234,567 stale"
    assert page.locator("#notices").inner_text() == "The venue does not answer."


def test_stale_values_are_marked_and_unmarked_on_an_open_page(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    volume = page.locator("#t-coins [data-symbol=ETH] td").nth(4)
    shared.content["coins"]["ETH"][4] = ["$1.5 B", 1.5e9, "", True]
    page.goto(site + "/")
    volume.filter(has_text="$1.5 B stale").wait_for()
    shared.content["coins"]["ETH"][4][3] = False
    page.clock.run_for(15_000)
    volume.filter(has_not_text="stale").wait_for()
    assert volume.inner_text() == "$1.5 B"
    assert volume.get_attribute("class") == "num"


def test_the_age_of_the_prices_is_by_the_clock_of_the_service(page: "Page", site: str, complaints: Complaints) -> None:
    shared = SharedSnapshot(page, site)
    page.goto(site + "/")
    age = page.locator("#quotes")
    page.clock.run_for(1_000)
    age.filter(has_text="2\u202fmin old").wait_for()
    shared.status = 503
    page.clock.fast_forward(3_600_000)  # the machine slept
    age.filter(has_text="1\u202fh old").wait_for()
    shared.wait(2)
    complaints.expect("503")


def test_older_prices_never_replace_newer_ones(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    shared.content["quotes_ms"] = 0
    shared.content["coins"]["BTC"][0] = ["1", 1.0, "", False]
    page.goto(site + "/")
    page.clock.run_for(1_000)
    page.locator("#quotes").filter(has_text=re.compile("old")).wait_for()
    shared.wait(1)
    page.clock.run_for(15_000)
    shared.wait(2)
    assert page.locator("#t-coins [data-symbol=BTC] [data-price]").inner_text() != "1"


def test_a_coin_that_leaves_is_removed_and_another_set_of_coins_reloads_the_page_once(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    loads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    shared.content["coins"]["NEW"] = shared.content["coins"].pop("ETH")
    page.goto(site + "/")
    shared.wait(2)
    page.locator("#t-coins [data-symbol=ETH]").wait_for(state="detached")
    page.clock.run_for(15_000)
    shared.wait(3)
    assert len(loads) == 2


def test_a_page_is_not_reloaded_while_somebody_types(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    page.goto(site + "/")
    shared.wait(1)
    page.get_by_label("Your question").fill("How is")
    shared.content["coins"]["NEW"] = shared.content["coins"].pop("ETH")
    page.clock.run_for(15_000)
    page.locator("#t-coins [data-symbol=ETH]").wait_for(state="detached")
    assert page.get_by_label("Your question").input_value() == "How is"


def test_a_page_from_before_there_were_prices_is_reloaded(page: "Page", site: str) -> None:
    shared, loads = SharedSnapshot(page, site), 0

    def empty(route: "Route") -> None:
        nonlocal loads
        loads += 1
        reply = route.fetch()
        route.fulfill(response=reply, body=reply.text().replace('id="quotes"', "") if loads == 1 else reply.text())

    page.route(site + "/", empty)
    page.goto(site + "/")
    shared.wait(2)
    page.locator("#quotes").wait_for()
    assert loads == 2


def test_columns_that_the_page_does_not_have_are_never_written(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    shared.content["columns"].insert(0, "Rank")
    shared.content["coins"]["BTC"][0] = ["1", 1.0, "", False]
    page.goto(site + "/")
    shared.wait(2)
    page.clock.run_for(15_000)
    shared.wait(3)
    assert page.locator("#t-coins [data-symbol=BTC] [data-price]").inner_text() != "1"


def test_a_page_waits_longer_after_each_failure(page: "Page", site: str, complaints: Complaints) -> None:
    shared = SharedSnapshot(page, site)
    shared.status = 503
    page.goto(site + "/")
    shared.wait(1)
    for seconds, asked in ((29, 1), (2, 2), (58, 2), (3, 3)):
        page.clock.run_for(seconds * 1000)
        shared.wait(asked)
    page.clock.run_for(1_000)
    assert len(complaints.expect("503")) == asked


def test_a_refreshed_trend_is_filtered_and_refreshed_rows_are_sorted(page: "Page", site: str) -> None:
    shared = SharedSnapshot(page, site)
    page.goto(site + "/")
    shared.wait(1)
    page.get_by_role("columnheader", name="Price").get_by_role("button").click()
    page.get_by_label("Daily trend").select_option("1")
    trend = ["\u25b2 UP", 1, "trend up", False]
    for symbol, cells in shared.content["coins"].items():
        cells[7] = trend if symbol == "DOGE" else ["\u25bc DOWN", -1, "trend down", False]
    shared.content["coins"]["DOGE"][0] = ["9,000,000", 9e6, "", False]
    page.clock.run_for(15_000)
    page.locator("#shown", has_text="1 coins").wait_for()
    assert page.locator("#t-coins tbody tr:visible").get_attribute("data-symbol") == "DOGE"
    assert page.locator("#t-coins tbody tr").first.get_attribute("data-symbol") == "DOGE"


def test_prices_that_are_followed_live_are_not_overwritten(page: "Page", site: str, service: Serving) -> None:
    page.goto(site + "/account")
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Questions left").wait_for()
    shared = SharedSnapshot(page, site)
    page.goto(site + "/")
    shared.wait(1)
    page.get_by_role("button", name="Follow: costs one question").click()
    page.locator("#live ol li").first.wait_for()
    cells = page.locator("#t-coins [data-symbol=BTC] td")
    shared.content["coins"]["BTC"][0] = ["1", 1.0, "", False]
    shared.content["coins"]["BTC"][1] = ["+2.00 %", 2.0, "gain", False]
    page.clock.run_for(15_000)
    cells.nth(1).filter(has_text="+2.00 %").wait_for()
    assert cells.nth(0).inner_text() != "1"
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("not following").wait_for()
    page.clock.run_for(15_000)
    cells.nth(0).filter(has_text=re.compile("^1$")).wait_for()


def test_what_is_kept_of_watched_coins_may_be_anything(page: "Page", site: str) -> None:
    page.add_init_script("localStorage.setItem('verdict.watched', '{')")
    page.goto(site + "/")
    page.get_by_role("button", name="Watch ETH", exact=True).click()
    assert page.evaluate("localStorage['verdict.watched']") == '["ETH"]'


def test_coins_are_sorted_by_whatever_column_is_asked_for(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    head = page.get_by_role("columnheader", name="Funding")

    def rates() -> list[float]:
        cells = page.locator("#t-coins tbody td:nth-child(8)").all()
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


def test_alerts_are_added_tested_and_removed_on_the_account_page(
    page_at: PageAt, site: str, service: Serving, look: Look, axe: Axe, shoot: Shoot, complaints: Complaints
) -> None:
    page = page_at(site + "/account", look.width, look.dark)
    page.get_by_label("API key").fill(service.make_key())
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("You have no alerts.").wait_for()
    page.get_by_label("When").fill("BTC >")
    page.get_by_label("Send to").fill("http://127.0.0.1:9/hook/of-mine")
    page.get_by_role("button", name="Add alert").click()
    page.locator("#alerts [role=alert]").filter(has_text="rule").wait_for()
    complaints.expect("400")
    page.get_by_label("When").fill("BTC > 120000")
    page.get_by_role("button", name="Add alert").click()
    page.get_by_text("with the secret whsec_").wait_for()
    assert page.locator("[data-out=alerts] tr").inner_text().split("\t")[0] == "BTC > 120000"
    assert "of-mine" not in page.content()
    page.get_by_role("button", name="Test: BTC > 120000").click()
    page.get_by_text("A test message is on its way.").wait_for()
    assert page.locator("[data-out=deliveries] tr").count() == 1
    axe(page)
    shoot(page, f"account-alerts-{look.name}")
    page.get_by_role("button", name="Remove: BTC > 120000").click()
    page.get_by_text("Removed: BTC > 120000.").wait_for()
    assert page.get_by_text("You have no alerts.").is_visible()


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
    page.locator("#t-coins [data-symbol=BTC] [data-price]").filter(has_not_text="waiting").wait_for()
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
    page.locator(".ticker [data-price]").filter(has_not_text="waiting").wait_for()
    assert overflow(page) == 0
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Follow live").wait_for()


def test_ages_go_on_growing(page_at: PageAt, site: str) -> None:
    page = page_at(site + "/")
    age = page.locator("#quotes")
    before = age.inner_text()
    age.filter(has_not_text=before).wait_for()
    assert re.fullmatch(r"\d+\u202f(s|min) old", age.inner_text())


def test_what_was_brought_along_is_what_the_registry_has() -> None:
    modules = Path(__file__).parent / "node_modules"
    assert modules.is_dir(), "npm has not been run: make browser"
    pinned = json.loads((FOLDER / "vendor" / "vendor.json").read_text())
    for name, row in pinned.items():
        theirs = (modules / row["package"] / row["path"]).read_bytes()
        assert (FOLDER / "vendor" / name).read_bytes() == theirs
        assert hashlib.sha256(theirs).hexdigest() == row["sha256"]
