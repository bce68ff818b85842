"""Quotes of real-world assets that cannot be true: held back, named stale, and accepted once something clears them."""

import pytest

from service.admin.doctor_checks import DOCUMENTS, check_quarantine
from service.clock import DAY_MS
from service.errors import ServiceError
from service.market.plausibility.rules import OLDEST_MS, SECOND_AGE_MS
from service.rwa.documents import QUARANTINE
from service.upstream.failures import UpstreamError
from service.wire.rwa import RwaAsset
from tests.fakes.clock import START_MS, FakeClock
from tests.market.venue import candle
from tests.rwa.parts import TODAY, Parts
from tests.upstream import faults

DOWN = faults.answer(400, b"closed")
ASSETS = 12
ROUND_S = 30
FIELDS = RwaAsset.__struct_fields__
PRICE_FIELDS = {"price", "change_24h", "open_interest_usd"}


def price_of(number: int) -> float:
    return 100.0 + number


def row(number: int, factor: float = 1.0) -> dict[str, str]:
    price = price_of(number)
    return {"markPx": str(price * factor), "prevDayPx": str(price), "openInterest": str(1_000 * 2**number)}


def trade(parts: Parts, numbers: range) -> None:
    """List assets on Binance, before it is asked which it has."""
    for number in numbers:
        parts.binance.trade(
            f"A{number}", str(price_of(number)), contractType="TRADIFI_PERPETUAL", underlyingType="EQUITY"
        )


def move_on_binance(parts: Parts, numbers: range, factor: float) -> None:
    for number in numbers:
        parts.binance.prices[f"A{number}USDT"] = str(price_of(number) * factor)


def show(parts: Parts, number: int, **fields: str) -> None:
    parts.dex.contexts[f"xyz:A{number}"] |= fields


async def advance(parts: Parts, seconds: float = ROUND_S) -> None:
    await parts.clock.advance(seconds)
    await parts.quotes.round()


def reasons(parts: Parts) -> set[tuple[str, str, str, str]]:
    report = parts.documents.quarantine.current.value
    return {(held.source, held.coin, held.field, str(held.reason)) for held in report.now} if report else set()


def prices(parts: Parts) -> dict[str, float | None]:
    current = parts.documents.quotes.current.value
    return {quote.symbol: quote.price for quote in current.quotes} if current else {}


@pytest.fixture
def listed(parts: Parts) -> Parts:
    """Twelve assets on the dex; nothing has been asked for yet."""
    for number in range(ASSETS):
        price = price_of(number)
        parts.dex.list_asset(f"A{number}", price=str(price), volume=str(1_000_000 * 2**number))
        show(parts, number, **row(number))
    return parts


@pytest.fixture
async def market(listed: Parts) -> Parts:
    """Those twelve, with accepted prices."""
    await listed.rounds()
    return listed


@pytest.mark.promise("quarantine.polled", "quarantine.magnitude")
@pytest.mark.parametrize("price", ["1010.0", "1e99", "0.5"])
async def test_an_impossible_price_is_held_back_and_the_last_accepted_one_is_named_stale(
    market: Parts, price: str
) -> None:
    show(market, 1, markPx=price)
    for _ in range(10):
        await advance(market)
    asset, other = market.told("A1"), market.told("A2")
    assert (asset.price, market.desk.symbol("A1").as_of_ms) == (101.0, START_MS)
    assert PRICE_FIELDS | {"funding"} <= set(asset._stale_fields)
    assert PRICE_FIELDS.isdisjoint(other._stale_fields)
    assert asset.change_24h == 26.25
    held = market.desk.readiness()["quarantined"]
    assert isinstance(held, dict)
    assert held["coins"] == ["A1"]
    assert (await market.database.write(check_quarantine)).said.find(" values quarantined: A1 ") == 1


def test_doctor_reads_the_document_of_real_world_assets() -> None:
    assert QUARANTINE in DOCUMENTS


@pytest.mark.promise("quarantine.rows")
async def test_two_swapped_assets_of_similar_price_are_never_each_other(market: Parts) -> None:
    contexts = market.dex.contexts
    contexts["xyz:A1"], contexts["xyz:A2"] = contexts["xyz:A2"], contexts["xyz:A1"]
    for _ in range(10):
        await advance(market)
    assert (market.told("A1").price, market.told("A2").price) == (101.0, 102.0)
    assert {"price", "funding", "volume_24h_usd"} <= set(market.told("A1")._stale_fields)
    assert ("hyperliquid", "A1", "price", "row-of-another-coin") in reasons(market)


