"""The figures of a run: all strategies together, each of them, and doing nothing. Imports numbers and so numpy."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from service.analytics.backtest.performance import (
    Days,
    Performance,
    Trials,
    hold,
    one_after_another,
    perform,
    side_by_side,
    tried,
)
from service.analytics.costs import standard
from service.clock import DAY_MS, iso
from service.walkforward.gate import MOST_ERRORS, SURROGATES
from service.walkforward.walk import Ground, WalkedFold
from service.wire.walkforward import BuyAndHold, Strategy, StrategySummary, WalkforwardMethod, WalkforwardSummary

DECIMALS = 4
"""Percentages, ratios and probabilities are rounded to so many."""

LEAST_DAYS = 30
"""Test days under which nothing is said of Sharpe ratios: of four days one came out at 24, and as good as certain."""

METHOD = WalkforwardMethod(
    purge=(
        "A training window ends before its test fold by the longest holding time of the strategy and one day more, so "
        "that no training trade is still open in the fold."
    ),
    embargo=(
        "No embargo is applied. It protects a test fold from training days that follow it, and every training window "
        "here ends before its fold, so it would have no effect on leakage."
    ),
    surrogates=(
        f"Sign-flip surrogate test: each strategy trades {SURROGATES} copies of the recorded market in which the moves "
        f"of each day are kept or negated at random. One that is further than {MOST_ERRORS:g} standard errors from "
        "zero there, before costs, is not published. The test finds look-ahead. It does not show skill."
    ),
)

Walks = Mapping[Strategy, Sequence[WalkedFold]]


class _Record(NamedTuple):
    """The days of a strategy or of all, the returns of what ended (percent), and its position-days."""

    days: Days
    returns: list[float]
    position_days: int
    known_days: int


def summarise(walks: Walks, refused: Mapping[Strategy, str], ground: Ground) -> WalkforwardSummary:
    """Sum a run up.

    Args:
        walks: The folds of every strategy, refused ones included: their trials count, their days do not.
        refused: Why, by strategy.
        ground: What they were walked over.
    """
    trials = tried([sharpe for walked in walks.values() for tested in walked for sharpe in tested.training.sharpes])
    folds = next(iter(walks.values()))
    begin = folds[0].fold.begin
    records = {name: _record(walked) for name, walked in walks.items() if name not in refused}
    share = 1 / len(walks)
    together = _Record(
        side_by_side([record.days for record in records.values()], share, ground.rows - begin),
        [brought for record in records.values() for brought in record.returns],
        sum(record.position_days for record in records.values()),
        sum(record.known_days for record in records.values()),
    )
    everything = _published("all", together, trials)
    return WalkforwardSummary(
        total=everything.total,
        wins=everything.wins,
        losses=everything.losses,
        winRate=everything.winRate,
        meanReturnPct=everything.meanReturnPct,
        sharpe=everything.sharpe,
        deflatedSharpe=everything.deflatedSharpe,
        maxDrawdownPct=everything.maxDrawdownPct,
        exposure=everything.exposure,
        trials=trials.made,
        returnPct=everything.returnPct,
        probabilisticSharpe=everything.probabilisticSharpe,
        turnover=everything.turnover,
        firstDay=_date(ground, begin),
        lastDay=_date(ground, ground.rows - 1),
        folds=len(folds),
        coins=len(ground.tape.coins),
        strategies=[
            everything,
            *(
                _refused(name, refused[name], trials) if name in refused else _published(name, records[name], trials)
                for name in walks
            ),
        ],
        buyAndHold=_doing_nothing(ground, begin, trials),
        standard=standard(ground.parameters.fee_bps, ground.parameters.slippage),
        method=METHOD,
    )


def _record(walked: Sequence[WalkedFold]) -> _Record:
    books = [tested.book for tested in walked]
    return _Record(
        one_after_another(books),
        [float(brought) for book in books for brought in book.trades.return_pct],
        sum(book.position_days for book in books),
        sum(book.known_days for book in books),
    )


def _published(name: Strategy | Literal["all"], record: _Record, trials: Trials) -> StrategySummary:
    found, telling = perform(record.days, trials), len(record.days.net) >= LEAST_DAYS
    total, wins = len(record.returns), sum(brought > 0 for brought in record.returns)
    return StrategySummary(
        strategy=name,
        published=True,
        refused=None,
        total=total,
        wins=wins,
        losses=total - wins,
        winRate=rounded(wins / total) if total else None,
        meanReturnPct=rounded(sum(record.returns) / total) if total else None,
        returnPct=rounded(found.return_pct),
        sharpe=perhaps(found.sharpe) if telling else None,
        probabilisticSharpe=perhaps(found.probabilistic) if telling else None,
        deflatedSharpe=perhaps(found.deflated) if telling else None,
        maxDrawdownPct=rounded(found.max_drawdown_pct),
        exposure=rounded(found.exposure),
        turnover=rounded(found.turnover),
        fundingKnown=rounded(record.known_days / record.position_days) if record.position_days else None,
        trials=trials.made,
    )


def _refused(name: Strategy, why: str, trials: Trials) -> StrategySummary:
    return StrategySummary(
        strategy=name,
        published=False,
        refused=why,
        total=0,
        wins=0,
        losses=0,
        winRate=None,
        meanReturnPct=None,
        returnPct=0.0,
        sharpe=None,
        probabilisticSharpe=None,
        deflatedSharpe=None,
        maxDrawdownPct=0.0,
        exposure=0.0,
        turnover=0.0,
        fundingKnown=None,
        trials=trials.made,
    )


def _doing_nothing(ground: Ground, begin: int, trials: Trials) -> BuyAndHold:
    returns = hold(ground.tape, ground.universe, begin, ground.costs)
    found: Performance = perform(Days(returns, returns * 0, returns * 0), trials)
    return BuyAndHold(
        returnPct=rounded(found.return_pct),
        sharpe=perhaps(found.sharpe) if len(returns) >= LEAST_DAYS else None,
        maxDrawdownPct=rounded(found.max_drawdown_pct),
    )


def rounded(value: float) -> float:
    """Cut the noise of floating point; zero has no sign."""
    return round(value, DECIMALS) + 0.0


def perhaps(value: float | None) -> float | None:
    """The same for what may be unknown."""
    return None if value is None else rounded(value)


def _date(ground: Ground, row: int) -> str:
    return iso((ground.tape.first_day + row) * DAY_MS)[:10]
