"""The page of a coin."""

from typing import Any

import pytest

from service.errors import ServiceError
from service.storage.documents import FetchFailure
from service.wire.queries import SignalQuery
from tests.pages.stage import NOW_MS, Stage, answered, quote, text_of

COIN = "/coin/{symbol}"


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_it_begins_with_the_price_and_what_it_rests_on(stage: Stage) -> None:
    text = await stage.text(COIN, "btc")
    assert "Market / BTC, 0 s old BTC 117,700 USD" in text
    assert "Daily trend ▲ UP since 2025-07-22" in text
    assert "Weekly trend ▲ UP since 2025-05-19" in text
    assert "Funding +10.95 % a year, longs pay" in text
    assert "With BTC 1.00 correlation" in text
    assert "Sentiment neutral" in text


async def test_what_is_not_known_is_a_dash_and_what_is_stale_says_so(stage: Stage) -> None:
    def old(data: Any) -> None:
        data.update(
            funding_apr=None, funding_paying_side=None, trend_daily=None, trend_daily_since=None, sentiment_stance=None,
            sentiment_summary=None, _stale_fields=["price", "funding_apr", "trend_daily", "btc_correlation"],
            venue_symbol="kBTC", trend_weekly_since=None,
        )  # fmt: skip

    stage.answers["coin.risk"] = lambda _: answered("coin.risk", old)
    text = await stage.text(COIN, "BTC")
    assert "(kBTC on hyperliquid)" in text
    assert "117,700 USD +47,025.0" not in text
    assert "24 h stale" in text
    assert "Daily trend _ Weekly trend ▲ UP Funding _ a year With BTC stale 1.00" in text
    assert "Sentiment _ Your question" in text


async def test_a_coin_that_has_just_left_the_venue_shows_no_change(stage: Stage) -> None:
    stage.show(quote("BTC", prev_price=None))
    assert "117,700 USD Daily trend" in await stage.text(COIN, "BTC")


async def test_the_price_is_a_drawing_with_its_table(stage: Stage) -> None:
    text = await stage.text(COIN, "BTC")
    assert "+55.96 % in 90 days" in text
    assert "Market cap $2.34 T Volume, 24 h $3.06 B Open interest $3.60 B" in text
    assert "2025-04-28 76,413 $3.55 B +10.95 %" in text
    assert "2025-04-27 75,470 $1.77 B _" in text


async def test_hours_are_told_with_their_time(stage: Stage) -> None:
    stage.answers["coin.historical"] = lambda _: answered("coin.historical")
    text = await stage.text(COIN, "BTC", span="7d")
    assert "% in 7 days" in text
    assert "2025-07-25 23:00" in text


async def test_too_little_history_and_none_say_so(stage: Stage) -> None:
    def short(data: Any) -> None:
        data["series"] = data["series"][:1]
        data["change_pct"] = None

    stage.answers["coin.historical"] = lambda _: answered("coin.historical.days", short)
    assert "Too little history for a chart." in await stage.text(COIN, "BTC")
    stage = Stage()
    stage.answers["coin.historical"] = lambda _: answered("coin.historical.days", lambda it: it.update(change_pct=None))
    assert "in 90 days" not in await stage.text(COIN, "BTC")
    stage = Stage()
    stage.fail("coin.historical", ServiceError("UNAVAILABLE", "Not read yet."))
    assert "Not read yet." in await stage.text(COIN, "BTC")


async def test_the_verdict_adds_up_rule_by_rule_with_its_evidence(stage: Stage) -> None:
    text = await stage.text(COIN, "SOL")
    assert "bull +1.50 of -4 to +4, high confidence" in text
    assert (
        "funding level Funding of SOL averaged -40.48 % a year over the last 24 hours, at or below -21.9 %: the short "
        "side is crowded. This counts for SOL. -40.48 % -21.90 % +0.75"
    ) in text
    assert "-44.04 % -10.00 % -0.25" in text
    assert "Score +1.50 Confidence is high" in text
    assert "risk fulfilled, funding fulfilled, regime fulfilled, sentiment fulfilled. Rules: verdict-rules/2." in text
    assert "35c3b8ce6a6f1812f2c8a7e7a2d1994ecce3e4c338459231790cf10f4cc3f8b1" in text
    assert "No skill shown: 47.0 % of the coins with a bull verdict rose a day later" in text


async def test_its_claims_and_its_record_are_those_of_the_answer(stage: Stage) -> None:
    def change(data: Any) -> None:
        data["record"]["live"]["all_coins"][0] |= {
            "days_seen": 70, "outcomes": 900, "hit_rate": 0.6, "hit_rate_low": 0.5, "hit_rate_high": 0.7,
            "base_rate": 0.4, "mean_move_pct": 1.0,
        }  # fmt: skip
        data["record"]["backtested"] = None
        data["claims"][1] |= {"probability": 0.5612, "reason": None}

    stage.answers["signal"] = lambda _: answered("signal", change)
    text = await stage.text(COIN, "SOL")
    assert "No skill shown: " in text
    assert "beats median after 1 day: 56.1 %, base rate 50.0 %." in text
    assert "verdicts on all coins, live Days later Days Right Base rate 1 70 60.0 % 40.0 % 3 0 not enough days" in text
    assert "verdicts on all coins, backtested" not in text


