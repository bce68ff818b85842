"""What fails the plausibility check is held back: never answered as fresh, and accepted once something clears it."""

import logging
import math
from typing import Any

import pytest

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.market.models import Bar
from service.market.plausibility.quarantine import QuarantinedValue
from service.market.plausibility.rules import RejectReason
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS
from tests.market.parts import TODAY, Parts
from tests.market.test_quotes import pushed
from tests.market.venue import Context, context
from tests.upstream.faults import answer

PRICES = {f"C{number}": 1.2**number for number in range(40)}
"""Of coins in the order of their listing."""


def row(price: float, number: int, funding: str = "0.0000125") -> Context:
    """A coin's context, with sizes of its own."""
    fields = {"prevDayPx": repr(price * 0.98), "openInterest": repr(1e4 * (3 + number))}
    return context(repr(price), funding, repr(1e6 * (3 + number))) | fields


def rows(prices: dict[str, float]) -> dict[str, Context]:
    return {coin: row(price, number) for number, (coin, price) in enumerate(prices.items())}


async def begin(parts: Parts, prices: dict[str, float] = PRICES, *, second: bool = False) -> None:
    """Accept these prices; the second venue then shows them too, or fails."""
    parts.venue.contexts = rows(prices)
    await parts.quotes.round()
    assert {symbol: coin.price for symbol, coin in parts.desk.view().items()} == prices
    parts.fallback.agrees_with = None
    await parts.clock.advance(15)
    if second:
        show(parts, prices)


def show(parts: Parts, prices: dict[str, float]) -> None:
    """Let the second venue show these prices from now on."""
    parts.fallback.shows = {coin: (price, 0.0000125, 8.0) for coin, price in prices.items()}
    parts.fallback.at_ms = parts.clock.now_ms()


async def rounds(parts: Parts, seconds: int) -> None:
    """Poll every fifteen seconds, whatever comes of it; the second venue goes on showing what it shows."""
    for _ in range(seconds // 15):
        await parts.clock.advance(15)
        parts.fallback.at_ms = parts.clock.now_ms()
        await poll(parts)


async def poll(parts: Parts) -> bool:
    """Poll once. Says whether anybody gave quotes."""
    try:
        await parts.quotes.round()
    except UpstreamError:
        return False
    return True


def stale(parts: Parts, symbol: str) -> bool:
    return "price" in parts.risk(symbol)._stale_fields


def reasons(parts: Parts) -> set[RejectReason]:
    report = parts.report.current.value
    assert report is not None
    return {held.reason for held in report.now}


@pytest.mark.promise("quarantine.polled")
async def test_a_polled_price_that_leaps_is_held_back_and_the_others_go_on(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts["C7"]["markPx"] = repr(PRICES["C7"] * 1.4)
    parts.venue.contexts["C8"]["markPx"] = repr(PRICES["C8"] * 1.01)
    await parts.quotes.round()
    held, other = parts.risk("C7"), parts.risk("C8")
    assert (held.price, held._stale_fields[:2]) == (PRICES["C7"], ["price", "funding_apr"])
    assert parts.desk.risk("C7").as_of_ms == START_MS
    assert (other.price, "price" in other._stale_fields) == (PRICES["C8"] * 1.01, False)
    assert reasons(parts) == {RejectReason.PRICE_MOVED}
    parts.venue.contexts["C7"]["markPx"] = repr(PRICES["C7"])
    await rounds(parts, 15)
    assert not stale(parts, "C7")
    assert reasons(parts) == set()


@pytest.mark.promise("quarantine.pushed")
async def test_a_pushed_price_that_leaps_is_held_back_and_the_others_go_on(parts: Parts) -> None:
    await begin(parts)
    shown = rows({**PRICES, "C7": PRICES["C7"] * 1.4, "C8": PRICES["C8"] * 1.01})
    pushed(parts, *shown.values())
    await parts.quotes.feed()
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)
    assert (parts.risk("C8").price, stale(parts, "C8")) == (PRICES["C8"] * 1.01, False)
    await parts.quotes.round()
    assert not stale(parts, "C7")


@pytest.mark.promise("quarantine.recovery-two")
async def test_a_real_crash_is_accepted_in_the_same_round_when_two_venues_agree(parts: Parts) -> None:
    await begin(parts)
    crashed = {coin: price * 0.7 for coin, price in PRICES.items()}
    parts.venue.contexts = rows(crashed)
    show(parts, {coin: price * 1.001 for coin, price in list(crashed.items())[:30]})
    await parts.quotes.round()
    assert [coin for coin, price in crashed.items() if parts.risk(coin).price != price] == list(PRICES)[30:]
    assert not stale(parts, "C0")
    assert stale(parts, "C39")
    await rounds(parts, 135)
    assert stale(parts, "C39")
    await rounds(parts, 15)
    assert parts.risk("C39").price == crashed["C39"]
    assert reasons(parts) == set()


@pytest.mark.slow
@pytest.mark.promise("quarantine.recovery-one")
@pytest.mark.parametrize("factor", [0.6, 1.5, 3.9, 0.26])
async def test_a_level_that_only_one_venue_reports_is_accepted_within_three_minutes(
    parts: Parts, factor: float
) -> None:
    await begin(parts)
    parts.venue.contexts["C7"] = row(PRICES["C7"] * factor, 7)
    await parts.quotes.round()
    await rounds(parts, 135)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)
    await rounds(parts, 15)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"] * factor, False)


