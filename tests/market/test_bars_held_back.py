"""Forged bars of a history are held back and named, and the coin has its price and the bars before them."""

from collections.abc import Callable

import pytest

from service.clock import SECOND_MS
from service.market.ingest.candles import FIRST_WAIT_S
from service.market.models import Bar
from service.market.plausibility.rules import BARS_PERSISTENCE_MS, RejectReason
from tests.market.parts import TODAY, Parts
from tests.market.venue import Candle, candle

DAYS = range(TODAY - 60, TODAY + 1)
Forge = Callable[[list[Candle]], None]


def times(place: int, factor: float, fields: str = "ohlc") -> Forge:
    """Multiply fields of one bar; -2 is the last closed one."""

    def forge(bars: list[Candle]) -> None:
        bars[place] |= {field: repr(float(bars[place][field]) * factor) for field in fields}

    return forge


def flat(coin: str) -> list[Candle]:
    """A coin that moves by a percent, up and down."""
    closes = {day: 100.0 + day % 2 for day in (DAYS.start - 1, *DAYS)}
    return [candle(coin, day, closes[day - 1], 101.5, 99.5, closes[day]) for day in DAYS]


async def start(parts: Parts, forges: dict[str, Forge], *, second: bool = False) -> None:
    """A first start on forged histories, without waiting."""
    if not second:
        parts.fallback.agrees_with = None
    for coin in ("BTC", "ETH", "SOL", *forges):
        parts.venue.list_coin(coin, range(0), price="100.5")
        parts.venue.candles[coin] = flat(coin)
    for coin, forge in forges.items():
        forge(parts.venue.candles[coin])
    await again(parts)


async def again(parts: Parts) -> None:
    await parts.quotes.round()
    await parts.history.round()
    await parts.quotes.recheck()
    await parts.quotes.round()
    await parts.load()


async def closes(parts: Parts, coin: str = "BTC") -> list[float]:
    return [row[4] for row in (await parts.store.closed_bars([coin]))[coin]]


def held(parts: Parts) -> dict[str, tuple[str, RejectReason]]:
    report = parts.report.current.value
    assert report is not None
    return {value.coin: (value.field, value.reason) for value in report.now if value.field == "bars-1d"}


HONEST = [float(bar["c"]) for bar in flat("BTC")[:-1]]
FORGED = [
    (times(-2, 10, "c"), 59, RejectReason.BAR_MISSING),  # its high is below its close: it is no bar
    (times(-2, 10, "hc"), 59, RejectReason.BAR_IMPOSSIBLE),
    (times(-2, 0.1, "lc"), 59, RejectReason.BAR_IMPOSSIBLE),
    (times(-2, 2.5, "hc"), 59, RejectReason.BAR_MOVED),
    (times(-2, 0.4, "lc"), 59, RejectReason.BAR_MOVED),
    (times(-2, 10), 59, RejectReason.BAR_MOVED),
    (times(-2, 8, "h"), 59, RejectReason.BAR_IMPOSSIBLE),
    (times(-2, 0.1, "l"), 59, RejectReason.BAR_IMPOSSIBLE),
    (times(-30, 10, "c"), 31, RejectReason.BAR_MISSING),
    (times(-30, 3), 31, RejectReason.BAR_MOVED),
    (times(-5, 0.2, "l"), 56, RejectReason.BAR_IMPOSSIBLE),
]
NAMES = [f"{place}-{reason}" for place, (_, _, reason) in enumerate(FORGED)]


@pytest.mark.promise("plausibility.bars")
@pytest.mark.parametrize("second", [False, True], ids=["alone", "confirmed"])
@pytest.mark.parametrize(("forge", "stored", "reason"), FORGED, ids=NAMES)
async def test_a_first_start_on_a_forged_bar_has_a_price_at_once_and_holds_the_bar_back(
    parts: Parts, forge: Forge, stored: int, reason: RejectReason, *, second: bool
) -> None:
    await start(parts, {"BTC": forge}, second=second)
    risk = parts.risk("BTC")
    assert (risk.price, "price" in risk._stale_fields) == (100.5, False)
    assert await closes(parts) == HONEST[:stored]
    field, found = held(parts)["BTC"]
    assert field == "bars-1d"
    # With an accepted price, the newest close is compared with it first.
    assert found is reason or (second and found is RejectReason.BAR_OFF_PRICE)
    assert held(parts).keys() == {"BTC"}


async def test_forged_last_closes_of_all_coins_hold_back_those_bars_alone(parts: Parts) -> None:
    coins = ("BTC", "ETH", "SOL", "DOGE", "XMR")
    await start(parts, {coin: times(-2, 2.5, "hc") for coin in coins})
    for coin in coins:
        assert parts.risk(coin).price == 100.5
        assert await closes(parts, coin) == HONEST[:-1]
        assert held(parts)[coin] == ("bars-1d", RejectReason.BAR_MOVED)


