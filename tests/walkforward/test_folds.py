"""Folds: what is tested is tested once, and training keeps away from it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from service.walkforward.parameters import Parameters
from service.walkforward.walk import Fold, fold_days, purge_days

SPLITS = st.builds(
    Parameters,
    scheme=st.sampled_from(["anchored", "rolling"]),
    train_days=st.integers(1, 60),
    test_days=st.integers(1, 25),
)


def test_folds_of_the_recordings_are_these() -> None:
    folds = fold_days(881, Parameters(), horizon_days=30)
    assert [(fold.number, fold.begin, fold.end) for fold in folds] == [
        (1, 365, 455), (2, 455, 545), (3, 545, 635), (4, 635, 725), (5, 725, 815), (6, 815, 881),
    ]  # fmt: skip
    assert [fold.training for fold in folds[:4]] == [range(334), range(424), range(514), range(604)]


def test_a_rolling_window_forgets_what_is_older() -> None:
    folds = fold_days(881, Parameters(scheme="rolling"), horizon_days=30)
    assert [fold.training for fold in folds[::2]] == [range(334), range(180, 514), range(360, 694)]


def test_a_tape_without_a_day_after_its_first_training_has_no_fold() -> None:
    assert fold_days(365, Parameters(), horizon_days=14) == []
    assert fold_days(366, Parameters(), horizon_days=14) == [Fold(1, 365, 366, range(350))]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 200), SPLITS, st.integers(0, 20))
def test_every_day_after_the_first_training_is_tested_once(rows: int, parameters: Parameters, horizon: int) -> None:
    tested = [row for fold in fold_days(rows, parameters, horizon) for row in range(fold.begin, fold.end)]
    assert tested == list(range(parameters.train_days, rows))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 120), SPLITS, st.integers(0, 20))
def test_a_row_trains_exactly_where_nothing_forbids_it(rows: int, parameters: Parameters, horizon: int) -> None:
    folds = fold_days(rows, parameters, horizon)
    for fold in folds:
        oldest = fold.begin - parameters.train_days if parameters.scheme == "rolling" else 0
        lawful = set(range(oldest, fold.begin)) - set(range(fold.begin - purge_days(horizon), fold.begin))
        assert list(fold.training) == sorted(lawful)