async def test_a_market_wide_crash_that_one_venue_reports_is_accepted_within_three_minutes(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts = rows({coin: price * 0.7 for coin, price in PRICES.items()})
    assert not await poll(parts)
    assert RejectReason.COINS_LEAPING in reasons(parts)
    await rounds(parts, 135)
    assert stale(parts, "C7")
    await rounds(parts, 15)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"] * 0.7, False)


@pytest.mark.slow
@pytest.mark.promise("quarantine.magnitude")
@pytest.mark.parametrize("price", [10.0, 4.1, 0.2, 1e99, 1e-99])
async def test_an_impossible_level_is_never_accepted_from_one_venue(parts: Parts, price: float) -> None:
    await begin(parts)
    parts.venue.contexts["C7"]["markPx"] = repr(PRICES["C7"] * price)
    await rounds(parts, 540)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)


async def test_a_level_that_the_second_venue_contradicts_is_not_accepted_by_time(parts: Parts) -> None:
    await begin(parts, second=True)
    parts.venue.contexts["C7"] = row(PRICES["C7"] * 1.5, 7)
    await rounds(parts, 540)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)
    assert parts.fallback.confirmations > 10
    show(parts, {**PRICES, "C7": PRICES["C7"] * 1.5})
    await rounds(parts, 60)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"] * 1.5, False)


async def test_the_second_venue_is_asked_less_often_about_what_it_does_not_clear(parts: Parts) -> None:
    await begin(parts, second=True)
    parts.venue.contexts["C7"] = row(PRICES["C7"] * 1.5, 7)
    await rounds(parts, 300)
    asked = parts.fallback.confirmations
    await rounds(parts, 300)
    assert parts.fallback.confirmations - asked <= 6
    parts.venue.contexts["C9"] = row(PRICES["C9"] * 1.5, 9)
    await rounds(parts, 60)
    asked = parts.fallback.confirmations
    await rounds(parts, 60)
    assert parts.fallback.confirmations - asked == 4


@pytest.mark.slow
async def test_a_level_between_right_values_begins_again(parts: Parts) -> None:
    await begin(parts)
    for _ in range(20):
        parts.venue.contexts["C7"] = row(PRICES["C7"] * 1.5, 7)
        await rounds(parts, 30)
        assert stale(parts, "C7")
        parts.venue.contexts["C7"] = row(PRICES["C7"], 7)
        await rounds(parts, 15)
        assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], False)