async def test_an_honest_answer_completes_the_history_and_ends_the_report(parts: Parts) -> None:
    await start(parts, {"BTC": times(-2, 10, "hc")})
    parts.venue.candles["BTC"] = flat("BTC")
    await parts.clock.advance(FIRST_WAIT_S)
    await again(parts)
    assert await closes(parts) == HONEST
    assert held(parts) == {}


async def test_a_forged_bar_that_is_shown_for_hours_is_never_stored_where_it_is_impossible(parts: Parts) -> None:
    await start(parts, {"BTC": times(-2, 10, "hc")})
    for _ in range(6):
        await parts.clock.advance(BARS_PERSISTENCE_MS / SECOND_MS / 2)
        await again(parts)
    assert await closes(parts) == HONEST[:-1]


async def test_the_second_venue_contradicts_a_forged_bar_within_a_history(parts: Parts) -> None:
    """It is asked for the bar that fails, not for the newest one, which agrees."""
    parts.fallback.days = {"BTC": [_bar(one) for one in flat("BTC")[:-1]]}
    await start(parts, {"BTC": times(-30, 3)})
    assert await closes(parts) == HONEST[:31]
    await parts.clock.advance(FIRST_WAIT_S)
    await again(parts)
    assert await closes(parts) == HONEST, "the second venue's bars continue the history"


async def test_a_real_crash_is_stored_where_the_second_venue_shows_it(parts: Parts) -> None:
    crashed = flat("BTC")
    times(-2, 0.35, "lc")(crashed)
    parts.fallback.days = {"BTC": [_bar(one) for one in crashed[:-1]]}
    await start(parts, {"BTC": times(-2, 0.35, "lc")})
    assert (await closes(parts))[-1] == HONEST[-1] * 0.35


@pytest.mark.parametrize("factor", [0.3, 0.45, 0.6, 1.6, 2.2, 3.5])
async def test_a_real_jump_is_stored_where_the_day_after_goes_on_from_it(parts: Parts, factor: float) -> None:
    def jump(bars: list[Candle]) -> None:
        times(-2, factor, "lc" if factor < 1 else "hc")(bars)
        times(-1, factor)(bars)
        parts.venue.contexts["BTC"]["markPx"] = repr(100.5 * factor)

    await start(parts, {"BTC": jump})
    assert await closes(parts) == [*HONEST[:-1], HONEST[-1] * factor]
    assert parts.risk("BTC").price == 100.5 * factor
    assert held(parts) == {}


@pytest.mark.parametrize("factor", [0.1, 0.5, 1.2, 2.5, 10.0])
async def test_a_forged_bar_does_not_replace_a_stored_one(parts: Parts, factor: float) -> None:
    await start(parts, {}, second=True)
    await parts.clock.advance(86_400)
    times(-1, factor, "hc" if factor > 1 else "lc")(parts.venue.candles["BTC"])
    parts.venue.candles["BTC"].append(candle("BTC", TODAY + 1, 100.0, 101.0, 99.0, 100.5))
    times(-3, factor, "hc" if factor > 1 else "lc")(parts.venue.candles["BTC"])
    await again(parts)
    assert await closes(parts) == HONEST
    assert parts.risk("BTC").price == 100.5


@pytest.mark.parametrize("factor", [0.1, 0.5, 1.5, 2.5, 10.0, 100.0])
async def test_a_history_that_is_forged_as_a_whole_is_not_stored_in_parts(parts: Parts, factor: float) -> None:
    def forge(bars: list[Candle]) -> None:
        for place in range(len(bars)):
            times(place, factor)(bars)

    await start(parts, {"BTC": forge}, second=True)
    assert await closes(parts) == []
    assert held(parts)["BTC"] == ("bars-1d", RejectReason.BAR_OFF_PRICE)
    assert parts.risk("BTC").price == 100.5


async def test_many_forged_bars_reject_the_history(parts: Parts) -> None:
    def forge(bars: list[Candle]) -> None:
        for place in range(5, 50, 5):
            times(place, 10, "h")(bars)

    await start(parts, {"BTC": forge})
    assert await closes(parts) == []
    assert held(parts)["BTC"] == ("bars-1d", RejectReason.BAR_IMPOSSIBLE)


async def test_an_open_bar_that_is_forged_does_not_hold_back_the_closed_ones(parts: Parts) -> None:
    await start(parts, {"BTC": times(-1, 10, "h")})
    assert await closes(parts) == HONEST
    assert held(parts) == {}


def _bar(one: Candle) -> Bar:
    first, high, low, last, volume = (float(one[field]) for field in "ohlcv")
    return Bar(one["t"], first, high, low, last, volume, one["n"])
