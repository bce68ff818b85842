"""How long a whole walk-forward takes, and how long what it is compared with: the slow and obvious implementation."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench.asked import below, short
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.tape import DayBar, build_tape
from service.walkforward.engine import run_walkforward
from service.walkforward.histories import read_recordings
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.walk import prepare, walk_strategy
from tests.market.recordings import DATA
from tests.walkforward import reference
from tests.walkforward.reference_bars import BUNDLED, DAY_MS, RECORDED, bundled, recorded
from tests.walkforward.reference_plans import RULES, universe

WHOLE_S = 60.0
"""What issue 4 asks for: three strategies over the recordings, the leakage gate included."""


class Timing(NamedTuple):
    """What was done, how long each round of it took in seconds, and how long it may take."""

    what: str
    rounds_s: list[float]
    asked_s: float | None = None


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(rounds: int) -> tuple[str, list[Timing]]:
    """Measure everything: some ten seconds a round. What was walked, and the timings."""
    folder, history = (RECORDED, recorded()) if DATA.is_dir() else (BUNDLED, bundled())
    now_ms = history.days.stop * DAY_MS
    histories = read_recordings(folder, now_ms)
    request = WalkforwardRequest(now_ms, Parameters(), histories)
    bars = {one.coin: [DayBar(*bar) for bar in one.bars] for one in histories}
    tape = build_tape(bars, {one.coin: dict(one.funding) for one in histories})
    ground = prepare(tape, request.parameters)
    trend, rule, may = STRATEGIES[0], RULES[0], universe(history)
    works: list[tuple[str, Callable[[], object], float | None]] = [
        ("reading the files", lambda: read_recordings(folder, now_ms), None),
        (
            "a whole run: three strategies, each examined",
            lambda: run_walkforward(request, lambda _done, _total: None),
            WHOLE_S,
        ),
        ("of that, trend following walked", lambda: walk_strategy(trend, ground, lambda: None), None),
        ("the same by the reference in the tests", lambda: reference.walk(rule, history, may), None),
    ]
    timings = [Timing(what, [timed(work) for _ in range(rounds)], asked) for what, work, asked in works]
    walked = "The recordings" if folder == RECORDED else "The bundled fixtures (the recordings are not here)"
    return f"{walked}: {len(tape.coins)} coins on {len(tape.close)} days", timings


def written(timings: Sequence[Timing]) -> str:
    rows = ["| what | s, median (min to max) | asked for |", "|---|---|---|"]
    for what, rounds_s, asked_s in timings:
        middle = statistics.median(rounds_s)
        asked = f"< {asked_s:g} s" if asked_s else ""
        rows.append(f"| {what} | {middle:.2f} ({min(rounds_s):.2f} to {max(rounds_s):.2f}) | {asked} |")
    return "\n".join(rows)


def report(rounds: int) -> str:
    """The section of BENCHMARKS.md."""
    walked, timings = measure(rounds)
    told = [below(f"{one.what}, s", one.rounds_s, one.asked_s) for one in timings if one.asked_s]
    *_, ours, slow = (statistics.median(timing.rounds_s) for timing in timings)
    return f"""## A whole walk-forward

{walked}, {rounds} rounds; what came out is equal trade for trade
(`tests/walkforward/test_reference_walk.py`). Trend following is walked {slow / ours:.0f} times as fast as the reference
does it, one position after the other in plain Python.

{written(timings)}

{short(*told)}
"""


if __name__ == "__main__":
    print("\n" + report(3).rstrip())
