"""The record of a strategy on one coin, from the out-of-sample trades of a run.

- One trade is one observation: trades of one strategy on one coin never overlap.
- The **trials** of the deflated Sharpe ratio and the variance of their ratios are those of the run's summary: all
  back-tests of every strategy and fold, those of a fold compared with each other.
"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Final, get_args

from service.clock import DAY_MS, parse_iso
from service.walkforward.records import StoredRun
from service.wire.quality import ReliabilityTier, SignalQuality, SignalValidations, StrategyType
from service.wire.walkforward import Strategy, WalkforwardSummary

LEAST_TRADES: Final = 30
VALIDATED_TRADES: Final = 100
VALIDATED_PROBABILITY: Final = 0.95

_DECIMALS: Final = 4
_STRATEGIES: Final = ", ".join(get_args(Strategy))


def judge_trades_of(run: StoredRun | None, asset: str, signal_type: StrategyType) -> SignalQuality:
    """The record of closed trades.

    Args:
        run: Null before the first one.
        asset: Ticker of the coin.
        signal_type: Kind of signal.
    """
    strategy = None if signal_type == "mean_reversion" else signal_type
    summary = None if run is None else run.head.summary
    trades = [] if run is None else run.outcomes.of(asset)
    returns = [trade.returnPct for trade in trades if trade.strategy == strategy]
    wins = sum(one > 0 for one in returns)
    ratio = probability = None
    if run is not None and summary is not None and len(returns) >= LEAST_TRADES:
        ratio, probability = _sharpe(returns, run, summary)
    validations = SignalValidations(
        strategy=strategy,
        sampleSize=len(returns),
        wins=wins,
        winRate=_rounded(wins / len(returns)) if returns else None,
        meanReturnPct=_rounded(fmean(returns)) if returns else None,
        sharpe=_rounded(ratio),
        deflatedSharpe=_rounded(probability),
        trials=None if summary is None else summary.trials,
        firstDay=None if summary is None else summary.firstDay,
        lastDay=None if summary is None else summary.lastDay,
    )
    message = _record(asset, validations) if returns else _no_record(asset, strategy, run)
    return SignalQuality(
        asset, signal_type, _tier(len(returns), probability), validations.deflatedSharpe, validations, message
    )


def _sharpe(returns: Sequence[float], run: StoredRun, summary: WalkforwardSummary) -> tuple[float | None, float | None]:
    """The Sharpe ratio per trade, and its deflated probability."""
    from service.analytics.backtest.statistics import annualised, count_trials, judge_trades  # noqa: PLC0415 - brings numpy

    by_fold: defaultdict[int, list[float | None]] = defaultdict(list)
    for fold in run.head.folds:
        by_fold[fold.fold] += [None if sharpe is None else sharpe / annualised(1.0) for sharpe in fold.sharpes]
    days = _day(summary.lastDay) - _day(summary.firstDay) + 1
    return judge_trades(returns, count_trials(by_fold.values())._replace(made=summary.trials), days)


def _day(date: str) -> int:
    return parse_iso(f"{date}T00:00:00Z") // DAY_MS


def _tier(trades: int, probability: float | None) -> ReliabilityTier:
    if trades < LEAST_TRADES:
        return "INSUFFICIENT_DATA"
    if trades >= VALIDATED_TRADES and probability is not None and probability >= VALIDATED_PROBABILITY:
        return "VALIDATED"
    return "PRELIMINARY"


def _record(asset: str, found: SignalValidations) -> str:
    """The record as one sentence."""
    trades = f"closed out-of-sample trades of {asset} by {found.strategy}"
    if found.sampleSize < LEAST_TRADES:
        return f"Too few {trades} to judge: {found.sampleSize} of the {LEAST_TRADES} that are needed."
    if found.deflatedSharpe is not None:
        deflated = f"is {found.deflatedSharpe:g}"
    else:
        why = "all returns are the same" if found.sharpe is None else "the returns are too skewed for its formula"
        deflated = f"cannot be computed, because {why}"
    return (
        f"{found.wins} of {found.sampleSize} {trades} were profitable, with a mean return of {found.meanReturnPct:+g} "
        f"percent after costs and funding, and the deflated Sharpe probability {deflated}; VALIDATED needs "
        f"{VALIDATED_TRADES} trades and {VALIDATED_PROBABILITY:g}."
    )


def _no_record(asset: str, strategy: Strategy | None, run: StoredRun | None) -> str:
    """The reason why there are no trades, as one sentence."""
    if strategy is None:
        return f"No mean-reversion strategy is run, so there is no record of one; the strategies are {_STRATEGIES}."
    if run is None:
        return "No walk-forward has finished yet, so there is no record; the first one runs soon after a start."
    if run.head.message is not None:
        return run.head.message
    summary = run.head.summary
    if summary is not None and any(one.strategy == strategy and not one.published for one in summary.strategies):
        return f"The leakage checks of the walk-forward refused {strategy}, so its trades are not counted."
    return (
        f"The walk-forward closed no out-of-sample trade of {asset} by {strategy}; {asset} may be outside its universe "
        "of the most traded coins."
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS) + 0.0
