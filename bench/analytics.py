"""How long the numbers of the whole market take."""

import gc
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.asked import below, short
from service.analytics.bars import Row, table
from service.analytics.market import MarketAnalytics
from service.analytics.panel import BTC, ETH
from service.clock import DAY_MS
from tests.market.recordings import DATA, history

FULL_MS = 40.0
"""What is asked for."""

History = Mapping[str, Sequence[Row]]


@dataclass(frozen=True)
class Timing:
    """What was done, over how much, and how long each round of it took."""

    what: str
    coins: int
    days: int
    rounds_ms: list[float]
    asked_ms: float | None = None


def walks(coins: int, days: int) -> dict[str, list[Row]]:
    """Random walks in place of the recordings; only their number matters to the clock."""
    made = {}
    for number in range(coins):
        dice = random.Random(number)  # noqa: S311 - prices, not secrets
        price, rows = 100.0, []
        for day in range(days):
            opened, price = price, price * math.exp(dice.gauss(0, 0.04))
            rows.append((day * DAY_MS, opened, max(opened, price) * 1.01, min(opened, price) * 0.99, price))
        made["BTC" if number == 0 else "ETH" if number == 1 else f"C{number}"] = rows
    return made


def recorded() -> tuple[str, History]:
    if DATA.is_dir():
        return "the recordings of 116 coins", history()
    return "random walks (the recordings are not here)", walks(116, 880)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def rounds_of(work: Callable[[], object], rounds: int) -> list[float]:
    """The first round, which warms up, is thrown away."""
    return [timed(work) for _ in range(rounds + 1)][1:]


def measure(rounds: int) -> list[Timing]:
    """Measure everything; some seconds."""
    name, whole = recorded()
    longest = max(map(len, whole.values()))
    gc.collect()
    return [
        Timing(f"all anew, {name}", len(whole), longest, rounds_of(lambda: MarketAnalytics(whole), rounds), FULL_MS),
        Timing("of that, rows into tables", len(whole), longest, rounds_of(lambda: table(whole, (BTC, ETH)), rounds)),
    ]


def written(timings: Sequence[Timing]) -> str:
    rows = [
        "| what | coins | days | ms, median (min to max) | ms a coin, median | asked for |",
        "|---|---|---|---|---|---|",
    ]
    for timing in timings:
        ranked = sorted(timing.rounds_ms)
        middle = statistics.median(ranked)
        asked = f"< {timing.asked_ms:g} ms" if timing.asked_ms else ""
        rows.append(
            f"| {timing.what} | {timing.coins} | {timing.days} | {middle:.2f} ({ranked[0]:.2f} to {ranked[-1]:.2f}) "
            f"| {middle / timing.coins:.4f} | {asked} |"
        )
    return "\n".join(rows)


def report(rounds: int) -> str:
    """The section of BENCHMARKS.md: so many rounds."""
    seen = measure(rounds)
    told = [below(f"{one.what}, ms", one.rounds_ms, one.asked_ms) for one in seen if one.asked_ms]
    return f"""## The numbers of the whole market

All anew: from closed daily bars as the store hands them over to trends by day and week against USD, BTC and ETH,
breadth, volatility, the regimes of the market and of every coin. {rounds} rounds, after one of warm-up.

{written(seen)}

{short(*told)}
"""


if __name__ == "__main__":
    print(report(15))
