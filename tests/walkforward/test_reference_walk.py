"""A whole walk-forward is what the slow and obvious implementation makes of the same files.

Read, chosen, traded and told by the service on one side; by `tests/walkforward/reference*.py` on the other.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from service.walkforward import engine, gate
from service.walkforward.histories import read_recordings
from service.walkforward.parameters import Parameters, Scheme, WalkforwardRequest
from service.walkforward.records import WalkforwardRun
from tests.market.recordings import needs_recordings
from tests.walkforward import reference
from tests.walkforward.reference import Walked
from tests.walkforward.reference_bars import BUNDLED, DAY_MS, RECORDED, History, bundled, recorded
from tests.walkforward.reference_plans import RULES, universe
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

    run: WalkforwardRun
    walked: dict[str, list[Walked]]
    history: History

    @property
    def trials(self) -> list[list[float | None]]:
        return [[trial for one in fold for trial in one.trials] for fold in zip(*self.walked.values(), strict=True)]

    def everything(self) -> Iterator[tuple[str, Walked]]:
        return ((name, one) for name, folds in self.walked.items() for one in folds)


def both(case: Case) -> Both:
    history = case.read()
    parameters = Parameters(scheme=case.scheme)
    now_ms = history.days.stop * DAY_MS
    told = [one for one in read_recordings(case.folder, now_ms) if one.coin in history.bars]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "SURROGATES", 2)  # the gate has tests of its own, and takes most of a run
        patch.setattr(gate, "CUT_EVERY", 60)
        run = engine.run_walkforward(WalkforwardRequest(now_ms, parameters, told), lambda _done, _total: None)
    may = universe(history)
    walked = {rule.name: reference.walk(rule, history, may, rolling=case.scheme == "rolling") for rule in RULES}
    return Both(run, walked, history)


def few() -> History:
    """Some of the bundled coins, delisted ones among them: few enough to be walked in a second."""
    return bundled().only(*sorted(bundled().bars)[::6])


CASES = [
    pytest.param(
        Case(RECORDED, recorded, "anchored"),
        id="recorded",
        marks=[pytest.mark.recorded, pytest.mark.soak, pytest.mark.timeout(900), needs_recordings],
    ),
    pytest.param(Case(BUNDLED, few, "anchored"), id="bundled"),
    pytest.param(Case(BUNDLED, few, "rolling"), id="bundled, rolling"),
]


def iso(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def day_of(told: str) -> int:
    return int(datetime.fromisoformat(told).replace(tzinfo=UTC).timestamp() * 1000) // DAY_MS


def identity(strategy: str, coin: str, decided: int) -> str:
    return f"{strategy}-{coin}-{iso(decided)}"


@pytest.mark.slow
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
    told = {(fold.strategy, fold.fold): fold for fold in made.run.folds}
    expected = {(name, one.fold.number): one for name, one in made.everything()}
    assert len(told) == len(made.run.folds) == 18
    assert told.keys() == expected.keys()
    for key, record in told.items():
        fold, chosen, ratio, trials, _ = expected[key]
        assert record.tested == (iso(fold.begin), iso(fold.end - 1))
        days = {day for first, last in record.trained for day in range(day_of(first), day_of(last) + 1)}
        assert days == fold.training
        assert tuple(record.chosen.values()) == chosen
        assert record.trials == len(trials) == 9
        assert close(record.train_sharpe, None if ratio is None else ratio * 365**0.5)


def trades_are_the_same_to_the_cent(made: Both) -> None:
    expected = {
        identity(name, trade.coin, trade.entered - 1): (name, trade, one.fold.number)
        for name, one in made.everything()
        for trade in one.books.trades
    }
    told = {outcome.id: outcome for outcome in made.run.outcomes}
    assert len(told) == len(made.run.outcomes) > 300
    assert told.keys() == expected.keys()
    for key, outcome in told.items():
        name, trade, fold = expected[key]
        facts = (outcome.symbol, outcome.direction, outcome.entryDate, outcome.exitDate, outcome.holdDays, outcome.fold)
        assert facts == (trade.coin, direction(trade.side), iso(trade.entered), iso(trade.left), trade.held_days, fold)
        assert (outcome.entryPrice, outcome.exitPrice) == (trade.entry, trade.exit)
        assert (outcome.exitReason, outcome.strategy) == (trade.reason, name)
        for percent, part in (
            (outcome.returnPct, trade.brought),
            (outcome.fundingPct, trade.funding),
            (outcome.costPct, trade.cost),
        ):
            assert close(percent, part * 100)
            assert abs(dollars(trade, percent / 100) - dollars(trade, part)) < CENT_USD


def positions_are_the_same(made: Both) -> None:
    expected = {
        identity(name, trade.coin, trade.entered - 1): (trade, one.fold.number)
        for name, one in made.everything()
        for trade in one.books.held
    }
    assert {told.id for told in made.run.positions} == expected.keys()
    for told in made.run.positions:
        trade, fold = expected[told.id]
        assert (told.symbol, told.direction, told.entryDate) == (trade.coin, direction(trade.side), iso(trade.entered))
        assert (told.entryPrice, told.currentPrice, told.holdDays) == (trade.entry, trade.exit, trade.held_days)
        assert close(told.unrealizedPct, trade.price * 100)
        assert told.fold == fold


def signals_are_the_same(made: Both) -> None:
    expected = {
        identity(name, signal.coin, signal.day): (name, signal, one.fold.number)
        for name, one in made.everything()
        for signal in one.books.signals
    }
    assert len(made.run.signals) == len(expected)
    assert {told.id for told in made.run.signals} == expected.keys()
    for told in made.run.signals:
        name, signal, fold = expected[told.id]
        assert (told.symbol, told.direction, told.scanDate) == (signal.coin, direction(signal.side), iso(signal.day))
        assert (told.entryPrice, told.fold, told.strategy) == (signal.price, fold, name)
        assert close(told.score, signal.score)


def figures_are_the_same(made: Both) -> None:
    summary = made.run.summary
    assert summary
    everything = [one for _, one in made.everything()]
    same_figures(summary, figures(everything, made.trials, 1 / 3), but=("fundingKnown",))
    for told in summary.strategies:
        assert told.published
        of_all = told.strategy == "all"
        walked = everything if of_all else made.walked[told.strategy]
        same_figures(told, figures(walked, made.trials, 1 / 3 if of_all else 1.0))
    begin = made.walked["trend-following"][0].fold.begin
    same_figures(summary.buyAndHold, doing_nothing(made.history, universe(made.history), begin))


def same_figures(told: object, expected: Mapping[str, float], but: Collection[str] = ()) -> None:
    for name, figure in expected.items():
        assert name in but or close(getattr(told, name), figure), name


def close(told: float | None, exact: float | None) -> bool:
    """Whether a figure is what was told, which was rounded to four decimals."""
    return told is exact is None or (told is not None and exact is not None and abs(told - exact) < 0.000051)


def direction(side: int) -> str:
    return "long" if side == 1 else "short"


def dollars(trade: Trade, part: float) -> float:
    """Of a strategy's capital of 100,000 USD."""
    return CAPITAL_USD * trade.weight * part
