"""Tapes for tests: made-up markets with listings, delistings, gaps and crowds, and the recorded one."""

import random
from functools import cache

import numpy as np
from hypothesis import strategies as st

from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.backtest.universe import tradable
from service.analytics.bars import Flags
from service.clock import DAY_MS
from tests.market import recordings

COINS = ("ADA", "BTC", "DOGE", "ETH", "LINK", "SOL", "XRP")
RESTING = 24 * 0.0000125
"""What a long pays a day where demand is even."""

SIZE = 5


class Told(MarketTape):
    """A tape that a failing example shows by its shape: its tables fill pages."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Tape{self.close.shape} from day {self.first_day}"


@st.composite
def tapes(draw: st.DrawFn, days: int = 170) -> MarketTape:
    """Random walks whose drift, size and crowd change; the first day falls on any weekday."""
    dice = random.Random(draw(st.integers(0, 100_000)))  # noqa: S311 - prices, not secrets
    first = 20_000 + draw(st.integers(0, 6))
    bars: dict[str, list[DayBar]] = {}
    paid: dict[str, dict[int, float]] = {}
    for coin in COINS:
        begin = dice.randrange(40) if coin in ("ADA", "LINK", "XRP") else 0
        end = dice.randrange(80, days) if coin in ("LINK", "XRP") else days
        bars[coin] = walk(dice, range(first + begin, first + end))
        if coin != "SOL":
            paid[coin] = crowd(dice, range(first + dice.randrange(60), first + days))
    for coin, day in draw(st.lists(st.tuples(st.sampled_from(COINS), st.integers(0, days)), max_size=8)):
        bars[coin] = [bar for bar in bars[coin] if bar.day != first + day]
        paid.get(coin, {}).pop(first + day, None)
    return Told(*build_tape(bars, paid))


def walk(dice: random.Random, days: range) -> list[DayBar]:
    price, drift, volume, bars = 100.0, 0.0, 1e6, []
    for day in days:
        if dice.random() < 0.04:
            drift, volume = dice.uniform(-0.02, 0.02), dice.choice((3e5, 1e6, 3e6))
        opened, price = price, price * (1 + drift + dice.gauss(0, 0.02))
        high, low = max(opened, price), min(opened, price)
        reach = 1 + 0.01 * dice.random()
        bars.append(DayBar(day, opened, high * reach, low / reach, price, volume * dice.uniform(0.3, 3)))
    return bars


def crowd(dice: random.Random, days: range) -> dict[int, float]:
    """Funding that rests at the venue's default on many days and is dear or negative on some in a row."""
    level, paid = 0.0, {}
    for day in days:
        if dice.random() < 0.15:
            level = dice.choice((0.0, 0.0, 0.001, 0.003, -0.001, -0.002))
        paid[day] = RESTING + (level * dice.uniform(0.3, 1.5) if level else dice.choice((0.0, 0.0, 0.0001, -0.0001)))
    return paid


@cache
def recorded() -> tuple[MarketTape, Flags]:
    """The recordings, and a universe of the forty largest."""
    bars = {
        coin: [
            DayBar(bar["t"] // DAY_MS, *(float(bar[field]) for field in "ohlcv")) for bar in recordings.candles(coin)
        ]
        for coin in recordings.coins()
    }
    paid: dict[str, dict[int, float]] = {}
    for coin in bars:
        for payment in recordings.funding(coin):
            by_day = paid.setdefault(coin, {})
            day = payment["time"] // DAY_MS
            by_day[day] = by_day.get(day, 0.0) + float(payment["fundingRate"])
    tape = build_tape(bars, paid)
    return tape, tradable(tape, 40)


def forged(tape: MarketTape, rows: int) -> MarketTape:
    """The same tape with another future: all that was known before `rows` stays, the rest is moved and mixed."""
    tables = [tape.open, tape.high, tape.low, tape.close, tape.volume, tape.funding]
    return MarketTape(
        tape.coins, tape.first_day, *(np.concatenate([t[:rows], 3 * t[rows:][::-1, ::-1]]) for t in tables)
    )
