"""Rounds of listing and quotes: what comes, what stays, who stands in, and what is noted when nobody does."""

import logging

import pytest

from service.clock import DAY_MS
from service.errors import ServiceError
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS, FakeClock
from tests.market.venue import context
from tests.rwa.parts import Coin, Parts
from tests.upstream import faults

DOWN = faults.answer(400, b"closed")


@pytest.fixture
def market(parts: Parts) -> Parts:
    parts.dex.list_asset("AAPL", price="213.9", volume="7.0", displayName="Apple")
    parts.dex.list_asset("GOLD", "commodities", price="3337.0", volume="9.0")
    parts.dex.list_asset("EUR", "fx", price="1.17", volume="3.0")
    parts.dex.list_asset("HYPE", "stocks", price="42.8")
    parts.dex.list_asset("NEW", None)
    parts.coins["HYPE"] = Coin(42.9)
    parts.binance.trade("AAPL", "214.1", "0.00008000", contractType="TRADIFI_PERPETUAL", underlyingType="EQUITY")
    parts.binance.trade("XAU", "3336.0", "0.00004000", contractType="TRADIFI_PERPETUAL", underlyingType="COMMODITY")
    parts.binance.hours = {"XAUUSDT": 4}
    return parts


@pytest.mark.promise("rwa.no-wrappers", "assets.lists")
async def test_the_listing_holds_what_is_annotated_and_no_wrapper(
    market: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "verdict.rwa"):
        await market.listing.round()
    assert market.listed() == ["xyz:GOLD", "xyz:AAPL", "xyz:EUR"]
    (record,) = caplog.records
    assert record.__dict__["assets"] == ["xyz:HYPE (stocks)", "xyz:NEW (not annotated)"]
    with pytest.raises(ServiceError):
        market.desk.symbol("HYPE")


async def test_the_listing_is_read_once_an_hour_and_what_it_leaves_out_is_logged_once(
    market: Parts, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "verdict.rwa"):
        for _ in range(13):
            await market.listing.round()
            await clock.advance(600)
    assert market.asked().count("perpConciseAnnotations") == 3
    assert len(caplog.records) == 1


async def test_the_listing_waits_for_the_coins_that_tell_a_wrapper(market: Parts) -> None:
    market.coins.clear()
    await market.listing.round()
    assert market.asked() == []


async def test_another_history_is_listed_at_once(market: Parts) -> None:
    await market.listing.round()
    market.origin = "tomorrow"
    await market.listing.round()
    assert market.documents.listing.current.origin == "tomorrow"


async def test_a_listing_that_fails_or_says_nothing_leaves_the_last_one(market: Parts, clock: FakeClock) -> None:
    await market.listing.round()
    await clock.advance(3_600)
    market.dex.faults.next = DOWN
    with pytest.raises(UpstreamError):
        await market.listing.round()
    market.dex.faults.next = None
    market.dex.notes.clear()
    with pytest.raises(UpstreamError, match="status 200"):
        await market.listing.round()
    assert len(market.listed()) == 3
    assert market.documents.listing.current.failure is not None
    assert market.documents.listing.current.failure.body == "No real-world asset is annotated."


async def test_quotes_are_told_as_the_venue_shows_them(market: Parts) -> None:
    await market.rounds()
    gold = market.told("gold")
    assert (gold.price, gold.change_24h, gold.open_interest_usd) == (3_337.0, 4_071.25, 10_011.0)
    assert (gold.funding.rate, gold.funding.interval_hours, gold.funding.apr) == (0.0000125, 1.0, 10.95)
    assert (gold.venue, gold.assetType, gold._stale_fields) == ("hyperliquid", "metal", ["trend_daily", "trend_weekly"])


async def test_what_an_answer_lacks_keeps_its_last_value_and_is_named(market: Parts, clock: FakeClock) -> None:
    await market.rounds()
    await clock.advance(30)
    market.dex.contexts["xyz:AAPL"] |= {"markPx": None, "funding": "0.0001"}
    market.dex.contexts["xyz:EUR"] |= {"markPx": "1.2", "funding": None}
    await market.quotes.round()
    apple, euro = market.told("AAPL"), market.told("EUR")
    assert (apple.price, apple.funding.rate) == (213.9, 0.0001)
    assert {"price", "change_24h"} <= set(apple._stale_fields)
    assert "funding" not in apple._stale_fields
    assert (euro.price, euro.funding.rate) == (1.2, 0.0000125)
    assert "funding" in euro._stale_fields
    assert "price" not in euro._stale_fields
    assert market.desk.symbol("AAPL").as_of_ms == START_MS


async def test_the_quote_of_an_asset_that_is_no_longer_traded_ages_until_it_is_gone(
    market: Parts, clock: FakeClock
) -> None:
    await market.rounds()
    await clock.advance(30)
    market.dex.delisted.add("xyz:EUR")
    await market.quotes.round()
    assert (market.told("EUR").price, {"price", "funding"} <= set(market.told("EUR")._stale_fields)) == (1.17, True)
    await clock.advance(601)
    await market.quotes.round()
    with pytest.raises(ServiceError) as gone:
        market.desk.symbol("EUR")
    assert gone.value.code == "UPSTREAM_5XX"