async def test_the_needle_stands_where_the_score_is(stage: Stage) -> None:
    body = (await stage.page(COIN, "SOL")).body.decode()
    assert '<rect class="needle" x="68.25"' in body  # +1.5 of -4 to +4 is 68.75 %; the needle is 1 wide


async def test_a_verdict_that_cannot_be_given_leaves_the_rest_in_place(stage: Stage) -> None:
    for offer_id in ("signal", "regime", "funding.alerts"):
        stage.fail(offer_id, ServiceError("UNAVAILABLE", "The verdict could not be written down."))
    text = await stage.text(COIN, "BTC")
    assert "The verdict could not be written down." in text
    assert "Claims and record" not in text
    assert "117,700" in text


async def test_an_abstention_has_no_track_record(stage: Stage) -> None:
    stage.answers["signal"] = lambda _: answered("signal", lambda data: data.update(verdict="insufficient-evidence"))
    text = await stage.text(COIN, "BTC")
    assert "insufficient evidence" in text
    assert "Claims and record" not in text


async def test_a_look_at_a_page_adds_nothing_to_the_ledger(stage: Stage) -> None:
    """A verdict as of an instant is no new one: what is asked is what was known then."""
    asked: list[Any] = []

    def judged(call: Any) -> Any:
        asked.append(call.parameters)
        return answered("signal")

    stage.answers["signal"] = judged
    await stage.page(COIN, "BTC")
    assert asked == [SignalQuery("BTC", "2025-07-25T23:59:59.999Z")]


async def test_its_regime_has_its_position_and_its_last_trades(stage: Stage) -> None:
    text = await stage.text(COIN, "BTC")
    assert "long since the open of" in text
    assert " closed, " in text
    assert " after costs and funding; the last ones" in text


async def test_a_position_without_an_entry_price_says_that_it_is_to_come(stage: Stage) -> None:
    stage.answers["regime"] = lambda _: answered(
        "regime.history", lambda data: data["currentPosition"].update(entryPrice=None)
    )
    assert ", price to come, conviction" in await stage.text(COIN, "BTC")


async def test_no_position_and_no_trades_say_so(stage: Stage) -> None:
    def idle(data: Any) -> None:
        data["currentPosition"] = None
        data["trades"] = []

    stage.answers["regime"] = lambda _: answered("regime.history", idle)
    stage.answers["funding.alerts"] = lambda _: answered("funding.alerts", lambda data: data.update(events=[]))
    text = await stage.text(COIN, "BTC")
    assert "No open position." in text
    assert "Funding alerts" not in text


async def test_what_was_said_of_the_coin_is_quoted_as_text(stage: Stage) -> None:
    def change(data: Any) -> None:
        data["highlights"] = data["highlights"][:2]
        data["highlights"][0].update(
            quote="Up &amp; &lt;b&gt;away&lt;/b&gt;", speaker=None, title="A show", stance="bullish"
        )

    stage.answers["transcripts"] = lambda _: answered("transcripts.highlights", change)
    page = await stage.page(COIN, "BTC")
    assert "“Up & <b>away</b>” A show, 20" in text_of(page)
    assert b"<b>away</b>" not in page.body
    stage = Stage()
    stage.fail("transcripts", ServiceError("UNAVAILABLE", "not yet"))
    assert "Said of BTC" not in await stage.text(COIN, "BTC")


async def test_questions_about_the_coin_are_one_click_away(stage: Stage) -> None:
    assert "Should I long BTC?" in await stage.text(COIN, "BTC")


async def test_an_unknown_coin_is_refused_with_those_that_are_like_it(stage: Stage) -> None:
    with pytest.raises(ServiceError) as caught:
        await stage.page(COIN, "BTCC")
    refused = stage.site.refuse(caught.value)
    assert refused.status == 404
    assert "Did you mean BTC ?" in text_of(refused)
    assert 'href="/coin/BTC"' in refused.body.decode()


async def test_a_span_that_there_is_not_is_refused(stage: Stage) -> None:
    with pytest.raises(ServiceError) as caught:
        await stage.page(COIN, "BTC", span="5y")
    refused = stage.site.refuse(caught.value)
    assert refused.status == 400
    assert "This address is not right The parameter span takes 24h, 7d, 30d, 90d, 1y, all." in text_of(refused)


async def test_every_coin_and_span_is_a_page_of_its_own_made_once(stage: Stage) -> None:
    first = await stage.page(COIN, "BTC")
    assert await stage.page(COIN, "btc") is first
    assert await stage.page(COIN, "BTC", span="1y") is not first
    assert await stage.page(COIN, "SOL") is not first


async def test_it_says_when_the_venue_does_not_answer(stage: Stage) -> None:
    stage.show(quote("BTC"), failure=FetchFailure(NOW_MS, 503, "down"), venue=None)
    assert "The venue does not answer" in await stage.text(COIN, "BTC")


async def test_a_coin_that_is_not_quarantined_has_no_notice(stage: Stage) -> None:
    stage.quarantine_values("SOL")
    assert "plausibility" not in await stage.text(COIN, "BTC")
    stage = Stage()
    stage.quarantine_values("BTC", "SOL")
    assert "New values of BTC failed the plausibility check." in await stage.text(COIN, "BTC")
