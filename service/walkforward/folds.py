"""Which days are for choosing parameters and which for judging them. Rows are days of a tape, counted from 0.

Purge after M. López de Prado, "Advances in Financial Machine Learning" (2018), chapter 7.
"""

from typing import NamedTuple

from service.walkforward.parameters import Parameters


class Fold(NamedTuple):
    """One test fold, rows [begin, end), counted from 1, and the rows that its parameters are chosen on."""

    number: int
    begin: int
    end: int
    training: range


def fold_days(rows: int, parameters: Parameters, horizon_days: int) -> list[Fold]:
    """Lay the folds over a tape.

    The first test fold begins after `train_days`; each begins where the one before it ends, the last one runs to the
    end of the tape. Training is what comes before a fold, without the purge (`horizon_days` and the day of the fill),
    because what is decided there may still be held in the fold. There is no embargo: it protects a test fold from
    training days that follow it, and no training window here holds such a day.

    Args:
        rows: Days of the tape.
        parameters: How to split.
        horizon_days: The longest that a strategy holds a position.

    Returns:
        The folds, oldest first; none where no day is left after `train_days`.
    """
    begins = range(parameters.train_days, rows, parameters.test_days)
    return [
        Fold(
            number=number,
            begin=begin,
            end=min(begin + parameters.test_days, rows),
            training=_training(begin, parameters, horizon_days),
        )
        for number, begin in enumerate(begins, 1)
    ]


def purge_days(horizon_days: int) -> int:
    """How many days before a test fold are left out of training: a label's horizon, and the day of its fill."""
    return horizon_days + 1


def _training(begin: int, parameters: Parameters, horizon_days: int) -> range:
    start = 0 if parameters.scheme == "anchored" else begin - parameters.train_days
    return range(start, max(start, begin - purge_days(horizon_days)))
