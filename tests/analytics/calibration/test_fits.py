"""Fits are held to their definitions: the max-min formula of isotonic regression, the zero gradient of the logistic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.calibration.fits import STRENGTH, fit_isotonic, fit_logistic

ROWS = st.lists(
    st.tuples(st.integers(-8, 8), st.booleans(), st.sampled_from([0.1, 0.5, 1.0, 3.0])), min_size=1, max_size=60
)


@given(ROWS)
def test_isotonic_levels_are_the_max_min_of_weighted_means(rows: list[tuple[int, bool, float]]) -> None:
    """Source: Barlow et al., Statistical Inference under Order Restrictions (1972), the max-min formula."""
    features, outcomes, weights = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    model = fit_isotonic(features[:, None], outcomes, weights)
    values = sorted(set(features.tolist()))

    def mean(first: float, last: float) -> float:
        within = (features >= first) & (features <= last)
        return float(np.average(outcomes[within], weights=weights[within]))

    expected = [
        max(min(mean(low, high) for high in values if high >= value) for low in values if low <= value)
        for value in values
    ]
    predicted = model.predict(np.array(values)[:, None])
    assert predicted == pytest.approx(expected, abs=1e-12)
    assert (np.diff(predicted) >= 0).all()


def test_a_step_holds_until_the_next_one_and_the_first_one_below_all() -> None:
    model = fit_isotonic(np.array([[1.0], [2.0]]), np.array([0.0, 1.0]), np.ones(2))
    assert model.predict(np.array([[-5.0], [1.0], [1.9], [2.0], [9.0]])).tolist() == [0, 0, 0, 1, 1]


@given(ROWS.filter(lambda rows: len({outcome for _, outcome, _ in rows}) == 2))
def test_the_logistic_fit_is_where_the_penalised_likelihood_has_no_slope(rows: list[tuple[int, bool, float]]) -> None:
    first, outcomes, weights = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    features = np.column_stack([first / 4, np.cos(first)])
    model = fit_logistic(features, outcomes, weights)
    predicted = model.predict(features)
    errors = weights * (predicted - outcomes)
    assert errors.sum() == pytest.approx(0, abs=1e-8)
    assert features.T @ errors + STRENGTH * model.coefficients == pytest.approx(np.zeros(2), abs=1e-8)
    assert ((predicted > 0) & (predicted < 1)).all()
