"""Made-up histories of several coins, for tests of everything that looks at a whole market."""

import random
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.bars import Row
from service.clock import DAY_MS

History = dict[str, list[Row]]


class Told(History):
    """A history that a failing example shows by its sizes: its bars fill pages."""

    def __repr__(self) -> str:
        return repr({coin: len(rows) for coin, rows in self.items()})


COINS = ("SOL", "BTC", "ETH", "DOGE", "LINK")


@st.composite
def coarse(draw: st.DrawFn, coins: Sequence[str] = COINS, most: int = 60) -> History:
    """Coins listed and delisted when they like, with days missing, on a coarse grid of prices: touches are common."""
    dice = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311 - prices, not secrets
    spans = st.tuples(st.integers(0, most), st.integers(0, most)).map(sorted)
    made: History = {}
    for coin in coins:
        begin, end = draw(st.sampled_from([(0, most)]) | spans)
        missing = draw(st.sets(st.integers(0, most), max_size=9))
        made[coin] = [coarse_bar(dice, day) for day in range(begin, end) if day not in missing]
    return Told(made)


def coarse_bar(dice: random.Random, day: int) -> Row:
    opened, close = dice.randrange(10), dice.randrange(10)
    high, low = max(opened, close) + dice.randrange(4), min(opened, close) - dice.randrange(4)
    return day * DAY_MS, 20.0 + opened, 20.0 + high, 20.0 + low, 20.0 + close


@st.composite
def markets(draw: st.DrawFn, days: int = 260) -> History:
    """Random walks with drifts that change, long enough for a regime; listings, delistings and a few missing days."""
    dice = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311 - prices, not secrets
    made: History = {}
    for coin in COINS:
        young = coin in ("DOGE", "LINK")
        begin = dice.randrange(days // 2) if young else 0
        end = dice.randrange(begin + 20, days) if coin == "LINK" else days
        made[coin] = walk(dice, range(begin, end))
    for coin, day in draw(st.lists(st.tuples(st.sampled_from(COINS), st.integers(0, days)), max_size=8)):
        made[coin] = [row for row in made[coin] if row[0] != day * DAY_MS]
    return Told(made)


def walk(dice: random.Random, days: range) -> list[Row]:
    price, drift, rows = 100.0, 0.0, []
    for day in days:
        if dice.random() < 0.04:
            drift = dice.uniform(-0.02, 0.02)
        opened, price = price, price * (1 + drift + dice.gauss(0, 0.03))
        high, low = max(opened, price), min(opened, price)
        rows.append((day * DAY_MS, opened, high * (1 + 0.01 * dice.random()), low * (1 - 0.01 * dice.random()), price))
    return rows


def until(history: Mapping[str, Sequence[Row]], day: int) -> History:
    """The bars of the days before a day; coins that have none are not known."""
    known = {coin: [row for row in rows if row[0] < day * DAY_MS] for coin, rows in history.items()}
    return {coin: rows for coin, rows in known.items() if rows}


def tape_of(history: Mapping[str, Sequence[Row]], volume: float = 5e6) -> MarketTape:
    """The bars with a volume in base units that is the same every day; funding is unknown."""
    return build_tape(
        {coin: [DayBar(row[0] // DAY_MS, *row[1:], volume) for row in rows] for coin, rows in history.items()}, {}
    )
