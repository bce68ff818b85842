"""The protocol of `docs/decisions/0009-which-probabilities-are-published.md`: every trial, the choice, and the look."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from service.analytics.calibration.fits import Floats, Model, fit_isotonic, fit_logistic
from service.analytics.calibration.skill import (
    Bin,
    Days,
    Skill,
    Unmeasured,
    bins,
    by_day,
    day_weights,
    effective,
    intraclass,
    measure,
)
from service.analytics.recomputed import JudgedDays

Target = Literal["rises", "beats-median", "moves-more"]
Method = Literal["isotonic", "logistic"]

TARGETS: Final[tuple[Target, ...]] = ("rises", "beats-median", "moves-more")
HORIZONS: Final = (1, 3, 7)
METHODS: Final[tuple[Method, ...]] = ("isotonic", "logistic")

LEAST_COINS: Final = 20
"""Coins with a verdict and an outcome under which a day does not count."""

LEAST_DAYS_TO_FIT: Final = 180
LEAST_DAYS_TO_CLAIM: Final = 60
LEAST_BLOCKS_TO_CLAIM: Final = 8
"""Blocks of days under which the bootstrap's interval is too narrow."""

REFIT_DAYS: Final = 30
MEDIAN_DAYS: Final = 60
"""Days whose moves a move is compared with (`moves-more`)."""

ERROR_RATE: Final = 0.05
"""Chance of one false claim among all trials, if there is no skill anywhere."""

_LEAST_BLOCK: Final = 7
_FIFTHS: Final = 5
_FIRST_TO_CHOOSE, _FIRST_TO_LOOK = 3, 4


class Measured(NamedTuple):
    """A trial on one part of the days. Shares and probabilities are 0 to 1."""

    days: int
    rows: int
    base_rate: float
    brier: float
    brier_of_base_rate: float
    bins: list[Bin]
    skill: Skill | Unmeasured
    intraclass: float | Unmeasured
    effective: float | Unmeasured


class Trial(NamedTuple):
    """One target, horizon, rule set and method; `look` only of the method that was chosen."""

    target: Target
    horizon: int
    ruleset: int
    method: Method
    choice: Measured
    look: Measured | None

    @property
    def is_earned(self) -> bool:
        """Whether its probability may be published."""
        look = self.look
        return (
            look is not None
            and look.days >= LEAST_DAYS_TO_CLAIM
            and look.days >= LEAST_BLOCKS_TO_CLAIM * block_of(self.horizon)
            and isinstance(look.skill, Skill)
            and look.skill.low > 0
            and abs(look.skill.bias) <= 2 * look.skill.bias_error
        )


class Predicted(NamedTuple):
    """Predictions made with what was known on the day: rows in order of days.

    `reference` is the base rate of the days that the model was fitted on.
    """

    days: Days
    probability: Floats
    reference: Floats
    outcome: Floats


def run(closes: Floats, judged: Sequence[JudgedDays]) -> list[Trial]:
    """Make every trial of the protocol.

    Args:
        closes: Of shape (days, coins), NaN where there is no bar.
        judged: What each rule set said.

    Raises:
        ValueError: If there are too few days to fit on, or none with a prediction to choose on.
    """
    count = len(TARGETS) * len(HORIZONS) * len(judged) * len(METHODS)
    return [
        trial
        for target in TARGETS
        for horizon in HORIZONS
        for rules in judged
        for trial in _choose(closes, rules, target, horizon, ERROR_RATE / count)
    ]


def outcomes(closes: Floats, target: Target, horizon: int) -> Floats:
    """Whether the target came true after each day, 1 or 0, of shape (days, coins); NaN where that is not known."""
    moves = np.full(closes.shape, np.nan)
    moves[:-horizon] = closes[horizon:] / closes[:-horizon] - 1
    return came_true(moves, target, horizon)


def came_true(moves: Floats, target: Target, horizon: int) -> Floats:
    """As `outcomes`, from the moves that followed each day, in any unit."""
    if target == "rises":
        bound = np.zeros(moves.shape)
    elif target == "beats-median":
        bound = np.broadcast_to(_medians(moves)[:, None], moves.shape)
    else:
        moves = np.abs(moves)
        bound = np.full(moves.shape, np.nan)
        if len(moves) >= MEDIAN_DAYS:
            before = sliding_window_view(moves, MEDIAN_DAYS, axis=0)
            bound[MEDIAN_DAYS + horizon - 1 :] = _medians(before[:-horizon])  # the last of them is known on the day
    return np.where(np.isnan(moves) | np.isnan(bound), np.nan, moves > bound)


