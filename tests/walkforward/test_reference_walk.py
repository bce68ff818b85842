"""A whole walk-forward of trend following is what the slow and obvious implementation makes of the same files.

Read, chosen, traded and told by the service on one side; by `tests/walkforward/reference*.py` on the other.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.analytics.backtest import trend_following
from service.analytics.backtest.tape import DayBar, lay
from service.analytics.backtest.universe import tradable
from service.walkforward.engine import walk_all
from service.walkforward.parameters import Parameters, Scheme
from service.walkforward.recordings import read_recordings
from service.walkforward.run import Run
from service.walkforward.walk import Ground
from tests.market.recordings import needs_recordings
from tests.walkforward import reference
from tests.walkforward.reference import Walked
from tests.walkforward.reference_bars import BUNDLED, DAY_MS, RECORDED, History, bundled, recorded
from tests.walkforward.reference_summary import doing_nothing, figures
from tests.walkforward.reference_trading import Trade

CAPITAL_USD = 100_000
CENT_USD = 0.01


class Case(NamedTuple):
    """A folder, what the reference reads in it, and how to walk it."""

    folder: Path
    read: Callable[[], History]
    scheme: Scheme


class Both(NamedTuple):
    """The same walk-forward by the service and by the reference."""

    run: Run
    walked: list[Walked]
    history: History


@cache
def both(case: Case) -> Both:
    history = case.read()
    parameters = Parameters(scheme=case.scheme)
    now_ms = history.days.stop * DAY_MS
    histories = read_recordings(case.folder, now_ms)
    told = [one for one in histories if one.coin in history.bars]
    tape = lay(
        {one.coin: [DayBar(*bar) for bar in one.bars] for one in told}, {one.coin: dict(one.funding) for one in told}
    )
    ground = Ground(tape, tradable(tape, parameters.universe_size), parameters)
    run = walk_all([trend_following.STRATEGY], ground, now_ms, lambda _done, _total: None)
    return Both(run, reference.walk(history, rolling=case.scheme == "rolling"), history)


def few() -> History:
    """A third of the bundled coins, some of which were delisted: few enough to be walked often."""
    return bundled().only(*sorted(bundled().bars)[::3])


CASES = [
    pytest.param(
        Case(RECORDED, recorded, "anchored"),
        id="recorded",
        marks=[pytest.mark.real_data, pytest.mark.slow, needs_recordings],
    ),
    pytest.param(Case(BUNDLED, few, "anchored"), id="bundled"),
    pytest.param(Case(BUNDLED, few, "rolling"), id="bundled, rolling"),
]


def iso(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def day_of(told: str) -> int:
    return int(datetime.fromisoformat(told).replace(tzinfo=UTC).timestamp() * 1000) // DAY_MS


def identity(coin: str, decided: int) -> str:
    return f"trend-following-{coin}-{iso(decided)}"


@pytest.mark.parametrize("case", CASES)
def test_a_walk_forward_is_what_the_slow_and_obvious_one_is(case: Case) -> None:
    made = both(case)
    assert made.run.message is None
    folds_are_the_same(made)
    trades_are_the_same_to_the_cent(made)
    positions_are_the_same(made)
    signals_are_the_same(made)
    figures_are_the_same(made)


def folds_are_the_same(made: Both) -> None:
    assert len(made.run.folds) == len(made.walked) >= 5
    for told, (fold, chosen, ratio, trials, _) in zip(made.run.folds, made.walked, strict=True):
        assert told.fold == fold.number
        assert told.tested == (iso(fold.begin), iso(fold.end - 1))
        assert {day for first, last in told.trained for day in range(day_of(first), day_of(last) + 1)} == fold.training
        assert told.chosen == dict(zip(("period", "multiplier"), chosen, strict=True))
        assert told.trials == len(trials)
        assert ratio is not None
        assert told.train_sharpe == pytest.approx(ratio * 365**0.5, abs=0.000051)


def trades_are_the_same_to_the_cent(made: Both) -> None:
    expected = {
        identity(trade.coin, trade.entered - 1): (trade, one.fold.number)
        for one in made.walked
        for trade in one.books.trades
    }
    told = {outcome.id: outcome for outcome in made.run.outcomes}
    assert len(told) == len(made.run.outcomes) >= 300
    assert told.keys() == expected.keys()
    for key, outcome in told.items():
        trade, fold = expected[key]
        facts = (outcome.symbol, outcome.direction, outcome.entryDate, outcome.exitDate, outcome.holdDays, outcome.fold)
        assert facts == (trade.coin, direction(trade.side), iso(trade.entered), iso(trade.left), trade.held_days, fold)
        assert (outcome.entryPrice, outcome.exitPrice) == (trade.entry, trade.exit)
        assert (outcome.exitReason, outcome.strategy) == (trade.reason, "trend-following")
        for percent, part in (
            (outcome.returnPct, trade.brought),
            (outcome.fundingPct, trade.funding),
            (outcome.costPct, trade.cost),
        ):
            assert dollars(trade, percent / 100) == pytest.approx(dollars(trade, part), abs=CENT_USD / 2)
            assert percent == pytest.approx(part * 100, abs=0.000051)


def positions_are_the_same(made: Both) -> None:
    expected = {identity(trade.coin, trade.entered - 1): trade for trade in made.walked[-1].books.held}
    assert {told.id for told in made.run.positions} == expected.keys()
    for told in made.run.positions:
        trade = expected[told.id]
        assert (told.symbol, told.direction, told.entryDate) == (trade.coin, direction(trade.side), iso(trade.entered))
        assert (told.entryPrice, told.currentPrice, told.holdDays) == (trade.entry, trade.exit, trade.held_days)
        assert told.unrealizedPct == pytest.approx(trade.price * 100, abs=0.000051)
        assert told.fold == made.walked[-1].fold.number


def signals_are_the_same(made: Both) -> None:
    expected = {
        identity(signal.coin, signal.day): (signal, one.fold.number)
        for one in made.walked
        for signal in one.books.signals
    }
    assert {told.id for told in made.run.signals} == expected.keys()
    assert len(made.run.signals) == len(expected)
    for told in made.run.signals:
        signal, fold = expected[told.id]
        assert (told.symbol, told.direction, told.scanDate) == (signal.coin, direction(signal.side), iso(signal.day))
        assert (told.entryPrice, told.fold, told.strategy) == (signal.price, fold, "trend-following")
        assert told.score == pytest.approx(signal.score, abs=0.000051)


def figures_are_the_same(made: Both) -> None:
    summary = made.run.summary
    assert summary
    told = next(one for one in summary.strategies if one.strategy == "trend-following")
    assert told.published
    same_figures(told, figures(made.walked))
    same_figures(
        summary.buyAndHold,
        doing_nothing(made.history, reference.universe(made.history), made.walked[0].fold.begin),
    )


def same_figures(told: Any, expected: dict[str, float]) -> None:
    assert {name: getattr(told, name) for name in expected} == pytest.approx(expected, abs=0.000051)


def direction(side: int) -> str:
    return "long" if side == 1 else "short"


def dollars(trade: Trade, part: float) -> float:
    """Of a strategy's capital of 100,000 USD."""
    return CAPITAL_USD * trade.weight * part
