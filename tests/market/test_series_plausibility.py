"""Bars and payments: each rule at its limit, and what clears an answer that was held back."""

import logging
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.market.ingest.candles import FIRST_WAIT_S
from service.market.models import Bar, Quote, StampedPayment
from service.market.plausibility.rules import BARS_PERSISTENCE_MS, HIGHEST_FUNDING, RejectReason
from service.market.plausibility.series import judge_bars, judge_payments
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS
from tests.market.parts import TODAY, Parts
from tests.market.recordings import candles, coins, funding, needs_recordings
from tests.market.venue import candle, hour, payment, walk

MIDNIGHT = TODAY * DAY_MS


def bar(day: int, close: float = 100.0, open_: float | None = None, **fields: Any) -> Bar:
    """A day counted from today's midnight; it opens where it closes unless told otherwise."""
    start = close if open_ is None else open_
    made = Bar(MIDNIGHT + day * DAY_MS, start, max(start, close) * 1.01, min(start, close) * 0.99, close, 10.0, 7)
    return replace(made, **fields)


STORED = [bar(day) for day in range(-40, -1)]
SHOWN = [bar(-2), bar(-1), bar(0)]
"""The last stored day, yesterday, and today, which is open."""

CLOSED_MS = MIDNIGHT - DAY_MS
QUOTE = Quote("SOL", "SOL", 5e6, 100.0, MIDNIGHT + 10 * MINUTE_MS, 0.00002, MIDNIGHT + 10 * MINUTE_MS)


def judged(shown: list[Bar], stored: list[Bar] = STORED, quote: Quote | None = QUOTE) -> RejectReason | None:
    return judge_bars(shown, stored, quote, DAY_MS, CLOSED_MS).reason


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (SHOWN, None),
        ([], None),
        (SHOWN[:1], None),
        (SHOWN[1:], None),
        ([SHOWN[0], bar(-1, 104.0)], None),
        ([SHOWN[0], bar(-1, 1e8), bar(0)], RejectReason.BAR_IMPOSSIBLE),
        ([SHOWN[0], bar(-1, volume=1e30), bar(0)], RejectReason.BAR_IMPOSSIBLE),
        ([SHOWN[0], bar(-1, volume=-1.0), bar(0)], RejectReason.BAR_IMPOSSIBLE),
        ([SHOWN[0], bar(-1, high=410.0), bar(0)], RejectReason.BAR_IMPOSSIBLE),
        ([SHOWN[0], bar(-1, low=20.0), bar(0)], RejectReason.BAR_IMPOSSIBLE),
        ([SHOWN[0], bar(-1, 401.0, 100.0), bar(0, 401.0)], RejectReason.BAR_IMPOSSIBLE),
        ([bar(-2, 101.2), bar(-1), bar(0)], RejectReason.BAR_CHANGED),
        ([bar(-2, 100.9), bar(-1), bar(0)], None),
        ([SHOWN[0], bar(0)], RejectReason.BAR_MISSING),
        ([bar(0)], RejectReason.BAR_MISSING),
        ([SHOWN[0], bar(-1, 140.0, 100.0), bar(0, 140.0)], RejectReason.BAR_OFF_PRICE),
        ([SHOWN[0], bar(-1, 112.0, 100.0), bar(0, 112.0)], RejectReason.BAR_MOVED),
        ([SHOWN[0], bar(-1, 109.0, 100.0), bar(0, 109.0)], None),
        ([SHOWN[0], bar(-1, 107.0), bar(0, 107.0)], RejectReason.BAR_MOVED),
    ],
)
def test_an_answer_of_bars_continues_what_is_stored(shown: list[Bar], reason: RejectReason | None) -> None:
    assert judged(shown) is reason


def test_a_large_move_is_stored_where_the_accepted_price_stands_where_it_closed() -> None:
    crash = [SHOWN[0], bar(-1, 60.0, 100.0), bar(0, 60.0)]
    assert judged(crash, quote=replace(QUOTE, price=60.5)) is None
    assert judged(crash, quote=replace(QUOTE, price=66.0)) is RejectReason.BAR_MOVED