@pytest.mark.promise("quarantine.rows")
async def test_a_shifted_table_counts_as_a_failure_and_the_second_venue_stands_in(listed: Parts) -> None:
    trade(listed, range(2))
    await listed.rounds()
    names, contexts = list(listed.dex.contexts), list(listed.dex.contexts.values())
    listed.dex.contexts = dict(zip(names, contexts[1:] + contexts[:1], strict=True))
    await advance(listed)
    assert (listed.told("A0").venue, listed.told("A0").price) == ("binance", 100.0)
    assert "price" not in listed.told("A0")._stale_fields
    assert (listed.told("A5").venue, listed.told("A5").price) == ("hyperliquid", 105.0)
    assert "price" in listed.told("A5")._stale_fields
    assert ("hyperliquid", "*", "answer", "coins-leaping") in reasons(listed)


@pytest.mark.promise("quarantine.universe")
async def test_an_answer_with_one_asset_of_twelve_is_a_failure_and_removes_none(market: Parts) -> None:
    contexts = market.dex.contexts
    market.dex.contexts = {"xyz:A1": contexts["xyz:A1"]}
    await market.clock.advance(3_600)
    for refresh in (market.quotes.round, market.listing.round):
        with pytest.raises(UpstreamError) as refused:
            await refresh()
        assert refused.value.body == "quarantined: coins-missing"
    assert reasons(market) == {("hyperliquid", "*", "answer", "coins-missing")}
    assert (len(market.listed()), len(prices(market))) == (ASSETS, ASSETS)
    market.dex.contexts = contexts
    await advance(market)
    assert reasons(market) == set()
    assert "price" not in market.told("A1")._stale_fields


@pytest.mark.promise("quarantine.universe")
async def test_an_asset_that_an_answer_lacks_stays_and_ages(market: Parts) -> None:
    del market.dex.contexts["xyz:A1"]
    await advance(market)
    assert (market.told("A1").price, "price" in market.told("A1")._stale_fields) == (101.0, True)
    await market.clock.advance(3_600)
    await market.listing.round()
    assert "xyz:A1" in market.listed()
    await advance(market, OLDEST_MS / 1_000)
    assert prices(market).keys() == {f"A{number}" for number in range(ASSETS) if number != 1}


@pytest.mark.promise("quarantine.delisting")
async def test_an_asset_is_delisted_once_it_was_flagged_for_an_hour(market: Parts) -> None:
    market.dex.delisted.add("xyz:A1")
    for is_listed in (True, False):
        await market.clock.advance(3_600)
        await market.listing.round()
        assert ("xyz:A1" in market.listed()) is is_listed


@pytest.mark.promise("quarantine.listing")
async def test_a_new_asset_is_told_once_two_answers_named_it_and_listed_after_that(market: Parts) -> None:
    market.dex.list_asset("NEW", price="50.0")
    await market.clock.advance(3_600)
    await market.listing.round()
    assert "xyz:NEW" not in market.listed()
    await market.quotes.round()
    assert "NEW" not in prices(market)
    await advance(market)
    assert "NEW" in prices(market)
    await market.clock.advance(3_600)
    await market.listing.round()
    assert "xyz:NEW" in market.listed()


async def test_many_new_assets_at_once_are_told_within_three_minutes(market: Parts) -> None:
    for number in range(4):
        market.dex.list_asset(f"NEW{number}", price="50.0")
    for _ in range(5):
        await advance(market)
        assert len(prices(market)) == ASSETS
    await advance(market)
    assert len(prices(market)) == ASSETS + 4


async def test_a_new_asset_never_takes_the_ticker_of_a_known_one(market: Parts) -> None:
    market.dex.contexts = {"xyz:a1": dict(market.dex.contexts["xyz:A1"])} | market.dex.contexts
    for _ in range(3):
        await advance(market)
    current = market.documents.quotes.current.value
    assert current is not None
    assert [quote.venue_symbol for quote in current.quotes if quote.symbol == "A1"] == ["xyz:A1"]


@pytest.mark.promise("quarantine.tickers")
async def test_odd_tickers_are_dropped_and_counted(market: Parts) -> None:
    market.dex.list_asset("A-1; DROP", price="50.0")
    for _ in range(3):
        await advance(market)
    report = market.documents.quarantine.current.value
    assert report is not None
    assert report.counts["hyperliquid ticker ticker-invalid"] >= 1
    assert len(prices(market)) == ASSETS


