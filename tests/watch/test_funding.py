"""What is said of the funding of all coins."""

import pytest

from service.clock import HOUR_MS
from service.market.models import CoinView
from service.watch.snapshots import LastPayments, funding_state, temperature
from tests.watch.streaming import Process

AN_HOUR = 1 / (24 * 365 * 100)
"""One percent a year as the fraction paid an hour."""


def view(symbol: str, apr: float | None, venue: str = "hyperliquid") -> CoinView:
    return CoinView(
        symbol=symbol.upper(), venue_symbol=symbol, venue=venue, price=None, price_ms=None, change_24h=None,
        volume_usd=0.0, open_interest_usd=None, funding_apr=apr, funding_ms=None if apr is None else 0,
        interval_hours=1.0, trend_daily=None, trend_daily_since_ms=None, trend_weekly=None,
        trend_weekly_since_ms=None, btc_correlation=None, through_ms=None,
    )  # fmt: skip


def views(**aprs: float | None) -> dict[str, CoinView]:
    return {symbol.upper(): view(symbol, apr) for symbol, apr in aprs.items()}


@pytest.mark.parametrize(
    ("apr", "name"),
    [(21.91, "hot"), (21.9, "warm"), (10.96, "warm"), (10.95, "neutral"), (0.0, "neutral"), (-0.01, "cool"),
     (-10.95, "cool"), (-10.96, "cold")],
)  # fmt: skip
def test_a_mean_rate_is_named_by_the_resting_rate(apr: float, name: str) -> None:
    assert temperature(apr) == name


def test_the_market_is_the_mean_of_all_known_rates_and_how_many_pay_and_are_paid() -> None:
    market = funding_state(views(A=10.0, B=-4.0, C=0.0, D=None), {}).market
    assert (market.avgApr, market.temperature) == (2.0, "neutral")
    assert (market.positive, market.negative, market.total) == (1, 1, 3)


def test_a_market_without_a_rate_has_no_mean() -> None:
    market = funding_state(views(A=None), {}).market
    assert (market.avgApr, market.temperature, market.total) == (None, None, 0)


def test_movers_come_by_the_size_of_their_change_then_by_name_ten_at_the_most() -> None:
    names = "ABCDEFGHIJKL"
    moved = funding_state(views(**dict.fromkeys(names, 10.0), Z=-5.0), {**dict.fromkeys(names, 9.0), "Z": 1.0}).movers
    assert [mover.symbol for mover in moved] == ["Z", *"ABCDEFGHI"]
    assert (moved[0].funding_apr, moved[0].change_1h, moved[1].change_1h) == (-5.0, -6.0, 1.0)


def test_who_stands_still_is_unpaid_unknown_or_told_by_another_venue_does_not_move() -> None:
    shown = views(A=10.0, B=10.0, C=None) | {"D": view("D", 10.0, "binance")}
    assert funding_state(shown, {"A": 10.00001, "C": 1.0, "D": 1.0}).movers == []


async def test_what_was_last_paid_is_read_once_a_minute_and_no_older_than_two_hours(leader: Process) -> None:
    paid = LastPayments(leader.clock, leader.series)
    coins = ["BTC", "ETH"]
    await leader.pay("BTC", 5 * AN_HOUR, ago_ms=2 * HOUR_MS - 1_000)
    await leader.pay("BTC", 7 * AN_HOUR, ago_ms=HOUR_MS)
    await leader.pay("ETH", 9 * AN_HOUR, ago_ms=2 * HOUR_MS + 1)
    assert await paid.aprs("one", coins) == {"BTC": 7.0}
    await leader.pay("BTC", 11 * AN_HOUR, ago_ms=0)
    await leader.clock.advance(59)
    assert await paid.aprs("one", coins) == {"BTC": 7.0}
    assert await paid.aprs("another", coins) == {"BTC": 11.0}
    await leader.clock.advance(60)
    assert await paid.aprs("another", coins) == {"BTC": 11.0}


async def test_on_a_wall_clock_that_stands_still_payments_come_to_be_known_all_the_same(leader: Process) -> None:
    paid = LastPayments(leader.clock, leader.series)
    assert await paid.aprs("one", ["BTC"]) == {}
    await leader.pay("BTC", 7 * AN_HOUR)
    at_ms = leader.clock.now_ms()
    await leader.clock.advance(60)
    leader.clock.set_wall(at_ms)
    assert await paid.aprs("one", ["BTC"]) == {"BTC": 7.0}