def test_without_a_price_the_bar_that_follows_confirms_a_move() -> None:
    crash = [SHOWN[0], bar(-1, 60.0, 100.0), bar(0, 60.0)]
    old = replace(QUOTE, price_ms=MIDNIGHT - 4 * DAY_MS)
    for quote in (None, replace(QUOTE, price=None, price_ms=None), old):
        assert judged(crash, quote=quote) is None
        assert judged([*crash[:2], bar(0)], quote=quote) is RejectReason.BAR_MOVED
        assert judged(crash[:2], quote=quote) is RejectReason.BAR_MOVED


def test_a_bar_that_leaps_and_returns_is_no_history() -> None:
    history = [bar(day) for day in range(-40, 1)]
    assert judged(history, []) is None
    history[20] = bar(-20, 140.0)
    assert judged(history, []) is RejectReason.BAR_MOVED
    moved = [bar(day, 100.0 if day < -20 else 140.0) for day in range(-40, 1)]
    assert judged(moved, [], replace(QUOTE, price=140.0)) is None


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], None),
        ([(MIDNIGHT, 0.00002)], None),
        ([(MIDNIGHT, HIGHEST_FUNDING), (MIDNIGHT + HOUR_MS, 0.00002)], None),
        ([(MIDNIGHT, 0.0401)], RejectReason.PAYMENT_IMPOSSIBLE),
        ([(MIDNIGHT, -0.0401)], RejectReason.PAYMENT_IMPOSSIBLE),
        ([(MIDNIGHT + 3 * HOUR_MS, 0.00002)], RejectReason.PAYMENT_IMPOSSIBLE),
        ([(MIDNIGHT, 0.00031)], None),
        ([(MIDNIGHT, 0.00033)], RejectReason.PAYMENT_MOVED),
    ],
)
def test_a_payment_is_within_the_cap_not_ahead_of_now_and_near_the_accepted_rate(
    rows: list[StampedPayment], reason: RejectReason | None
) -> None:
    assert judge_payments(rows, QUOTE, MIDNIGHT + 2 * HOUR_MS) is reason


def test_without_a_rate_of_that_hour_a_payment_is_not_compared() -> None:
    rows = [(MIDNIGHT, 0.0042)]
    for quote in (None, replace(QUOTE, funding=None), replace(QUOTE, funding_ms=MIDNIGHT - 2 * HOUR_MS)):
        assert judge_payments(rows, quote, MIDNIGHT + HOUR_MS) is None


async def closes(parts: Parts) -> list[float]:
    return [row[4] for row in (await parts.store.closed_bars(["BTC"]))["BTC"]]


async def a_day_later(parts: Parts) -> None:
    """A market whose next day has closed."""
    parts.list_market(days=range(TODAY - 120, TODAY + 2))
    await parts.rounds()
    await parts.clock.advance(DAY_MS / SECOND_MS)