@pytest.mark.promise("risk.fall-back-venue")
async def test_while_the_first_venue_fails_binance_tells_what_it_has_and_is_named(
    market: Parts, clock: FakeClock
) -> None:
    await market.rounds()
    await clock.advance(30)
    market.dex.faults.next = DOWN
    await market.quotes.round()
    apple, gold, euro = (market.told(symbol) for symbol in ("AAPL", "GOLD", "EUR"))
    assert (apple.venue, apple.price) == ("binance", 214.1)
    assert (apple.funding.rate, apple.funding.interval_hours, apple.funding.apr) == (0.00008, 8.0, 8.76)
    assert (gold.venue, gold.price, gold.funding.interval_hours, gold.funding.apr) == ("binance", 3_336.0, 4.0, 8.76)
    assert (apple.open_interest_usd, apple.volume_24h_usd) == (None, 5_000.5)
    assert apple._stale_fields == ["trend_daily", "trend_weekly", "open_interest_usd"]
    assert (euro.venue, euro.price) == ("hyperliquid", 1.17)
    assert {"price", "funding", "volume_24h_usd"} <= set(euro._stale_fields)
    await clock.advance(30)
    market.dex.faults.next = None
    await market.quotes.round()
    assert (market.told("AAPL").venue, market.told("AAPL").price) == ("hyperliquid", 213.9)


async def test_a_price_stays_its_venues_while_the_first_one_is_back_without_it(market: Parts, clock: FakeClock) -> None:
    await market.rounds()
    market.dex.faults.next = DOWN
    await market.quotes.round()
    await clock.advance(30)
    market.dex.faults.next = None
    market.dex.contexts["xyz:AAPL"] = context(None, "0.0001")
    await market.quotes.round()
    apple = market.told("AAPL")
    assert (apple.venue, apple.price, apple.funding.interval_hours) == ("binance", 214.1, 1.0)
    assert "price" in apple._stale_fields


async def test_funding_stays_by_its_venues_hours_while_the_first_one_is_back_without_it(market: Parts) -> None:
    await market.rounds()
    market.dex.faults.next = DOWN
    await market.quotes.round()
    market.dex.faults.next = None
    market.dex.contexts["xyz:AAPL"] = context("213.9", None)
    await market.quotes.round()
    apple = market.told("AAPL")
    assert (apple.funding.rate, apple.funding.interval_hours, apple.funding.apr) == (0.00008, 8.0, 8.76)


@pytest.mark.parametrize("theirs", ["1700.0", "40.0"])
async def test_a_contract_at_another_price_does_not_stand_in(market: Parts, theirs: str) -> None:
    await market.rounds()
    market.dex.faults.next = DOWN
    market.binance.prices["AAPLUSDT"] = theirs
    await market.quotes.round()
    assert (market.told("AAPL").venue, market.told("AAPL").price) == ("hyperliquid", 213.9)


@pytest.mark.parametrize(
    "fields",
    [
        {"contractType": "PERPETUAL", "underlyingType": "COIN"},
        {"contractType": "TRADIFI_PERPETUAL", "underlyingType": "PREMARKET"},
        {"contractType": "TRADIFI_PERPETUAL", "underlyingType": "COMMODITY"},
    ],
)
async def test_only_a_contract_of_the_same_kind_stands_in(market: Parts, fields: dict[str, str]) -> None:
    market.binance.contracts[0] |= fields
    await market.rounds()
    market.dex.faults.next = DOWN
    await market.quotes.round()
    assert market.told("AAPL").venue == "hyperliquid"
    assert market.told("GOLD").venue == "binance"


async def test_when_both_fail_the_first_ones_failure_is_told_once_nothing_is_left(
    market: Parts, clock: FakeClock
) -> None:
    await market.rounds()
    market.dex.faults.next = DOWN
    market.binance.faults.next = faults.answer(451, b"not here")
    with pytest.raises(UpstreamError) as refused:
        await market.quotes.round()
    assert refused.value.upstream == "hyperliquid"
    assert {"price", "funding"} <= set(market.told("AAPL")._stale_fields)
    await clock.advance(601)
    with pytest.raises(ServiceError) as gone:
        market.desk.symbol("AAPL")
    assert (gold := gone.value.details) is not None
    assert (gold["upstream"], gold["upstreamStatus"], gold["upstreamBody"]) == ("hyperliquid", 400, "closed")


async def test_nobody_stands_in_for_what_was_never_known_or_is_of_yesterday(market: Parts, clock: FakeClock) -> None:
    market.dex.faults.next = DOWN
    with pytest.raises(UpstreamError):
        await market.quotes.round()
    assert market.binance.asked == []
    market.dex.faults.next = None
    await market.rounds()
    await clock.advance(DAY_MS / 1000 + 1)
    market.dex.faults.next = DOWN
    with pytest.raises(UpstreamError):
        await market.quotes.round()


async def test_quotes_known_before_the_listing_find_no_substitute(market: Parts) -> None:
    await market.quotes.round()
    market.dex.faults.next = DOWN
    with pytest.raises(UpstreamError):
        await market.quotes.round()


async def test_values_of_another_history_are_not_carried_over(market: Parts, clock: FakeClock) -> None:
    await market.rounds()
    await clock.advance(30)
    market.origin = "tomorrow"
    market.dex.contexts["xyz:AAPL"] = context(None, "0.0001")
    await market.quotes.round()
    assert market.told("AAPL").price is None


async def test_an_answer_that_comes_while_the_history_changes_belongs_to_neither(market: Parts) -> None:
    histories = iter(["test", "tomorrow", "test", "tomorrow"])
    for refresh in (market.listing, market.quotes):
        refresh._origin = lambda: next(histories)
    await market.listing.round()
    await market.quotes.round()
    assert (market.documents.listing.current.value, market.documents.quotes.current.value) == (None, None)