async def test_a_level_that_leaps_again_or_pauses_begins_again(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts["C7"] = row(PRICES["C7"] * 1.5, 7)
    await rounds(parts, 150)
    parts.venue.contexts["C7"] = row(PRICES["C7"] * 2.5, 7)
    await rounds(parts, 150)
    assert stale(parts, "C7")
    await parts.clock.advance(150)
    await rounds(parts, 120)
    assert stale(parts, "C7")
    await rounds(parts, 75)
    assert parts.risk("C7").price == PRICES["C7"] * 2.5


@pytest.mark.promise("quarantine.rows")
async def test_two_swapped_coins_of_similar_price_are_never_each_other(parts: Parts) -> None:
    prices = {**PRICES, "C20": 100.0, "C21": 101.0}
    await begin(parts, prices)
    contexts = parts.venue.contexts
    contexts["C20"], contexts["C21"] = contexts["C21"], contexts["C20"]
    await rounds(parts, 540)
    for coin in ("C20", "C21"):
        assert (parts.risk(coin).price, stale(parts, coin)) == (prices[coin], True)
        assert parts.desk.view()[coin].volume_usd == 1e6 * (3 + int(coin[1:]))
    assert reasons(parts) == {RejectReason.ROW_OF_ANOTHER}


@pytest.mark.slow
@pytest.mark.promise("quarantine.rows")
@pytest.mark.parametrize("second", [False, True])
async def test_a_shifted_table_is_held_back_whole_polled_and_pushed(parts: Parts, *, second: bool) -> None:
    await begin(parts, second=second)
    right = list(parts.venue.contexts.values())
    parts.venue.contexts = dict(zip(PRICES, [*right[1:], right[0]], strict=True))
    for _ in range(8):
        polled = await poll(parts)
        assert polled is second, "the second venue stands in"
        pushed(parts, *parts.venue.contexts.values())
        await parts.quotes.feed()
        await parts.clock.advance(15)
        parts.fallback.at_ms = parts.clock.now_ms()
        assert {coin: parts.risk(coin).price for coin in PRICES} == PRICES
    assert stale(parts, "C7") is not second
    assert parts.risk("C7").venue == ("binance" if second else "hyperliquid")
    assert RejectReason.COINS_LEAPING in reasons(parts)


async def test_a_right_feed_goes_on_beside_a_wrong_poll_whose_names_are_not_adopted(parts: Parts) -> None:
    await begin(parts)
    right = dict(parts.venue.contexts)
    parts.venue.contexts = {coin: right[other] for coin, other in zip(PRICES, reversed(PRICES), strict=True)}
    parts.venue.contexts = dict(reversed(parts.venue.contexts.items()))
    parts.venue.contexts["C0"]["markPx"] = "5e6"
    assert not await poll(parts)
    pushed(parts, *rows({coin: price * 1.01 for coin, price in PRICES.items()}).values())
    await parts.quotes.feed()
    assert {coin: parts.risk(coin).price for coin in PRICES} == {coin: price * 1.01 for coin, price in PRICES.items()}
    assert not stale(parts, "C7")


@pytest.mark.promise("quarantine.universe")
async def test_an_answer_with_one_coin_of_forty_delists_nobody_and_is_a_failure(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts = {"C7": parts.venue.contexts["C7"]}
    assert not await poll(parts)
    assert len(parts.desk.view()) == len(PRICES)
    assert reasons(parts) == {RejectReason.COINS_MISSING}
    failure = parts.desk.state.failure
    assert failure is not None
    assert failure.body == "quarantined: coins-missing"
    parts.venue.contexts = rows(PRICES)
    await rounds(parts, 15)
    assert reasons(parts) == set()


@pytest.mark.promise("quarantine.universe")
async def test_an_answer_that_calls_nearly_all_coins_delisted_is_a_failure(parts: Parts) -> None:
    await begin(parts)
    parts.venue.delisted = set(list(PRICES)[1:])
    await rounds(parts, 75)
    assert len(parts.desk.view()) == len(PRICES)
    assert reasons(parts) == {RejectReason.COINS_DELISTED}


@pytest.mark.slow
@pytest.mark.promise("quarantine.delisting")
async def test_flags_of_nearly_all_coins_count_once_they_have_lasted_for_an_hour(parts: Parts) -> None:
    await begin(parts)
    parts.venue.delisted = set(list(PRICES)[1:])
    await rounds(parts, HOUR_MS // 1_000)
    assert reasons(parts) == {RejectReason.COINS_DELISTED}
    await rounds(parts, HOUR_MS // 1_000)
    assert reasons(parts) == set()
    assert len(parts.desk.view()) == len(PRICES)
    await rounds(parts, 60)
    assert list(parts.desk.view()) == list(PRICES)[:1]


async def test_a_first_answer_of_mostly_delisted_coins_is_a_failure(parts: Parts) -> None:
    parts.venue.contexts = rows(PRICES)
    parts.venue.delisted = set(list(PRICES)[1:])
    assert not await poll(parts)
    assert await parts.store.coins() == []


@pytest.mark.promise("quarantine.universe")
async def test_a_coin_that_is_missing_ages_and_stays_listed(parts: Parts) -> None:
    await begin(parts)
    del parts.venue.contexts["C7"]
    await rounds(parts, 60)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)
    assert not stale(parts, "C8")


@pytest.mark.slow
@pytest.mark.promise("quarantine.funding")
@pytest.mark.parametrize(("rate", "for_ever"), [("5.0", True), ("-0.041", True), ("0.002", False)])
async def test_funding_beyond_what_can_be_is_held_back_alone(parts: Parts, rate: str, *, for_ever: bool) -> None:
    await begin(parts)
    parts.venue.contexts["C7"]["funding"] = rate
    await parts.quotes.round()
    said = parts.risk("C7")
    assert (said.price, said.funding_apr) == (PRICES["C7"], 10.95)
    assert said._stale_fields[0] == "funding_apr"
    await rounds(parts, 195)
    assert ("funding_apr" in parts.risk("C7")._stale_fields) is for_ever
    assert (parts.risk("C7").funding_apr == 10.95) is for_ever


async def test_impossible_volume_and_interest_keep_their_last_values(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts["C7"] |= {"dayNtlVlm": "1e50", "openInterest": "1e50"}
    parts.venue.contexts["C8"] |= {"openInterest": "1e50"}
    await parts.quotes.round()
    coin = parts.desk.view()["C8"]
    assert coin.price == PRICES["C8"]
    assert coin.open_interest_usd == pytest.approx(PRICES["C8"] * 1e4 * 11)
    assert parts.desk.view()["C7"].volume_usd == 1e7
    assert not stale(parts, "C8")


@pytest.mark.promise("quarantine.second-venue")
async def test_a_forged_second_venue_neither_stands_in_nor_confirms(parts: Parts) -> None:
    await begin(parts, second=True)
    show(parts, {coin: price * 10 for coin, price in PRICES.items()})
    parts.venue.faults.next = answer(500, b"down")
    with pytest.raises(UpstreamError):
        await parts.quotes.round()
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)
    parts.venue.faults.next = None
    parts.venue.contexts["C7"]["markPx"] = repr(PRICES["C7"] * 1.5)
    await rounds(parts, 15)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)


async def test_of_the_second_venue_a_single_wrong_price_is_left_out(parts: Parts) -> None:
    await begin(parts)
    show(parts, {**PRICES, "C7": PRICES["C7"] * 1.2})
    parts.venue.faults.next = answer(500, b"down")
    await parts.quotes.round()
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], True)
    assert (parts.risk("C8").venue, stale(parts, "C8")) == ("binance", False)


