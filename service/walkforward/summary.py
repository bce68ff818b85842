"""Figures of a run: all strategies together, each one, and buy and hold. Needs numpy."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from service.analytics.backtest.performance import (
    ReturnDays,
    TrackPerformance,
    buy_and_hold,
    combine_days,
    concatenate_days,
    measure_performance,
)
from service.analytics.backtest.statistics import TrialCount, count_trials
from service.analytics.costs import standard
from service.clock import DAY_MS, iso
from service.walkforward.gate import MOST_ERRORS, SURROGATES
from service.walkforward.walk import WalkContext, WalkedFold
from service.wire.walkforward import BuyAndHold, Strategy, StrategySummary, WalkforwardMethod, WalkforwardSummary

DECIMALS = 4
"""Decimals of percentages, ratios and probabilities."""

LEAST_DAYS = 30
"""Fewest test days with Sharpe ratios; on four days one came out at 24 with a probability near 1."""

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

WalksByStrategy = Mapping[Strategy, Sequence[WalkedFold]]


class _StrategyRecord(NamedTuple):
    """Days of a strategy or of all, returns of closed positions (percent), and position-days."""

    days: ReturnDays
    returns: list[float]
    position_days: int
    known_days: int


def summarise(walks: WalksByStrategy, refused: Mapping[Strategy, str], context: WalkContext) -> WalkforwardSummary:
    """Summarize a run.

    Args:
        walks: Folds of every strategy. Refused strategies count as trials, their days do not count.
        refused: Reasons by refused strategy.
        context: Shared inputs of the walk.
    """
    trials = count_trials(
        [sharpe for tested in fold for sharpe in tested.training.sharpes] for fold in zip(*walks.values(), strict=True)
    )
    folds = next(iter(walks.values()))
    begin = folds[0].fold.begin
    records = {name: _record(walked) for name, walked in walks.items() if name not in refused}
    share = 1 / len(walks)
    together = _StrategyRecord(
        combine_days([record.days for record in records.values()], share, context.rows - begin),
        [return_pct for record in records.values() for return_pct in record.returns],
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
        firstDay=_date(context, begin),
        lastDay=_date(context, context.rows - 1),
        folds=len(folds),
        coins=len(context.tape.coins),
        strategies=[
            everything,
            *(
                _refused(name, refused[name], trials) if name in refused else _published(name, records[name], trials)
                for name in walks
            ),
        ],
        buyAndHold=_buy_and_hold(context, begin, trials),
        standard=standard(context.parameters.fee_bps, context.parameters.slippage),
        method=METHOD,
    )


def _record(walked: Sequence[WalkedFold]) -> _StrategyRecord:
    books = [tested.book for tested in walked]
    return _StrategyRecord(
        concatenate_days(books),
        [float(return_pct) for book in books for return_pct in book.trades.return_pct],
        sum(book.position_days for book in books),
        sum(book.known_days for book in books),
    )


def _published(name: Strategy | Literal["all"], record: _StrategyRecord, trials: TrialCount) -> StrategySummary:
    found, telling = measure_performance(record.days, trials), len(record.days.net) >= LEAST_DAYS
    total, wins = len(record.returns), sum(return_pct > 0 for return_pct in record.returns)
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
        sharpe=rounded_or_none(found.sharpe) if telling else None,
        probabilisticSharpe=rounded_or_none(found.probabilistic) if telling else None,
        deflatedSharpe=rounded_or_none(found.deflated) if telling else None,
        maxDrawdownPct=rounded(found.max_drawdown_pct),
        exposure=rounded(found.exposure),
        turnover=rounded(found.turnover),
        fundingKnown=rounded(record.known_days / record.position_days) if record.position_days else None,
        trials=trials.made,
    )


def _refused(name: Strategy, why: str, trials: TrialCount) -> StrategySummary:
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


def _buy_and_hold(context: WalkContext, begin: int, trials: TrialCount) -> BuyAndHold:
    returns = buy_and_hold(context.tape, context.universe, begin, context.costs)
    found: TrackPerformance = measure_performance(ReturnDays(returns, returns * 0, returns * 0), trials)
    return BuyAndHold(
        returnPct=rounded(found.return_pct),
        sharpe=rounded_or_none(found.sharpe) if len(returns) >= LEAST_DAYS else None,
        maxDrawdownPct=rounded(found.max_drawdown_pct),
    )


def rounded(value: float) -> float:
    """Round to `DECIMALS`; zero has no sign."""
    return round(value, DECIMALS) + 0.0


def rounded_or_none(value: float | None) -> float | None:
    """Round, or null if unknown."""
    return None if value is None else rounded(value)


def _date(context: WalkContext, row: int) -> str:
    return iso((context.tape.first_day + row) * DAY_MS)[:10]
