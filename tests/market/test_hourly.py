"""Series by the hour: kept complete in the background, never in the way of anything more urgent."""

import logging
from itertools import pairwise

import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.market.ingest.candles import FIRST_WAIT_S
from service.market.ingest.hourly import KEPT_MS, SPREAD_MS
from service.market.models import REACH_MS, Bar
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS
from tests.market.parts import Parts
from tests.market.venue import context, hour, payment
from tests.upstream.faults import answer, too_many

NOW = START_MS // HOUR_MS
REACH = REACH_MS // HOUR_MS
SETTLED_S = 5.0


def asked_hours(parts: Parts) -> list[tuple[str, int]]:
    asks = [ask["req"] for ask in parts.venue.asked("candleSnapshot") if ask["req"]["interval"] == "1h"]
    return [(ask["coin"], ask["startTime"] // HOUR_MS - NOW) for ask in asks]


def asked_funding(parts: Parts) -> list[tuple[str, int]]:
    return [(ask["coin"], ask["startTime"] // HOUR_MS - NOW) for ask in parts.venue.asked("fundingHistory")]


async def listed(parts: Parts, *coins: str, hours: range = range(NOW - 100, NOW + 24)) -> None:
    """Let coins be traded, the first the most, with hours of bars and payments; daily history is nobody's concern."""
    for place, coin in enumerate(coins):
        parts.venue.contexts[coin] = context("3.0", volume=f"{1000 - place}.0")
        parts.venue.hours[coin] = [hour(coin, number) for number in hours]
        parts.venue.funding[coin] = [payment(coin, number) for number in hours]
    await parts.quotes.round()
    parts.history.idle = True
    await parts.clock.advance(SETTLED_S)


async def known(parts: Parts, coin: str) -> list[int]:
    return [row[0] // HOUR_MS - NOW for row in (await parts.store.closed_bars([coin], "1h"))[coin]]


async def paid(parts: Parts, coin: str) -> list[int]:
    return [row[0] // HOUR_MS - NOW for row in (await parts.store.funding_since([coin], 0))[coin]]


async def test_ninety_days_are_asked_for_at_first_the_most_traded_coin_first(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH", "SOL")
    await parts.hours.round()
    assert asked_hours(parts) == [("BTC", -REACH), ("ETH", -REACH), ("SOL", -REACH)]
    assert await known(parts, "SOL") == list(range(-100, 0))
    assert (parts.hours.known, parts.hours.total) == (3, 3)


async def test_there_is_news_after_the_first_coin_and_after_a_round_that_brought_more(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH", "SOL")
    seen: list[bool] = []
    news = parts.funding.news.subscribe()

    async def look(request: object) -> None:
        seen.append(news.is_set())
        news.clear()

    parts.venue.faults.next = look  # type: ignore[assignment]
    await parts.funding.round()
    assert seen == [False, True, False]
    assert news.is_set()
    news.clear()
    await parts.funding.round()
    assert not news.is_set()


async def test_the_open_hour_is_not_kept(parts: Parts) -> None:
    await listed(parts, "BTC")
    await parts.clock.advance(3_000)
    await parts.hours.round()
    assert (await known(parts, "BTC"))[-1] == -1


async def test_a_new_hour_is_asked_for_alone_once_it_has_closed_and_only_once(parts: Parts) -> None:
    await listed(parts, "BTC")
    await parts.hours.round()
    await parts.clock.advance(3_600 - 0.001)
    await parts.hours.round()
    assert len(asked_hours(parts)) == 1
    await parts.clock.advance(0.001)
    await parts.hours.round()
    await parts.hours.round()
    assert asked_hours(parts)[1:] == [("BTC", -1)], "the last stored hour is asked for again"
    assert (await known(parts, "BTC"))[-1] == 0


async def test_coins_take_their_turns_over_half_an_hour(parts: Parts) -> None:
    coins = [f"C{number}" for number in range(6)]
    await listed(parts, *coins)
    await parts.hours.round()
    before = len(asked_hours(parts))
    await parts.clock.advance(3_600)
    transitions = []
    for _ in range(6):
        await parts.hours.round()
        transitions.append(len(asked_hours(parts)) - before)
        await parts.clock.advance(SPREAD_MS / SECOND_MS / 6)
    assert transitions == [1, 2, 3, 4, 5, 6]
    assert [coin for coin, _ in asked_hours(parts)[before:]] == coins


async def test_hours_missed_while_nobody_looked_are_filled_at_once(parts: Parts) -> None:
    coins = [f"C{number}" for number in range(4)]
    await listed(parts, *coins)
    await parts.hours.round()
    await parts.clock.advance(5 * 3_600)
    await parts.hours.round()
    assert asked_hours(parts)[4:] == [(coin, -1) for coin in coins]
    assert await known(parts, "C3") == list(range(-100, 5))


async def test_nothing_is_asked_while_daily_history_is_incomplete(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH")
    parts.history.idle = False
    await parts.hours.round()
    await parts.funding.round()
    assert (asked_hours(parts), asked_funding(parts)) == ([], [])
    assert (parts.hours.known, parts.hours.total) == (0, 2)


async def test_daily_history_that_becomes_incomplete_interrupts_the_hours(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH")

    async def midnight(request: object) -> None:
        parts.history.idle = False

    parts.venue.faults.next = midnight  # type: ignore[assignment]
    await parts.hours.round()
    assert asked_hours(parts) == [("BTC", -REACH)]


async def test_one_coins_failure_is_its_own_and_it_is_asked_again_a_minute_later(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH")
    parts.venue.hours["BTC"][0] |= {"i": "1d"}
    await parts.hours.round()
    assert (await known(parts, "BTC"), len(await known(parts, "ETH"))) == ([], 100)
    parts.venue.hours["BTC"][0] |= {"i": "1h"}
    await parts.hours.round()
    assert len(asked_hours(parts)) == 2
    await parts.clock.advance(FIRST_WAIT_S)
    await parts.hours.round()
    assert len(await known(parts, "BTC")) == 100


async def test_a_coin_without_hours_is_left_alone_for_a_minute(parts: Parts) -> None:
    await listed(parts, "BTC", hours=range(0))
    for _ in range(2):
        await parts.hours.round()
        await parts.funding.round()
    assert (len(asked_hours(parts)), len(asked_funding(parts))) == (1, 1)


async def test_a_venue_that_asks_for_silence_ends_the_round(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH")
    parts.venue.faults.next = too_many("30")
    for series in (parts.hours, parts.funding):
        with pytest.raises(UpstreamError):
            await series.round()
    parts.venue.faults.next = answer(500, b"down")
    assert len(asked_hours(parts)) + len(asked_funding(parts)) == 1


async def test_funding_is_read_page_by_page_and_dated_to_the_hour(parts: Parts) -> None:
    await listed(parts, "BTC", hours=range(NOW - 1_200, NOW + 1))
    await parts.funding.round()
    assert asked_funding(parts) == [("BTC", -REACH), ("BTC", -1_200 + 499), ("BTC", -1_200 + 999)]
    assert await paid(parts, "BTC") == list(range(-1_200, 1))
    rows = (await parts.store.funding_since(["BTC"], 0))["BTC"]
    assert {after[0] - before[0] for before, after in pairwise(rows)} == {HOUR_MS}
    assert rows[0] == ((NOW - 1_200) * HOUR_MS, 0.0000125, 1.0)


async def test_a_new_payment_is_asked_for_alone(parts: Parts) -> None:
    await listed(parts, "BTC")
    await parts.funding.round()
    await parts.clock.advance(3_600)
    await parts.funding.round()
    await parts.funding.round()
    assert parts.venue.asked("fundingHistory")[-1]["startTime"] == START_MS + 20 * MINUTE_MS + 1
    assert len(asked_funding(parts)) == 2
    assert (await paid(parts, "BTC"))[-1] == 1


async def test_a_page_that_leads_nowhere_is_the_last(parts: Parts) -> None:
    await listed(parts, "BTC", hours=range(0))
    rows = [payment("BTC", NOW - REACH - 600 + number) for number in range(500)]
    parts.venue.faults.next = answer(200, msgspec.json.encode(rows))
    await parts.funding.round()
    assert len(asked_funding(parts)) == 1


async def test_what_comes_while_the_origin_changes_is_dropped(parts: Parts) -> None:
    await listed(parts, "BTC", "ETH")

    async def change_origin(request: object) -> None:
        parts.origin = "tomorrow"

    parts.venue.faults.next = change_origin  # type: ignore[assignment]
    await parts.hours.round()
    parts.origin = "test"
    await parts.funding.round()
    parts.origin = "test"
    assert (len(asked_hours(parts)), len(asked_funding(parts))) == (1, 1)
    assert (await known(parts, "BTC"), await paid(parts, "BTC")) == ([], [])


async def test_once_a_day_old_hours_are_forgotten(parts: Parts) -> None:
    await listed(parts, "BTC")
    old = START_MS - KEPT_MS

    async def keep_an_old_bar() -> None:
        await parts.store.put_bars("test", "BTC", [Bar(old, 3.0, 4.0, 1.0, 3.0, 1.0, 1)], old, interval="1h")

    await keep_an_old_bar()
    await parts.hours.round()
    assert (await known(parts, "BTC"))[0] == -100
    await keep_an_old_bar()
    await parts.hours.round()
    assert (await known(parts, "BTC"))[0] == -KEPT_MS // HOUR_MS
    await parts.clock.advance(DAY_MS / SECOND_MS)
    await parts.hours.round()
    assert (await known(parts, "BTC"))[0] == -100


async def test_progress_is_logged_once_a_minute_until_all_is_known(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    await listed(parts, *(f"C{number}" for number in range(30)))

    async def take_time(request: object) -> None:
        parts.clock.elapsed_s += 5

    parts.venue.faults.next = take_time  # type: ignore[assignment]
    with caplog.at_level(logging.INFO, logger="verdict.market"):
        await parts.hours.round()
        await parts.hours.round()
    lines = [vars(record) for record in caplog.records if record.message == "hourly history"]
    assert [(line["known"], line["total"]) for line in lines] == [(1, 30), (13, 30), (25, 30)]
