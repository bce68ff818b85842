"""Keeping closed bars complete, and the charts they make."""

import logging

import pytest

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.market.ingest.candles import FIRST_WAIT_S, LONGEST_WAIT_S
from service.market.ingest.jobs import HISTORY_EVERY_S
from service.market.models import SETTLE_MS, Bar, BarBatch
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS
from tests.market.parts import TODAY, Parts
from tests.market.venue import walk
from tests.upstream.faults import answer, too_many

HALF_A_DAY_S = 43_200


def asked_coins(parts: Parts) -> list[str]:
    return [body["req"]["coin"] for body in parts.venue.asked("candleSnapshot")]


async def last_days(parts: Parts) -> dict[str, int | None]:
    progress = await parts.store.progress(parts.origin)
    return {coin.venue_symbol: coin.last_ms and coin.last_ms // DAY_MS for coin in progress}


async def test_a_first_round_fetches_all_history_bitcoin_and_ether_first_then_the_most_traded(parts: Parts) -> None:
    parts.list_market()
    parts.venue.list_coin("SMALL", range(TODAY - 120, TODAY + 1), volume="10.0")
    parts.venue.list_coin("LARGE", range(TODAY - 120, TODAY + 1), volume="99.0")
    await parts.rounds()
    assert asked_coins(parts) == ["BTC", "ETH", "LARGE", "SMALL"]
    assert all(body["req"]["startTime"] == EARLIEST_MS for body in parts.venue.asked("candleSnapshot"))
    assert parts.risk("LARGE").trend_daily is not None
    assert parts.risk("LARGE")._stale_fields == ["sentiment_stance"]


async def test_the_open_bar_does_not_enter(parts: Parts) -> None:
    parts.list_market("SOL")
    await parts.rounds()
    assert await last_days(parts) == {"BTC": TODAY - 1, "ETH": TODAY - 1, "SOL": TODAY - 1}
    before = parts.risk("SOL")
    parts.venue.candles["SOL"][-1] |= {"h": "99999.0", "c": "99999.0"}
    await parts.keep_history()
    after = parts.risk("SOL")
    assert (after.trend_daily, after.btc_correlation) == (before.trend_daily, before.btc_correlation)


async def test_nothing_is_asked_while_every_closed_bar_is_there(parts: Parts) -> None:
    parts.list_market()
    await parts.rounds()
    await parts.history.round()
    assert len(asked_coins(parts)) == 2


async def test_after_midnight_the_missing_bar_alone_is_asked_for(parts: Parts) -> None:
    parts.list_market(days=range(TODAY - 120, TODAY + 2))
    await parts.rounds()
    await parts.clock.advance(HALF_A_DAY_S + SETTLE_MS / SECOND_MS - 1)
    await parts.history.round()
    assert len(asked_coins(parts)) == 2
    await parts.clock.advance(1)
    await parts.history.round()
    assert asked_coins(parts) == ["BTC", "ETH"] * 2
    assert parts.venue.asked("candleSnapshot")[-1]["req"]["startTime"] == (TODAY - 1) * DAY_MS
    assert await last_days(parts) == {"BTC": TODAY, "ETH": TODAY}


async def test_a_bar_is_closed_by_the_venues_clock_not_by_ours(parts: Parts) -> None:
    parts.list_market(days=range(TODAY - 120, TODAY + 2))
    await parts.rounds()
    await parts.clock.advance(HALF_A_DAY_S + 10)
    parts.venue.ahead_ms = -10 * SECOND_MS
    await parts.history.round()
    assert await last_days(parts) == {"BTC": TODAY - 1, "ETH": TODAY - 1}


async def test_a_bar_that_was_closed_never_repaints(parts: Parts) -> None:
    parts.list_market("SOL")
    await parts.rounds()
    before = await parts.store.closed_bars(["SOL"])
    await parts.clock.advance(86_400)
    parts.venue.candles["SOL"] = walk("SOL", range(TODAY - 120, TODAY + 2))
    for bar in parts.venue.candles["SOL"][:-2]:
        bar["h"] = repr(float(bar["h"]) * 1.3)
    await parts.history.round()
    after = await parts.store.closed_bars(["SOL"])
    assert after["SOL"][: len(before["SOL"])] == before["SOL"]
    assert len(after["SOL"]) == len(before["SOL"]) + 1


async def test_a_coin_without_a_new_bar_is_asked_ever_less_often(parts: Parts) -> None:
    parts.list_market()
    parts.venue.list_coin("ENDED", range(TODAY - 120, TODAY - 60))
    await parts.rounds()
    pauses: list[float] = []
    wait_s = 0.0
    while len(pauses) < 8:
        await parts.history.round()
        asked = asked_coins(parts).count("ENDED")
        if asked == len(pauses) + 2:
            pauses.append(wait_s)
            wait_s = 0.0
        else:
            await parts.clock.advance(FIRST_WAIT_S)
            wait_s += FIRST_WAIT_S
    assert pauses == [0.0, *(min(FIRST_WAIT_S * 2**n, LONGEST_WAIT_S) for n in range(7))]


async def test_a_coin_that_ended_early_keeps_no_trend(parts: Parts) -> None:
    parts.list_market()
    parts.venue.list_coin("ENDED", range(TODAY - 120, TODAY - 3))
    await parts.rounds()
    said = parts.risk("ENDED")
    assert (said.trend_daily, said.trend_weekly, said.btc_correlation) == (None, None, None)
    assert said._stale_fields == ["trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation"]


async def test_a_coin_with_few_bars_says_what_it_can(parts: Parts) -> None:
    parts.list_market()
    parts.venue.list_coin("YOUNG", range(TODAY - 32, TODAY + 1))
    parts.venue.list_coin("NEW", range(TODAY - 5, TODAY + 1))
    parts.venue.list_coin("BARE", range(0))
    await parts.rounds()
    assert parts.risk("YOUNG").trend_daily is not None
    assert parts.risk("YOUNG").trend_weekly is None
    assert parts.risk("YOUNG").btc_correlation is not None
    for coin in ("NEW", "BARE"):
        assert parts.risk(coin).price == 100.0
        assert parts.risk(coin)._stale_fields == ["trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation"]


async def test_one_coins_failure_is_its_own(parts: Parts) -> None:
    parts.list_market("SOL", "XRP")
    parts.venue.candles["SOL"][0] |= {"i": "1h"}
    await parts.rounds()
    assert parts.risk("XRP").trend_daily is not None
    assert parts.risk("SOL").trend_daily is None
    parts.venue.candles["SOL"][0] |= {"i": "1d"}
    await parts.clock.advance(FIRST_WAIT_S)
    await parts.keep_history()
    assert parts.risk("SOL").trend_daily is not None


async def test_a_venue_that_asks_for_silence_ends_the_round_and_keeps_what_came(parts: Parts) -> None:
    parts.list_market("SOL")
    await parts.quotes.round()
    asked: list[object] = []

    async def third_is_refused(request: object) -> object:
        asked.append(request)
        return await too_many("30")(request) if len(asked) == 3 else None  # type: ignore[arg-type]

    parts.venue.faults.next = third_is_refused  # type: ignore[assignment]
    with pytest.raises(UpstreamError) as refused:
        await parts.keep_history()
    assert refused.value.retry_after_s == 30
    assert parts.risk("BTC").trend_daily is not None
    assert parts.risk("SOL").trend_daily is None
    parts.venue.faults.next = None
    await parts.clock.advance(30)
    await parts.keep_history()
    assert parts.risk("SOL").trend_daily is not None


async def test_history_that_was_tried_in_vain_does_not_hold_up_readiness(parts: Parts) -> None:
    parts.list_market()
    await parts.quotes.round()
    assert parts.desk.readiness()["ready"] is False
    parts.venue.faults.next = answer(500, b"no candles today")
    await parts.keep_history()
    assert parts.desk.readiness()["ready"] is True
    assert parts.desk.readiness()["history"] == {"known": 0, "total": 2}


async def test_before_any_coin_is_known_a_round_does_nothing(parts: Parts) -> None:
    await parts.history.round()
    assert parts.venue.faults.requests == []


async def test_without_ether_no_chart_is_read(parts: Parts) -> None:
    parts.venue.list_coin("BTC", range(TODAY - 120, TODAY + 1))
    await parts.rounds()
    assert parts.risk("BTC").trend_daily is None


async def test_there_is_news_once_the_majors_are_there_and_again_when_all_are(parts: Parts) -> None:
    parts.list_market("SOL", "XRP")
    await parts.quotes.round()
    seen: list[bool] = []
    news = parts.history.news.subscribe()

    async def look(request: object) -> None:
        seen.append(news.is_set())
        news.clear()

    parts.venue.faults.next = look  # type: ignore[assignment]
    await parts.history.round()
    assert seen == [False, False, True, False]
    assert news.is_set()
    news.clear()
    await parts.history.round()
    assert not news.is_set()


async def test_a_market_without_majors_is_fetched_too(parts: Parts) -> None:
    parts.venue.list_coin("SOL", range(TODAY - 120, TODAY + 1))
    await parts.rounds()
    assert await last_days(parts) == {"SOL": TODAY - 1}
    assert parts.desk.readiness()["ready"] is True


async def test_bars_that_come_while_the_origin_changes_are_dropped_and_fetched_anew(parts: Parts) -> None:
    parts.list_market()
    await parts.quotes.round()

    async def change_origin(request: object) -> None:
        parts.origin = "tomorrow"

    parts.venue.faults.next = change_origin  # type: ignore[assignment]
    await parts.history.round()
    assert await parts.store.closed_bars(["BTC", "ETH"]) == {"BTC": [], "ETH": []}
    parts.venue.faults.next = None
    await parts.rounds()
    assert parts.risk("BTC").trend_daily is not None
    assert (await parts.store.snapshot()).state.origin == "tomorrow"


async def test_a_chart_says_through_when_it_was_read(parts: Parts) -> None:
    parts.list_market()
    await parts.rounds()
    charts = {quote.symbol: chart for quote, chart in (await parts.store.snapshot()).coins}
    assert charts["BTC"].through_ms == TODAY * DAY_MS <= START_MS


async def test_a_delisted_coins_bars_are_asked_for_once_after_the_others(parts: Parts) -> None:
    parts.list_market()
    parts.venue.list_coin("MATIC", range(TODAY - 300, TODAY - 60))
    parts.venue.list_coin("EMPTY", range(0))
    parts.venue.delisted = {"MATIC", "EMPTY"}
    await parts.rounds()
    await parts.clock.advance(LONGEST_WAIT_S)
    await parts.rounds()
    assert asked_coins(parts) == ["BTC", "ETH", "EMPTY", "MATIC"]
    bars = await parts.store.closed_bars()
    assert (len(bars["MATIC"]), "EMPTY" in bars) == (240, False)
    assert "MATIC" not in parts.desk.view()


async def test_a_coin_that_is_delisted_while_we_watch_is_asked_for_its_last_days(parts: Parts) -> None:
    parts.list_market("SOL")
    await parts.rounds()
    parts.venue.delisted = {"SOL"}
    await parts.rounds()
    await parts.clock.advance(HOUR_MS / SECOND_MS)
    await parts.rounds()
    await parts.rounds()
    assert asked_coins(parts) == ["BTC", "ETH", "SOL", "SOL"]
    assert parts.venue.asked("candleSnapshot")[-1]["req"]["startTime"] == (TODAY - 1) * DAY_MS


def late(parts: Parts, minutes: int) -> float:
    """Seconds until so long after midnight."""
    return (TODAY + 1) * DAY_MS / SECOND_MS + minutes * 60 - parts.clock.now_ms() / SECOND_MS


def days(coin: str, until: int) -> list[Bar]:
    """Bars of the fall-back, a thousandth away from those of the venue."""
    closes = [float(bar["c"]) * 1.001 for bar in walk(coin, range(TODAY - 120, until))]
    return [Bar((TODAY - 120 + at) * DAY_MS, p, p * 1.02, p * 0.98, p, 10.0, 7) for at, p in enumerate(closes)]


async def test_a_bar_that_is_late_by_a_quarter_of_an_hour_is_taken_from_the_fall_back_for_good(parts: Parts) -> None:
    parts.list_market("SOL", days=range(TODAY - 120, TODAY))
    await parts.rounds()
    parts.fallback.days = {"SOL": days("SOL", TODAY + 2)}
    for minutes, found in ((14, TODAY - 1), (15, TODAY)):
        await parts.clock.advance(late(parts, minutes))
        parts.fallback.at_ms = parts.clock.now_ms()
        await parts.rounds()
        assert (await last_days(parts))["SOL"] == found
    assert sorted(set(parts.fallback.asked)) == ["BTC", "ETH", "SOL"]
    parts.venue.candles["SOL"] = walk("SOL", range(TODAY - 120, TODAY + 2))
    await parts.clock.advance(LONGEST_WAIT_S)
    await parts.rounds()
    assert (await parts.store.closed_bars(["SOL"]))["SOL"][-1][4] == days("SOL", TODAY + 1)[-1].close


@pytest.mark.promise("bars.confirmed")
async def test_a_late_bar_that_is_provisional_is_asked_for_again_in_the_next_round(parts: Parts) -> None:
    parts.list_market("SOL", days=range(TODAY - 120, TODAY))
    await parts.rounds()
    parts.fallback.days, parts.fallback.provisional = {"SOL": days("SOL", TODAY + 2)}, True
    await parts.clock.advance(late(parts, 15))
    parts.fallback.at_ms = parts.clock.now_ms()
    await parts.rounds()
    assert (await last_days(parts))["SOL"] == TODAY - 1
    parts.fallback.provisional = False
    await parts.clock.advance(HISTORY_EVERY_S)
    await parts.rounds()
    assert (await last_days(parts))["SOL"] == TODAY


async def test_the_fall_back_goes_on_with_a_history_and_begins_none(parts: Parts) -> None:
    parts.list_market()
    parts.venue.list_coin("BARE", range(0))
    parts.fallback.days = {"BARE": days("BARE", TODAY)}
    await parts.rounds()
    await parts.clock.advance(LONGEST_WAIT_S)
    await parts.rounds()
    assert parts.fallback.asked == []
    assert (await last_days(parts))["BARE"] is None


async def test_a_fall_back_that_fails_or_changes_its_history_gives_nothing(parts: Parts) -> None:
    parts.list_market("BROKEN", "SOL", days=range(TODAY - 120, TODAY))
    await parts.rounds()
    tell = parts.fallback.daily_bars

    async def slow(symbol: str, start_ms: int) -> BarBatch | None:
        found = await tell(symbol, start_ms)
        if symbol == "SOL":
            parts.origin = "tomorrow"
        return found

    parts.fallback.daily_bars = slow  # type: ignore[method-assign]
    await parts.clock.advance(late(parts, 20))
    parts.fallback.days, parts.fallback.at_ms = {"SOL": days("SOL", TODAY + 1)}, parts.clock.now_ms()
    await parts.history.round()
    parts.origin = "test"
    assert {(await last_days(parts))[coin] for coin in ("BROKEN", "SOL")} == {TODAY - 1}


async def test_while_the_venue_is_silent_late_bars_of_every_coin_come_from_the_fall_back(parts: Parts) -> None:
    others = [f"C{number}" for number in range(5)]
    parts.list_market(*others)
    await parts.rounds()
    await parts.clock.advance(late(parts, 20))
    parts.fallback.days = {coin: days(coin, TODAY + 1) for coin in ("BTC", "ETH", *others)}
    parts.fallback.at_ms = parts.clock.now_ms()
    parts.venue.faults.next = too_many("30")
    with pytest.raises(UpstreamError):
        await parts.history.round()
    assert set((await last_days(parts)).values()) == {TODAY}
    assert len(asked_coins(parts)) == 7 + 1
    assert parts.history.idle is False


def asked_ms(parts: Parts) -> int | None:
    return parts.history.asked_ms


async def test_it_is_known_when_everybody_was_asked_last(parts: Parts) -> None:
    await parts.history.round()
    assert asked_ms(parts) is None
    parts.list_market("SOL")
    await parts.quotes.round()
    parts.venue.faults.next = too_many("30")
    with pytest.raises(UpstreamError):
        await parts.history.round()
    assert asked_ms(parts) is None
    assert not parts.may_ask()
    parts.venue.faults.next = None
    await parts.clock.advance(30)
    await parts.history.round()
    assert (asked_ms(parts), parts.may_ask()) == (START_MS + 30 * SECOND_MS, True)
    parts.origin = "tomorrow"
    await parts.history.round()
    assert asked_ms(parts) is None


async def test_progress_is_logged_once_a_minute(parts: Parts, caplog: pytest.LogCaptureFixture) -> None:
    parts.list_market(*(f"C{number}" for number in range(24)))
    await parts.quotes.round()
    asked = 0

    async def take_time(request: object) -> None:
        nonlocal asked
        asked += 1
        parts.clock.elapsed_s += 5

    parts.venue.faults.next = take_time  # type: ignore[assignment]
    with caplog.at_level(logging.INFO, logger="verdict.market"):
        await parts.history.round()
    lines = [vars(record) for record in caplog.records if record.message == "daily history"]
    assert [(line["known"], line["total"]) for line in lines] == [(1, 26), (13, 26), (25, 26)]
