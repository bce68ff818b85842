"""Real crashes and squeezes are not hidden: 30 s with two sources, three minutes with one.

The largest recorded moves of an hour and of a day. Each is played faster than it happened: an hour's way within a
minute, a day's at once. Answers come every 15 s, frames every 5 s.
"""

from collections.abc import Callable

import pytest

from service.clock import SECOND_MS
from service.market.symbols import canonical
from tests.hostile.conftest import OpenWorld
from tests.hostile.market import COINS_USED, ONLY_FIRST, PriceOf, recorded_price
from tests.hostile.world import FRAME_S, World
from tests.market.recordings import DATA, candles, needs_recordings, size_of

pytestmark = [pytest.mark.recorded, needs_recordings]

WITH_TWO_S = 30.0
WITH_ONE_S = 180.0
WAY_S = 60.0
LEAST_S = 120.0
Way = Callable[[float], float]
"""Seconds since the move began → price as a multiple of the price before it."""


def _hour(ratios: tuple[float, float, float]) -> Way:
    """Over the extreme to the close of an hour, within a minute."""
    start, extreme, close = ratios

    def way(elapsed_s: float) -> float:
        half = WAY_S / 2
        if elapsed_s < half:
            return start + (extreme - start) * elapsed_s / half
        return extreme + (close - extreme) * min(1.0, (elapsed_s - half) / half)

    return way


def _moves() -> list[tuple[str, str, Way]]:
    """Coin, what happened, and the way: the ten largest hours and the ten largest days, one a coin."""
    if not DATA.is_dir():
        return []
    hours, days = [], []
    for coin in COINS_USED:
        if coin in ONLY_FIRST or not (DATA / "hyperliquid" / "candles-1d" / f"{coin}.json.gz").exists():
            continue
        if (DATA / "hyperliquid" / "candles-1h" / f"{coin}.json.gz").exists():
            hours.append(max((_largest_of(bar), coin) for bar in candles(coin, "1h")))
        days.append(max((abs(float(bar["c"]) / float(bar["o"]) - 1), float(bar["c"]) / float(bar["o"]), coin)
                        for bar in candles(coin)[1:]))  # fmt: skip
    found = [
        (coin, f"{coin} {ratios[1] - 1:+.0%} in an hour", _hour(ratios)) for (_, ratios), coin in sorted(hours)[-10:]
    ]
    return found + [
        (coin, f"{coin} {ratio - 1:+.0%} in a day", _at_once(ratio)) for _, ratio, coin in sorted(days)[-10:]
    ]


def _largest_of(bar: dict[str, str]) -> tuple[float, tuple[float, float, float]]:
    start, close = float(bar["o"]), float(bar["c"])
    extreme = max(float(bar["h"]), float(bar["l"]), key=lambda price: abs(price / start - 1))
    return abs(extreme / start - 1), (1.0, extreme / start, close / start)


def _at_once(ratio: float) -> Way:
    return lambda _: ratio


def _moved(way: Way, at_ms: int, *coins: str) -> PriceOf:
    """The recorded prices, and from an instant on a real move of some coins, or of all."""

    def price(coin: str, now_ms: int) -> float:
        before = recorded_price(coin, min(now_ms, at_ms))
        return before if now_ms < at_ms or (coins and coin not in coins) else before * way((now_ms - at_ms) / SECOND_MS)

    return price


async def _longest_hidden_s(world: World, way: Way, *coins: str) -> float:
    """Play a move until two minutes have passed and all is served; five minutes at most.

    Returns:
        For how long at most a coin's price was not served as fresh and true, in seconds.
    """
    world.truth.price = _moved(way, world.clock.now_ms() + 1, *coins)
    hidden: dict[str, float] = {}
    longest = 0.0
    for step in range(60):
        if step * FRAME_S >= LEAST_S and not any(hidden.values()):
            break
        await world.step(FRAME_S)
        now_ms = world.clock.now_ms()
        for coin in coins or sorted(set(world.truth.coins) - ONLY_FIRST):
            context = world.risk(canonical(coin))
            times = range(now_ms - 15 * SECOND_MS, now_ms + 1, 5 * SECOND_MS)
            recent = [world.truth.price(coin, at_ms) / size_of(coin) for at_ms in times]
            is_served = (
                context is not None
                and context.price is not None
                and "price" not in context._stale_fields
                and min(recent) * 0.99 <= context.price <= max(recent) * 1.01
            )
            hidden[coin] = 0.0 if is_served else hidden.get(coin, 0.0) + FRAME_S
            longest = max(longest, hidden[coin])
    return longest


MOVES = [pytest.param(coin, way, id=title) for coin, title, way in _moves()]


@pytest.mark.promise("plausibility.real-moves-pass")
@pytest.mark.parametrize(("coin", "way"), MOVES)
async def test_a_real_move_is_served_within_30_seconds_where_two_sources_agree(
    warm: OpenWorld, coin: str, way: Way
) -> None:
    async with warm() as world:
        assert await _longest_hidden_s(world, way, coin) <= WITH_TWO_S


@pytest.mark.promise("plausibility.real-moves-pass")
@pytest.mark.parametrize(("coin", "way"), MOVES)
async def test_a_real_move_is_served_within_three_minutes_where_there_is_one_source(
    warm: OpenWorld, coin: str, way: Way
) -> None:
    async with warm() as world:
        world.venues.second_up = False
        assert await _longest_hidden_s(world, way, coin) <= WITH_ONE_S


@pytest.mark.parametrize("ratio", [0.6, 0.8, 1.3])
@pytest.mark.parametrize(("second_up", "most_s"), [(True, WITH_TWO_S), (False, WITH_ONE_S)])
async def test_a_crash_of_the_whole_market_is_served_in_the_same_time(
    warm: OpenWorld, ratio: float, most_s: float, *, second_up: bool
) -> None:
    async with warm() as world:
        world.venues.second_up = second_up
        assert await _longest_hidden_s(world, _at_once(ratio)) <= most_s
