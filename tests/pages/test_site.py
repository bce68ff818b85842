"""The site as a whole."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec import Raw

from service.errors import STATUS, ServiceError
from service.market.models import MarketSnapshot, MarketState
from service.pages.rendering import Templates
from service.wire.envelope import Answer, encode
from tests.pages.stage import CHART, NOW_MS, Stage, quote, text_of

PAGES = (("/", ""), ("/coin/{symbol}", "BTC"))
HOSTILE = "\"'></script><script>alert(1)</script><img src=x onerror=alert(1)>"
NAMES = frozenset({
    "name", "message", "interpretation", "sentiment_summary", "venue", "venue_symbol", "explanation", "summary",
    "asset", "id", "verdict_id", "evidence", "value", "flips_at", "hash", "symbol",
})  # fmt: skip
"""Texts that are anybody's, or made of such; what is left are enumerations and times."""


@pytest.mark.parametrize("code", sorted(STATUS))
def test_every_failure_is_a_page(code: str) -> None:
    refused = Stage().site.refuse(ServiceError(code, "why <so>"))
    assert refused.status == STATUS[code]
    assert refused.content_type == b"text/html; charset=utf-8"
    assert "why <so>" in text_of(refused)
    assert b"why &lt;so&gt;" in refused.body


async def test_the_account_page_is_the_same_for_everybody() -> None:
    stage = Stage()
    assert await stage.page("/account") == await stage.page("/account")
    assert "verdict whoami" in await stage.text("/account")  # what to do where there is no script


def test_no_page_is_written_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Templates, "page", lambda _templates, name, *_, **__: pytest.fail(name))
    Stage()


async def test_every_path_of_the_site_is_known() -> None:
    assert {"/", "/coin/{symbol}", "/scorecard", "/account", "/static/{file}"} <= set(Stage().site.paths)


async def test_every_file_that_a_page_names_is_there() -> None:
    stage = Stage()
    for path, segment in (("/", ""), ("/coin/{symbol}", "BTC"), ("/scorecard", ""), ("/account", "")):
        body = (await stage.page(path, segment)).body.decode()
        for part in body.split('"/static/')[1:]:
            assert (await stage.page("/static/{file}", part.partition('"')[0])).status == 200


def poisoned(value: Any, *, theirs: bool = False) -> Any:
    """The same payload, in which whoever writes what an upstream tells has written markup."""
    if isinstance(value, dict):
        return {name: poisoned(inner, theirs=theirs or name in NAMES) for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, theirs=theirs) for inner in value]
    return HOSTILE if theirs and isinstance(value, str) and not value[:4].isdigit() else value


class Elements(HTMLParser):
    """The elements of a page, each with the names of its attributes."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))
        self.links += [str(value) for name, value in attrs if name in {"href", "src"}]


@pytest.mark.parametrize(("path", "segment"), PAGES)
async def test_what_upstreams_write_is_text_and_never_markup(path: str, segment: str) -> None:
    harmless = Elements((await Stage().page(path, segment)).body)
    stage, told = Stage(), 0
    for offer_id, answer in list(stage.answers.items()):

        def hostile(call: Any, answer: Any = answer) -> Answer:
            nonlocal told
            told += 1
            said = answer(call)
            return Answer(Raw(encode(poisoned(json.loads(bytes(said.data))))), said.as_of_ms)

        stage.answers[offer_id] = hostile
    if not segment:
        stage.show(quote(HOSTILE, 117_700.0, volume_usd=9e9), quote("SOL", 187.0, -0.0001, prev_price=200.0))
    page = await stage.page(path, segment)
    seen = Elements(page.body)
    assert told > 3
    assert page.body.count(b"&gt;&lt;/script&gt;&lt;script&gt;alert(1)") > 3
    assert seen.found == harmless.found
    for link in seen.links:
        assert link.startswith(("/", "#", "https://www.tradingview.com/"))
        assert not {"<", '"', " "} & set(link)


async def test_a_link_to_a_coin_leads_there_whatever_its_ticker() -> None:
    stage = Stage()
    stage.show(quote("A/B?C#D%", 1.0))
    assert 'href="/coin/A%2FB%3FC%23D%25"' in (await stage.page("/")).body.decode()


@pytest.mark.parametrize("coins", [0, 1, 1_000])
async def test_however_many_coins_there_are_there_is_a_page_of_them(coins: int) -> None:
    stage = Stage()
    stage.coins.show(
        MarketSnapshot(MarketState("x", 1, NOW_MS, NOW_MS), [(quote(f"C{place}"), CHART) for place in range(coins)])
    )
    text = await stage.text("/")
    assert f"All coins {coins:,}".replace(",", "") in text
    assert ("No funding is known." in text) is (coins == 0)


async def test_when_nothing_was_fetched_yet_every_page_says_so_and_no_figure() -> None:
    stage = Stage()
    stage.fear_greed = None
    stage.coins.show(MarketSnapshot(MarketState("x", 1), []))
    for offer_id in stage.answers:
        stage.fail(offer_id, ServiceError("UNAVAILABLE", "no prices yet"))
    text = await stage.text("/")
    for said in (
        "The market is not known yet.",
        "No closed day has been published yet",
        "No funding is known.",
        "None are",
    ):
        assert said in text
    assert set(re.findall(r"[0-9]+", text)) == {
        "0",
        "1",
        "7",
        "20",
        "24",
        "30",
    }  # no coins, heads of columns, an example
    with pytest.raises(ServiceError) as caught:
        await stage.page("/coin/{symbol}", "BTC")
    refused = stage.site.refuse(caught.value)
    assert refused.status == 503
    assert "not available yet" in text_of(refused)
