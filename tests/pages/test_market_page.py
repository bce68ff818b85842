"""The page at `/` says what the routes say."""

import re
import threading
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from service.clock import DAY_MS
from service.errors import ServiceError
from service.market.daily_report.models import RegimeRun
from service.market.models import MarketSnapshot, MarketState
from service.pages.rendering import HtmlPage, Templates
from service.storage.documents import FetchFailure
from service.wire.coins import Coins
from service.wire.envelope import Answer, encode
from service.wire.market import PageMeta
from tests.pages.stage import NOW_MS, TODAY, Stage, answered, quote, text_of


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_it_begins_with_what_is_so(stage: Stage) -> None:
    text = await stage.text("/")
    assert "The market at the close of 2025-07-24 (UTC), 23 h old" in text
    assert (
        "The market is risk-on , for 94 days. 33 of 80 coins are in a daily uptrend; 1 is up, 1 down over 24 h." in text
    )
    assert "In a daily uptrend 33 of 80 21 sideways, 26 down" in text
    assert "80 coins by their trend at the close of 2025-07-24 (UTC): 33 UP (41.2 %)" in text


async def test_one_day_is_one_day_and_an_unknown_regime_is_not_named(stage: Stage) -> None:
    stage.answers["market.health"] = lambda _: answered(
        "market.health.context", lambda it: it.update(regime_age_days=1)
    )
    assert "The market is risk-on , for 1 day. 33" in await stage.text("/")
    stage = Stage()
    stage.answers["market.health"] = lambda _: answered("market.health.context", lambda it: it.update(regime=None))
    text = await stage.text("/")
    assert "The market is" not in text.partition("Breadth")[0]
    assert "33 of 80 coins are in a daily uptrend; 1 is up, 1 down over 24 h." in text


async def test_an_extreme_is_said(stage: Stage) -> None:
    def extreme(data: Any) -> None:
        data["extremes"] = [{"state": "DOWN", "share_pct": 61.25, "count": 49}]

    stage.answers["market.health"] = lambda _: answered("market.health.context", extreme)
    assert "Extreme: 61.3 % of all coins are DOWN." in await stage.text("/")


async def test_breadth_is_a_drawing_with_its_table_and_its_crossings(stage: Stage) -> None:
    stage.conclude([(10, 5, 20), (20, 5, 10), (21, 4, 10)], [RegimeRun("neutral", (TODAY - 2) * DAY_MS)])
    page = await stage.page("/")
    text = text_of(page)
    assert "3 closed days; net share -5.3 points a day" in text
    assert "Last crossing: UP over DOWN on 2025-07-24" in text
    assert "2025-07-25 21 4 10" in text
    assert 'aria-label="Share of coins in an uptrend' in page.body.decode()
    assert "r-neutral" in page.body.decode()


async def test_without_crossings_it_says_so_and_without_days_too(stage: Stage) -> None:
    assert "No closed day has been published yet" in await stage.text("/")
    stage = Stage()
    stage.conclude([(10, 5, 20), (10, 5, 20)])
    assert "No crossing of UP and DOWN in these days." in await stage.text("/")


async def test_the_regime_has_its_surest_positions_and_those_that_turned_last(stage: Stage) -> None:
    text = await stage.text("/")
    assert "risk-on conviction 52 %" in text
    assert "Highest conviction of 43 open positions" in text
    assert "ALGO long +142.58 % 97" in text  # 0.268 / 0.11048
    assert "AVAX neutral 2025-07-23" in text


async def test_a_short_position_gains_where_the_price_falls_and_no_price_is_no_gain(stage: Stage) -> None:
    def turn(data: Any) -> None:
        data["positions"][0].update(direction="short", entryPrice=100.0, currentPrice=80.0)
        data["positions"][1].update(currentPrice=None)

    stage.answers["regime"] = lambda call: answered(
        f"regime.{call.parameters.action}", turn if call.parameters.action == "active" else None
    )
    text = await stage.text("/")
    assert "ALGO short +20.00 % 97" in text
    assert "HYPE long _ 10" in text


