"""Binance in Hyperliquid's place: the same coin by ticker and unit, vouched for by its price, or nothing at all."""

import logging
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS
from service.market.fallback import BinanceFallback, SecondVenueApi, coins_of
from service.market.models import Quote
from service.market.plausibility.quotes import SecondQuote, is_same_asset
from service.market.sources.binance import CONFIRM_S, Binance, Contract
from service.upstream.failures import UpstreamError
from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import START_MS, FakeClock
from tests.market.binance_venue import BinanceVenue, kline, open_binance
from tests.upstream import faults

DAY = START_MS // DAY_MS * DAY_MS


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def venue(clock: FakeClock) -> AsyncIterator[BinanceVenue]:
    async with open_binance(clock) as opened:
        yield opened


@pytest.fixture
async def session(venue: BinanceVenue, clock: FakeClock) -> AsyncIterator[UpstreamSession]:
    async with open_session("binance", venue.url, clock, weight_per_minute=1_000_000, deadline_s=20) as opened:
        yield opened


@pytest.fixture
def fallback(session: UpstreamSession, clock: FakeClock) -> BinanceFallback:
    return BinanceFallback(session, clock)


def known(price: float | None = 100.0, symbol: str = "BTC", age_ms: int = 60_000) -> dict[str, Quote]:
    at_ms = None if price is None else START_MS - age_ms
    quote = Quote(symbol, symbol, 7.0, price, at_ms, 0.00001, START_MS - age_ms, open_interest=3.0, prev_price=99.0)
    return {symbol: quote}


def test_it_is_what_the_market_room_asks(fallback: BinanceFallback) -> None:
    port: SecondVenueApi = fallback
    assert port.name == "binance"


@pytest.mark.promise("risk.fall-back-venue")
async def test_a_coin_is_told_with_its_venue_and_funding_by_the_hour(
    venue: BinanceVenue, fallback: BinanceFallback
) -> None:
    venue.trade("BTC", "100.5", "-0.00032000")
    assert await fallback.quotes(known()) == [
        Quote(
            venue_symbol="BTC",
            symbol="BTC",
            volume_usd=5_000.5,
            price=100.5,
            price_ms=START_MS,
            funding=-0.00004,
            funding_ms=START_MS,
            open_interest=None,
            prev_price=80.0,
            venue="binance",
            interval_hours=8.0,
        )
    ]


async def test_funding_is_spread_over_the_contracts_own_interval(
    venue: BinanceVenue, fallback: BinanceFallback
) -> None:
    venue.trade("BTC", "100.0", "0.00010000")
    venue.hours = {"BTCUSDT": 4}
    (quote,) = await fallback.quotes(known())
    assert (quote.funding, quote.interval_hours) == (0.000025, 4.0)


async def test_funding_it_does_not_tell_keeps_its_last_value_and_time(
    venue: BinanceVenue, fallback: BinanceFallback
) -> None:
    venue.trade("BTC", "100.0", "")
    venue.silent = {"ticker/24hr"}
    (quote,) = await fallback.quotes(known())
    assert (quote.funding, quote.funding_ms, quote.interval_hours) == (0.00001, START_MS - 60_000, 1.0)
    assert (quote.volume_usd, quote.prev_price) == (7.0, None)


async def test_coins_it_lacks_are_not_in_its_answer(venue: BinanceVenue, fallback: BinanceFallback) -> None:
    venue.trade("BTC", "100.0")
    venue.trade("ETH", "100.0")
    del venue.prices["ETHUSDT"]
    shown = await fallback.quotes(known() | known(symbol="ETH") | known(symbol="HYPE"))
    assert [quote.symbol for quote in shown] == ["BTC"]


@pytest.mark.parametrize(
    ("price", "age_ms", "believed"),
    [
        (100.0, 60_000, True),
        (125.6, 60_000, False),
        (125.5, 60_000, True),
        (80.4, 60_000, True),
        (80.3, 60_000, False),
        (100.0, DAY_MS, True),
        (100.0, DAY_MS + 1, False),
        (None, 0, False),
    ],
)
async def test_only_a_price_of_the_last_day_within_a_quarter_vouches(
    venue: BinanceVenue, fallback: BinanceFallback, price: float | None, age_ms: int, *, believed: bool
) -> None:
    venue.trade("BTC", "100.4")
    assert bool(await fallback.quotes(known(price, age_ms=age_ms))) is believed


async def test_another_asset_of_the_same_ticker_is_logged_once_and_never_used(
    venue: BinanceVenue, fallback: BinanceFallback, caplog: pytest.LogCaptureFixture
) -> None:
    venue.trade("ACE", "3.5")
    venue.klines["ACEUSDT", "1d"] = [kline(DAY - DAY_MS, 3.5, DAY_MS)]
    with caplog.at_level(logging.WARNING, "verdict.market"):
        for _ in range(3):
            assert await fallback.quotes(known(0.6, "ACE")) == []
    assert [(record.message, record.__dict__["contract"]) for record in caplog.records] == [
        ("Contract ignored: another asset has the same ticker.", "ACEUSDT")
    ]
    assert await fallback.daily_bars("ACE", DAY - DAY_MS) is None