async def test_a_second_venue_that_shows_only_wrong_prices_does_not_stand_in(parts: Parts) -> None:
    await begin(parts)
    show(parts, {"C7": PRICES["C7"] * 1.2})
    parts.venue.faults.next = answer(500, b"down")
    with pytest.raises(UpstreamError):
        await parts.quotes.round()


async def keep_bars(parts: Parts, prices: dict[str, float], days: int = 40) -> None:
    """Store closed bars up to yesterday that end at these prices."""
    for coin, price in prices.items():
        bars = [
            Bar(day * DAY_MS, close, close, close, close, 1.0, 1)
            for day in range(TODAY - days, TODAY)
            for close in [price * math.exp(0.03 * ((TODAY - 1 - day) % 2))]
        ]
        await parts.store.put_bars(parts.origin, coin, bars, (TODAY - 1) * DAY_MS)


async def cold(parts: Parts, prices: dict[str, float]) -> None:
    """The first answer of all, with a second venue that fails."""
    parts.fallback.agrees_with = None
    parts.venue.contexts = rows(prices)
    await parts.quotes.round()


@pytest.mark.promise("quarantine.cold-start")
async def test_on_a_cold_start_a_price_is_unknown_until_bars_confirm_it(parts: Parts) -> None:
    await cold(parts, PRICES)
    assert {coin.price for coin in parts.desk.view().values()} == {None}
    with pytest.raises(ServiceError, match="The price of C7 is not confirmed yet") as refused:
        parts.desk.risk("C7")
    assert refused.value.code == "UNAVAILABLE"
    assert reasons(parts) == {RejectReason.PRICE_UNCONFIRMED, RejectReason.FUNDING_UNCONFIRMED}
    await parts.quotes.recheck()
    await keep_bars(parts, {"C7": PRICES["C7"] * 0.95})
    await parts.clock.advance(1)
    await parts.quotes.recheck()
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], False)
    assert parts.desk.view()["C8"].price is None
    await parts.quotes.recheck()
    await keep_bars(parts, PRICES)
    await parts.quotes.recheck()
    assert {symbol: coin.price for symbol, coin in parts.desk.view().items()} == PRICES