@pytest.mark.promise("quarantine.funding")
async def test_funding_of_five_hundred_percent_is_held_back_alone_and_for_ever(market: Parts) -> None:
    show(market, 1, funding="5.0")
    for _ in range(10):
        await advance(market)
    asset = market.told("A1")
    assert asset.funding.rate == 0.0000125
    assert "funding" in asset._stale_fields
    assert PRICE_FIELDS.isdisjoint(asset._stale_fields)
    assert reasons(market) == {("hyperliquid", "A1", "funding", "funding-cap")}


@pytest.mark.promise("quarantine.stale-fields")
@pytest.mark.parametrize(
    ("shown", "named"),
    [
        ({"dayNtlVlm": "1.0"}, "volume_24h_usd"),
        ({"openInterest": "1e30"}, "open_interest_usd"),
    ],
)
async def test_a_size_that_is_held_back_keeps_its_value_and_is_named(
    market: Parts, shown: dict[str, str], named: str
) -> None:
    before, honest = market.told("A1"), dict(market.dex.contexts["xyz:A1"])
    show(market, 1, **shown)
    await advance(market)
    asset = market.told("A1")
    assert asset._stale_fields == [*sorted({*before._stale_fields, named}, key=list(FIELDS).index)]
    assert getattr(asset, named) == getattr(before, named)
    show(market, 1, **honest)
    await advance(market)
    assert market.told("A1")._stale_fields == before._stale_fields


@pytest.mark.promise("quarantine.recovery-two")
async def test_a_real_crash_is_accepted_in_the_same_round_when_two_venues_agree(listed: Parts) -> None:
    trade(listed, range(3))
    await listed.rounds()
    move_on_binance(listed, range(3), 0.7)
    for number in range(3):
        show(listed, number, markPx=str(price_of(number) * 0.7))
    await advance(listed)
    assert listed.told("A1").price == pytest.approx(70.7)
    assert {"price", "funding"}.isdisjoint(listed.told("A1")._stale_fields)
    assert reasons(listed) == set()


@pytest.mark.promise("quarantine.recovery-one")
async def test_a_level_that_only_the_dex_reports_is_accepted_within_three_minutes(market: Parts) -> None:
    show(market, 1, markPx="70.7")
    for _ in range(5):
        await advance(market)
        assert market.told("A1").price == 101.0
    await advance(market)
    assert market.told("A1").price == 70.7
    assert "price" not in market.told("A1")._stale_fields


@pytest.mark.promise("plausibility.slow-drift")
async def test_an_asset_that_slowly_drifts_away_from_binance_is_held_back(listed: Parts) -> None:
    trade(listed, range(3))
    await listed.rounds()
    for number in range(1, 8):
        show(listed, 1, markPx=str(101.0 * 1.01**number))
        await advance(listed)
    assert listed.told("A1").price == pytest.approx(101.0, rel=0.041)
    assert "price" in listed.told("A1")._stale_fields
    assert ("hyperliquid", "A1", "price", "price-second-venue") in reasons(listed)
    show(listed, 1, markPx="101.0")
    await advance(listed)
    assert "price" not in listed.told("A1")._stale_fields


async def test_a_level_that_binance_contradicts_is_not_accepted_by_time(listed: Parts) -> None:
    trade(listed, range(3))
    await listed.rounds()
    show(listed, 1, markPx="70.7")
    for _ in range(12):
        await advance(listed)
    assert listed.told("A1").price == 101.0


@pytest.mark.promise("quarantine.second-venue")
async def test_of_binance_a_single_wrong_price_does_not_stand_in(listed: Parts) -> None:
    trade(listed, range(4))
    await listed.rounds()
    move_on_binance(listed, range(1, 2), 1.2)
    listed.dex.faults.next = DOWN
    await advance(listed)
    assert (listed.told("A1").venue, listed.told("A1").price) == ("hyperliquid", 101.0)
    assert "price" in listed.told("A1")._stale_fields
    assert (listed.told("A2").venue, listed.told("A2").price) == ("binance", 102.0)
    assert ("binance", "A1", "price", "price-moved") in reasons(listed)


