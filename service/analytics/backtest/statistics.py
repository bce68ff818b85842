"""How much of a track record may be luck: Sharpe ratios, probabilistic and deflated, and drawdowns.

Sharpe ratios are per period (here a day) unless they are called annualised, and of returns as they are: the rate a
trader forgoes is taken as zero. Sources: Bailey and López de Prado, "The Sharpe Ratio Efficient Frontier", Journal of
Risk 15(2), 2012 (PSR), and "The Deflated Sharpe Ratio", Journal of Portfolio Management 40(5), 2014 (SR0, DSR);
Mertens, "Comments on variance of the IID estimator in Lo (2002)", 2002 (variance of a ratio). The moments are taken as
`purgedcv` takes them: deviations of the population, skewness and kurtosis corrected for bias.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist, fmean
from typing import Final, NamedTuple

import numpy as np

from service.analytics.bars import Floats

DAYS_A_YEAR: Final = 365
"""These markets have no closed days."""

_LEAST: Final = 4
"""Returns that a kurtosis corrected for bias asks for."""

_NORMAL: Final = NormalDist()


class Moments(NamedTuple):
    """Of returns: how many, their mean and deviation (per period), skewness and kurtosis (0 and 3 if normal)."""

    size: int
    mean: float
    deviation: float
    skew: float
    kurtosis: float


class TrialCount(NamedTuple):
    """How many back-tests there were to choose from, and the variance of their daily Sharpe ratios (`count_trials`)."""

    made: int
    variance: float


def moments(returns: Floats) -> Moments | None:
    """Take the moments of a track record.

    Args:
        returns: One a period, fractions, finite.

    Returns:
        Its moments; None where there are fewer than four returns or they never change.
    """
    count = len(returns)
    if count < _LEAST:
        return None
    spread = _spread(returns)
    if spread is None:
        return None
    standard, deviation = spread
    third, fourth = float(np.mean(standard**3)), float(np.mean(standard**4))
    skew = third * math.sqrt(count * (count - 1)) / (count - 2)
    excess = ((count**2 - 1) * fourth - 3 * (count - 1) ** 2) / ((count - 2) * (count - 3))
    return Moments(count, float(returns.mean()), deviation, skew, excess + 3)


def _spread(returns: Floats) -> tuple[Floats, float] | None:
    """Standardise; None where nothing changes. Shifted first: the mean of equal numbers need not be that number."""
    shifted = returns - returns[0]
    deviation = float(shifted.std())
    return ((shifted - shifted.mean()) / deviation, deviation) if deviation else None


def sharpe(returns: Floats) -> float | None:
    """The mean over the deviation (of the population).

    Args:
        returns: One a period, fractions, finite.

    Returns:
        The ratio per period; None where there are fewer than two returns or they never change.
    """
    spread = _spread(returns) if len(returns) > 1 else None
    return None if spread is None else float(returns.mean()) / spread[1]


def annualised(sharpe: float) -> float:
    """Scale a daily Sharpe ratio to 365 days, as if days were independent."""
    return sharpe * math.sqrt(DAYS_A_YEAR)


def probabilistic_sharpe(
    sharpe: float, count: int, skew: float, kurtosis: float, benchmark: float = 0.0
) -> float | None:
    """Estimate the probability that the true Sharpe ratio is above a benchmark (2012).

    PSR(b) = Φ((SR - b) / √V), V being `sharpe_variance` at the observed ratio.

    Args:
        sharpe: The observed ratio, per period.
        count: Of returns.
        skew: Of the returns.
        kurtosis: Of the returns, 3 if normal.
        benchmark: Per period as well.

    Returns:
        A probability; None where there is no variance.
    """
    variance = sharpe_variance(sharpe, count, skew, kurtosis)
    return None if variance is None else _NORMAL.cdf((sharpe - benchmark) / math.sqrt(variance))


def sharpe_variance(sharpe: float, count: int, skew: float, kurtosis: float) -> float | None:
    """Estimate the variance of a Sharpe ratio over samples of independent returns (Mertens 2002).

    V = (1 - skew SR + (kurtosis - 1)/4 SR²) / (n - 1); so 1 / (n - 1) of a ratio of zero, whatever the moments.

    Args:
        sharpe: The ratio, per period.
        count: Of returns.
        skew: Of the returns.
        kurtosis: Of the returns, 3 if normal.

    Returns:
        A variance above 0; None where there are fewer than two returns, or moments so extreme that it is not positive:
        the approximation says nothing there.
    """
    variance = 1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe**2
    return variance / (count - 1) if count > 1 and variance > 0 else None


def count_trials(same_days: Iterable[Sequence[float | None]]) -> TrialCount:
    """Count trials, and take the variance of their Sharpe ratios among those that were made on the same days.

    Ratios of different days differ by what the market did as well, and days that two trials share hide chance. So only
    trials of the same days are compared, and the variances of all such groups pooled: squares about the mean of the
    group, over the degrees of freedom.

    Args:
        same_days: The daily ratios of the trials of each group; None of a trial that never traded, which counts, but
            has no ratio to add.
    """
    groups = list(same_days)
    known = [[ratio for ratio in group if ratio is not None] for group in groups]
    freedom = sum(len(ratios) - 1 for ratios in known if ratios)
    squares = math.fsum((ratio - fmean(ratios)) ** 2 for ratios in known for ratio in ratios)
    return TrialCount(sum(map(len, groups)), squares / freedom if freedom else 0.0)


def expected_max_sharpe(trials: int, variance: float) -> float:
    """The best Sharpe ratio that so many trials without any skill are expected to show (2014).

    SR0 = √V ((1 - c) Φ⁻¹(1 - 1/N) + c Φ⁻¹(1 - 1/(N e))), c being the Euler-Mascheroni constant.

    Args:
        trials: How many were made, all of them counted.
        variance: Of their Sharpe ratios, per period.

    Returns:
        A ratio per period; 0 for one trial, which is no choice (the formula has no value there).

    Raises:
        ValueError: If the variance is negative.
    """
    if trials <= 1:
        return 0.0
    best, beyond = _NORMAL.inv_cdf(1 - 1 / trials), _NORMAL.inv_cdf(1 - 1 / (trials * math.e))
    return math.sqrt(variance) * float((1 - np.euler_gamma) * best + np.euler_gamma * beyond)


def deflated_sharpe(
    sharpe: float, count: int, skew: float, kurtosis: float, trials: int, variance: float
) -> float | None:
    """Estimate the probability that the true Sharpe ratio is above what the best of the trials shows by luck (2014).

    Args:
        sharpe: The observed ratio, per period.
        count: Of returns.
        skew: Of the returns.
        kurtosis: Of the returns, 3 if normal.
        trials: How many were made until this one was chosen.
        variance: Of the trials' Sharpe ratios, per period.

    Returns:
        The probabilistic Sharpe ratio against `expected_max_sharpe`; None as there. Trials whose ratios are alike still
        differ by chance on the days of this record, so their variance counts as that of a ratio of zero at least.
    """
    by_chance = sharpe_variance(0.0, count, skew, kurtosis)
    if by_chance is None:
        return None
    return probabilistic_sharpe(sharpe, count, skew, kurtosis, expected_max_sharpe(trials, max(variance, by_chance)))


def compounded(returns: Floats) -> float:
    """What an equity has brought of which each return is a share in turn, as a fraction; -1 where it was lost."""
    return float(equity(returns)[-1]) - 1


def max_drawdown(returns: Floats) -> float:
    """The deepest fall of an equity from its highest until then, the beginning included.

    Args:
        returns: One a period, fractions, finite.

    Returns:
        A share of that highest equity, 0 to 1.
    """
    capital = equity(returns)
    return float((1 - capital / np.maximum.accumulate(capital)).max())


def equity(returns: Floats) -> Floats:
    """An equity of 1 and what becomes of it, one more than there are returns: lost once, it stays lost."""
    return np.concatenate((np.ones(1), np.cumprod(np.maximum(1 + returns, 0.0))))


def judge_trades(returns: Sequence[float], trials: TrialCount, days: int) -> tuple[float | None, float | None]:
    """Judge trades that follow each other, one observation each.

    Args:
        returns: Of one trade each, fractions or percent, finite.
        trials: The back-tests that were made; their variance is scaled from a day to a trade by the days of a trade.
        days: Over which the trades were made.

    Returns:
        The Sharpe ratio per trade, and the deflated probability; None as for `moments` and `deflated_sharpe`.
    """
    found = moments(np.array(returns))
    if found is None:
        return None, None
    ratio = found.mean / found.deviation
    variance = trials.variance * days / found.size
    return ratio, deflated_sharpe(ratio, found.size, found.skew, found.kurtosis, trials.made, variance)