@pytest.mark.promise("quarantine.cold-start")
@pytest.mark.parametrize("factor", [10.0, 1.6, 0.1])
async def test_a_cold_start_on_forged_prices_accepts_none_of_them(parts: Parts, factor: float) -> None:
    await cold(parts, {coin: price * factor for coin, price in PRICES.items()})
    assert len(await parts.store.coins()) == len(PRICES)
    await keep_bars(parts, PRICES)
    await parts.quotes.recheck()
    await rounds(parts, 60)
    assert {coin.price for coin in parts.desk.view().values()} == {None}
    parts.venue.contexts = rows(PRICES)
    await rounds(parts, 15)
    assert {symbol: coin.price for symbol, coin in parts.desk.view().items()} == PRICES


async def test_a_recheck_ends_with_the_origin_and_with_the_age_of_the_answer(parts: Parts) -> None:
    await cold(parts, PRICES)
    await keep_bars(parts, PRICES)
    parts.origin = "tomorrow"
    await parts.quotes.recheck()
    parts.origin = "test"
    await parts.clock.advance(76)
    await parts.quotes.recheck()
    await parts.quotes.recheck()
    assert {coin.price for coin in parts.desk.view().values()} == {None}


@pytest.mark.parametrize("has_bars", [False, True])
async def test_a_coin_that_neither_bars_nor_the_second_venue_have_is_accepted_within_three_minutes(
    parts: Parts, *, has_bars: bool
) -> None:
    parts.history.asked_ms = START_MS if has_bars else None
    await cold(parts, {"NEW": 5.0})
    await rounds(parts, 135)
    assert parts.desk.view()["NEW"].price is None
    await rounds(parts, 15)
    assert parts.desk.view()["NEW"].price == (5.0 if has_bars else None)


async def test_a_new_coin_whose_ticker_is_another_asset_elsewhere_waits_for_its_first_bar(parts: Parts) -> None:
    parts.history.asked_ms = START_MS
    parts.fallback.agrees_with = None
    parts.fallback.shows = {"NEW": (90.0, None, 8.0)}
    parts.venue.contexts = rows({"NEW": 5.0})
    await rounds(parts, 300)
    assert parts.desk.view()["NEW"].price is None
    await keep_bars(parts, {"NEW": 5.1}, days=1)
    await parts.quotes.recheck()
    assert parts.desk.view()["NEW"].price == 5.0


async def test_each_coin_and_reason_is_logged_once_and_counted_each_time(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    await begin(parts)
    parts.venue.contexts["C7"]["markPx"] = repr(PRICES["C7"] * 10)
    with caplog.at_level(logging.WARNING, "verdict.market"):
        await rounds(parts, 60)
    logged = [told(record) for record in caplog.records if record.message.startswith("Quarantined")]
    assert logged == [("hyperliquid", "C7", field, "price-magnitude") for field in ("price", "funding")]
    report = parts.report.current.value
    assert report is not None
    since_ms = START_MS + 30 * SECOND_MS
    assert report.now == (
        QuarantinedValue("hyperliquid", "C7", "funding", RejectReason.PRICE_MAGNITUDE, since_ms),
        QuarantinedValue("hyperliquid", "C7", "price", RejectReason.PRICE_MAGNITUDE, since_ms),
    )
    parts.venue.contexts["C7"]["markPx"] = repr(PRICES["C7"] * 1.5)
    with caplog.at_level(logging.WARNING, "verdict.market"):
        await rounds(parts, 15)
    assert reasons(parts) == {RejectReason.PRICE_MOVED}
    report = parts.report.current.value
    assert report is not None
    assert {held.since_ms for held in report.now} == {since_ms}
    assert report.counts["hyperliquid price price-magnitude"] == 4
    assert report.counts["hyperliquid price price-moved"] == 1


def told(record: logging.LogRecord) -> tuple[Any, ...]:
    return tuple(record.__dict__[field] for field in ("source", "coin", "field", "reason"))


@pytest.mark.promise("quarantine.tickers")
async def test_odd_tickers_are_counted(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": row(5.0, 0), "b@d": row(5.0, 1)}
    await parts.quotes.round()
    parts.venue.contexts["BTC"]["funding"] = "0.5"
    await rounds(parts, 15)
    assert list(parts.desk.view()) == ["BTC"]
    report = parts.report.current.value
    assert report is not None
    assert report.counts["hyperliquid ticker ticker-invalid"] == 2