def predictions(judged: JudgedDays, outcome: Floats, horizon: int, method: Method) -> Predicted:
    """Fit every 30 days on all days whose outcome was known by then, and predict the days until the next fit.

    Raises:
        ValueError: If there are too few days to fit on.
    """
    days, features, came = _rows(judged, outcome, method)
    counted = np.unique(days)
    if len(counted) < LEAST_DAYS_TO_FIT + horizon + 1:
        raise ValueError(f"too few days with {LEAST_COINS} coins to fit on: {len(counted)}")
    parts = [
        Predicted(days[now], model.predict(features[now]), np.full(int(now.sum()), base), came[now])
        for model, base, now in _fits(features, came, days, counted, horizon, _FIT[method])
    ]
    return Predicted(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def fit_all(judged: JudgedDays, outcome: Floats, method: Method) -> Model:
    """Fit on all days."""
    days, features, came = _rows(judged, outcome, method)
    return _FIT[method](features, came, day_weights(days))


def block_of(horizon: int) -> int:
    """Days that are drawn together: outcomes of days that near overlap."""
    return max(_LEAST_BLOCK, 3 * horizon)


def split(counted: Days, horizon: int) -> tuple[Days, Days]:
    """The days to choose on and the days of the one look; the last `horizon` days before the border are left out."""
    bounds = [len(counted) * fifths // _FIFTHS for fifths in (_FIRST_TO_CHOOSE, _FIRST_TO_LOOK)]
    choose, look = counted[bounds[0] : bounds[1]], counted[bounds[1] :]
    return choose[choose + horizon < look[0]], look


_FIT: Final[dict[Method, Callable[[Floats, Floats, Floats], Model]]] = {
    "isotonic": fit_isotonic,
    "logistic": fit_logistic,
}


def _fits(
    features: Floats,
    came: Floats,
    days: Days,
    counted: Days,
    horizon: int,
    fit: Callable[[Floats, Floats, Floats], Model],
) -> Iterator[tuple[Model, float, np.ndarray]]:
    """Each model, the base rate of its days, and which rows it predicts."""
    begin = int(counted[LEAST_DAYS_TO_FIT - 1]) + horizon
    for day in range(begin, int(counted[-1]) + 1, REFIT_DAYS):
        past = days + horizon <= day
        now = (days >= day) & (days < day + REFIT_DAYS)
        weights = day_weights(days[past])
        base = float((weights * came[past]).sum() / weights.sum())
        yield fit(features[past], came[past], weights), base, now


def _rows(judged: JudgedDays, outcome: Floats, method: Method) -> tuple[Days, Floats, Floats]:
    """Days, features and outcomes of all coins with both a verdict and an outcome, on days that have enough of them."""
    known = ~np.isnan(judged.score) & ~np.isnan(outcome)
    known[known.sum(axis=1) < LEAST_COINS] = False
    days, coins = np.nonzero(known)
    return days, _features(judged, method)[days, coins], outcome[days, coins]


def _features(judged: JudgedDays, method: Method) -> Floats:
    """Of shape (days, coins, features)."""
    return judged.score[:, :, None] if method == "isotonic" else np.moveaxis(judged.groups, 0, -1)


def _choose(closes: Floats, judged: JudgedDays, target: Target, horizon: int, level: float) -> Iterator[Trial]:
    """Measure both methods on the days to choose on, and the better one on those of the look."""
    outcome = outcomes(closes, target, horizon)
    made = {method: predictions(judged, outcome, horizon, method) for method in METHODS}
    known = (~np.isnan(judged.score) & ~np.isnan(outcome)).sum(axis=1)
    choose, look = split(np.flatnonzero(known >= LEAST_COINS), horizon)
    block = block_of(horizon)
    choices = {method: _measure(predicted, choose, block, level) for method, predicted in made.items()}
    best = min(METHODS, key=lambda method: choices[method].brier)
    for method in METHODS:
        looked = _measure(made[method], look, block, level) if method == best else None
        yield Trial(target, horizon, judged.version, method, choices[method], looked)


def _measure(predicted: Predicted, part: Days, block: int, level: float) -> Measured:
    on = np.isin(predicted.days, part)
    if not on.any():
        raise ValueError(f"too few days to choose on: the first prediction is later than {len(part)} of them")
    days, probability, reference, outcome = (
        predicted.days[on], predicted.probability[on], predicted.reference[on], predicted.outcome[on]
    )  # fmt: skip
    weights = day_weights(days)
    return Measured(
        days=len(np.unique(days)),
        rows=len(days),
        base_rate=float((weights * outcome).sum() / weights.sum()),
        brier=float(by_day((probability - outcome) ** 2, days).mean()),
        brier_of_base_rate=float(by_day((reference - outcome) ** 2, days).mean()),
        bins=bins(probability, outcome, weights),
        skill=measure(probability, reference, outcome, days, block=block, level=level),
        intraclass=intraclass(outcome, days),
        effective=effective(outcome, days),
    )


def _medians(values: Floats) -> Floats:
    """Medians along the last axis, without NaN values; NaN where there are no others."""
    ordered = np.sort(values, axis=-1)  # what is not known comes last
    known = (~np.isnan(values)).sum(axis=-1, keepdims=True)
    low, high = (
        np.take_along_axis(ordered, np.maximum(at, 0), axis=-1)
        for at in ((known - 1) // 2, np.minimum(known // 2, values.shape[-1] - 1))
    )
    medians: Floats = ((low + high) / 2)[..., 0]
    return medians