@pytest.mark.promise("plausibility.bars")
async def test_a_forged_day_is_asked_for_again_and_the_honest_one_is_stored(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    await a_day_later(parts)
    honest = parts.venue.candles["BTC"]
    before = await closes(parts)
    parts.venue.candles["BTC"] = [*honest[:-2], candle("BTC", TODAY, 900.0, 910.0, 890.0, 900.0), honest[-1]]
    for _ in range(2):
        await parts.history.round()
        await parts.clock.advance(FIRST_WAIT_S)
    assert await closes(parts) == before
    assert [vars(record)["reason"] for record in caplog.records if record.levelno == logging.WARNING] == [
        "bar-off-price"
    ]
    parts.venue.candles["BTC"] = honest
    await parts.clock.advance(2 * FIRST_WAIT_S)
    await parts.history.round()
    assert len(await closes(parts)) == len(before) + 1


async def test_days_that_are_shifted_by_one_are_not_stored(parts: Parts) -> None:
    parts.venue.list_coin("BTC", range(TODAY - 20, TODAY + 2), 1.02, price="150.0")
    await parts.rounds()
    await parts.clock.advance(DAY_MS / SECOND_MS)
    before = await closes(parts)
    for one in parts.venue.candles["BTC"]:
        one |= {"t": one["t"] + DAY_MS, "T": one["T"] + DAY_MS}
    await parts.history.round()
    assert await closes(parts) == before


def _leap(parts: Parts) -> float:
    """Let the closed day of BTC end 40 % lower; says where."""
    last = parts.venue.candles["BTC"][-2]
    low = float(last["o"]) * 0.6
    last |= {"c": repr(low), "l": repr(low)}
    parts.venue.candles["BTC"][-1] |= {"o": repr(low), "l": repr(low * 0.9), "c": repr(low)}
    return low


async def test_the_second_venue_confirms_a_day_at_once_and_its_contradiction_holds(parts: Parts) -> None:
    await a_day_later(parts)
    before = await closes(parts)
    low = _leap(parts)
    parts.fallback.at_ms = parts.clock.now_ms()
    parts.fallback.days = {"BTC": [Bar(MIDNIGHT, 900.0, 900.0, 900.0, 900.0, 1.0, 1)]}
    for _ in range(8):
        await parts.history.round()
        await parts.clock.advance(BARS_PERSISTENCE_MS / SECOND_MS)
    assert await closes(parts) == before
    parts.fallback.days = {"BTC": [Bar(MIDNIGHT, low, low, low, low, 1.0, 1)]}
    await parts.history.round()
    assert await closes(parts) == [*before, low]


async def test_while_the_second_venue_fails_a_day_waits_for_its_hour(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise UpstreamError("binance", 503, b"down")

    monkeypatch.setattr(parts.fallback, "daily_bars", fail)
    await a_day_later(parts)
    before = await closes(parts)
    low = _leap(parts)
    await parts.history.round()
    assert await closes(parts) == before
    await parts.clock.advance(BARS_PERSISTENCE_MS / SECOND_MS)
    await parts.history.round()
    assert await closes(parts) == [*before, low]


async def test_an_answer_that_stays_the_same_for_an_hour_is_stored(parts: Parts) -> None:
    await a_day_later(parts)
    before = await closes(parts)
    low = _leap(parts)
    asked = 0
    while len(await closes(parts)) == len(before):
        await parts.history.round()
        await parts.clock.advance(FIRST_WAIT_S)
        asked += 1
        assert asked < 200
    assert await closes(parts) == [*before, low]
    assert asked >= BARS_PERSISTENCE_MS / SECOND_MS / FIRST_WAIT_S


@pytest.mark.promise("quarantine.series-reported")
async def test_bars_that_are_held_back_stand_in_the_same_report_as_quotes_until_they_are_stored(parts: Parts) -> None:
    await a_day_later(parts)
    before = await closes(parts)
    _leap(parts)
    await parts.history.round()
    await parts.quotes.round()
    report = parts.report.current.value
    assert report is not None
    (held,) = report.now
    assert (held.source, held.coin, held.field, held.since_ms) == (
        "hyperliquid", "BTC", "bars-1d", parts.clock.now_ms(),
    )  # fmt: skip
    assert report.counts[f"hyperliquid bars-1d {held.reason}"] == 1
    while len(await closes(parts)) == len(before):
        await parts.clock.advance(FIRST_WAIT_S)
        await parts.history.round()
    await parts.quotes.round()
    report = parts.report.current.value
    assert report is not None
    assert report.now == ()


async def test_an_answer_that_changes_starts_its_hour_again(parts: Parts) -> None:
    await a_day_later(parts)
    before = await closes(parts)
    for number in range(6):
        _leap(parts)
        parts.venue.candles["BTC"][-2]["v"] = repr(float(number))
        await parts.history.round()
        await parts.clock.advance(BARS_PERSISTENCE_MS / SECOND_MS)
    assert await closes(parts) == before


async def test_a_forged_day_of_the_fall_back_is_not_stored(parts: Parts) -> None:
    parts.list_market(days=range(TODAY - 120, TODAY))
    await parts.rounds()
    before = await closes(parts)
    await parts.clock.advance(DAY_MS / SECOND_MS)
    parts.fallback.at_ms = parts.clock.now_ms()
    stored = before[-1]
    level = [Bar(MIDNIGHT - DAY_MS, stored, stored, stored, stored, 1.0, 1)]
    parts.fallback.days = {"BTC": [*level, Bar(MIDNIGHT, 900.0, 900.0, 900.0, 900.0, 1.0, 1)]}
    await parts.history.round()
    assert await closes(parts) == before


async def test_a_delisted_coin_is_judged_without_a_price(parts: Parts) -> None:
    parts.list_market()
    parts.venue.candles["MATIC"] = walk("MATIC", range(TODAY - 300, TODAY - 60))
    parts.venue.contexts["MATIC"] = parts.venue.contexts["BTC"]
    parts.venue.delisted = {"MATIC"}
    await parts.rounds()
    assert len((await parts.store.closed_bars(["MATIC"]))["MATIC"]) == 240


async def test_a_forged_hour_is_not_stored(parts: Parts) -> None:
    now = START_MS // HOUR_MS
    parts.venue.list_coin("BTC", range(0))
    parts.venue.hours["BTC"] = [hour("BTC", number, 100.0) for number in range(now - 50, now + 3)]
    await parts.quotes.round()
    parts.history.idle = True
    await parts.clock.advance(10)
    await parts.hours.round()
    await parts.clock.advance(HOUR_MS / SECOND_MS)
    honest = parts.venue.hours["BTC"]
    parts.venue.hours["BTC"] = [*honest[:-3], hour("BTC", now, 108.0), *honest[-2:]]
    await parts.hours.round()
    assert len((await parts.store.closed_bars(["BTC"], "1h"))["BTC"]) == 50
    parts.venue.hours["BTC"] = honest
    await parts.clock.advance(FIRST_WAIT_S)
    await parts.hours.round()
    assert len((await parts.store.closed_bars(["BTC"], "1h"))["BTC"]) == 51


@pytest.mark.slow
@pytest.mark.promise("plausibility.payments")
async def test_a_forged_payment_is_not_stored_and_a_strange_one_after_an_hour(parts: Parts) -> None:
    now = START_MS // HOUR_MS
    parts.venue.list_coin("BTC", range(0))
    await parts.quotes.round()
    parts.history.idle = True

    async def stored() -> list[float]:
        return [row[1] for row in (await parts.store.funding_since(["BTC"], 0))["BTC"]]

    parts.venue.funding["BTC"] = [payment("BTC", now, "5.0")]
    await parts.funding.round()
    await parts.clock.advance(2 * BARS_PERSISTENCE_MS / SECOND_MS)
    await parts.funding.round()
    assert await stored() == []
    parts.venue.funding["BTC"] = [payment("BTC", now + 2, "0.003")]
    asked = 0
    while not await stored():
        await parts.quotes.round()
        await parts.funding.round()
        await parts.clock.advance(FIRST_WAIT_S)
        asked += 1
        assert asked < 200
    assert asked > 50


async def reported(parts: Parts) -> list[tuple[str, str, RejectReason]]:
    await parts.quotes.round()
    report = parts.report.current.value
    assert report is not None
    return [(held.coin, held.field, held.reason) for held in report.now]


@pytest.mark.parametrize("late_min", [21, 30, 39])
@pytest.mark.promise("plausibility.payments")
async def test_of_a_page_only_the_payment_between_the_hours_is_refused(parts: Parts, late_min: int) -> None:
    now = START_MS // HOUR_MS
    parts.venue.list_coin("BTC", range(0))
    await parts.quotes.round()
    parts.history.idle = True
    odd = {**payment("BTC", now - 3, "0.00007"), "time": (now - 3) * HOUR_MS + late_min * MINUTE_MS}
    parts.venue.funding["BTC"] = [
        *(payment("BTC", hour, "0.00001") for hour in range(now - 8, now - 3)), odd,
        *(payment("BTC", hour, "0.00002") for hour in (now - 2, now - 1)),
    ]  # fmt: skip
    await parts.funding.round()
    stored = (await parts.store.funding_since(["BTC"], 0))["BTC"]
    assert [paid_ms // HOUR_MS - now for paid_ms, _, _ in stored] == [-8, -7, -6, -5, -4, -2, -1]
    assert 0.00007 not in [rate for _, rate, _ in stored]
    assert await reported(parts) == [("BTC", "payments", RejectReason.PAYMENT_IMPOSSIBLE)]
    await parts.funding.round()
    assert parts.report.current.value is not None
    assert parts.report.current.value.counts == {"hyperliquid payments payment-impossible": 1}


async def test_pages_go_on_past_a_payment_between_the_hours_and_a_clean_page_ends_the_report(parts: Parts) -> None:
    now = START_MS // HOUR_MS
    parts.venue.list_coin("BTC", range(0))
    await parts.quotes.round()
    parts.history.idle = True
    odd = {**payment("BTC", now, "0.00001"), "time": now * HOUR_MS + 30 * MINUTE_MS - 2 * HOUR_MS}
    parts.venue.funding["BTC"] = [odd]
    await parts.funding.round()
    assert (await parts.store.funding_since(["BTC"], 0))["BTC"] == []
    parts.venue.funding["BTC"] = [odd, payment("BTC", now, "0.00001")]
    await parts.clock.advance(FIRST_WAIT_S)
    await parts.funding.round()
    assert [row[0] // HOUR_MS for row in (await parts.store.funding_since(["BTC"], 0))["BTC"]] == [now]
    assert await reported(parts) == [("BTC", "payments", RejectReason.PAYMENT_IMPOSSIBLE)]
    parts.venue.funding["BTC"] = [odd, payment("BTC", now, "0.00001"), payment("BTC", now + 1, "0.00001")]
    await parts.clock.advance(HOUR_MS / SECOND_MS)
    await parts.funding.round()
    assert len((await parts.store.funding_since(["BTC"], 0))["BTC"]) == 2
    assert await reported(parts) == []


@pytest.mark.recorded
@needs_recordings
def test_no_recorded_history_is_held_back_and_shifted_days_are() -> None:
    held = shifted = total = 0
    for coin in coins():
        bars = [
            Bar(row["t"], float(row["o"]), float(row["h"]), float(row["l"]), float(row["c"]), float(row["v"]), row["n"])
            for row in candles(coin)
        ]
        assert judge_bars(bars, [], None, DAY_MS, bars[-2].open_ms).reason is None, coin
        for at in range(40, len(bars) - 1, 5):
            total += 1
            close_ms = bars[at].open_ms + DAY_MS
            quote = Quote(coin, coin, 1.0, bars[at + 1].open, close_ms + MINUTE_MS, None, None)
            stored, until = bars[at - 32 : at], bars[at].open_ms
            held += judge_bars(bars[at - 1 : at + 2], stored, quote, DAY_MS, until).reason is not None
            late = [replace(one, open_ms=one.open_ms + DAY_MS) for one in bars[at - 2 : at + 1]]
            shifted += judge_bars(late, stored, quote, DAY_MS, until).reason is not None
    assert held <= total * 0.0005
    assert shifted >= total * 0.95


@pytest.mark.recorded
@needs_recordings
def test_one_recorded_payment_in_a_thousand_waits_for_an_hour() -> None:
    held = total = 0
    for coin in coins():
        rows = [(row["time"], float(row["fundingRate"])) for row in funding(coin)]
        for before, after in pairwise(rows):
            quote = replace(QUOTE, funding=before[1], funding_ms=before[0])
            total += 1
            held += judge_payments([after], quote, after[0]) is not None
    assert total > 500_000
    assert held <= total * 0.001