@pytest.mark.promise("quarantine.second-venue")
@pytest.mark.parametrize("numbers", [range(1), range(5)], ids=["one", "many"])
async def test_a_binance_that_shows_only_wrong_prices_does_not_stand_in(listed: Parts, numbers: range) -> None:
    trade(listed, numbers)
    await listed.rounds()
    move_on_binance(listed, numbers, 1.2)
    listed.dex.faults.next = DOWN
    with pytest.raises(UpstreamError, match="hyperliquid"):
        await advance(listed)
    assert (listed.told("A0").venue, listed.told("A0").price) == ("hyperliquid", 100.0)
    assert listed.desk.readiness()["failing"] is True


@pytest.mark.promise("quarantine.second-venue")
async def test_a_binance_whose_prices_are_mostly_of_other_assets_does_not_stand_in(listed: Parts) -> None:
    trade(listed, range(5))
    await listed.rounds()
    move_on_binance(listed, range(4), 10.0)
    listed.dex.faults.next = DOWN
    with pytest.raises(UpstreamError, match="hyperliquid"):
        await advance(listed)
    assert {listed.told(f"A{number}").venue for number in range(5)} == {"hyperliquid"}


@pytest.mark.promise("quarantine.cold-start")
async def test_on_a_cold_start_a_price_is_unknown_until_binance_or_bars_confirm_it(listed: Parts) -> None:
    trade(listed, range(1))
    await listed.listing.round()
    await listed.quotes.round()
    assert listed.told("A0").price == 100.0
    with pytest.raises(ServiceError):
        listed.desk.symbol("A1")
    await listed.quotes.recheck()
    assert prices(listed)["A1"] is None
    await listed.bars.round()
    await listed.quotes.recheck()
    assert listed.told("A1").price == 101.0
    assert "price" not in listed.told("A1")._stale_fields
    assert reasons(listed) == set()


@pytest.mark.promise("quarantine.cold-start")
async def test_a_first_answer_before_the_listing_is_judged_once_binance_can_be_asked(listed: Parts) -> None:
    trade(listed, range(1))
    await listed.quotes.round()
    await listed.quotes.recheck()
    assert (prices(listed)["A0"], listed.binance.asked) == (None, [])
    await listed.listing.round()
    await listed.quotes.recheck()
    assert listed.told("A0").price == 100.0


@pytest.mark.promise("quarantine.cold-start")
async def test_a_cold_start_on_forged_prices_accepts_none_of_them(listed: Parts) -> None:
    trade(listed, range(2))
    for number in range(ASSETS):
        show(listed, number, markPx=str(price_of(number) * 10))
    await listed.listing.round()
    await listed.quotes.round()
    await listed.bars.round()
    await listed.quotes.recheck()
    assert set(prices(listed).values()) == {None}
    for _ in range(10):
        with pytest.raises(UpstreamError, match="hyperliquid"):
            await advance(listed)
    assert set(prices(listed).values()) == {None}


@pytest.mark.slow
async def test_an_asset_without_bars_is_accepted_within_three_minutes_once_bars_were_asked_for(listed: Parts) -> None:
    listed.dex.candles["xyz:A1"] = []
    await listed.listing.round()
    for _ in range(9):
        await advance(listed)
    assert prices(listed)["A1"] is None
    await listed.bars.round()
    for _ in range(8):
        await advance(listed)
    assert listed.told("A1").price == 101.0


async def test_a_recheck_ends_with_the_history_and_with_the_age_of_the_answer(listed: Parts, clock: FakeClock) -> None:
    await listed.quotes.recheck()
    await listed.listing.round()
    await listed.quotes.round()
    await listed.bars.round()
    listed.origin = "tomorrow"
    await listed.quotes.recheck()
    assert prices(listed)["A1"] is None
    listed.origin = "test"
    await clock.advance(SECOND_AGE_MS / 1_000 + 1)
    await listed.quotes.recheck()
    assert prices(listed)["A1"] is None
    await listed.quotes.round()
    assert listed.told("A1").price == 101.0


async def test_bars_of_the_next_day_are_compared_with_as_they_come(market: Parts, clock: FakeClock) -> None:
    for number in range(ASSETS):
        coin, close = f"xyz:A{number}", price_of(number)
        market.dex.candles[coin].append(candle(coin, TODAY, close, close, close, close))
    await clock.advance(DAY_MS / 1_000)
    await market.bars.round()
    await market.quotes.round()
    assert "price" not in market.told("A1")._stale_fields
