"""Whatever comes after a day, what was told until that day stays: tomorrow, and in any other future."""

import math
import random
from typing import NamedTuple

import pytest

from service.walkforward import engine, gate
from service.walkforward.parameters import CoinHistoryInput as Recorded
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.records import WalkforwardRun
from service.wire.walkforward import WalkforwardOutcome, WalkforwardSignal
from tests.walkforward.reference_bars import DAY_MS, Bar, History, bundled
from tests.walkforward.test_reference_walk import iso

CUT = 777
"""Days of the past: the fifth fold has begun and is not over."""


class Told(NamedTuple):
    """What a run tells of the days until one."""

    signals: list[WalkforwardSignal]
    outcomes: list[WalkforwardOutcome]
    chosen: list[tuple[str, int, dict[str, float]]]


def told_until(run: WalkforwardRun, day: str) -> Told:
    """What was known at the close of a day: decisions filled by then, positions left by then, folds begun by then."""
    return Told(
        [signal for signal in run.signals if signal.scanDate < day],
        [outcome for outcome in run.outcomes if outcome.exitDate <= day],
        [(fold.strategy, fold.fold, fold.chosen) for fold in run.folds if fold.tested[0] <= day],
    )


def walked(history: History) -> WalkforwardRun:
    recorded = [
        Recorded(coin, [(day, *bar) for day, bar in sorted(bars.items())], sorted(history.paid.get(coin, {}).items()))
        for coin, bars in history.bars.items()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "SURROGATES", 2)  # the gate has tests of its own, and takes most of a run
        patch.setattr(gate, "CUT_EVERY", 60)
        return engine.run_walkforward(
            WalkforwardRequest(history.days.stop * DAY_MS, Parameters(), recorded), lambda _done, _total: None
        )


def funded() -> History:
    """Some of the bundled coins, with payments for all of their days: the recording has those of the last months."""
    dice = random.Random(9)  # noqa: S311 - payments, not secrets
    bars = bundled().only(*sorted(bundled().bars)[::6]).bars
    return History(bars, {coin: {day: dice.gauss(0.0003, 0.001) for day in days} for coin, days in bars.items()})


def otherwise(history: History, over: int) -> History:
    """The same past, and another future: other prices, volumes ten times as wild, other payments."""
    dice = random.Random(8)  # noqa: S311 - prices, not secrets
    known = history.until(over)
    for coin, bars in known.bars.items():
        price = bars[max(bars)].close
        for day in range(over, history.days.stop) if max(bars) == over - 1 else ():
            opened, price = price * math.exp(dice.gauss(0, 0.02)), price * math.exp(dice.gauss(0, 0.08))
            extremes = max(opened, price) * 1.03, min(opened, price) * 0.97
            bars[day] = Bar(opened, *extremes, price, 10 ** dice.uniform(2, 8))
            known.paid.setdefault(coin, {})[day] = dice.gauss(0, 0.002)
    return known


@pytest.mark.slow
def test_what_was_told_of_the_past_is_the_same_in_every_future() -> None:
    history = funded()
    over = history.days.start + CUT
    last = iso(over - 1)

    at_the_time = told_until(walked(history.until(over)), last)
    assert len(at_the_time.outcomes) > 300
    assert {outcome.strategy for outcome in at_the_time.outcomes} == {name for name, *_ in at_the_time.chosen}
    assert told_until(walked(history), last) == at_the_time
    assert told_until(walked(otherwise(history, over)), last) == at_the_time