async def test_funding_is_tiles_of_heat_and_alerts(stage: Stage) -> None:
    page = await stage.page("/")
    assert re.search('<a class="c3" href="/coin/SOL"><b>SOL</b> <span>\u221288</span>', page.body.decode())
    text = text_of(page)
    assert "On 1 coins longs pay, on 1 shorts do" in text
    assert "TIA very-cold -24.97 % 07-25 23:00" in text


async def test_an_alert_that_is_over_says_so_and_no_alert_too(stage: Stage) -> None:
    def clear(data: Any) -> None:
        data["events"] = data["events"][:1]
        data["events"][0]["clearedAt"] = "2025-07-25T23:30:00.000Z"

    stage.answers["funding.alerts"] = lambda _: answered("funding.alerts", clear)
    assert "07-25 23:00, over" in await stage.text("/")
    stage = Stage()
    stage.answers["funding.alerts"] = lambda _: answered("funding.alerts", lambda data: data.update(events=[]))
    assert "Funding alerts UTC None." in await stage.text("/")


async def test_movers_are_those_of_a_day_and_those_of_a_month(stage: Stage) -> None:
    text = await stage.text("/")
    assert "Down most Coin Change SOL -6.50 %" in text
    assert "Ahead Coin Points ACE +130.9" in text
    assert "Behind Coin Points ENA -40.5" in text


async def test_real_world_assets_are_the_most_traded_ones(stage: Stage) -> None:
    text = await stage.text("/")
    assert "Apple XYZ100 213.9 +0.03 % ▲ UP ▼ DOWN $13.23 M equity" in text
    assert "6 more" in text


async def test_an_asset_of_which_nothing_can_be_said_is_left_out_and_a_stale_price_is_marked(stage: Stage) -> None:
    def one(call: Any) -> Any:
        if call.parameters.symbol != "GOLD":
            raise ServiceError("UPSTREAM_5XX", "nothing")
        return answered("rwa.symbol", lambda data: data.update(symbol="GOLD", _stale_fields=["price"]))

    stage.answers["rwa.symbol"] = one
    text = await stage.text("/")
    assert "Apple GOLD 213.9 stale" in text
    assert "XYZ100" not in text


async def test_all_coins_are_listed_with_what_is_known_of_them(stage: Stage) -> None:
    text = await stage.text("/")
    assert "All coins 2, the most traded first; prices in USD, funding a year; prices 1 s old" in text
    assert "SOL 187 +0.50 % -6.50 % -1.25 % $1.00 M $935.00 -87.6 % ▲ UP ▼ DOWN bull" in text


async def test_every_part_that_is_not_refreshed_says_how_old_it_is(stage: Stage) -> None:
    text = await stage.text("/")
    assert "23 h old ; prices 1 s old" in text
    assert "shorts below; 1 s old" in text
    assert "Movers prices 1 s old" in text
    assert re.search(r"perpetuals, in USD; \d+ \w+ old", text)


async def test_stale_values_are_marked_in_every_part(stage: Stage) -> None:
    rows = [replace(found, stale_fields=["funding_apr", "change_24h"]) for found in stage.rows()]
    stage.answers["coins"] = lambda _: Answer(Raw(encode(Coins(rows, PageMeta(2, None)))), NOW_MS)
    fields = ["price", "change_24h", "trend_daily", "trend_weekly", "volume_24h_usd"]
    stage.answers["rwa.symbol"] = lambda _: answered("rwa.symbol", lambda it: it.update(_stale_fields=fields))
    text = await stage.text("/")
    assert "SOL -88 stale" in text
    assert "Down most Coin Change SOL -6.50 % stale" in text
    assert "213.9 stale +0.03 % stale ▲ UP stale ▼ DOWN stale $13.23 M stale" in text


async def test_what_is_not_known_is_a_dash(stage: Stage) -> None:
    stage.show(quote("NEW", price=None, funding=None, open_interest=None, prev_price=None))
    text = await stage.text("/")
    assert "NEW _ +0.50 % _ -1.25 % $1.00 M _ _ ▲ UP ▼ DOWN bull" in text
    assert "No funding is known." in text