async def test_a_coin_that_turns_out_to_be_another_loses_its_bars(
    venue: BinanceVenue, fallback: BinanceFallback, clock: FakeClock
) -> None:
    venue.trade("BTC", "100.0")
    venue.klines["BTCUSDT", "1d"] = [kline(DAY - n * DAY_MS, 100.0, DAY_MS) for n in (2, 1, 0)]
    assert await fallback.daily_bars("BTC", DAY - 2 * DAY_MS) is None
    await fallback.quotes(known())
    provisional = await fallback.daily_bars("BTC", DAY - 2 * DAY_MS)
    assert provisional is not None
    assert (provisional.bars, provisional.provisional) == ([], 2)
    await clock.advance(CONFIRM_S)
    history = await fallback.daily_bars("BTC", DAY - 2 * DAY_MS)
    assert history is not None
    assert [bar.open_ms for bar in history.bars] == [DAY - 2 * DAY_MS, DAY - DAY_MS]
    clock.set_wall(START_MS + HOUR_MS + 1)
    await fallback.quotes(known(10.0, age_ms=0))
    assert await fallback.daily_bars("BTC", DAY - 2 * DAY_MS) is None


@pytest.mark.parametrize("path", ["exchangeInfo", "fundingInfo", "premiumIndex"])
async def test_without_a_usable_answer_it_says_so(venue: BinanceVenue, fallback: BinanceFallback, path: str) -> None:
    venue.trade("BTC", "100.0")
    venue.silent = {path}
    with pytest.raises(UpstreamError) as refused:
        await fallback.quotes(known())
    assert (refused.value.upstream, refused.value.upstream_status) == ("binance", 400)


async def test_a_region_it_does_not_serve_is_left_alone(venue: BinanceVenue, fallback: BinanceFallback) -> None:
    venue.faults.next = faults.answer(451, b'{"code":0,"msg":"Service unavailable from a restricted location"}')
    for _ in range(10):
        with pytest.raises(UpstreamError) as refused:
            await fallback.quotes(known())
        assert refused.value.upstream_status == 451
    assert len(venue.asked) == 1


@pytest.mark.parametrize(
    ("base", "kind", "underlying", "ticker"),
    [
        ("BTC", "PERPETUAL", "COIN", "BTC"),
        ("PEPE", "PERPETUAL", "COIN", "PEPE"),
        ("1000", "PERPETUAL", "COIN", "1000"),
        ("KAS", "PERPETUAL", "COIN", "KAS"),
        ("BTC", "CURRENT_QUARTER", "COIN", None),
        ("BTCDOM", "PERPETUAL", "INDEX", None),
        ("AAPL", "TRADIFI_PERPETUAL", "EQUITY", None),
    ],
)
def test_contracts_are_found_by_ticker(base: str, kind: str, underlying: str, ticker: str | None) -> None:
    contract = Contract(f"{base}USDT", base, kind, underlying, 8.0)
    assert coins_of({contract.symbol: contract}) == ({ticker: contract} if ticker else {})


prices = st.floats(min_value=1e-9, max_value=1e9)


@given(prices, prices)
def test_agreement_does_not_depend_on_who_is_asked_first(one: float, other: float) -> None:
    assert is_same_asset(one, other) is is_same_asset(other, one)
    assert is_same_asset(one, one)
    assert not is_same_asset(one, one * 1.2501)


async def test_a_contract_that_was_vouched_for_stays_the_same_asset_for_an_hour(
    venue: BinanceVenue, fallback: BinanceFallback, clock: FakeClock
) -> None:
    venue.trade("BTC", "100.0")
    await fallback.quotes(known())
    venue.prices["BTCUSDT"] = "60.0"
    for elapsed_ms, count in ((HOUR_MS, 1), (HOUR_MS + 1, 0)):
        clock.set_wall(START_MS + elapsed_ms)
        assert len(await fallback.quotes(known())) == count


async def test_prices_to_compare_with_are_told_of_every_coin_it_has(
    venue: BinanceVenue, fallback: BinanceFallback
) -> None:
    venue.trade("BTC", "100.0", "0.00080000")
    venue.trade("ETH", "3.0", "")
    venue.trade("OLD", "3.0")
    del venue.prices["OLDUSDT"]
    assert await fallback.prices() == {
        "BTC": SecondQuote(100.0, 0.0001, START_MS, 5000.5),
        "ETH": SecondQuote(3.0, None, START_MS, 5000.5),
    }


def test_nothing_is_asked_before_it_is_needed(venue: BinanceVenue, fallback: BinanceFallback) -> None:
    assert isinstance(fallback._source, Binance)
    assert venue.asked == []


async def test_an_answer_in_which_many_coins_leap_is_refused_whole(
    venue: BinanceVenue, fallback: BinanceFallback
) -> None:
    for place, base in enumerate(("BTC", "ETH", "SOL", "XRP")):
        venue.trade(base, "100.0" if place == 3 else "900.0")
    coins = known() | known(symbol="ETH") | known(symbol="SOL") | known(symbol="XRP")
    with pytest.raises(UpstreamError, match="binance") as refused:
        await fallback.quotes(coins)
    assert b"coins-leaping" in refused.value.body.encode()