async def test_it_says_when_the_venue_does_not_answer(stage: Stage) -> None:
    stage.show(failure=FetchFailure(NOW_MS, 503, "down"), venue="binance")
    assert "The venue does not answer; binance stands in for it." in await stage.text("/")
    stage = Stage()
    stage.show(failure=FetchFailure(NOW_MS, 503, "down"), venue=None)
    text = await stage.text("/")
    assert "prices and funding are the last that are known" in text
    assert "SOL 187 stale" in text


async def test_what_one_room_cannot_say_leaves_the_rest_in_place(stage: Stage) -> None:
    for offer_id in ("market.health", "regime", "funding.alerts", "rwa.assets"):
        stage.fail(offer_id, ServiceError("UNAVAILABLE", "The market is still being read."))
    text = await stage.text("/")
    assert "The market is not known yet. The market is still being read." in text
    assert "None are known yet." in text
    assert "SOL 187" in text


async def test_before_anything_is_known_it_is_a_page_all_the_same(stage: Stage) -> None:
    stage.coins.show(MarketSnapshot(MarketState("", 0), []))
    for offer_id in list(stage.answers):
        stage.fail(offer_id, ServiceError("UNAVAILABLE", "not yet"))
    assert "All coins 0" in await stage.text("/")


@pytest.mark.promise("quarantine.page-notice")
async def test_a_notice_names_the_coins_whose_new_values_failed_the_plausibility_check(stage: Stage) -> None:
    assert "plausibility" not in await stage.text("/")
    stage = Stage()
    stage.quarantine_values("SOL", "BTC")
    expected = "New values of BTC, SOL failed the plausibility check. The last accepted ones are shown as stale."
    assert expected in await stage.text("/")


async def test_a_notice_names_five_coins_at_most(stage: Stage) -> None:
    stage.quarantine_values("A", "B", "C", "D", "E", "F", "G")
    assert "New values of A, B, C, D, E and 2 more failed" in await stage.text("/")


async def test_a_notice_says_that_a_whole_answer_failed_the_plausibility_check(stage: Stage) -> None:
    stage.quarantine_values("*", "BTC")
    text = await stage.text("/")
    assert "The venue's newest answer failed the plausibility check. The last accepted values are shown." in text
    assert "New values of" not in text


async def test_it_is_made_once_however_many_look_at_it(stage: Stage) -> None:
    first = await stage.page("/")
    asked = len(stage.asked)
    assert await stage.page("/") is first
    assert len(stage.asked) == asked
    await stage.clock.advance(5)
    assert await stage.page("/") is not first


async def test_what_an_upstream_wrote_is_text_and_never_markup(stage: Stage) -> None:
    evil = "<script>alert(1)</script>"
    stage.answers["rwa.symbol"] = lambda _: answered("rwa.symbol", lambda data: data.update(name=evil))
    stage.fail("regime", ServiceError("UPSTREAM_5XX", evil))
    body = (await stage.page("/")).body.decode()
    assert evil not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body


async def test_nothing_is_inline_and_nothing_is_asked_of_others(stage: Stage) -> None:
    stage.conclude([(10, 5, 20), (20, 5, 10)])
    for path, segment in (("/", ""), ("/coin/{symbol}", "BTC"), ("/scorecard", ""), ("/account", "")):
        body = (await stage.page(path, segment)).body.decode()
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=\"/static/)|javascript:", body)
        assert set(re.findall(r"(?:src|href)=\"((?!/|#)[^\"]*)", body)) <= {
            "https://www.tradingview.com/"
        }  # its licence
        assert body.count("<h1") == body.count("<main") == 1


async def test_recorded_data_is_never_taken_for_the_market_of_today() -> None:
    said = "Demo data : recorded, not the market of today"
    assert said in await Stage().text("/")
    assert said not in await Stage(source="live").text("/")


@pytest.mark.usefixtures("real_threads")
async def test_it_is_written_where_nobody_else_is_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    wrote, write = list[threading.Thread](), Templates.page

    def noted(templates: Templates, name: str, status: int = 200, **context: object) -> HtmlPage:
        wrote.append(threading.current_thread())
        return write(templates, name, status, **context)

    stage = Stage()
    monkeypatch.setattr(Templates, "page", noted)
    await stage.page("/")
    assert len(wrote) == 1
    assert threading.main_thread() not in wrote
